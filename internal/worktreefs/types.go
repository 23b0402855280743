package worktreefs

import "io"

// Type is what an entry is. The zero Type means that the directory did not say.
type Type byte

// The types of entries.
const (
	TypeFile    Type = 'f'
	TypeSymlink Type = 'l'
	TypeDir     Type = 'd'
	TypePipe    Type = 'p'
	TypeSocket  Type = 'k'
	TypeDevice  Type = 'v' // block and character devices, and whatever else is none of the above
)

// String gives the type's word.
func (t Type) String() string {
	switch t {
	case TypeFile:
		return "file"
	case TypeSymlink:
		return "symlink"
	case TypeDir:
		return "directory"
	case TypePipe:
		return "pipe"
	case TypeSocket:
		return "socket"
	case TypeDevice:
		return "device"
	}
	return "unknown"
}

// Stat is what the system says about one entry, links not followed.
type Stat struct {
	Type  Type
	Perm  uint16 // permission, setuid, setgid and sticky bits: 07777
	Size  int64  // bytes
	Mtime int64  // ns since 1970
	Ctime int64  // ns since 1970; 0 where the system has none
	Ino   uint64 // 0 where the system has none
	Dev   uint64
	Nlink uint64
	Uid   uint32 // of the owner
	Gid   uint32
}

// Attr is an extended attribute.
type Attr struct {
	Name  string
	Value []byte
}

// Dirent is one entry as its directory lists it.
type Dirent struct {
	Name string // raw bytes
	Type Type   // 0: ask Lstat
}

// Volume says where names can be moved: between two directories exactly when their Volumes are equal.
type Volume struct{ dev, mount uint64 }

// Dir is an open directory. Names are single components. Methods are safe for concurrent use; Close is not, and a
// closed Dir must not be used.
type Dir interface {
	// Name is the path the directory was reached by, for messages only.
	Name() string
	Close() error
	Stat() (Stat, error)
	Volume() (Volume, error)
	// StampsNames reports whether the file system is known to give a directory another mtime or ctime whenever a name
	// in it comes or goes, in the time that files are stamped with. False where that is not known.
	StampsNames() bool
	// ReadDir lists the directory, unsorted, without "." and "..". It holds names that cannot be written, like .git.
	ReadDir() ([]Dirent, error)
	// Lstat describes an entry. A link is described itself. Absence is ErrNotExist.
	Lstat(name string) (Stat, error)
	// OpenDir opens a directory below. Anything else, a symbolic link included, is ErrNotDir.
	OpenDir(name string) (Dir, error)
	// Open opens a regular file for reading; anything else is ErrNotRegular. It never waits for a pipe's writer and
	// never opens a device. The Stat is the opened file's.
	Open(name string) (File, Stat, error)
	// Readlink gives a symbolic link's target, raw, of any length. Anything else is ErrUnsupported.
	Readlink(name string) (string, error)

	// CreateFile makes a file that must not exist. Its permissions are perm less the umask: WFile.Chmod makes them
	// exact.
	CreateFile(name string, perm uint16) (WFile, error)
	// Mkdir makes a directory with exactly perm (two calls: a directory seen in between may be narrower), or with what
	// the file system gives where that keeps no permissions.
	Mkdir(name string, perm uint16) error
	// Symlink makes a link that must not exist. target is stored as it is.
	Symlink(target, name string) error
	// Move renames an entry of any type into a directory of the same Volume; ErrExist when toName is taken. It never
	// replaces: ErrUnsupported where the file system has no way to rename a file so.
	Move(name string, to Dir, toName string) error
	// Rename is what remains where Move is ErrUnsupported: it looks whether toName is free, and renames. What somebody
	// makes at toName between the two is replaced.
	Rename(name string, to Dir, toName string) error
	// Exchange swaps two existing entries in one step, or fails with ErrUnsupported and does nothing.
	Exchange(name string, other Dir, otherName string) error
	// Lock takes the record lock of all of a regular file, without waiting, until it is closed: programs that share the
	// file by such locks do not read it then. ErrUnsupported where there is none, or somebody has it, or the file may
	// not be written.
	Lock(name string) (io.Closer, error)
	// Remove unlinks anything but a directory (ErrIsDir).
	Remove(name string) error
	// Rmdir removes an empty directory, else ErrNotEmpty or ErrNotDir.
	Rmdir(name string) error
	// Chmod sets the bits 07777 of a file or directory, never through a link (ErrUnsupported).
	Chmod(name string, perm uint16) error
	// Chgrp gives the directory itself another group.
	Chgrp(gid uint32) error
	// NoDefaultACL has what is made in the directory from now on inherit no access control list; nothing where there
	// are none.
	NoDefaultACL() error
	// Sync makes the directory's entries durable.
	Sync() error
	// SyncFS makes everything written to the directory's file system durable.
	SyncFS() error
}

// File is an open regular file. Not safe for concurrent Read; ReadAt is.
type File interface {
	io.Reader
	io.ReaderAt
	io.Closer
	Stat() (Stat, error)
	// Writers tells whether anyone has the file open for writing at this moment; ErrUnsupported where the system cannot
	// tell.
	Writers() (bool, error)
	// Attrs gives the extended attributes that a file which takes this one's place has to have, too: the user's own,
	// the access control list, capabilities, the security label. Not those that say something about the bytes, or that
	// belong to the file system.
	Attrs() ([]Attr, error)
}

// WFile is a file being written.
type WFile interface {
	io.Writer
	io.Closer
	// Chmod sets exactly the bits 07777. A write afterwards may clear setuid and setgid.
	Chmod(perm uint16) error
	// Chown gives the file to another owner and group; -1 leaves one as it is. It clears setuid, setgid and
	// capabilities.
	Chown(uid, gid int64) error
	// SetAttr sets an extended attribute. An access control list changes the permissions, and Chmod afterwards its
	// mask.
	SetAttr(Attr) error
	// Hole goes on n bytes further, which read as zeros and take no room where the file system can do that.
	Hole(n int64) error
	// WriteOut has the system begin to write the content to the disk, where it can: a Sync afterwards waits less.
	WriteOut()
	// Sync makes content and attributes durable, not the name.
	Sync() error
	Stat() (Stat, error)
}
