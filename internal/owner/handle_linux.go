package owner

import "golang.org/x/sys/unix"

// open gives a handle of whatever has the name, a link itself included; it opens nothing for reading.
func open(at int, name string) (fd int, st unix.Stat_t, err error) {
	fd, err = unix.Openat(at, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, st, err
	}
	if err = unix.Fstat(fd, &st); err != nil {
		_ = unix.Close(fd)
		fd = -1
	}
	return fd, st, err
}

// give changes the owner of what the handle is of.
func give(fd, uid, gid int) error { return unix.Fchownat(fd, "", uid, gid, unix.AT_EMPTY_PATH) }
