package worktreefs

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// unlinkTakesDirs: unlink of a directory gives EISDIR here.
const unlinkTakesDirs = false

func renameNoReplace(from int, name string, to int, toName string) error {
	return unix.Renameat2(from, name, to, toName, unix.RENAME_NOREPLACE)
}

func renameExchange(from int, name string, to int, toName string) error {
	return unix.Renameat2(from, name, to, toName, unix.RENAME_EXCHANGE)
}

func syncFS(fd int) error { return unix.Syncfs(fd) }

// writeOut also has ext4 choose the blocks, so that one commit of its journal is for all files that were written out
// before the first fsync.
func writeOut(fd int) { _ = unix.SyncFileRange(fd, 0, 0, unix.SYNC_FILE_RANGE_WRITE) }

func fullSync(fd int) error { return again(func() error { return unix.Fsync(fd) }) }

// chmodat never follows a link. Kernels before 6.6 and some sandboxes have no fchmodat2.
func chmodat(at int, name string, perm uint16) error {
	err := again(func() error { return unix.Fchmodat(at, name, uint32(perm), unix.AT_SYMLINK_NOFOLLOW) })
	if err != unix.EOPNOTSUPP && err != unix.EPERM {
		return err
	}
	return chmodByHandle(at, name, perm)
}

// chmodByHandle pins the entry with a handle that gives no access, so that what was looked at is what is changed.
func chmodByHandle(at int, name string, perm uint16) error {
	fd, err := openat(at, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return unix.EOPNOTSUPP
	}
	err = again(func() error { return unix.Fchmodat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), uint32(perm), 0) })
	if err != unix.ENOENT {
		return err
	}
	// No /proc: only what can be opened without effects is opened.
	if t := st.Mode & unix.S_IFMT; t != unix.S_IFREG && t != unix.S_IFDIR {
		return unix.EOPNOTSUPP
	}
	rw, err := openat(at, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(rw)
	return again(func() error { return unix.Fchmod(rw, uint32(perm)) })
}

// lock takes a record lock of this descriptor alone: closing another one of the same file does not give it up.
func lock(fd int) error {
	return unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
}

// writers asks for a read lease, which the kernel gives only while nobody has the file open for writing, and gives it
// back.
func writers(fd int) (bool, error) {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
	switch err {
	case nil:
		_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
		return false, err
	case unix.EAGAIN:
		return true, nil
	case unix.EINVAL, unix.EACCES, unix.EPERM, unix.ENOLCK:
		return false, unix.EOPNOTSUPP
	}
	return false, err
}

// Volume tells mounts of one device apart where the kernel does (5.8), since no name can be moved between them.
func (d *dir) Volume() (Volume, error) {
	st, err := d.Stat()
	if err != nil {
		return Volume{}, err
	}
	v := Volume{dev: st.Dev}
	var x unix.Statx_t
	err = again(func() error { return unix.Statx(d.fd, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &x) })
	if err == nil && x.Mask&unix.STATX_MNT_ID != 0 {
		v.mount = x.Mnt_id
	}
	return v, nil
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

// stampsNames lists what this kernel alone writes: not what comes from other machines or programs, nor file systems
// that count in seconds.
func stampsNames(fd int) bool {
	var st unix.Statfs_t
	if again(func() error { return unix.Fstatfs(fd, &st) }) != nil {
		return false
	}
	switch uint32(st.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC,
		unix.OVERLAYFS_SUPER_MAGIC,
		0x2fc12fc1, 0xca451a4e: // zfs, bcachefs
		return true
	}
	return false
}

// errNoAttr: there is no attribute of that name.
const errNoAttr = unix.ENODATA

// ACLAttr is the attribute that holds the access control list, CapabilityAttr what the file may do when it is run.
const (
	ACLAttr        = "system.posix_acl_access"
	CapabilityAttr = "security.capability"
)

// handedOn leaves out what says something about the bytes (IMA, EVM), what belongs to a file system (trusted, btrfs),
// and NFSv4's lists, which are not apart from the permissions.
func handedOn(name string) bool {
	switch name {
	case ACLAttr, CapabilityAttr, "security.selinux", "security.SMACK64":
		return true
	}
	return strings.HasPrefix(name, "user.")
}

func dropDefaultACL(fd int) error {
	err := again(func() error { return unix.Fremovexattr(fd, "system.posix_acl_default") })
	if err == unix.ENODATA || err == unix.EOPNOTSUPP || err == unix.ENOSYS {
		return nil
	}
	return err
}
