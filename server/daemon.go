package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"rewind/api"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/objstore"
	"rewind/server/door"
	"rewind/server/later"
	"rewind/server/page"
	"rewind/server/peers"
	"rewind/server/registry"
	"rewind/server/rundir"
	"rewind/server/work"
)

// daemonOptions of serveDaemon; zero durations stand for the defaults.
type daemonOptions struct {
	version string
	idle    time.Duration // without work for this long it ends: 30 minutes
	keep    time.Duration // how long a store stays open that nobody uses: 30 minutes
	noWatch bool          // do not have worktrees watched: every capture looks at every file

	// For tests.
	noAfterwards           bool // do not do what nobody waits for: the steps are those that were asked for
	scanDelay, grace, tidy time.Duration
	serving                func(*daemon)
}

const (
	daemonIdle     = 30 * time.Minute
	daemonKeep     = 30 * time.Minute
	daemonLockWait = 20 * time.Second // for a store: a daemon that has been asked to end may still have it
	daemonLook     = 5 * time.Second  // between two looks whether the socket is still there
	daemonGrace    = 10 * time.Second // for what runs when the daemon is told to end, and again for taking it back
	handOver       = 10 * time.Minute // for what runs when a client of another version came
	headerWait     = 10 * time.Second // for a request's header
	maxHeader      = 64 << 10         // bytes
)

func (o daemonOptions) withDefaults() daemonOptions {
	if o.idle <= 0 {
		o.idle = daemonIdle
	}
	if o.keep <= 0 {
		o.keep = daemonKeep
	}
	if o.tidy <= 0 {
		o.tidy = tidyAfter
	}
	if o.scanDelay <= 0 {
		o.scanDelay = daemonLook
	}
	if o.grace <= 0 {
		o.grace = daemonGrace
	}
	return o
}

// daemon is the one process of a user that has the stores open. It may die at any instruction: nothing that it has in
// memory is needed.
type daemon struct {
	o       daemonOptions
	home    project.Home
	claim   *rundir.Claim
	log     *slog.Logger
	server  *server
	stores  *registry.Registry
	started time.Time

	settling *later.Work
	tidying  *later.Work // of projects that rest
	looking  *later.Work // for secrets in what came

	ln           net.Listener
	door         *door.Door
	page         *page.Page // in a browser, where it was opened
	leave        sync.Once
	ended        chan struct{} // closed by the first stop
	empty        chan struct{} // closed when the stores are closed
	secretScan   *time.Timer
	secretScanMu sync.Mutex
}

// serveDaemon serves the API to this user until ctx ends, a client asks, nobody has come for a while, or the socket has
// gone. It returns nil, having done nothing, where another daemon serves already. The error says why no daemon can run
// here.
func serveDaemon(ctx context.Context, o daemonOptions) error {
	home, err := project.DefaultHome()
	if err != nil {
		return tellHome(err, "rewind daemon")
	}
	d := &daemon{
		o: o.withDefaults(), home: home, started: time.Now().UTC().Truncate(time.Millisecond),
		ended: make(chan struct{}),
		empty: make(chan struct{}),
	}
	if d.claim, err = rundir.Acquire(ctx, home.Dir, 2*daemonLook); err != nil {
		return fmt.Errorf("server: daemon: %w", err)
	}
	if d.claim == nil {
		return nil
	}
	lf, err := rundir.OpenLog(d.claim.Dir)
	if err != nil {
		d.claim.Release()
		return fmt.Errorf("server: daemon: open log: %w", err)
	}
	defer func() { _ = lf.Close() }()
	d.log = lf.Logger()
	ln, err := d.claim.Listen()
	if err != nil {
		d.claim.Release()
		d.log.Error("daemon: listen", "error", err)
		return fmt.Errorf("server: daemon: %w", err)
	}
	refusals := peers.NewRefusals(d.log)
	defer refusals.End()
	d.ln = peers.Own{Listener: ln, Refused: func(uid int, err error) {
		why := "another user"
		if err != nil {
			why = "whose it is cannot be asked: " + err.Error()
		}
		refusals.Add("a connection to the socket", "uid "+strconv.Itoa(uid), why)
	}}
	return d.serve(ctx)
}

