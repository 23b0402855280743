package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"rewind/bench/history"
	"rewind/bench/workload"
	"rewind/engine"
	"rewind/internal/kv"
	"rewind/objstore"
)

// A day of heavy use: calls of tools a minute apart, ten of them a turn, a hundred a session.
const (
	callEvery  = time.Minute
	turnCalls  = 10
	dayTurns   = 10 // of a session
	monthDays  = 30
	replayName = "replay"
)

// A replayed is what a replay has led to.
type replayed struct {
	Days        int       `json:"days"`
	Daily       int       `json:"checkpoints_a_day"`
	Checkpoints int       `json:"checkpoints"` // made
	Real        int       `json:"real"`        // steps of the history that were taken; the others are generated
	Project     int64     `json:"project_bytes"`
	First       int64     `json:"first_snapshot_bytes"` // the store with the first state
	Last        int64     `json:"last_snapshot_bytes"`  // a store with nothing but the state at the end
	Months      []monthly `json:"months"`
	Parts       []part    `json:"parts"` // at the end
}

// A part is what entries of a kind take in the store, before its blocks are compressed.
type part struct {
	Name    string `json:"name"`
	Entries int    `json:"entries"`
	Bytes   int64  `json:"bytes"` // keys and values
}

// A monthly is what lies on the disk after a month, gc having run.
type monthly struct {
	Day     int           `json:"day"`
	Made    int           `json:"checkpoints_made"`
	Kept    int           `json:"checkpoints_kept"`
	Project int64         `json:"project_bytes"`
	Before  int64         `json:"store_before_gc_bytes"`
	Disk    int64         `json:"store_bytes"`
	GC      time.Duration `json:"gc_ns"`
}

// replay is one under way.
type replay struct {
	*bench
	repo  *repo
	left  []commit
	queue [][]written
	hand  *hand // when the history is at its end
	tree  string
	out   *replayed
}

func (b *bench) measureReplay(ctx context.Context) (err error) {
	if b.opt.repo == "" {
		return errors.New("-repo says whose history")
	}
	r := &replay{bench: b, tree: filepath.Join(b.dir, replayName, "tree"), out: &replayed{Days: b.opt.days, Daily: b.opt.daily}}
	if r.repo, err = openRepo(ctx, b.opt.repo); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.repo.close()) }()
	b.say("reading the history")
	before, left, err := r.repo.begin(ctx, b.opt.days*b.opt.daily)
	if err != nil {
		return err
	}
	r.left = left
	if before == "" && len(left) > 0 { // there has to be something at the beginning
		before, r.left = left[0].id, left[1:]
	}
	if err := os.MkdirAll(r.tree, 0o700); err != nil {
		return err
	}
	if err := r.repo.lay(ctx, before, r.tree); err != nil {
		return err
	}
	at := newClock(time.Now().Add(-time.Duration(b.opt.days) * 24 * time.Hour))
	home := filepath.Join(b.dir, replayName, "home")
	if err := withEngine(ctx, home, r.tree, at, func(e *engine.Engine) error { return r.days(ctx, e, at, home) }); err != nil {
		return err
	}
	if r.out.Parts, err = partsOf(ctx, home); err != nil {
		return err
	}
	if r.out.Project, err = sizeOf(r.tree); err == nil {
		r.out.Last, err = r.onlyLast(ctx)
	}
	b.found.Replays = append(b.found.Replays, r.out)
	return err
}

// days goes through all days.
func (r *replay) days(ctx context.Context, e *engine.Engine, at *clock, home string) error {
	store, err := storeOf(home)
	if err != nil {
		return err
	}
	if r.out.First, err = diskOf(store); err != nil {
		return err
	}
	a, err := history.NewAgent(e, r.tree)
	if err != nil {
		return err
	}
	begun := at.now()
	for day := 1; day <= r.opt.days; day++ {
		for n := range r.opt.daily {
			if err := r.call(ctx, a, n); err != nil {
				return fmt.Errorf("day %d, call %d: %w", day, n, err)
			}
			at.advance(min(callEvery, 20*time.Hour/time.Duration(r.opt.daily)))
		}
		at.advance(max(begun.Add(time.Duration(day)*24*time.Hour).Sub(at.now()), 0))
		if day%monthDays == 0 || day == r.opt.days {
			if err := r.month(ctx, e, store, day); err != nil {
				return err
			}
		}
	}
	return nil
}

// call is one call of an agent's tool, with what is around it.
func (r *replay) call(ctx context.Context, a *history.Agent, n int) (err error) {
	if n%(turnCalls*dayTurns) == 0 {
		err = a.Begin(ctx, fmt.Sprintf("5e551070-0000-4000-8000-%012x", r.out.Checkpoints))
	}
	if err == nil && n%turnCalls == 0 {
		err = a.Prompt(ctx, fmt.Sprintf("change number %d", r.out.Checkpoints))
	}
	for made := false; err == nil && !made; { // a step that changes nothing is none
		var s []written
		if s, err = r.next(); err == nil && s != nil {
			made, err = a.Edit(ctx, paths(s), func() error { return carryOut(r.tree, s) })
		} else if err == nil {
			made, err = true, r.hand.step(ctx, a, 1)
		}
	}
	r.out.Checkpoints++
	if err == nil && n%turnCalls == turnCalls-1 {
		err = a.Stop(ctx)
	}
	return err
}

