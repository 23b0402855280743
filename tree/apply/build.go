package apply

import (
	"errors"
	"runtime"
	"sync"

	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/tree"
)

// newDir is a directory that is not in the tree yet. It is built in the stage with all its contents, under final names
// and with final permissions. A rename brings the topmost one, a top, into the tree. A file in it is written once and
// never renamed. Until that rename nothing of it has been in the tree, so what an interrupted run leaves of it is
// removed without a look.
type newDir struct {
	job        *job
	parent     *newDir // nil: a top, which is key.tmp in the stage
	files      []*job
	dirs       []*newDir
	dir        worktreefs.Dir // open while the directory is built
	incomplete int            // directories below that are not complete, and itself; under builder.mu
}

// buildLocation is where the directory is built: a directory and a name in it.
func (n *newDir) buildLocation() (worktreefs.Dir, string) {
	if n.parent == nil {
		return n.job.stage.dir, n.job.key + sufTmp
	}
	_, name := tree.Split(n.job.Path)
	return n.parent.dir, name
}

// each calls fn for every step that comes with the directory.
func (n *newDir) each(fn func(*job)) {
	for _, j := range n.files {
		fn(j)
	}
	for _, d := range n.dirs {
		fn(d.job)
		d.each(fn)
	}
}

// groupNew puts the steps that come with a new directory into a.tops, and returns the others that place something new.
func (a *applier) groupNew() (alone []*job) {
	dirs := map[string]*newDir{}
	for _, j := range a.jobs {
		if j.state != jobPending || !j.placesNew() || j.newReady {
			continue
		}
		up, _ := tree.Split(j.Path)
		j.inside = dirs[up]
		switch {
		case j.New.Type == tree.TypeDir:
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

// builder writes new content into the stages. Its goroutines share one stack of what is to be done, so that open
// directories are about as many as the tree is deep.
type builder struct {
	a          *applier
	syncSingly bool // sync each file and directory by itself, open until then; else their file systems
	mu         sync.Mutex
	more       sync.Cond
	stack      []func() error
	busy       int
	err        error
	syncs      []syncer

	wrote   int64 // bytes since the file systems were last asked to write them
	writing bool  // a sync of the file systems is under way
	flush   sync.WaitGroup
}

// syncer is an open file or directory that was written to.
type syncer interface {
	Sync() error
	Close() error
}

// run does the tasks on the stack, and those that they push, with workers goroutines. The first error ends it.
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

// push puts tasks on the stack, the first on top.
func (b *builder) push(tasks ...func() error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := len(tasks) - 1; i >= 0; i-- {
		b.stack = append(b.stack, tasks[i])
	}
	b.more.Broadcast()
}

// buildTogether is how many files are one task.
const buildTogether = 32

// writeSingles is the task that writes the content of steps that come with no new directory, as key.tmp.
func (b *builder) writeSingles(jobs []*job) func() error {
	return func() error {
		for _, j := range jobs {
			err := b.writeFile(j, j.stage.dir, j.key+sufTmp)
			if isNoLinks(j, err) {
				b.a.cannotHold(j, value.KeptNoLinks)
				continue
			}
			if err != nil {
				return stageError(j, err)
			}
		}
		return nil
	}
}

// stageError is err as an error of staging a step.
func stageError(j *job, err error) error {
	return &value.OpError{Op: "stage", Subject: quotePath(j.Path), Err: err}
}

// makeDir makes a directory, writable until it is complete, writes its files, and pushes the making of those below.
func (b *builder) makeDir(n *newDir) error {
	defer b.a.advance()
	at, name := n.buildLocation()
	err := at.Mkdir(name, n.job.perm|0o700)
	if n.parent != nil && isNameError(at, err) {
		if b.a.conflictLocked(n.job, "its name means another entry on this file system"); !errors.Is(err, worktreefs.ErrExist) {
			n.job.cannot = value.KeptNoName
		}
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
	n.job.acceptPerm(n.job.perm|0o700, n.job.staged.Perm)
	n.incomplete = 1 + len(n.dirs)
	var tasks []func() error
	for _, sub := range n.dirs {
		tasks = append(tasks, func() error { return b.makeDir(sub) })
	}
	b.push(tasks...)
	for _, j := range n.files {
		_, name := tree.Split(j.Path)
		err := b.writeFile(j, n.dir, name)
		switch {
		case isNoLinks(j, err):
			b.a.cannotHold(j, value.KeptNoLinks)
		case errors.Is(err, worktreefs.ErrExist):
			b.a.conflictLocked(j, "something else took the name meanwhile")
		case isNameError(n.dir, err):
			b.a.cannotHold(j, value.KeptNoName)
		case err != nil:
			return stageError(j, err)
		}
	}
	return b.complete(n)
}

// isNameError reports whether err, of giving something a name in the directory at, is about that name alone: it is
// taken, on a file system that folds names, or it cannot exist there. Some file systems say of a name that cannot be
// that there is none.
func isNameError(at worktreefs.Dir, err error) bool {
	if errors.Is(err, worktreefs.ErrExist) || errors.Is(err, worktreefs.ErrBadName) {
		return true
	}
	if !errors.Is(err, worktreefs.ErrNotExist) {
		return false
	}
	st, serr := at.Stat()
	return serr == nil && st.Nlink > 0 // the directory itself is there
}

// isNoLinks reports whether a step's symbolic link could not be made since the file system has none.
func isNoLinks(j *job, err error) bool {
	return j.New.Type == tree.TypeSymlink && errors.Is(err, worktreefs.ErrUnsupported)
}

// complete counts down what a directory waits for: itself and those below. At the last it gets its permissions and is
// closed. A top stays writable, since it could not be moved otherwise.
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

// writeFile writes a file or link with its permissions and what it inherits.
func (b *builder) writeFile(j *job, at worktreefs.Dir, name string) (err error) {
	defer b.a.advance()
	r, err := b.a.Open(j.New.ID)
	if err != nil {
		return err
	}
	defer r.Close()
	if j.New.Type == tree.TypeSymlink {
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
	if err == nil {
		j.acceptPerm(j.perm, j.staged.Perm)
	}
	if err == nil && b.syncSingly {
		w.WriteOut()
		b.syncs = append(b.syncs, w)
		return nil
	}
	b.writeOut(j.New.Size)
	return errors.Join(err, w.Close())
}

// writeOut starts a sync of the file systems when enough was written, so that the last one has little to wait for. size
// is in bytes.
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
			b.err = err // of the background sync; the first error counts
		}
	})
}

// build writes all new content into the stages, durably: that of alone as key.tmp, the rest in new directories.
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

// close closes the directories that an error has left open.
func (n *newDir) close() {
	if n.dir != nil {
		n.dir.Close()
		n.dir = nil
	}
	for _, sub := range n.dirs {
		sub.close()
	}
}

// atOnce calls fn for 0 to n-1, each in a goroutine: a file system's journal commits together what waits together.
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
