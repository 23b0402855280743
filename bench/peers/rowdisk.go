package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"rewind/api"
	"rewind/bench/workload"
)

// editRows are what a checkpoint of a one-line edit costs on disk: of a file of 100 KiB three folders deep, again and again.
func (t *table) editRows(ctx context.Context) error {
	var file string
	h := t.newHookRun("edits", 0, func(_ context.Context, dir string) (err error) {
		file, err = workload.BigFile(dir, 1)
		return err
	})
	defer os.RemoveAll(h.dir)
	w := newWorld(h, "rewind")
	defer func() { _ = w.stop() }()
	if err := w.start(ctx); err != nil {
		return err
	}
	own := &rewindPeer{bench: t.bench, home: w.home}
	inner := *t.bench
	inner.tree, inner.dir = w.tree, h.dir
	git := &gitPeer{bench: &inner, label: "git", commit: true, conf: quietGit(), dir: filepath.Join(h.dir, "git")}
	hasGit := t.has("git")
	if hasGit {
		if _, err := git.first(ctx); err != nil {
			return err
		}
	}
	measure := func() (d diskPair, err error) {
		if err := w.end(ctx); err != nil {
			return d, err
		}
		if d.mine, d.mineTidy, err = stores(ctx, own, h.dir); err == nil && hasGit {
			d.git, d.gitTidy, err = stores(ctx, git, h.dir)
		}
		return d, err
	}
	before, err := measure()
	if err != nil {
		return err
	}
	kept, err := t.edits(ctx, w, git, file, hasGit)
	if err != nil {
		return err
	}
	after, err := measure()
	if err != nil {
		return err
	}
	if err := t.editsRight(ctx, w, git, kept, hasGit); err != nil {
		return err
	}
	n := float64(t.opt.edits)
	grown := func(a, b workload.Disk) []float64 { return []float64{float64(b.Sub(a).Blocks) / n} }
	mine, at := grown(before.mineTidy, after.mineTidy), "mean of "+thousands(t.opt.edits)
	t.add("edits", "disk, a one-line edit", at, inBytes, mine, "", nil, under(600, inBytes, ""))
	if hasGit {
		t.add("edits", "disk, a one-line edit", at, inBytes, mine, "shadow git as it lies", grown(before.git, after.git), lessBy(30))
		t.add("edits", "disk, a one-line edit", at, inBytes, mine, "shadow git after git gc", grown(before.gitTidy, after.gitTidy), within(1))
	}
	t.add("edits", "disk, an edit, as it lies", at, inBytes, grown(before.mine, after.mine), "", nil, nothing)
	return nil
}

// A diskPair is both stores at one moment, as they lie and tidied.
type diskPair struct{ mine, mineTidy, git, gitTidy workload.Disk }

// A keptEdit is a state that both have a name of.
type keptEdit struct {
	id, inGit string
	ed        workload.Edit
}

// edits makes the edits, and the checkpoint of both after each. It gives some of them.
func (t *table) edits(ctx context.Context, w *world, git *gitPeer, file string, hasGit bool) (kept []keptEdit, err error) {
	editor, err := workload.NewEditor(w.tree, []string{file}, 1)
	if err != nil {
		return nil, err
	}
	for i := range t.opt.edits {
		if i%200 == 0 {
			t.say("edits: %d of %d", i+1, t.opt.edits)
		}
		k := keptEdit{}
		if k.ed, err = editor.Next(); err != nil {
			return nil, err
		}
		if k.id, err = w.save(ctx); err != nil {
			return nil, err
		}
		if hasGit {
			if k.inGit, _, err = git.save(ctx); err != nil {
				return nil, err
			}
		}
		if i%max(1, t.opt.edits/5) == 0 {
			kept = append(kept, k)
		}
	}
	return kept, nil
}

// editsRight makes sure that there is a checkpoint for every edit, and that those that were kept can be read.
func (t *table) editsRight(ctx context.Context, w *world, git *gitPeer, kept []keptEdit, hasGit bool) error {
	var list api.ListResponse
	if err := w.ask(ctx, &list, "list", "--all", "--limit", "0"); err != nil {
		return err
	}
	if n := len(list.Checkpoints); n != t.opt.edits+1 {
		return fmt.Errorf("%d edits led to %d checkpoints", t.opt.edits, n-1)
	}
	if hasGit {
		_, out, err := git.command().run(ctx, git.git(git.dir, "rev-list", "--count", "HEAD")...)
		if n, _ := strconv.Atoi(strings.TrimSpace(out)); err != nil || n != t.opt.edits+1 {
			return errors.Join(err, fmt.Errorf("%d edits led to %d commits", t.opt.edits, n-1))
		}
	}
	for _, k := range kept {
		_, out, err := w.command().run(ctx, w.rewind, "cat", k.id+":"+k.ed.Path)
		if err != nil || !bytes.Equal([]byte(out), k.ed.Data) {
			return errors.Join(err, fmt.Errorf("checkpoint %s has another %s", k.id, k.ed.Path))
		}
	}
	return nil
}