// next gives the next step of the history; nil: it is at its end, and there is a hand.
func (r *replay) next() (s []written, err error) {
	for len(r.queue) == 0 && len(r.left) > 0 {
		if r.queue, err = r.repo.steps(r.left[0]); err != nil {
			return nil, err
		}
		r.left = r.left[1:]
	}
	if len(r.queue) > 0 {
		s, r.queue, r.out.Real = r.queue[0], r.queue[1:], r.out.Real+1
		return s, nil
	}
	if r.hand == nil {
		r.hand, err = newHand(r.tree, 1)
	}
	return nil, err
}

func paths(s []written) (list []string) {
	for _, w := range s {
		list = append(list, w.path)
	}
	return list
}

// month runs gc as the daemon does, and looks at the disk.
func (r *replay) month(ctx context.Context, e *engine.Engine, store string, day int) (err error) {
	m := monthly{Day: day, Made: r.out.Checkpoints}
	if m.Before, err = diskOf(store); err != nil {
		return err
	}
	end, err := r.profiled(fmt.Sprintf("replay-%d", day))
	if err != nil {
		return err
	}
	began := time.Now()
	c, err := collect(ctx, e, engine.GCOptions{})
	err = errors.Join(err, end())
	if err != nil {
		return err
	}
	m.GC, m.Kept = time.Since(began), c.Kept
	if m.Disk, err = diskOf(store); err != nil {
		return err
	}
	if m.Project, err = sizeOf(r.tree); err != nil {
		return err
	}
	r.out.Months = append(r.out.Months, m)
	r.say("day %d: %d checkpoints kept, %s, gc %v", day, m.Kept, mb(m.Disk), m.GC.Round(time.Millisecond))
	return nil
}

// onlyLast is what the last state takes alone.
func (r *replay) onlyLast(ctx context.Context) (size int64, err error) {
	home := filepath.Join(r.dir, replayName, "last")
	if err := os.RemoveAll(filepath.Join(r.tree, ".agent")); err != nil {
		return 0, err
	}
	err = withEngine(ctx, home, r.tree, newClock(time.Now()), func(*engine.Engine) error { return nil })
	if err != nil {
		return 0, err
	}
	store, err := storeOf(home)
	if err != nil {
		return 0, err
	}
	return diskOf(store)
}

// partsOf looks through a store.
func partsOf(ctx context.Context, home string) (list []part, err error) {
	store, err := storeOf(home)
	if err != nil {
		return nil, err
	}
	db, err := kv.Open(ctx, store, kv.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	at := map[string]int{}
	err = db.Scan(kv.Range{}, func(key, val []byte) error {
		name := string(key[:1])
		if key[0] == kv.PrefixObject && len(key) > 1 {
			name = objstore.Kind(key[1]).String()
		}
		i, ok := at[name]
		if !ok {
			i = len(list)
			at[name], list = i, append(list, part{Name: name})
		}
		list[i].Entries++
		list[i].Bytes += int64(len(key) + len(val))
		return nil
	})
	return list, err
}

// sizeOf is the length of a tree's files, but for rewind's own.
func sizeOf(tree string) (sum int64, err error) {
	all, err := workload.Files(tree)
	for _, f := range all {
		sum += f.Size
	}
	return sum, err
}

// history is what a store has beyond the state that it would hold anyway.
func (r *replayed) history() int64 { return r.Months[len(r.Months)-1].Disk - r.Last }

func (r *replayed) print(w io.Writer, line func(what, seen, limit string, ok bool)) {
	fmt.Fprintf(w, "replay of %d days, %d checkpoints a day, %d of %d real\tproject %s\tits state alone %s\t\n", r.Days, r.Daily, r.Real, r.Checkpoints, mb(r.Project), mb(r.Last))
	for _, m := range r.Months {
		line(fmt.Sprintf("day %d: %d of %d checkpoints kept", m.Day, m.Kept, m.Made), mb(m.Disk), "", true)
	}
	for _, p := range r.Parts {
		fmt.Fprintf(w, "  %s: %d entries\t%s\t\t\n", p.Name, p.Entries, mb(p.Bytes))
	}
	share := 100 * float64(r.history()) / float64(r.Project)
	limit := ""
	if r.Days <= monthDays {
		limit = fmt.Sprintf("%.0f %%", mostMonth)
	}
	line(fmt.Sprintf("after %d days: history beside the state, of the project", r.Days), fmt.Sprintf("%s, %.1f %%", mb(r.history()), share), limit, share <= mostMonth)
}
