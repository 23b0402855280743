package snapshot

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/tree"
	"rewind/tree/ignore"
)

// scan is a running snapshot. Directories are tasks on a stack that workers take from, so the tree is walked depth
// first by several at once, and there are about as many open handles and unfinished directories as the tree is deep.
type scan struct {
	Source
	ctx     context.Context
	start   int64 // ns since 1970, for stamps: see reliable
	matches bool  // the objects that the cache names are stored
	has     func(objstore.Kind, objstore.ID) (bool, error)
	refuses refuser // nil: the store takes everything
	count   counters
	root    *baseDir // the finished tree

	base  *baseline   // taken over where nothing was reported; nil: nothing is
	sight *sight      // nil: no watcher
	prior *baseline   // the last snapshot, also without a watcher; nil: of no use
	keeps bool        // the next snapshot without a watcher uses this one as prior
	dev   uint64      // of the root
	skips []tree.Skip // the note

	watched bool // the next snapshot can rely on this one

	mu      sync.Mutex // guards all below
	wake    sync.Cond
	stack   []task
	running int  // tasks on the stack or being done
	helped  bool // the other workers have been started
	helpers sync.WaitGroup
	err     error
	dirs    map[string]*cacheDir // for the cache
	gone    []string             // directories that leave the cache
	again   dirtySet             // names that the next snapshot looks at again
	racy    dirtySet             // names that were read while their stamp proved nothing

	progress     sync.Mutex
	nextProgress time.Time
}

// task lists the directory n, or reads some of its files.
type task struct {
	n    *node
	read []miss
}

// node is one directory during a scan.
type node struct {
	parent *node // nil: the root
	name   string
	path   string
	depth  int
	rules  *ignore.Dir
	only   bool // inside an ignored directory: only tracked and forced paths are taken
	whole  bool // forced: everything is taken

	dir       worktreefs.Dir // open while users > 0
	users     atomic.Int32   // the listing, children not yet opened, tasks that read
	perm      uint16
	id        fileID
	old       *cacheDir   // the directory in the cache; nil: none
	known     []cached    // the files of old; set when the directory is opened
	base      *baseDir    // the directory in the last snapshot, if the watcher vouches for it; else nil
	todo      *todo       // set with base
	prior     *baseDir    // the directory in scan.prior, if the same rules decided; else nil
	above     *ignore.Dir // the rules without the ignore files in it
	ruled     uint8       // bits: which of RuleFiles are in it
	stamp     dirStamp
	unchanged bool // nothing but directories below can have changed; set before those begin
	foreign   bool // git's, or another working tree: nothing below is captured; set before pending becomes less

	undecided atomic.Bool // a name that could be a companion is none by what is in it

	pending atomic.Int32 // the listing, children not finished, tasks that read
	absent  bool         // vanished, or could not be listed; set before pending becomes less

	mu      sync.Mutex // guards all below
	entries []tree.Entry
	files   []cached
	skips   []tree.Skip
	subs    []*baseDir
	fates   map[string]fate // of companions, by name

	prevOnce sync.Once
	prevDir  []tree.Entry
}

// miss is a file or symlink that must be read.
type miss struct {
	name, path string
	kind       byte // cachedFile, ...
	take       bool // tracked or forced: size limit and secret list do not count
	member     bool // of a database that has companions
	size       int64
}

func newScan(ctx context.Context, src Source) *scan {
	s := &scan{Source: src, ctx: ctx, start: src.now().UnixNano(), dirs: map[string]*cacheDir{}, again: dirtySet{}, racy: dirtySet{}}
	s.wake.L = &s.mu
	s.refuses, _ = src.Put.(refuser)
	s.matches = src.Cache != nil && !src.Prev.IsZero() && src.Cache.root == src.Prev
	if h, ok := src.Put.(interface {
		Has(objstore.Kind, objstore.ID) (bool, error)
	}); ok {
		s.has = h.Has
	}
	return s
}

