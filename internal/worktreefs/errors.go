package worktreefs

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
)

// What is there is not what was asked for.
var (
	// ErrNotExist: no entry of that name. It is fs.ErrNotExist.
	ErrNotExist = fs.ErrNotExist
	// ErrExist: the name is taken; nothing was replaced. It is fs.ErrExist.
	ErrExist = fs.ErrExist
	// ErrPermission: the system refused. It is fs.ErrPermission.
	ErrPermission = fs.ErrPermission
	// ErrNotDir: the entry is not a directory. A symbolic link to one is not a directory.
	ErrNotDir = errors.New("not a directory")
	// ErrNotRegular: the entry is not a regular file, so it was not opened.
	ErrNotRegular = errors.New("not a regular file")
	// ErrIsDir: the entry is a directory, and the operation is for the others.
	ErrIsDir = errors.New("is a directory")
	// ErrNotEmpty: the directory still holds entries. It never matches ErrExist.
	ErrNotEmpty = errors.New("directory not empty")
)

// The name is refused before the system is asked.
var (
	// errDotGit: a write to a spelling of .git, or inside a directory reached through one.
	errDotGit = errors.New("names git's own directory")
	// ErrBadName: empty, ".", "..", or with a slash or NUL; or the system found it too long or otherwise unusable.
	ErrBadName = errors.New("not a usable name")
)

// The file system cannot.
var (
	// ErrUnsupported: the file system or the system has no such operation.
	ErrUnsupported = errors.New("not supported by this file system")
	// errCrossDevice: the two directories are not on one mounted file system.
	errCrossDevice = errors.New("not on the same file system")
	// errNoSpace: the disk or the quota is full.
	errNoSpace = errors.New("no space left")
	// errBusy: the entry is a mount point, a running program or otherwise held by the system.
	errBusy = errors.New("in use")
)

// IsLocal reports whether an error says something about one path, not about the disk or the process.
func IsLocal(err error) bool {
	for _, e := range []error{
		ErrNotExist, ErrExist, ErrPermission, ErrNotDir, ErrNotRegular, ErrIsDir, ErrNotEmpty, errDotGit, ErrBadName, ErrUnsupported,
		errCrossDevice, errBusy,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// opError says what was done to what. The text is made when it is asked for: most of these errors are ErrNotExist from
// a look-up and are never printed. kind is the sentinel (nil when the system's error already matches one), err the
// system's error (nil when the refusal is our own).
type opError struct {
	op   string
	dir  interface{ Name() string }
	name string
	kind error
	err  error
}

func (e *opError) Error() string {
	var b strings.Builder
	b.WriteString("")
	b.WriteString(e.op)
	b.WriteByte(' ')
	b.WriteString(printable(join(e.dir.Name(), e.name)))
	b.WriteString(": ")
	if e.kind != nil {
		b.WriteString(e.kind.Error())
	} else {
		b.WriteString(e.err.Error())
	}
	return b.String()
}

func (e *opError) Unwrap() []error {
	switch {
	case e.kind == nil:
		return []error{e.err}
	case e.err == nil:
		return []error{e.kind}
	}
	return []error{e.kind, e.err}
}

// join puts a name under a directory's printed path; an empty name means the directory itself.
func join(dir, name string) string {
	switch {
	case name == "":
		return dir
	case dir == "":
		return name
	case strings.HasSuffix(dir, "/"):
		return dir + name
	}
	return dir + "/" + name
}

// printable quotes a path that would break a line of text or a terminal.
func printable(p string) string {
	for _, r := range p {
		if r == '�' || !strconv.IsPrint(r) {
			return strconv.Quote(p)
		}
	}
	return p
}
