package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/tree"
	"rewind/tree/ignore"
)

// Store is where a snapshot puts its objects: an objstore.Tx, safe for concurrent use. If it also has
//
//	Has(objstore.Kind, objstore.ID) (bool, error)
//
// the stat cache can be used for other trees than that of the last snapshot, and unchanged directories are not put
// again.
type Store interface {
	objstore.Putter
	// PutReader stores a blob of any size in bounded memory, and returns its length; prev is a hint as for Put.
	PutReader(r io.Reader, prev objstore.ID) (objstore.ID, int64, error)
}

// Tracked knows the paths in the user's git index. Its methods are safe for concurrent use.
type Tracked interface {
	File(path string) bool // reports whether the path is tracked
	Below(dir string) bool // reports whether a path below the directory is
}

// Source says what to capture, by which rules, and where to. Only Root and Put are required.
type Source struct {
	Root worktreefs.Dir // stays open
	Prev objstore.ID    // the tree of the last checkpoint: names delta bases; zero: none
	Get  objstore.Getter
	Put  Store

	Cache *Cache // nil: every file is read

	// Watcher, with a Cache and a Generation, and always with the same Cache, saves the look at what did not change.
	// nil: none.
	Watcher *Watcher
	// Generation names the state of everything that a snapshot depends on besides the tree. It changes when Rules,
	// Tracked or Secret may answer differently, when Put is another store, and when objects may have been removed from
	// that store. Empty: unknown, so the whole tree is scanned.
	Generation string
	// Full scans the whole tree in any case. What differs then without having been reported is counted in
	// value.Watcher.Missed.
	Full bool

	// Hasty, under a watcher, leaves files that were read so soon after a change that their stamps prove nothing, and
	// of which nothing was reported since, to the next snapshot that is not. It gives up nothing but the chance to find
	// what is not reported.
	Hasty bool

	Rules     *ignore.Dir // the rules at the root, ignore files of the tree not included
	RuleFiles []string    // names of ignore files: of git's class, of our own; nil: none are read

	Tracked      Tracked                // captured whatever the rules, the limit and the secret list say
	SizeLimit    int64                  // bytes; a larger file is noted instead; <= 0: no limit
	Secret       func(path string) bool // the secret list; safe for concurrent use
	StoreSecrets bool                   // capture secret files like others
	// Leak makes a file that was read a secret one by its content, before that is stored; tracked and forced files
	// aside. Only small files are asked about. Secret is to know the path by the next snapshot. nil: contents decide
	// nothing; safe for concurrent use.
	Leak      func(path string, content []byte) bool
	SecretKey [32]byte // keys the hashes of secrets

	// GitDirs are directories in the tree that the project's own .git leads to: git's, whatever they look like.
	GitDirs []string
	// Linked reports whether dir is a working tree that git has linked to a repository (git worktree add). dotGit is
	// what the file .git in it says. nil: none is. Safe for concurrent use.
	Linked func(dir string, dotGit []byte) bool
	// Named are captured whatever the rules say, a file that is over the limit or secret not even so. nil: none.
	Named *Named

	// Force names paths that are captured whole, a directory with all below it, whatever the rules, the limit and the
	// secret list say (git's and our own directories are not captured even so). Directories above them are entered for
	// them alone. Safe for concurrent use.
	Force func(path string) bool
	// ForceBelow reports whether some path below a directory is forced; nil: any could be, so with Force every ignored
	// directory is entered. ForcePaths gives both.
	ForceBelow func(dir string) bool

	workers  int                          // goroutines; <= 0: GOMAXPROCS
	Progress func(files int, bytes int64) // captured so far; called now and then, one call at a time; nil: none
	now      func() time.Time             // nil: time.Now
}

// Result is what a snapshot found.
type Result struct {
	Root  objstore.ID // never zero: an empty tree is an object too
	Skips []tree.Skip // sorted, see CompareSkips; shared with other results, so not to be changed

	Files, dirs, Links int   // captured; dirs without the root
	Bytes              int64 // of captured files
	torn               int   // captured files that changed while they were read

	hashed      int   // files that were read, secrets included
	hashedBytes int64 // bytes that were read of them
	puts        int   // objects handed to Put and PutReader
}

// Note is the encoded note; nil: nothing was skipped or flagged.
func (r *Result) Note() ([]byte, error) {
	if len(r.Skips) == 0 {
		return nil, nil
	}
	return tree.EncodeNote(r.Skips)
}

// Take captures the working tree: blobs and trees go to s.Put, bottom-up, and what is not captured is listed.
//
// A file is stored as it was at one moment, or flagged torn: it is read again while it changes. A path that vanishes
// meanwhile is absent. What cannot be read is noted and never an error; the errors are those of the store, of the root
// directory, of ctx, and of a process without file descriptors or memory. A directory with more in it than a tree can
// hold (objstore.MaxObject bytes of entries) is noted as over the size limit; the root directory is an error then.
//
// With a watcher that is healthy, a directory in which nothing was reported is taken over from the last snapshot that
// was committed; the result is that of a full scan. When nothing was reported at all, a few system calls are all that
// happens.
//
// The cache learns nothing until Cache.Flush and Cache.Committed. After a snapshot with Force, Discard it instead, else
// the next one cannot rely on it.
func Take(ctx context.Context, s Source) (*Result, error) {
	if !s.Prev.IsZero() && s.Get == nil {
		return nil, errors.New("snapshot: a previous tree, but nothing to read it from")
	}
	if s.workers <= 0 {
		s.workers = runtime.GOMAXPROCS(0)
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.Rules == nil {
		s.Rules = ignore.New(ignore.Options{})
	}
	if s.Cache != nil {
		s.Cache.mu.Lock()
		defer s.Cache.mu.Unlock()
		s.Cache.forget()
	}
	sc := newScan(ctx, s)
	err := sc.begin()
	if err == nil {
		err = sc.run()
	}
	if err != nil {
		sc.sight.restore()
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	sc.note()
	sc.stage()
	n, sum := &sc.count, &sc.root.sum
	r := &Result{
		Root: sc.root.id, Skips: sc.skips,
		Files: sum.files, dirs: sum.dirs, Links: sum.links, Bytes: sum.bytes, torn: sum.torn,
		hashed: int(n.hashed.Load()), hashedBytes: n.hashedBytes.Load(), puts: int(n.puts.Load()),
	}
	return r, nil
}

// ForcePaths are Source.Force and Source.ForceBelow of a list of paths.
func ForcePaths(paths []string) (force, below func(path string) bool) {
	exact, above := map[string]bool{}, map[string]bool{}
	for _, path := range paths {
		exact[path] = true
		for i := strings.LastIndexByte(path, '/'); i > 0 && !above[path[:i]]; i = strings.LastIndexByte(path[:i], '/') {
			above[path[:i]] = true
		}
	}
	return func(path string) bool { return exact[path] }, func(dir string) bool { return above[dir] }
}

// counters of a running snapshot.
type counters struct {
	files, hashed, puts atomic.Int64
	bytes, hashedBytes  atomic.Int64
}
