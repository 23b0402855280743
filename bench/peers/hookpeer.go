package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"rewind/bench/workload"
)

// A hookPeer answers an agent that has edited a file.
type hookPeer interface {
	name() string
	what() string                    // one line for the reader
	start(ctx context.Context) error // makes its tree and whatever answers; not timed
	root() string                    // its tree
	edits() bool                     // a file is edited before a call
	together() bool                  // calls may run at the same time
	// call takes a state; calls at the same time have different slots.
	call(ctx context.Context, slot int, ed workload.Edit) (sample, error)
	stop() error // after it nothing runs; also of one that never began
}

// The event of all calls, in the words of the command line.
const hookEvent = "post-tool-use"

// noWatcher is the setting without which the daemon watches the tree.
const noWatcher = "REWIND_WATCH=off"

// hookPeers lists the peers in the order of the report. The first is the unit.
func hookPeers(h *hookRun) []hookPeer {
	watched, scanned := newWorld(h, "rewind"), newWorld(h, "rewind-scan", noWatcher)
	inner := *h.bench
	inner.tree, inner.dir = h.tree, h.dir
	git := &gitPeer{bench: &inner, label: "git-tree", text: "git add -A; git write-tree; " + strings.Join(tunedGit()[:4], " "), conf: tunedGit(), dir: filepath.Join(h.dir, "git")}
	return []hookPeer{
		&floorPeer{hookRun: h, home: filepath.Join(h.dir, "floor")},
		&daemonPeer{world: watched, label: "rewind", text: "the daemon, which watches the tree"},
		&daemonPeer{world: scanned, label: "rewind-scan", text: "the same with " + noWatcher},
		&unchangedPeer{daemonPeer{world: watched, label: "rewind-unchanged", text: "as rewind, and nothing was edited"}},
		&gitHook{git},
	}
}

// hook tells of an edit as an agent does.
func (h *hookRun) hook(ctx context.Context, c command, slot int, ed workload.Edit) (sample, error) {
	in, err := payload(c.dir, ed)
	if err != nil {
		return sample{}, err
	}
	c.out += strconv.Itoa(slot)
	return h.event(ctx, c, hookEvent, in)
}

// event runs the client as an agent does. It always exits with 0; what it has to complain about is on standard error.
func (h *hookRun) event(ctx context.Context, c command, event string, in []byte) (sample, error) {
	c.in = in
	s, out, err := c.run(ctx, h.client, event, "--agent", "claude")
	if err != nil {
		return s, err
	}
	said, err := os.ReadFile(c.out + ".err")
	if err == nil && (len(said) > 0 || out != "") {
		err = complaint(strings.TrimSpace(string(said) + out))
	}
	return s, err
}

// A complaint is what a hook has said; one that did its work is silent.
type complaint string

func (c complaint) Error() string { return fmt.Sprintf("the hook said %.300q", string(c)) }

// floorPeer is the client and a daemon that does nothing: what a hook costs at least.
type floorPeer struct {
	*hookRun
	home string
	echo *echo
}

func (p *floorPeer) name() string   { return "floor" }
func (p *floorPeer) what() string   { return "the same client, a daemon that does nothing: the unit" }
func (p *floorPeer) root() string   { return p.tree }
func (p *floorPeer) edits() bool    { return true }
func (p *floorPeer) together() bool { return true }

func (p *floorPeer) start(ctx context.Context) (err error) {
	if err = os.MkdirAll(p.home, 0o700); err == nil {
		p.echo, err = startEcho(ctx, p.echoing, p.home)
	}
	return err
}

func (p *floorPeer) call(ctx context.Context, slot int, ed workload.Edit) (sample, error) {
	c := p.command()
	c.dir, c.env = p.tree, append(c.env[:len(c.env):len(c.env)], "REWIND_HOME="+p.home)
	return p.hook(ctx, c, slot, ed)
}

// verify holds the calls against those that came to the daemon; one may have been sent twice.
func (p *floorPeer) verify(calls int) error {
	n, err := p.echo.calls()
	if err == nil && n < calls {
		err = fmt.Errorf("%d of %d calls came to the daemon", n, calls)
	}
	return err
}

func (p *floorPeer) stop() error {
	if p.echo == nil {
		return nil
	}
	return p.echo.stop()
}

// daemonPeer is the program as an agent meets it.
type daemonPeer struct {
	*world
	label, text string
}

func (p *daemonPeer) name() string   { return p.label }
func (p *daemonPeer) what() string   { return p.text }
func (p *daemonPeer) root() string   { return p.world.tree }
func (p *daemonPeer) edits() bool    { return true }
func (p *daemonPeer) together() bool { return true }

func (p *daemonPeer) call(ctx context.Context, slot int, ed workload.Edit) (sample, error) {
	return p.hook(ctx, p.world.command(), slot, ed)
}

// cold is the first call after the daemon was ended: it starts one, which opens the store and knows nothing of the tree yet.
func (p *daemonPeer) cold(ctx context.Context, ed workload.Edit) (sample, error) {
	if err := p.end(ctx); err != nil {
		return sample{}, err
	}
	flushDisk()
	if err := workload.Write(p.root(), ed); err != nil {
		return sample{}, err
	}
	s, err := p.call(ctx, 0, ed)
	if _, perr := p.pid(ctx); perr != nil { // it was no daemon that answered
		err = perr
	}
	return s, err
}

// unchangedPeer asks another peer's daemon, which has seen the newest edit already.
type unchangedPeer struct{ daemonPeer }

func (p *unchangedPeer) start(context.Context) error {
	if _, err := os.Stat(p.home); err != nil {
		return errors.New("skipped: it needs the peer rewind")
	}
	return nil
}
func (p *unchangedPeer) edits() bool    { return false }
func (p *unchangedPeer) together() bool { return false }
func (p *unchangedPeer) stop() error    { return nil }

// gitHook is the shadow repository that other tools keep.
type gitHook struct{ *gitPeer }

func (p *gitHook) root() string   { return p.tree }
func (p *gitHook) edits() bool    { return true }
func (p *gitHook) together() bool { return false } // its index has one writer
func (p *gitHook) stop() error    { return nil }

func (p *gitHook) start(ctx context.Context) error {
	_, err := p.first(ctx)
	return err
}

func (p *gitHook) call(ctx context.Context, _ int, _ workload.Edit) (sample, error) {
	_, s, err := p.save(ctx)
	return s, err
}