func (d *daemon) serve(ctx context.Context) error {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	d.prepare(base)
	debug.SetGCPercent(work.CollectAt)
	h := &http.Server{
		Handler: d.guard(d.server), ReadHeaderTimeout: headerWait, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return base },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return withPeer(ctx, peers.Process(c)) },
		ErrorLog:    log.New(errorLog{d.log}, "", 0),
	}
	h.SetKeepAlivesEnabled(false) // a connection is for one exchange
	if k := d.claim.NoteKilled(); k != nil {
		d.log.Warn("the daemon before this one ended without a word", "pid", k.PID, "started", k.Started, "memory",
			k.Limit, "kills", k.Kills)
	}
	d.log.Info("daemon started", "version", d.o.version, "pid", os.Getpid())
	if b, err := json.Marshal(d.info()); err == nil {
		if err := d.claim.WriteNote(append(b, '\n')); err != nil {
			d.log.Warn("write "+rundir.NoteName, "error", err)
		}
	}
	d.watch()
	d.server.work.Start()
	d.door = door.New(d.ln, d.takeHook, headerWait, func(err error) { d.stop("accept: " + err.Error()) })
	d.door.Serve()
	d.page.Resume()
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = h.Serve(d.door.Others()) // until drain ends it
	}()
	if d.o.serving != nil {
		d.o.serving(d)
	}
	patience := handOver
	select {
	case <-ctx.Done():
		d.stop("a signal")
		patience = d.o.grace
	case <-d.ended:
	}
	d.drain(ctx, h, patience, cancel)
	<-served
	return nil
}

// prepare makes what serves; nothing runs yet.
func (d *daemon) prepare(base context.Context) {
	o := serverOptions{version: d.o.version, lockWait: daemonLockWait}
	d.server = newServer(o, d.home, d.claim.Dir, d.log)
	d.server.base, d.server.daemon = base, d
	d.server.work.After, d.server.work.Idle = d.o.idle, func() { d.stop("idle") }
	d.stores = registry.New(d.home, d.server.engineOptions(), d.o.keep, d.server.configs,
		func(err error) { d.log.Error("close store", "error", clean(err)) })
	d.stores.Watch = !d.o.noWatch
	d.server.stores = d.stores
	d.page = d.newPage()
	d.settling = later.New(d.followUp)
	d.tidying = later.New(d.tidy)
	d.looking = later.New(d.scanForSecrets)
	if d.o.noAfterwards {
		d.settling.End()
		d.looking.End()
	}
	d.server.work.Memory = &work.Memory{Trim: func() {
		d.stores.TrimCaches()
		objstore.TrimCaches()
	}}
	work.BeforeGivingSoon(d.stores.TrimBlocks)
}

// stop begins the end: nobody gets in any more, and a daemon that is started now finds the claim free. What runs goes
// on.
func (d *daemon) stop(why string) {
	d.leave.Do(func() {
		d.log.Info("daemon ends", "why", why)
		_ = d.ln.Close()
		d.page.End()
		d.settling.End()
		d.tidying.End()
		d.looking.End()
		d.server.work.Memory.End()
		d.secretScanMu.Lock()
		d.secretScan.Stop()
		d.secretScan = nil
		d.secretScanMu.Unlock()
		d.claim.Release()
		d.stores.End()
		close(d.ended)
	})
}

