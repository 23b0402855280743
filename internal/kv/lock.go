package kv

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/gofrs/flock"

	"rewind/internal/bug"
)

// lockStore takes the lock of the store, waiting up to wait for whoever has it. The lock ends with the process that holds it,
// however that dies; the file stays. A file system that is not the disk's has its own locks.
func lockStore(ctx context.Context, f vfs.FS, disk bool, dir string, wait time.Duration) (io.Closer, error) {
	path := f.PathJoin(dir, nameLock)
	try := func() (io.Closer, error) {
		l, err := f.Lock(path)
		if err != nil {
			return nil, nil // MemFS has one error only
		}
		return l, nil
	}
	if disk {
		fl := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
		try = func() (io.Closer, error) {
			ok, err := fl.TryLock()
			if err != nil || !ok {
				return nil, err
			}
			return fl, nil
		}
	}
	deadline := time.Now().Add(wait)
	for {
		l, err := try()
		switch {
		case err != nil:
			return nil, translate("lock", path, err)
		case bug.Is("two-owners"):
			return io.NopCloser(nil), nil
		case l != nil:
			if disk {
				writePID(path)
			}
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

// writePID tells others who we are. It is for messages only, so failure is no error.
func writePID(path string) {
	_ = os.Chmod(path, 0o600)
	_ = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600)
}

func readPID(f vfs.FS, disk bool, path string) int {
	if !disk {
		return os.Getpid()
	}
	text, err := readSmall(f, path, 32)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}
