package relay

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// An OwnerError says that a directory of rewind's, or the one in which it would be made, is another user's than who
// runs. Whoever went on would leave files there that its owner can neither read nor replace.
type OwnerError struct {
	Home  string // rewind's own directory; "": Dir is something in it
	Dir   string // what belongs to Owner: Home, or the nearest directory above it that exists
	Owner int
	User  int // who runs, by effective uid
}

func (e *OwnerError) Error() string {
	return e.What(userName(e.Owner), userName(e.User)) + "; run it as its owner, or set REWIND_HOME to a directory of your own"
}

// What says whose it is, with the users as they are named.
func (e *OwnerError) What(owner, user string) string {
	if e.Home == "" || e.Home == e.Dir {
		return e.Dir + " belongs to " + owner + ", and this is " + user
	}
	return e.Home + " would be made in " + e.Dir + ", which belongs to " + owner + ", and this is " + user
}

// userName is what a user is called without a look at the system's list of users.
func userName(uid int) string {
	if uid == 0 {
		return "root"
	}
	return "user " + strconv.Itoa(uid)
}

// CheckHome refuses a home that is not this user's, with an OwnerError, before anything in it is opened or made. One
// that does not exist is whose the nearest directory above it is; root's count as anybody's there, for what is made in
// them belongs to who makes it. A link must be this user's or root's, and what it leads to this user's.
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
