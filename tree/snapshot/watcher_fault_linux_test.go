package snapshot

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rewind/internal/worktreefs"
)

// ill takes a snapshot and says why the watcher is not, "" when it is.
func (v *overseen) ill() string {
	v.t.Helper()
	v.commit(v.same(nil))
	if s := v.w.Status(); !s.Healthy {
		return s.Reason
	}
	return ""
}

// clock makes time pass for the watcher alone.
func (v *overseen) clock() *atomic.Int64 {
	var d atomic.Int64
	start := time.Now()
	v.w.mu.Lock()
	defer v.w.mu.Unlock()
	v.w.now = func() time.Time { return start.Add(time.Duration(d.Load())) }
	return &d
}

func TestWatcherStatus(t *testing.T) {
	v := oversee(t)
	if s := v.w.Status(); s.Healthy || s.Reason == "" || s.Since.IsZero() {
		t.Errorf("before the first snapshot: %+v", s)
	}
	write(t, v.root+"/a/b/c", "c")
	write(t, v.root+"/node_modules/m/x", "x")
	write(t, v.root+"/.git/objects/x", "x")
	if r := v.ill(); r != "" {
		t.Fatal(r)
	}
	if s := v.w.Status(); s.Directories != 3 || s.Reason != "" { // the root, a and a/b
		t.Errorf("%+v", s)
	}
	check(t, os.RemoveAll(v.root+"/a/b"))
	write(t, v.root+"/d/e", "e")
	if r := v.ill(); r != "" {
		t.Fatal(r)
	}
	if s := v.w.Status(); s.Directories != 3 {
		t.Errorf("%+v", s)
	}
}

// What the system does not report is found by a full scan, which says so.
func TestWatcherMissesWhatIsNotReported(t *testing.T) {
	v := oversee(t)
	write(t, v.root+"/dir/f", "named twice")
	check(t, os.Link(v.root+"/dir/f", v.outside+"/f"))
	age()
	v.ill()
	age()
	v.ill()
	check(t, os.WriteFile(v.outside+"/f", []byte("written elsewhere"), 0o644))
	r, x, err := v.snap(nil)
	check(t, err)
	if r.Root != v.prev || r.hashed != 0 {
		t.Fatal("it was reported")
	}
	v.commit(r, x)
	v.commit(v.same(func(s *Source) { s.Full = true }))
	if s := v.w.Status(); s.Missed != 1 || !s.Healthy {
		t.Errorf("%+v", s)
	}
	v.commit(v.same(nil))
}

// A queue that the reader cannot keep up with loses reports; none of the snapshots after that is wrong.
func TestWatcherOverflow(t *testing.T) {
	v := oversee(t)
	write(t, v.root+"/f", "f")
	if r := v.ill(); r != "" {
		t.Fatal(r)
	}
	limit := 16384
	if raw, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events"); err == nil {
		_, _ = fmt.Sscan(string(raw), &limit)
	}
	if limit > 100_000 {
		t.Skip("missing: a queue of events short enough to fill (fs.inotify.max_queued_events)")
	}
	v.w.mu.Lock() // nobody reads
	for i := range limit + limit/4 {
		path := fmt.Sprintf("%s/n%d", v.root, i%7)
		if os.Mkdir(path, 0o755) != nil {
			check(t, os.Remove(path))
		}
	}
	check(t, os.WriteFile(v.root+"/f", []byte("lost"), 0o644))
	v.w.mu.Unlock()
	v.commit(v.same(nil))
	if s := v.w.Status(); s.Reason != errOverflow.Error() && !s.Healthy {
		t.Errorf("%+v", s)
	}
	if v.w.epoch != 1 {
		t.Error("the overflow was not seen")
	}
	v.clock().Store(int64(time.Hour))
	if r := v.ill(); r != "" {
		t.Error(r)
	}
	write(t, v.root+"/f", "again")
	if r := v.ill(); r != "" {
		t.Error(r)
	}
}

