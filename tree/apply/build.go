package apply

import (
	"errors"
	"runtime"
	"sync"

	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/tree"
)

// newDir is a directory that is not in the tree yet. It is built in the stage with all that comes into it, under its final names and with
// final permissions, and a rename brings the topmost one into the tree: a file in it is written once and never renamed. Until that
// rename, nothing of it has been in the tree, so what an interrupted run leaves of it is dropped unseen.
type newDir struct {
	job        *job
	parent     *newDir // nil: a top, which lies in the stage as key.tmp
	files      []*job
	dirs       []*newDir
	dir        worktreefs.Dir // while things are built in it
	incomplete int            // directories in it that are not complete, itself included; under builder.mu
}

// buildLocation is where a step's new content is built.
func (n *newDir) buildLocation() (worktreefs.Dir, string) {
	if n.parent == nil {
		return n.job.stage.dir, n.job.key + sufTmp
	}
	_, name := tree.Split(n.job.Path)
	return n.parent.dir, name
}

// each calls fn for every step whose path is below the directory and that comes with it.
func (n *newDir) each(fn func(*job)) {
	for _, j := range n.files {
		fn(j)
	}
	for _, d := range n.dirs {
		fn(d.job)
		d.each(fn)
	}
}

// groupNew tells the steps whose content comes with a new directory from those that come by themselves, which it returns.
func (a *applier) groupNew() (alone []*job) {
	dirs := map[string]*newDir{}
	for _, j := range a.jobs {
		if j.state != jobPending || !j.placesNew() || j.newReady {
			continue
		}
		up, _ := tree.Split(j.Path)
		j.inside = dirs[up]
		switch {
		case j.To.Type == tree.TypeDir:
			n := &newDir{job: j, parent: j.inside}
			dirs[j.Path] = n
			if n.parent == nil {
				a.tops = append(a.tops, n)
			} else {
				n.parent.dirs = append(n.parent.dirs, n)
			}
		case j.inside != nil:
			j.inside.files = append(j.inside.files, j)
		default:
			alone = append(alone, j)
		}
	}
	return alone
}

// builder writes new content into the stages. Its goroutines share one stack of what is to be done, so that open directories are
// about as many as the tree is deep.
type builder struct {
	a          *applier
	syncSingly bool // every file and directory is synced by itself, and stays open until then
	mu         sync.Mutex
	more       sync.Cond
	stack      []func() error
	busy       int
	err        error
	syncs      []syncer

	wrote   int64 // bytes since the file systems were last asked to write them
	writing bool  // they are being asked
	flush   sync.WaitGroup
}

// syncer is an open file or directory that was written to.
type syncer interface {
	Sync() error
	Close() error
}

// run does all that is on the stack and all that comes onto it, with some goroutines; the first error ends it.
func (b *builder) run(workers int) error {
	b.more.L = &b.mu
	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Go(b.work)
	}
	b.work()
	wg.Wait()
	b.flush.Wait()
	return b.err
}

func (b *builder) work() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		for len(b.stack) == 0 && b.busy > 0 {
			b.more.Wait()
		}
		if len(b.stack) == 0 {
			return
		}
		task := b.stack[len(b.stack)-1]
		b.stack = b.stack[:len(b.stack)-1]
		b.busy++
		stop := b.err != nil
		b.mu.Unlock()
		var err error
		if !stop {
			err = b.a.ctx.Err()
		}
		if !stop && err == nil {
			err = task()
		}
		b.mu.Lock()
		b.busy--
		if b.err == nil {
			b.err = err
		}
		b.more.Broadcast()
	}
}

// push puts tasks onto the stack, the first on top.
func (b *builder) push(tasks ...func() error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := len(tasks) - 1; i >= 0; i-- {
		b.stack = append(b.stack, tasks[i])
	}
	b.more.Broadcast()
}

// buildTogether is how many files a goroutine takes at once.
const buildTogether = 32

// writeSingles writes the content of steps that come by themselves, as key.tmp.
func (b *builder) writeSingles(jobs []*job) func() error {
	return func() error {
		for _, j := range jobs {
			if err := b.writeFile(j, j.stage.dir, j.key+sufTmp); err != nil {
				return stageError(j, err)
			}
		}
		return nil
	}
}

func stageError(j *job, err error) error {
	return &value.OpError{Op: "stage", Subject: quotePath(j.Path), Err: err}
}

