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

// notifier is an inotify instance: a queue of reports that the kernel fills before the call that changed something returns. So whoever has
// read until it was empty has been told of all that ended before. All but listen and close are called under the watcher's mu.
type notifier struct {
	fd   int
	file *os.File // the same, for the poller
	raw  syscall.RawConn
	buf  [16 << 10]byte
}

// reported are the kinds of changes that a watch is for.
const reported = unix.IN_CREATE | unix.IN_DELETE | unix.IN_DELETE_SELF | unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_MOVE_SELF

var errOverflow = errors.New("the system's queue of reports was full")

func newNotifier() (*notifier, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	n := &notifier{fd: fd, file: os.NewFile(uintptr(fd), "inotify")}
	if n.raw, err = n.file.SyscallConn(); err == nil {
		err = n.file.SetReadDeadline(time.Time{}) // that stop will work
	}
	if err != nil {
		_ = n.file.Close()
		return nil, err
	}
	return n, nil
}

// add watches the directory at a path and gives the watch's number: that of a directory that is watched already, whatever its path was
// then.
func (n *notifier) add(path string, root bool) (int32, error) {
	flags := uint32(reported | unix.IN_ONLYDIR)
	if !root {
		flags |= unix.IN_DONT_FOLLOW
	}
	wd, err := unix.InotifyAddWatch(n.fd, path, flags)
	return int32(wd), err
}

// remove ends a watch. Its number does not come again; reports that are in the queue still do.
func (n *notifier) remove(wd int32) { _, _ = unix.InotifyRmWatch(n.fd, uint32(wd)) } // an error says that there was none any more

// drain takes the reports that are there, and does not wait for others. An error ends the notifier's use.
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
			return nil // another would have had room
		}
	}
}

// listen calls f now and whenever there are new reports, until it says that it has enough or stop is called.
func (n *notifier) listen(f func() (enough bool)) {
	_ = n.raw.Read(func(uintptr) bool { return f() }) // an error says that it was stopped
}

// stop ends listen.
func (n *notifier) stop() { _ = n.file.SetReadDeadline(time.Unix(1, 0)) }

// close is for when nobody listens or reads any more.
func (n *notifier) close() { _ = n.file.Close() }
