package floor

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Known is a directory with the names that are known to be in it.
type Known struct {
	Path  string
	Names []string
}

// StatKnown asks lstat about every name, by the handle of its directory, with so many threads: what a scan cannot do
// without once the tree is known. It gives the number of names that are there.
func StatKnown(dirs []Known, threads int) (int, error) {
	var next, found atomic.Int64
	var mu sync.Mutex
	var failed error
	var wg sync.WaitGroup
	for range threads {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(dirs) {
					return
				}
				n, err := statAll(&dirs[i])
				found.Add(int64(n))
				if err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
					return
				}
			}
		})
	}
	wg.Wait()
	return int(found.Load()), failed
}

func statAll(k *Known) (n int, err error) {
	fd, err := unix.Open(k.Path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("floor: open %s: %w", k.Path, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	for _, name := range k.Names {
		if unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			n++
		}
	}
	return n, nil
}

// List gives every directory below dir with the names in it.
func List(dir string) ([]Known, error) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	k := Known{Path: dir}
	var all []Known
	for _, e := range names {
		k.Names = append(k.Names, e.Name())
		if e.IsDir() {
			below, err := List(filepath.Join(dir, e.Name()))
			if err != nil {
				return nil, err
			}
			all = append(all, below...)
		}
	}
	return append(all, k), nil
}