// makeDir makes a directory, wide enough to be filled, and has it filled.
func (b *builder) makeDir(n *newDir) error {
	defer b.a.advance()
	at, name := n.buildLocation()
	err := at.Mkdir(name, n.job.perm|0o700)
	if n.parent != nil && isNameError(err) {
		b.a.conflictLocked(n.job, "its name means another entry on this file system")
		n.each(func(j *job) {
			b.a.conflictLocked(j, "its directory "+quotePath(n.job.Path)+" has the name of another entry on this file system")
		})
		return b.complete(n.parent)
	}
	if err == nil {
		n.dir, err = at.OpenDir(name)
	}
	if err == nil {
		err = b.a.adoptGroup(n)
	}
	if err == nil {
		n.job.staged, err = n.dir.Stat()
	}
	if err != nil {
		return stageError(n.job, err)
	}
	n.incomplete = 1 + len(n.dirs)
	var tasks []func() error
	for _, sub := range n.dirs {
		tasks = append(tasks, func() error { return b.makeDir(sub) })
	}
	b.push(tasks...)
	for _, j := range n.files {
		_, name := tree.Split(j.Path)
		err := b.writeFile(j, n.dir, name)
		if isNameError(err) {
			b.a.conflictLocked(j, "something else took the name meanwhile")
			continue
		}
		if err != nil {
			return stageError(j, err)
		}
	}
	return b.complete(n)
}

// isNameError: the error is about the name alone: taken on a file system that folds names, or none that it can have.
func isNameError(err error) bool {
	return errors.Is(err, worktreefs.ErrExist) || errors.Is(err, worktreefs.ErrBadName)
}

// complete notes that one of the things in a directory is; after the last one the directory gets its permissions and is closed. A top stays
// wide: it could not be moved otherwise.
func (b *builder) complete(n *newDir) error {
	for ; n != nil; n = n.parent {
		b.mu.Lock()
		n.incomplete--
		left := n.incomplete
		b.mu.Unlock()
		if left > 0 {
			return nil
		}
		d := n.dir
		if perm := n.job.perm; n.parent != nil && perm&0o700 != 0o700 {
			at, name := n.buildLocation()
			if err := at.Chmod(name, perm); err != nil {
				return stageError(n.job, errors.Join(err, d.Close()))
			}
		}
		n.dir = nil
		if b.syncSingly {
			b.syncs = append(b.syncs, d)
		} else if err := d.Close(); err != nil {
			return stageError(n.job, err)
		}
	}
	return nil
}

// writeFile writes a file or link with its permissions.
func (b *builder) writeFile(j *job, at worktreefs.Dir, name string) (err error) {
	defer b.a.advance()
	r, err := b.a.Open(j.To.ID)
	if err != nil {
		return err
	}
	defer r.Close()
	if j.To.Type == tree.TypeSymlink {
		return writeSymlink(j, r, at, name)
	}
	w, err := at.CreateFile(name, 0o600)
	if err != nil {
		return err
	}
	if err = writeContent(j, r, w); err == nil {
		j.staged, err = w.Stat()
	}
	if err == nil {
		err = b.a.setInherited(j, w)
	}
	if err == nil && b.syncSingly {
		w.WriteOut()
		b.syncs = append(b.syncs, w)
		return nil
	}
	b.writeOut(j.To.Size)
	return errors.Join(err, w.Close())
}

// writeOut has the disk write while files are made, so that the sync at the end has little left to wait for.
func (b *builder) writeOut(size int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wrote += size
	if b.wrote < flushEach || b.writing {
		return
	}
	b.wrote, b.writing = 0, true
	b.flush.Go(func() {
		err := b.a.syncStages()
		b.mu.Lock()
		defer b.mu.Unlock()
		b.writing = false
		if b.err == nil {
			b.err = err // it is told once
		}
	})
}

// build writes all new content into the stages, durably: alone is what comes by itself, as key.tmp, and the rest comes with new
// directories.
func (a *applier) build(alone []*job) (err error) {
	count := len(alone)
	for _, n := range a.tops {
		count++
		n.each(func(*job) { count++ })
	}
	a.begin("writing", count)
	b := &builder{a: a, syncSingly: count <= syncEach}
	defer func() {
		for _, s := range b.syncs {
			err = errors.Join(err, s.Close())
		}
		for _, n := range a.tops {
			n.close()
		}
	}()
	var tasks []func() error
	for from := 0; from < len(alone); from += buildTogether {
		tasks = append(tasks, b.writeSingles(alone[from:min(from+buildTogether, len(alone))]))
	}
	for _, n := range a.tops {
		tasks = append(tasks, func() error { return b.makeDir(n) })
	}
	b.push(tasks...)
	workers := 1
	if !b.syncSingly {
		workers = runtime.GOMAXPROCS(0)
	}
	if err := b.run(workers); err != nil {
		return err
	}
	a.begin("waiting for the disk", 0)
	if !b.syncSingly {
		return a.syncStages()
	}
	return atOnce(len(b.syncs), func(i int) error { return b.syncs[i].Sync() })
}

// close closes what an error has left open.
func (n *newDir) close() {
	if n.dir != nil {
		n.dir.Close()
		n.dir = nil
	}
	for _, sub := range n.dirs {
		sub.close()
	}
}

// atOnce calls fn for 0 to n-1, each in a goroutine of its own: a journal of the file system commits what waits for it together.
func atOnce(n int, fn func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = fn(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// conflictLocked is conflict for the goroutines of a builder.
func (a *applier) conflictLocked(j *job, reason string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.conflict(j, reason)
}
