package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"

	"rewind/bench/workload"
)

// A bench is one run.
type bench struct {
	opt     options
	dir     string // scratch: everything that is written lies here
	tree    string
	corpus  string
	env     []string
	machine machine
	stats   workload.Stats
	editor  *workload.Editor
	exec    map[string]bool // of every file
	peers   []peer
	say     func(format string, a ...any)
	result  []*result // of the peers, in their order

	rewind, client string // what is measured: the program, and what agents' hooks call
	echoing        string // the daemon that does nothing
	hookRuns       []*hookRun
	tables         *table
	growths        *growth
	out            io.Writer // of the report
}

// A result is what one peer did.
type result struct {
	Name    string                   `json:"name"`
	What    string                   `json:"what"`
	First   []sample                 `json:"first"`
	Save    []sample                 `json:"checkpoint"`
	Restore []sample                 `json:"restore"`
	Right   int                      `json:"restored_right"` // restores after which every byte was as it had been
	Disk    map[string]workload.Disk `json:"disk_bytes"`
	Failure string                   `json:"failure,omitempty"`
	ids     []string
}

// The moments at which a store is measured.
const (
	diskFirst     = "first"      // after the first snapshot, as it lies
	diskFirstTidy = "first_tidy" // the same after gc or compaction
	diskLast      = "last"       // after the last checkpoint, as it lies
	diskLastTidy  = "last_tidy"
)

func (b *bench) command() command {
	return command{dir: b.tree, env: b.env, out: filepath.Join(b.dir, "output")}
}

// makeRepo makes the tree a repository of the user's with one commit.
func (b *bench) makeRepo(ctx context.Context) error {
	_, _, err := b.command().all(ctx, []string{"git", "init", "-q"}, []string{"git", "config", "gc.auto", "0"},
		[]string{"git", "add", "-A"}, []string{"git", "commit", "-q", "-m", "all"}, []string{"git", "gc", "-q"})
	return err
}

// turn calls fn for every peer that has not failed, beginning with another one every round. Before each, everything that
// is not on disk yet is written: nobody pays for another's bytes.
func (b *bench) turn(ctx context.Context, round int, fn func(peer, *result) error) error {
	for i := range b.peers {
		j := (i + round) % len(b.peers)
		r := b.result[j]
		if r.Failure != "" {
			continue
		}
		flushDisk()
		err := fn(b.peers[j], r)
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		if err != nil {
			r.Failure = err.Error()
			b.say("%s: %v", r.Name, err)
		}
	}
	return nil
}

func (b *bench) measure(ctx context.Context) error {
	for _, p := range b.peers {
		b.result = append(b.result, &result{Name: p.name(), What: p.what(), Disk: map[string]workload.Disk{}})
	}
	for round := range b.opt.first {
		b.say("first snapshot %d of %d", round+1, b.opt.first)
		err := b.turn(ctx, round, func(p peer, r *result) error {
			if err := p.forget(); err != nil {
				return err
			}
			flushDisk()
			s, err := p.first(ctx)
			r.First = append(r.First, s)
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := b.disks(ctx, diskFirst, diskFirstTidy); err != nil {
		return err
	}
	states, err := b.saves(ctx)
	if err != nil {
		return err
	}
	if err := b.disks(ctx, diskLast, diskLastTidy); err != nil {
		return err
	}
	return b.restores(ctx, states)
}

// disks measures every store as it lies, and a copy of it after gc or compaction.
func (b *bench) disks(ctx context.Context, asItLies, tidied string) error {
	b.say("measuring the stores")
	return b.turn(ctx, 0, func(p peer, r *result) (err error) {
		if p.store() == "" {
			return nil
		}
		r.Disk[asItLies], r.Disk[tidied], err = stores(ctx, p, b.dir)
		return err
	})
}

// stores measures a store as it lies, and a copy of it after gc or compaction.
func stores(ctx context.Context, p peer, scratch string) (asItLies, tidied workload.Disk, err error) {
	if asItLies, err = workload.DiskOf(p.store(), nil); err != nil {
		return asItLies, tidied, err
	}
	copied := filepath.Join(scratch, "copy")
	defer func() { err = errors.Join(err, os.RemoveAll(copied)) }()
	if err = os.CopyFS(copied, os.DirFS(p.store())); err == nil {
		err = p.tidy(ctx, copied)
	}
	if err == nil {
		tidied, err = workload.DiskOf(copied, nil)
	}
	return asItLies, tidied, err
}

// A state is what the tree was after an edit.
type state struct {
	sums  map[string]workload.Digest
	edits map[string]workload.Edit // all files that differ from the corpus
}

// saves edits and lets every peer take its checkpoint of the same tree.
func (b *bench) saves(ctx context.Context) ([]state, error) {
	sums, err := workload.HashTree(ctx, b.tree)
	if err != nil {
		return nil, err
	}
	edits := map[string]workload.Edit{}
	var states []state
	for round := range b.opt.n {
		ed, err := b.editor.Next()
		if err != nil {
			return nil, err
		}
		sums, edits = maps.Clone(sums), maps.Clone(edits)
		sums[ed.Path] = workload.Hash(workload.File{Exec: b.exec[ed.Path]}, ed.Data)
		edits[ed.Path] = ed
		states = append(states, state{sums, edits})
		err = b.turn(ctx, round, func(p peer, r *result) error {
			id, s, err := p.save(ctx)
			r.Save, r.ids = append(r.Save, s), append(r.ids, id)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return states, nil
}

// restores lets every peer give an earlier state back, and compares the whole tree with what it was. Afterwards the tree
// is brought to the last state again and the peer takes a checkpoint of it, untimed, so that each begins at rest.
func (b *bench) restores(ctx context.Context, states []state) error {
	last := states[len(states)-1]
	for round := range b.opt.restores {
		at := round * max(1, len(states)/2) / max(1, b.opt.restores) // of the older half
		err := b.turn(ctx, round, func(p peer, r *result) error {
			if _, _, err := p.save(ctx); err != nil {
				return err
			}
			flushDisk()
			s, err := p.restore(ctx, r.ids[at])
			if err == nil {
				r.Restore = append(r.Restore, s)
				var right bool
				if right, err = b.is(ctx, states[at]); right {
					r.Right++
				}
			}
			for _, ed := range last.edits {
				err = errors.Join(err, workload.Write(b.tree, ed))
			}
			return err
		})
		if err != nil {
			return err
		}
		if same, err := b.is(ctx, last); err != nil || !same {
			return errors.Join(err, errors.New("a restore left something else than it should: the run is void"))
		}
	}
	return nil
}

// is reads the whole tree and compares it with a state.
func (b *bench) is(ctx context.Context, s state) (bool, error) {
	sums, err := workload.HashTree(ctx, b.tree)
	return err == nil && maps.Equal(sums, s.sums), err
}

// failed tells what makes the run a failure.
func (b *bench) failed() error {
	var errs []error
	for i, r := range b.result {
		if r.Failure != "" {
			errs = append(errs, fmt.Errorf("%s: %s", r.Name, r.Failure))
		}
		if b.peers[i].store() != "" && r.Right < len(r.Restore) {
			errs = append(errs, fmt.Errorf("%s: %d of %d restores were not byte for byte right", r.Name, len(r.Restore)-r.Right, len(r.Restore)))
		}
	}
	for _, h := range b.hookRuns {
		errs = append(errs, h.failed())
	}
	if b.tables != nil {
		errs = append(errs, b.tables.failed())
	}
	return errors.Join(errs...)
}