// With more directories than watches every snapshot scans, and tries again later and later.
func TestWatcherLimit(t *testing.T) {
	v := oversee(t)
	v.w.limit = 4
	for i := range 4 {
		write(t, fmt.Sprintf("%s/d%d/f", v.root, i), "f")
	}
	past := v.clock()
	for i := range 4 {
		write(t, v.root+"/d0/f", fmt.Sprint(i))
		if r := v.ill(); !strings.Contains(r, "max_user_watches") {
			t.Fatalf("%q", r)
		}
		if s := v.w.Status(); s.Directories != 0 {
			t.Errorf("watches are kept: %+v", s)
		}
	}
	if v.w.epoch != 2 || v.w.delay != minDelay { // at once, and then after a delay
		t.Errorf("tried %d times; delay %v", v.w.epoch, v.w.delay)
	}
	for i := range 20 {
		past.Add(int64(v.w.delay))
		v.ill()
		if want := uint64(3 + i); v.w.epoch != want {
			t.Fatalf("after the delay: tried %d times, want %d", v.w.epoch, want)
		}
	}
	if v.w.delay != maxDelay {
		t.Errorf("delay %v", v.w.delay)
	}
	check(t, os.RemoveAll(v.root+"/d0"))
	past.Add(int64(maxDelay))
	if r := v.ill(); r != "" {
		t.Error(r)
	}
	// One more directory while it is healthy.
	write(t, v.root+"/d1/new/f", "f")
	if r := v.ill(); !strings.Contains(r, "max_user_watches") {
		t.Errorf("%q", r)
	}
}

// Another directory in the place of the tree is not taken for it, and no report of the old one is believed.
func TestWatcherRootMoved(t *testing.T) {
	for what, harm := range map[string]func(root string) error{
		"moved":   func(root string) error { return os.Rename(root, root+".old") },
		"removed": os.RemoveAll,
	} {
		t.Run(what, func(t *testing.T) {
			v := oversee(t)
			defer os.RemoveAll(v.root + ".old")
			write(t, v.root+"/a/f", "f")
			v.ill()
			check(t, harm(v.root))
			write(t, v.root+"/a/f", "another")
			v.ill()
			if v.w.epoch == 0 {
				t.Error("not seen")
			}
			v.clock().Store(int64(time.Hour))
			v.ill()
			if what == "moved" {
				write(t, v.root+".old/a/f", "not here any more")
			}
			write(t, v.root+"/a/f", "here")
			if r := v.ill(); r != "" {
				t.Error(r)
			}
		})
	}
}

// Close ends everything at once; the snapshots that run and those that follow are right.
func TestWatcherClosedWhileSnapshotsRun(t *testing.T) {
	for range 20 {
		v := oversee(t)
		for i := range 20 {
			write(t, fmt.Sprintf("%s/%d/%d/f", v.root, i, i), "f")
		}
		var closing sync.WaitGroup
		for i := range 6 {
			write(t, v.root+"/f", fmt.Sprint(i))
			if i == 3 {
				closing.Go(func() { check(t, v.w.Close()) })
			}
			v.commit(v.same(nil))
		}
		closing.Wait()
		if s := v.w.Status(); s.Healthy || s.Reason != "closed" || s.Directories != 0 {
			t.Fatalf("%+v", s)
		}
		check(t, v.w.Close())
	}
}

// A directory is moved while a scan adds it, before the report of that is read: the system gives the watch that it has,
// and its reports are of the new name.
func TestWatcherKeepsWatchOfMovedDirectory(t *testing.T) {
	v := oversee(t)
	write(t, v.root+"/a/f", "f")
	write(t, v.root+"/p/g", "g")
	var moved, read atomic.Bool
	gate := make(chan struct{})
	v.w.onEvent = func() {
		if moved.Load() {
			<-gate
		}
	}
	v.ill()
	write(t, v.root+"/q/h", "h")
	fs := &watched{}
	fs.onOpenDir = func(name string) { // q is new: nothing watches it yet
		if name == "q" && !moved.Swap(true) {
			write(t, v.root+"/x", "holds the reader up")
			check(t, os.Rename(v.root+"/a", v.root+"/q/b"))
		}
	}
	fs.onLstat = func(name string) {
		if name == "f" && moved.Load() && !read.Swap(true) {
			close(gate)
		}
	}
	r, x, err := v.snap(func(s *Source) { s.Root = fs.wrap(s.Root) })
	check(t, err)
	v.commit(r, x)
	if !read.Load() {
		t.Fatal("it was not moved while the scan ran")
	}
	age()
	v.commit(v.same(nil)) // the last one that looks at f because it is young
	for i := range 3 {
		write(t, v.root+"/q/b/f", fmt.Sprint("edit", i))
		v.commit(v.same(nil))
	}
	if s := v.w.Status(); !s.Healthy || s.Directories != 4 { // the root, p, q and q/b
		t.Errorf("%+v", s)
	}
}

// later does something after a directory was listed.
type later struct {
	worktreefs.Dir
	after func(dir string)
}

func (l later) OpenDir(name string) (worktreefs.Dir, error) {
	d, err := l.Dir.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return later{d, l.after}, nil
}