func (s *scan) run() error {
	root := &node{rules: s.Rules, above: s.Rules, dir: s.Root, old: s.Cache.dir("")}
	if s.prior != nil && s.prior.root.untracked.above == s.Rules {
		root.prior = s.prior.root
	}
	if s.base != nil {
		root.base, root.todo = s.base.root, todoOf(s.base.again, s.sight.dirty, s.newlyNamed())
		if s.Hasty && s.base.racy.len() <= maxRacy {
			s.racy = s.base.racy.without(root.todo)
		} else {
			root.todo = todoOf(s.base.again, s.base.racy, s.sight.dirty, s.newlyNamed())
		}
		if root.todo.empty() {
			s.root, s.watched = s.base.root, true
			return nil
		}
	}
	root.whole = s.Force != nil && s.Force("")
	root.users.Store(2) // never closed: the root is the caller's
	root.pending.Store(1)
	s.push(task{n: root})
	s.work()
	s.helpers.Wait()
	s.end()
	if s.err == nil && s.Progress != nil {
		s.Progress(int(s.count.files.Load()), s.count.bytes.Load())
	}
	return s.err
}

// worthHelp is how many tasks must wait before other workers are started: a snapshot of few changes ends before one
// would be running.
const worthHelp = 4

func (s *scan) push(tasks ...task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stack = append(s.stack, tasks...)
	s.running += len(tasks)
	if !s.helped && len(s.stack) >= worthHelp {
		s.helped = true
		for range s.workers - 1 {
			s.helpers.Go(s.work)
		}
	}
	if len(tasks) == 1 {
		s.wake.Signal()
	} else {
		s.wake.Broadcast()
	}
}

func (s *scan) work() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		for len(s.stack) == 0 && s.running > 0 {
			s.wake.Wait()
		}
		if len(s.stack) == 0 {
			return
		}
		t := s.stack[len(s.stack)-1]
		s.stack[len(s.stack)-1] = task{}
		s.stack = s.stack[:len(s.stack)-1]
		s.mu.Unlock()
		s.do(t)
		s.mu.Lock()
		if s.running--; s.running == 0 {
			s.wake.Broadcast()
		}
	}
}

func (s *scan) do(t task) {
	if s.ctx.Err() != nil {
		s.fail(s.ctx.Err())
	}
	if t.read == nil {
		s.list(t.n)
	} else {
		for _, m := range t.read {
			if s.failed() {
				break
			}
			s.read(t.n, m)
		}
		s.release(t.n)
	}
	s.done(t.n)
	s.report()
}

// fail ends the snapshot with an error. The remaining tasks only release what they hold.
func (s *scan) fail(err error) {
	var store *storeError
	if errors.As(err, &store) {
		err = store.err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

func (s *scan) failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err != nil
}

// skip notes something about a directory or a name in it.
func (s *scan) skip(n *node, k tree.Skip) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.skips = append(n.skips, k)
}

// unsure has the next snapshot look at a name again, reported or not.
func (s *scan) unsure(n *node, name string, m dirtyKind) {
	if s.sight == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.again.add(n.path, name, m)
}

// doubt has the next snapshot that is not Hasty look again at a file or link whose stamp proves nothing yet.
func (s *scan) doubt(n *node, name string) {
	if s.sight == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.racy.add(n.path, name, touched)
}

func (s *scan) report() {
	if s.Progress == nil || !s.progress.TryLock() {
		return
	}
	defer s.progress.Unlock()
	if now := time.Now(); now.After(s.nextProgress) {
		s.nextProgress = now.Add(50 * time.Millisecond)
		s.Progress(int(s.count.files.Load()), s.count.bytes.Load())
	}
}

// release gives up one use of the directory's handle; the last one closes it.
func (s *scan) release(n *node) {
	if n.users.Add(-1) == 0 && n.dir != nil {
		_ = n.dir.Close() // it was only read
	}
}

// done says that one of the things that n waits for is complete. The last one finishes n, which is one thing that its
// parent waits for.
func (s *scan) done(n *node) {
	for ; n != nil && n.pending.Add(-1) == 0; n = n.parent {
		if !s.failed() {
			if err := s.finish(n); err != nil {
				s.fail(err)
			}
		}
	}
}

