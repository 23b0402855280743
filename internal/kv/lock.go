package kv

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"rewind/internal/kv/beneath"
	"rewind/internal/kv/ondisk"
	"rewind/internal/kv/storefs"
)

// lockStore takes the lock of the store, waiting up to wait for whoever has it. The lock ends with the process that
// holds it, however that dies; the file stays. A file system that is not the disk's has its own locks.
//
// Where nothing can be written, the lock is taken shared, so that it keeps out who could write there after all, by
// another mount; where it cannot be had, it is left.
func lockStore(
	ctx context.Context, f *storefs.FS, disk *beneath.FS, dir string, wait time.Duration,
) (io.Closer, error) {
	path := f.PathJoin(dir, nameLock)
	try := func() (io.Closer, error) {
		l, err := f.Lock(path)
		if err != nil {
			return nil, nil // MemFS has one error only
		}
		return l, nil
	}
	if disk != nil {
		take := disk.TryLock
		if f.Lockless() {
			take = disk.TryShared
		}
		try = func() (io.Closer, error) {
			l, err := take(path)
			if err != nil || l == nil {
				return nil, err
			}
			if !f.Lockless() {
				_ = l.Note(strconv.Itoa(os.Getpid()) + "\n") // for messages only
			}
			return l, nil
		}
	}
	deadline := time.Now().Add(wait)
	for {
		l, err := try()
		switch {
		case err != nil:
			return nil, translate("lock", path, err)
		case l != nil:
			return l, nil
		case !time.Now().Before(deadline):
			return nil, &BusyError{Dir: dir, PID: readPID(f, disk, path)}
		}
		t := time.NewTimer(min(lockPoll, time.Until(deadline)))
		select {
		case <-ctx.Done():
			t.Stop()
			return nil, errors.Join(&BusyError{Dir: dir, PID: readPID(f, disk, path)}, ctx.Err())
		case <-t.C:
		}
	}
}

func readPID(f *storefs.FS, disk *beneath.FS, path string) int {
	if disk == nil {
		return os.Getpid()
	}
	text, err := ondisk.ReadSmall(f, path, 32)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}
