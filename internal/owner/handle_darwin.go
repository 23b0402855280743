package owner

import "golang.org/x/sys/unix"

// open gives a handle of a file or directory, and of what else has the name only what it is: fd is -1 then.
func open(at int, name string) (fd int, st unix.Stat_t, err error) {
	if err = unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return -1, st, err
	}
	if kind := st.Mode & unix.S_IFMT; kind != unix.S_IFREG && kind != unix.S_IFDIR {
		return -1, st, nil
	}
	fd, err = unix.Openat(at, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err == unix.EACCES { // of another user: what it is was found out
		return -1, st, nil
	}
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
func give(fd, uid, gid int) error { return unix.Fchown(fd, uid, gid) }
