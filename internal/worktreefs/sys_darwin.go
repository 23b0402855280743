package worktreefs

import (
	"strings"

	"golang.org/x/sys/unix"
)

// unlinkTakesDirs: the superuser's unlink removes directories on some file systems of macOS.
const unlinkTakesDirs = true

func renameNoReplace(from int, name string, to int, toName string) error {
	return unix.RenameatxNp(from, name, to, toName, unix.RENAME_EXCL)
}

func renameExchange(from int, name string, to int, toName string) error {
	return unix.RenameatxNp(from, name, to, toName, unix.RENAME_SWAP)
}

// syncFS has no narrower form: sync starts all writes of the machine.
func syncFS(int) error { return unix.Sync() }

func writeOut(int) {}

// fullSync also empties the drive's own cache, which fsync does not on macOS.
func fullSync(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_FULLFSYNC, 0)
	if err == unix.ENOTSUP || err == unix.EINVAL || err == unix.ENOTTY {
		return again(func() error { return unix.Fsync(fd) })
	}
	return err
}

// chmodat never follows a link, and refuses one.
func chmodat(at int, name string, perm uint16) error {
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW) }); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return unix.EOPNOTSUPP
	}
	return again(func() error { return unix.Fchmodat(at, name, uint32(perm), unix.AT_SYMLINK_NOFOLLOW) })
}

// lock: a record lock of macOS ends when any descriptor of the file is closed.
func lock(int) error { return unix.EOPNOTSUPP }

// writers: macOS has no leases.
func writers(int) (bool, error) { return false, unix.EOPNOTSUPP }

// Volume is the device: a device is mounted once.
func (d *dir) Volume() (Volume, error) {
	st, err := d.Stat()
	return Volume{dev: st.Dev}, err
}

// anyDotGit tells whether a root's path leads through a spelling of .git.
func anyDotGit(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if IsDotGit(part) {
			return true
		}
	}
	return false
}

// stampsNames: APFS counts in nanoseconds; HFS+ in seconds.
func stampsNames(fd int) bool {
	var st unix.Statfs_t
	if again(func() error { return unix.Fstatfs(fd, &st) }) != nil {
		return false
	}
	return unix.ByteSliceToString(st.Fstypename[:]) == "apfs"
}

// errNoAttr: there is no attribute of that name.
const errNoAttr = unix.ENOATTR

// ACLAttr and CapabilityAttr are of Linux: the lists of macOS are no attributes, and are not handed on.
const (
	ACLAttr        = ""
	CapabilityAttr = ""
)

// handedOn leaves out what the system itself writes.
func handedOn(name string) bool { return name != "" && name != "com.apple.provenance" }

func dropDefaultACL(int) error { return nil }