func (l later) ReadDir() ([]worktreefs.Dirent, error) {
	names, err := l.Dir.ReadDir()
	l.after(filepath.Base(l.Name()))
	return names, err
}

// What comes into a directory after it was listed is reported: it is watched before.
func TestWatcherWatchesBeforeItLists(t *testing.T) {
	for _, first := range []bool{true, false} {
		v := oversee(t)
		if !first {
			v.ill()
		}
		write(t, v.root+"/new/deep/f", "f")
		r, x, err := v.snap(func(s *Source) {
			s.Root = later{s.Root, func(dir string) {
				switch dir {
				case "new":
					write(t, v.root+"/new/late", "late")
				case "deep":
					write(t, v.root+"/new/deep/late", "late")
				}
			}}
		})
		check(t, err)
		v.commit(r, x)
		if r, x = v.same(nil); v.incremental == 0 {
			t.Error("it was not incremental")
		}
		v.commit(r, x)
	}
}

// A file whose stamp proves nothing yet is looked at again although nothing was reported (unless the snapshot is hasty:
// TestPromise14HastyLeavesTheYoungToLater).
func TestWatcherLooksAgainAtTheYoung(t *testing.T) {
	v := oversee(t)
	write(t, v.root+"/dir/f", "f")
	v.ill()
	write(t, v.root+"/dir/f", "g")
	st, err := os.Stat(v.root + "/dir/f")
	check(t, err)
	for i, after := range []time.Duration{1, 2, time.Hour, time.Hour} {
		r, x, err := v.snap(func(s *Source) { s.now = func() time.Time { return st.ModTime().Add(after) } })
		check(t, err)
		v.commit(r, x)
		if want := []int{1, 1, 1, 0}[i]; r.hashed != want {
			t.Errorf("snapshot %d: %d read, want %d", i, r.hashed, want)
		}
	}
	if v.incremental != 4 {
		t.Errorf("%d were incremental", v.incremental)
	}
}

func TestWatchRefuses(t *testing.T) {
	if w, err := Watch("relative"); err == nil {
		t.Error(w.Status())
	}
	for magic, want := range map[int64]bool{
		0xef53: true, 0x6969: false, 0x65735546: false, 0x01021997: false, 0x794c7630: true,
		0x01021994: true, 0xff534d42 - 1<<32: false,
	} {
		if local(magic) != want {
			t.Errorf("%#x", magic)
		}
	}
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("missing: /proc")
	}
	// proc reports nothing, and a tree on it is scanned.
	w, err := Watch("/proc/self/fdinfo")
	check(t, err)
	defer w.Close()
	m, cache := newMemStore(), newCache()
	d := openRoot(t, "/proc/self/fdinfo")
	_, err = Take(context.Background(), Source{Root: d, Get: m, Put: m, Cache: cache, Watcher: w, Generation: "1"})
	check(t, err)
	if s := w.Status(); s.Healthy || !strings.Contains(s.Reason, "file system 0x9fa0") {
		t.Errorf("%+v", s)
	}
}

// An unchanged tree costs the same however large it is, and one edit costs the way to it.
func TestWatcherLooksOnlyAtWhatChanged(t *testing.T) {
	v := oversee(t)
	for i := range 30 {
		for j := range 10 {
			write(t, fmt.Sprintf("%s/%d/%d/f", v.root, i, j), fmt.Sprint(i, j))
		}
	}
	age()
	fs := &watched{}
	lstats, dirs := 0, 0
	var mu sync.Mutex
	fs.onLstat = func(string) { mu.Lock(); lstats++; mu.Unlock() }
	fs.onOpenDir = func(string) { mu.Lock(); dirs++; mu.Unlock() }
	wrap := func(s *Source) { s.Root = fs.wrap(s.Root) }
	v.commit(v.same(nil))
	v.commit(v.same(nil)) // looks again at what was young
	r, x, err := v.snap(wrap)
	check(t, err)
	if lstats+dirs != 0 || r.puts != 0 || r.Root != v.prev {
		t.Errorf("unchanged: %d names and %d directories looked at, %d puts", lstats, dirs, r.puts)
	}
	v.commit(r, x)
	write(t, v.root+"/3/4/f", "edited")
	r, x, err = v.snap(wrap)
	check(t, err)
	if lstats > 2 || dirs != 2 || r.puts != 4 || r.hashed != 1 {
		t.Errorf("one edit: %d names and %d directories looked at, %d puts, %d read", lstats, dirs, r.puts, r.hashed)
	}
	v.commit(r, x)
	if len(v.cache.dirs) != 331 {
		t.Errorf("%d directories in the cache", len(v.cache.dirs))
	}
	v.commit(v.same(nil))
}
