package floor

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/blake3"
	"golang.org/x/sys/unix"
)

// Taken is what FirstSnapshot met.
type Taken struct {
	Files  int
	Bytes  int64 // read
	Stored int64 // written
}

// level is what the product compresses objects of a first snapshot with (objstore: quick).
const level = zstd.SpeedFastest

// FirstSnapshot reads every regular file below dir, hashes it (BLAKE3), compresses it (zstd) and appends it to the one
// file out, with so many threads. Nothing is ignored, nothing is fsynced, and no name is kept: it could not be read
// back.
func FirstSnapshot(dir, out string, threads int) (Taken, error) {
	f, err := os.Create(out)
	if err != nil {
		return Taken{}, err
	}
	defer f.Close()
	w := &worker{out: f, dirs: []string{dir}}
	w.wake.L = &w.mu
	var wg sync.WaitGroup
	for range threads {
		wg.Go(w.run)
	}
	wg.Wait()
	return w.sum, w.err
}

// worker shares one stack of directories among threads.
type worker struct {
	out io.Writer

	mu   sync.Mutex
	wake sync.Cond
	dirs []string
	busy int
	sum  Taken
	err  error
}

func (w *worker) run() {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
		zstd.WithWindowSize(4<<20))
	if err != nil {
		w.fail(err)
		return
	}
	t := &thread{w: w, enc: enc, hash: blake3.New()}
	w.mu.Lock()
	for {
		for len(w.dirs) == 0 && w.busy > 0 && w.err == nil {
			w.wake.Wait()
		}
		if len(w.dirs) == 0 || w.err != nil {
			break
		}
		dir := w.dirs[len(w.dirs)-1]
		w.dirs = w.dirs[:len(w.dirs)-1]
		w.busy++
		w.mu.Unlock()
		if err := t.dir(dir); err != nil {
			w.fail(err)
		}
		w.mu.Lock()
		w.busy--
		w.wake.Broadcast()
	}
	w.sum.Files += t.sum.Files
	w.sum.Bytes += t.sum.Bytes
	w.sum.Stored += t.sum.Stored
	w.mu.Unlock()
	w.flush(t)
}

func (w *worker) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	w.wake.Broadcast()
}

func (w *worker) push(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dirs = append(w.dirs, dir)
	w.wake.Signal()
}

// flush appends what a thread has compressed.
func (w *worker) flush(t *thread) {
	w.mu.Lock()
	_, err := w.out.Write(t.packed)
	w.mu.Unlock()
	if err != nil {
		w.fail(err)
	}
	t.packed = t.packed[:0]
}

type thread struct {
	w      *worker
	enc    *zstd.Encoder
	hash   *blake3.Hasher
	raw    []byte
	packed []byte
	sum    Taken
}

func (t *thread) dir(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("floor: open %s: %w", path, err)
	}
	d := os.NewFile(uintptr(fd), path)
	defer d.Close()
	names, err := d.ReadDir(-1)
	if err != nil {
		return err
	}
	for _, e := range names {
		switch {
		case e.IsDir():
			t.w.push(filepath.Join(path, e.Name()))
		case e.Type().IsRegular():
			if err := t.file(fd, e.Name()); err != nil {
				return fmt.Errorf("floor: %s: %w", filepath.Join(path, e.Name()), err)
			}
		}
	}
	return nil
}

// piece bounds what is compressed at once.
const piece = 4 << 20

func (t *thread) file(at int, name string) error {
	fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	t.sum.Files++
	t.hash.Reset()
	for left := st.Size; left > 0; {
		want := int(min(left, piece))
		if cap(t.raw) < want {
			t.raw = make([]byte, want)
		}
		n, err := unix.Read(fd, t.raw[:want])
		if n <= 0 || err != nil {
			return err
		}
		left -= int64(n)
		t.sum.Bytes += int64(n)
		_, _ = t.hash.Write(t.raw[:n])
		before := len(t.packed)
		t.packed = t.enc.EncodeAll(t.raw[:n], t.packed)
		t.sum.Stored += int64(len(t.packed) - before)
		if len(t.packed) >= 1<<20 {
			t.w.flush(t)
		}
	}
	var id [32]byte
	t.hash.Sum(id[:0])
	return nil
}