// drain lets what runs come to its end, asks what does not to take itself back, and closes the stores. A signal ends
// the patience.
func (d *daemon) drain(ctx context.Context, h *http.Server, patience time.Duration, cancel context.CancelFunc) {
	w := &d.server.work
	t := time.NewTimer(patience)
	defer t.Stop()
	told := ctx.Done()
	if ctx.Err() != nil {
		told = nil
	}
	select {
	case <-w.Quiet():
	case <-t.C:
	case <-told:
		t.Reset(d.o.grace)
		select {
		case <-w.Quiet():
		case <-t.C:
		}
	}
	w.Close()
	cancel()
	t.Reset(d.o.grace)
	select {
	case <-w.Quiet():
	case <-t.C:
		d.log.Warn("work was left behind")
	}
	short, done := context.WithTimeout(context.Background(), time.Second)
	defer done()
	if err := d.stores.Close(short); err != nil {
		d.log.Warn("close stores", "error", err)
	}
	close(d.empty)
	// closing stores may have taken all of the other
	last, done := context.WithTimeout(context.Background(), time.Second)
	defer done()
	select { // the last bytes of answers
	case <-d.door.Quiet():
	case <-last.Done():
	}
	_ = h.Shutdown(last)
	_ = h.Close()
	d.log.Info("daemon ended")
}

// watch looks from time to time whether clients can still find the daemon: one that cannot be reached holds stores that
// others need.
func (d *daemon) watch() {
	d.secretScanMu.Lock()
	defer d.secretScanMu.Unlock()
	d.secretScan = time.AfterFunc(d.o.scanDelay, func() {
		if !d.claim.Held() {
			d.stop("the socket is gone")
			return
		}
		d.emptyTrash()
		d.secretScanMu.Lock()
		defer d.secretScanMu.Unlock()
		if d.secretScan != nil {
			d.secretScan.Reset(d.o.scanDelay)
		}
	})
}

func (d *daemon) info() api.Daemon {
	i := api.Daemon{
		Running: true, PID: os.Getpid(), Version: d.o.version, Started: &d.started,
		Socket: api.Text(d.claim.Socket),
	}
	if d.stores != nil {
		i.Stores = d.stores.Count()
	}
	return i
}

// daemonInfo is about the process that answers.
func (s *server) daemonInfo() api.Daemon {
	if s.daemon == nil {
		return api.Daemon{}
	}
	return s.daemon.info()
}

func (s *server) daemonStatus(context.Context, api.DaemonRequest, model.Progress) (api.Daemon, error) {
	return s.daemonInfo(), nil
}

// daemonStop answers when the stores are closed; it does not itself count as work that they wait for.
func (s *server) daemonStop(context.Context, api.DaemonRequest, model.Progress) (api.Daemon, error) {
	info := s.daemonInfo()
	if s.daemon == nil {
		return info, nil
	}
	s.daemon.stop("a client asked")
	s.work.Done()
	defer s.work.More()
	<-s.daemon.empty // bounded: the daemon's patience ends
	return info, nil
}

// newPage makes the daemon's page, which answers nobody before it is asked for.
func (d *daemon) newPage() *page.Page {
	return page.New(page.Options{
		API: askedBy(model.NoPeer, d.server), Begin: d.server.work.Begin, Done: d.server.work.Done, Notes: d.claim.Dir,
		Log: d.log,
		Root: func(id string) (string, error) {
			for root, r := range d.home.ByRoot() {
				if r.ID == id {
					return root, nil
				}
			}
			return "", &api.Error{
				Code: api.CodeOf(api.WordNoProject), Word: api.WordNoProject,
				Message: "no project has this address any more",
				Hint:    "it was moved or taken away: 'rewind stores' lists what there is",
			}
		},
	})
}

// ui opens the page.
func (s *server) ui(ctx context.Context, req api.UIRequest, _ model.Progress) (out api.UIResponse, err error) {
	if s.daemon == nil {
		return out, model.Usagef("the page is the daemon's, and none runs or is wanted here (REWIND_DAEMON=off)")
	}
	p, err := s.find(ctx, req.ProjectDir())
	switch {
	case err == nil:
		out.Project = p.ID
	case !errors.Is(err, model.ErrNoProject):
		return out, err
	}
	out.Address, err = s.daemon.page.Open(req.Env, out.Project)
	return out, err
}

// errorLog is where net/http writes.
type errorLog struct{ log *slog.Logger }

func (e errorLog) Write(p []byte) (int, error) {
	e.log.Warn("http", "error", string(p))
	return len(p), nil
}
