package beneath

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Held is a lock that is held until Close, or until the process ends.
type Held struct{ f *os.File } // nil: it holds nobody off

// Note puts text into the file of the lock, in the place of what was in it.
func (h *Held) Note(text string) error {
	if err := h.f.Truncate(0); err != nil {
		return err
	}
	_, err := h.f.WriteAt([]byte(text), 0)
	return err
}

// Close lets go.
func (h *Held) Close() error {
	if h.f == nil {
		return nil
	}
	return h.f.Close()
}

// TryLock takes the lock that is the file name, making the file if it is not there. nil without an error: somebody else
// holds it.
func (f *FS) TryLock(name string) (held *Held, err error) {
	err = f.at("lock", name, func(at int, base string) error {
		file, err := f.openOrCreate(at, base, name)
		if err != nil {
			return err
		}
		held, err = flock(file, unix.LOCK_EX, name)
		return err
	})
	return held, err
}

// TryShared takes the lock beside others who only read. Where it cannot be had because nothing can be locked there, or
// there is no file, the answer is a lock that holds nobody off: nobody can write there.
func (f *FS) TryShared(name string) (held *Held, err error) {
	err = f.at("lock", name, func(at int, base string) error {
		file, err := f.open(at, base, name, unix.O_RDONLY)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			held = &Held{}
			return nil
		}
		if err != nil {
			return err
		}
		held, err = flock(file, unix.LOCK_SH, name)
		if err != nil {
			held, err = &Held{}, nil
		}
		return err
	})
	return held, err
}

func flock(file *os.File, how int, name string) (*Held, error) {
	err := again(func() error { return unix.Flock(int(file.Fd()), how|unix.LOCK_NB) })
	if err == nil {
		return &Held{file}, nil
	}
	_ = file.Close()
	if err == unix.EWOULDBLOCK {
		return nil, nil
	}
	return nil, failed("lock", name, err)
}

// Lock takes a lock of pebble's kind.
func (f *FS) Lock(name string) (lock io.Closer, err error) {
	err = f.at("lock", name, func(at int, base string) error {
		file, err := f.openOrCreate(at, base, name)
		if err != nil {
			return err
		}
		how := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Pid: int32(os.Getpid())}
		if err := again(func() error { return unix.FcntlFlock(file.Fd(), unix.F_SETLK, &how) }); err != nil {
			_ = file.Close()
			return failed("lock", name, err)
		}
		lock = file
		return nil
	})
	return lock, err
}
