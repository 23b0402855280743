package relay

import "strconv"

// An OwnerError says that a directory of rewind's, or the one in which it would be made, is another user's than who runs. Whoever went on would
// leave files there that its owner can neither read nor replace.
type OwnerError struct {
	Home  string // rewind's own directory; "": Dir is something in it
	Dir   string // what belongs to Owner: Home, or the nearest directory above it that exists
	Owner int
	User  int // who runs, by effective uid
}

func (e *OwnerError) Error() string {
	return e.What(UserName(e.Owner), UserName(e.User)) + "; run it as its owner, or set REWIND_HOME to a directory of your own"
}

// What says whose it is, with the users as they are named.
func (e *OwnerError) What(owner, user string) string {
	if e.Home == "" || e.Home == e.Dir {
		return e.Dir + " belongs to " + owner + ", and this is " + user
	}
	return e.Home + " would be made in " + e.Dir + ", which belongs to " + owner + ", and this is " + user
}

// UserName is what a user is called without a look at the system's list of users.
func UserName(uid int) string {
	if uid == 0 {
		return "root"
	}
	return "user " + strconv.Itoa(uid)
}
