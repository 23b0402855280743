package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// notifier is an inotify instance: a queue of reports, which the kernel fills before the call that changed something
// returns. Who has read it until it was empty knows of all calls that had returned before. All methods but listen and
// close want the watcher's mu held.
type notifier struct {
	fd   int
	file *os.File // fd, for Go's poller
	raw  syscall.RawConn
	buf  [16 << 10]byte
}

// reported are the changes that a watch reports.
const reported = unix.IN_CREATE | unix.IN_DELETE | unix.IN_DELETE_SELF | unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_MOVED_FROM |
	unix.IN_MOVED_TO | unix.IN_MOVE_SELF

var errOverflow = errors.New("the system's queue of reports was full")

func newNotifier() (*notifier, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	n := &notifier{fd: fd, file: os.NewFile(uintptr(fd), "inotify")}
	if n.raw, err = n.file.SyscallConn(); err == nil {
		err = n.file.SetReadDeadline(time.Time{}) // fails if stop would not work
	}
	if err != nil {
		_ = n.file.Close()
		return nil, err
	}
	return n, nil
}

// add watches the directory at a path and returns the watch's number. A directory that is watched already has the
// number of that watch.
func (n *notifier) add(path string, root bool) (int32, error) {
	flags := uint32(reported | unix.IN_ONLYDIR)
	if !root {
		flags |= unix.IN_DONT_FOLLOW
	}
	wd, err := unix.InotifyAddWatch(n.fd, path, flags)
	return int32(wd), err
}

// remove ends a watch. Its number is not used again, but reports of it can still be in the queue.
func (n *notifier) remove(wd int32) { _, _ = unix.InotifyRmWatch(n.fd, uint32(wd)) } // error: it had ended already

// drain gives take the reports that are there, and waits for none. After an error the notifier is not used any more.
func (n *notifier) drain(take func(report)) error {
	for {
		k, err := unix.Read(n.fd, n.buf[:])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return nil
		case err != nil:
			return os.NewSyscallError("read inotify", err)
		}
		for raw := n.buf[:k]; len(raw) >= unix.SizeofInotifyEvent; {
			wd, mask := int32(binary.NativeEndian.Uint32(raw)), binary.NativeEndian.Uint32(raw[4:])
			end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(raw[12:]))
			if mask&unix.IN_Q_OVERFLOW != 0 {
				return errOverflow
			}
			name, _, _ := bytes.Cut(raw[unix.SizeofInotifyEvent:end], []byte{0})
			take(report{
				wd: wd, name: string(name),
				came: mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0,
				gone: mask&(unix.IN_DELETE|unix.IN_MOVED_FROM|unix.IN_DELETE_SELF|unix.IN_MOVE_SELF|unix.IN_UNMOUNT|unix.IN_IGNORED) != 0,
			})
			raw = raw[end:]
		}
		if len(n.buf)-k > unix.SizeofInotifyEvent+unix.NAME_MAX+1 {
			return nil // another report would have fitted: the queue is empty
		}
	}
}

// listen calls f now and whenever there are new reports, until f returns true or stop is called.
func (n *notifier) listen(f func() (enough bool)) {
	_ = n.raw.Read(func(uintptr) bool { return f() }) // error: stop was called
}

// stop ends listen.
func (n *notifier) stop() { _ = n.file.SetReadDeadline(time.Unix(1, 0)) }

// close is called when nobody listens or drains any more.
func (n *notifier) close() { _ = n.file.Close() }