// The kinds of errors that the file system gives.
const (
	isGone       = iota // the path does not exist any more
	isOther             // another type of entry has the path now
	isUnreadable        // the note gets the path
	isFatal             // the process lacks descriptors or memory: no word about the path
)

func kindOfError(err error) int {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return isGone
	case errors.Is(err, worktreefs.ErrNotDir), errors.Is(err, worktreefs.ErrNotRegular), errors.Is(err, worktreefs.ErrUnsupported):
		return isOther
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOMEM):
		return isFatal
	}
	return isUnreadable
}

// list opens and lists a directory and looks at every name.
func (s *scan) list(n *node) {
	defer s.release(n)
	if n.parent != nil {
		opened := s.open(n)
		s.release(n.parent)
		if !opened {
			return
		}
	}
	n.known = n.old.list()
	st, err := n.dir.Stat()
	var names []worktreefs.Dirent
	if err == nil {
		n.perm, n.id, n.stamp = st.Perm, fileIDOf(st), dirStamp{st.Mtime, st.Ctime}
		if n.parent == nil {
			s.dev = st.Dev
		}
		if s.isUnchanged(n) {
			s.enterUnchanged(n)
			return
		}
		names, err = s.names(n)
	}
	if err != nil {
		n.absent = true
		switch kind := kindOfError(err); {
		case n.parent == nil || kind == isFatal:
			s.fail(err)
		case kind != isGone:
			s.unreadable(n.parent, n.name, n.path, n.only && !s.Named.below(n.path))
		}
		return
	}
	if what := s.whatForeign(n, names); what != 0 {
		n.foreign = true
		s.skip(n, tree.Skip{Path: n.path, Reason: tree.ReasonBuiltin, Size: what})
		return
	}
	if n.parent != nil && n.parent.id.dev != n.id.dev && !n.only {
		s.skip(n, tree.Skip{Path: n.path, Reason: tree.ReasonMount})
	}
	if n.base != nil {
		n.rules = n.base.rules
	} else {
		s.readRules(n, names)
	}
	if n.base != nil && !n.todo.all {
		s.takeOver(n)
	} else {
		n.entries = make([]tree.Entry, 0, len(names))
		if n.old != nil {
			n.files = make([]cached, 0, len(n.known)+4)
		}
	}
	names, dbs := databases(names)
	var misses []miss
	for i, e := range names {
		if i%64 == 0 && s.failed() {
			return
		}
		if m, ok := s.classify(n, e.Name, e.Type); ok {
			misses = append(misses, m)
		}
	}
	s.readAll(n, misses)
	for _, d := range dbs {
		s.captureDatabase(n, d)
	}
}

// open opens a directory through its parent's handle.
func (s *scan) open(n *node) bool {
	if s.failed() {
		return false
	}
	dir, err := n.parent.dir.OpenDir(n.name)
	if err == nil {
		n.dir = dir
		return true
	}
	n.absent = true
	switch kindOfError(err) {
	case isFatal:
		s.fail(err)
	case isOther: // a file or symlink has the name by now
		if m, ok := s.classify(n.parent, n.name, 0); ok {
			s.read(n.parent, m)
		}
	case isUnreadable:
		s.unreadable(n.parent, n.name, n.path, n.only && !s.Named.below(n.path))
	}
	return false
}

// unreadable notes a path; with quiet, one that nobody asked for, it does not. A path too long for a note is noted by
// its directory.
func (s *scan) unreadable(n *node, name, path string, quiet bool) {
	s.unsure(n, name, moved)
	if quiet {
		return
	}
	for len(path) > tree.MaxPath {
		path, _ = tree.Split(path)
	}
	s.skip(n, tree.Skip{Path: path, Reason: tree.ReasonUnreadable})
}

// add puts an entry into its directory, and f into the cache; f nil: the file must be looked at again.
func (s *scan) add(n *node, e tree.Entry, f *cached) {
	if e.Type == tree.TypeFile {
		s.count.files.Add(1)
		s.count.bytes.Add(e.Size)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.entries = append(n.entries, e)
	if f != nil {
		n.files = append(n.files, *f)
	}
}

// remember puts a file that is not captured into the cache.
func (s *scan) remember(n *node, f cached) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.files = append(n.files, f)
}
