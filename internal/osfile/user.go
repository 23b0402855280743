package osfile

import (
	"os/user"
	"strconv"
)

// UserName is what a user is called, or "user" and its number where the system has no name for it.
func UserName(uid int) string {
	id := strconv.Itoa(uid)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	if uid == 0 {
		return "root"
	}
	return "user " + id
}
