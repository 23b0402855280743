package bisect

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/tree"
)

// toucher looks for what a command has changed of what was laid out, by what the system says of each path: a later
// ctime than that of what was laid out, which no program can set.
type toucher struct {
	ctx  context.Context //nolint:containedctx // of one search, which makes it
	get  objstore.Getter
	at   laid
	more chan struct{} // holds as many as may look at a directory besides
	wait sync.WaitGroup

	mu    sync.Mutex
	paths map[string]bool
	err   error
}

// touched are the topmost paths of what was laid out that are not as they were. What came besides is not looked for.
func (b *Bisector) touched(ctx context.Context, in worktreefs.Dir, at laid) (map[string]bool, error) {
	t := &toucher{ctx: ctx, get: b.log.Objs, at: at, more: make(chan struct{}, runtime.GOMAXPROCS(0)-1), paths: map[string]bool{}}
	t.dir(in, at.Tree, "")
	t.wait.Wait()
	return t.paths, t.err
}

func (t *toucher) add(path string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.paths[path] = true
}

func (t *toucher) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err = errors.Join(t.err, err)
}

// dir looks at what a directory should hold.
func (t *toucher) dir(d worktreefs.Dir, id objstore.ID, path string) {
	entries, err := tree.List(t.get, id)
	if err == nil {
		err = t.ctx.Err()
	}
	if err != nil {
		t.fail(err)
		return
	}
	for i := range entries {
		e := &entries[i]
		at := tree.Join(path, e.Name)
		st, err := d.Lstat(e.Name)
		switch {
		case err != nil && !worktreefs.IsLocal(err):
			t.fail(err)
			return
		case err != nil || !t.same(e, st):
			t.add(at)
		case e.Type == tree.TypeDir:
			t.below(d, e, at)
		}
	}
}

// same reports whether what is there is what was laid out, as far as that can be told without what is below it.
func (t *toucher) same(e *tree.Entry, st worktreefs.Stat) bool {
	switch e.Type {
	case tree.TypeDir:
		return st.Type == worktreefs.TypeDir && st.Perm&0o777 == e.Perm&0o777
	case tree.TypeSymlink:
		return st.Type == worktreefs.TypeSymlink && st.Ctime < t.at.Since
	}
	return st.Type == worktreefs.TypeFile && st.Ctime < t.at.Since && st.Size == e.Size
}

// below looks into a directory, beside others where there is room.
func (t *toucher) below(d worktreefs.Dir, e *tree.Entry, path string) {
	in, err := d.OpenDir(e.Name)
	if err != nil {
		t.add(path)
		return
	}
	look := func() {
		defer in.Close()
		t.dir(in, e.ID, path)
	}
	select {
	case t.more <- struct{}{}:
		t.wait.Go(func() {
			defer func() { <-t.more }()
			look()
		})
	default:
		look()
	}
}
