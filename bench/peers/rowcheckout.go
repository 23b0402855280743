package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"rewind/bench/workload"
)

// changedFiles is what two states differ in that a checkout goes between.
const changedFiles = 10

// A swing is two states of a tree that are gone to and fro between, each by its id and its files that differ.
type swing struct {
	ids    [2]string
	states [2][]workload.Edit
}

// newSwing edits files in tree, as in the run's own, and has ids keep the state before and after.
func newSwing(h *hookRun, tree string, ids func() (string, error)) (*swing, error) {
	s := &swing{}
	var err error
	if s.ids[0], err = ids(); err != nil {
		return nil, err
	}
	for range min(changedFiles, len(h.files)) {
		path := h.files[h.edited%len(h.files)]
		before, err := os.ReadFile(filepath.Join(tree, filepath.FromSlash(path)))
		if err != nil {
			return nil, err
		}
		after, err := h.edit()
		if err == nil && tree != h.tree {
			err = workload.Write(tree, after)
		}
		if err != nil {
			return nil, err
		}
		s.states[0], s.states[1] = append(s.states[0], workload.Edit{Path: path, Data: before}), append(s.states[1], after)
	}
	s.ids[1], err = ids()
	return s, err
}

// check compares the files that differ.
func (s *swing) check(tree string, at int) error {
	for _, ed := range s.states[at] {
		b, err := os.ReadFile(filepath.Join(tree, filepath.FromSlash(ed.Path)))
		if err != nil {
			return err
		}
		if string(b) != string(ed.Data) {
			return fmt.Errorf("%s is not as it was", ed.Path)
		}
	}
	return nil
}

// checkout goes to a checkpoint at the shell.
func (w *world) checkout(ctx context.Context, id string, more ...string) (sample, error) {
	s, out, err := w.do(ctx, append([]string{"checkout", id, "--code-only"}, more...)...)
	var a answer
	if err == nil {
		err = json.Unmarshal([]byte(out), &a)
	}
	if err == nil && a.Partial {
		err = fmt.Errorf("rewind checkout %s: partial", id)
	}
	return s, err
}

// checkoutRows go to and fro between two states of large trees.
func (t *table) checkoutRows(ctx context.Context) error {
	for _, s := range t.big() {
		if err := t.checkoutOf(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s.at(), err)
		}
	}
	return nil
}

func (t *table) checkoutOf(ctx context.Context, s *site) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	t.say("checkout: %s", s.at())
	w, inGit := s.rewind.world, [2]string{}
	n := 0
	sw, err := newSwing(s.hookRun, w.tree, func() (id string, err error) {
		if err := t.settled(ctx); err != nil {
			return "", err
		}
		if s.git != nil {
			if inGit[n], _, err = s.git.save(ctx); err != nil {
				return "", err
			}
			n++
		}
		return w.save(ctx)
	})
	if err != nil {
		return err
	}
	var mine, shadow []float64
	for round := range t.opt.checkouts {
		to := round % 2
		own := func() error {
			took, err := w.checkout(ctx, sw.ids[to])
			mine = append(mine, ms(took.Wall))
			return errors.Join(err, sw.check(w.tree, to))
		}
		git := func() error {
			if s.git == nil {
				return nil
			}
			took, err := s.git.restore(ctx, inGit[to])
			shadow = append(shadow, ms(took.Wall))
			return errors.Join(err, sw.check(s.tree, to))
		}
		if err := turns(ctx, round, own, git); err != nil {
			return err
		}
	}
	// Beside the files that differ nothing has changed, in either tree.
	if err := s.align(ctx, sw, (t.opt.checkouts-1)%2); err != nil {
		return err
	}
	at := fmt.Sprintf("%d of %s", len(sw.states[0]), s.at())
	t.add("checkout", "checkout of some files", at, inMillis, mine, "", nil, under(25, inMillis, ""))
	if s.git != nil {
		t.add("checkout", "checkout of some files", at, inMillis, mine, "git read-tree -u --reset", shadow, lessBy(10))
	}
	return nil
}

// align makes sure that both trees of a site are the same to the byte, and the same as the state at which they should be.
func (s *site) align(ctx context.Context, sw *swing, at int) error {
	for _, ed := range sw.states[at] {
		if s.git == nil {
			if err := workload.Write(s.tree, ed); err != nil {
				return err
			}
		}
	}
	want, err := workload.HashTree(ctx, s.tree)
	if err != nil {
		return err
	}
	return workload.SameTree(ctx, s.rewind.tree, want)
}

// treeRow lays out a whole tree where nothing is.
func (t *table) treeRow(ctx context.Context) error {
	s := t.middle()
	if err := s.begin(ctx); err != nil {
		return err
	}
	w := s.rewind.world
	if err := t.settled(ctx); err != nil {
		return err
	}
	full, err := w.save(ctx)
	if err != nil {
		return err
	}
	want, err := workload.HashTree(ctx, w.tree)
	if err != nil {
		return err
	}
	if s.git != nil {
		if _, _, err := s.git.save(ctx); err != nil {
			return err
		}
	}
	var mine, shadow []float64
	for round := range t.opt.trees {
		t.say("checkout of a whole tree %d of %d", round+1, t.opt.trees)
		own := func() error {
			if err := empty(w.tree); err != nil {
				return err
			}
			if _, err := w.save(ctx); err != nil {
				return err
			}
			flushDisk()
			took, err := w.checkout(ctx, full)
			mine = append(mine, ms(took.Wall))
			return errors.Join(err, workload.SameTree(ctx, w.tree, want))
		}
		git := func() error {
			if s.git == nil {
				return nil
			}
			if err := empty(s.tree); err != nil {
				return err
			}
			flushDisk()
			took, _, err := s.git.command().all(ctx, s.git.git(s.git.dir, "checkout-index", "-a"), syncOf(s.tree))
			shadow = append(shadow, ms(took.Wall))
			return errors.Join(err, workload.SameTree(ctx, s.tree, want))
		}
		if err := turns(ctx, round, own, git); err != nil {
			return err
		}
	}
	r := within(1)
	t.add("tree", "checkout of a whole tree", s.at()+", "+inBytes.format(float64(s.stats.Bytes)), inMillis, mine, "git checkout-index -a; sync -f", shadow, r)
	return nil
}

// syncOf waits until what was written to a file system is on its disk, as rewind does before it says that it is done.
func syncOf(dir string) []string {
	if runtime.GOOS == "linux" {
		return []string{"sync", "-f", dir}
	}
	return []string{"sync"}
}
