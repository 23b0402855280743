//go:build unix

package relay

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// CheckHome refuses a home that is not this user's, with an OwnerError, before anything in it is opened or made. One that does not exist is whose
// the nearest directory above it is; root's count as anybody's there, for what is made in them belongs to who makes it. A link must be this
// user's or root's, and what it leads to this user's.
func CheckHome(home string) error {
	var st syscall.Stat_t
	if err := again(func() error { return syscall.Lstat(home, &st) }); err == nil {
		if st.Mode&syscall.S_IFMT == syscall.S_IFLNK {
			if err := checkOwner(home, home, &st, true); err != nil {
				return err
			}
			if err := again(func() error { return syscall.Stat(home, &st) }); err != nil {
				return fail("check home", home, err)
			}
		}
		return checkOwner(home, home, &st, false)
	}
	for dir := filepath.Dir(home); ; dir = filepath.Dir(dir) {
		err := again(func() error { return syscall.Stat(dir, &st) })
		if err == nil {
			return checkOwner(home, dir, &st, true)
		}
		if !errors.Is(err, syscall.ENOENT) || dir == filepath.Dir(dir) {
			return fail("check home", home, err)
		}
	}
}

func checkOwner(home, dir string, st *syscall.Stat_t, rootToo bool) error {
	if me := os.Geteuid(); int(st.Uid) != me && !(rootToo && st.Uid == 0) {
		return &OwnerError{Home: home, Dir: dir, Owner: int(st.Uid), User: me}
	}
	return nil
}

// CheckOwner refuses what lies in a home and is another user's, with an OwnerError.
func CheckOwner(path string) error {
	var st syscall.Stat_t
	if err := again(func() error { return syscall.Lstat(path, &st) }); err != nil {
		return fail("check owner", path, err)
	}
	return checkOwner("", path, &st, false)
}

func again(call func() error) error {
	for {
		if err := call(); err != syscall.EINTR {
			return err
		}
	}
}
