package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"rewind/internal/relay"
)

// tellHome makes what is wrong with rewind's own directory an error of the API. command is the command line that was refused.
func tellHome(err error, command string) error {
	if err == nil {
		return nil
	}
	told := tell(err)
	var owner *relay.OwnerError
	if errors.As(err, &owner) && command != "" {
		_, told.Hint = ownerText(owner, command)
	}
	return told
}

// ownerText says whose a directory is, and what to do about it.
func ownerText(e *relay.OwnerError, command string) (message, hint string) {
	owner := userName(e.Owner)
	message = e.What(withUID(e.Owner), withUID(e.User))
	if e.Home == "" { // in a home of one's own
		return message, "'rewind doctor' names what is not yours in rewind's own directory, and how it is given back"
	}
	hint = fmt.Sprintf("run it as %s: sudo -u %s %s; or set REWIND_HOME to a directory of %s's", owner, owner, command, userName(e.User))
	if e.User == 0 && e.Dir == e.Home {
		hint += "; 'rewind doctor --mend' gives back what root left here"
	}
	if e.Owner == 0 && e.Dir == e.Home {
		hint = mendHint(e.Home)
	}
	return message, hint
}

// whose looks for another user's directory or file of rewind's own that explains an error of permission.
func whose(err error) *relay.OwnerError {
	var path *fs.PathError
	home, bad := relay.Home()
	if bad != nil || !errors.As(err, &path) || !errors.Is(err, fs.ErrPermission) {
		return nil
	}
	for at := path.Path; strings.HasPrefix(at, home+string(filepath.Separator)); at = filepath.Dir(at) {
		var owner *relay.OwnerError
		if errors.As(relay.CheckOwner(at), &owner) {
			return owner
		}
	}
	return nil
}

// mendHint is how root gives back what root left in a home.
func mendHint(home string) string {
	return fmt.Sprintf("root gives it back: sudo env REWIND_HOME=%s rewind doctor --mend; or set REWIND_HOME to a directory of your own", home)
}

// userName is the name of a user, or its number where the system has no name for it.
func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	if uid == 0 {
		return "root"
	}
	return "#" + strconv.Itoa(uid) // as sudo takes it
}

// withUID is a user's name with its number.
func withUID(uid int) string {
	name := userName(uid)
	switch {
	case uid == 0:
		return name
	case name[0] == '#':
		return "user " + strconv.Itoa(uid)
	}
	return fmt.Sprintf("%s (uid %d)", name, uid)
}
