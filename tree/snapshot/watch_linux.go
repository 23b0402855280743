package snapshot

import (
	"fmt"

	"golang.org/x/sys/unix"

	"rewind/internal/value"
)

// canWatch reports whether the system notifies of changes at no cost per file: here inotify, with a watch for each
// directory.
const canWatch = true

// local reports whether all changes of a file system, by its magic number, are made by this kernel, which can report
// them: not those of other machines or hosts (NFS, SMB, 9p), nor those of a program (FUSE). One that is not in the list
// is not trusted.
func local(magic int64) bool {
	switch magic & 0xffffffff {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.RAMFS_MAGIC,
		unix.OVERLAYFS_SUPER_MAGIC, unix.REISERFS_SUPER_MAGIC, unix.MSDOS_SUPER_MAGIC, unix.EXFAT_SUPER_MAGIC, unix.NILFS_SUPER_MAGIC,
		unix.SQUASHFS_MAGIC, unix.ISOFS_SUPER_MAGIC, unix.EROFS_SUPER_MAGIC_V1:
		return true
	case 0x2fc12fc1, 0xca451a4e, 0x3153464a, 0x7366746e, 0x482b: // zfs, bcachefs, jfs, ntfs3, hfs+
		return true
	}
	return false
}

// reportsChanges is why reports of a directory's file system cannot be relied on; nil: they can.
func reportsChanges(path string) error {
	var st unix.Statfs_t
	for {
		err := unix.Statfs(path, &st)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return &value.OpError{Op: "file system of", Subject: path, Err: err}
		case !local(int64(st.Type)):
			return fmt.Errorf("file system %#x does not report every change", uint32(st.Type))
		}
		return nil
	}
}
