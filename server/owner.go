package server

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"rewind/api"
	"rewind/internal/osfile"
	"rewind/internal/owner"
	"rewind/internal/relay"
)

// tellHome makes what is wrong with rewind's own directory an error of the API. command is the command line that was
// refused.
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
	who := osfile.UserName(e.Owner)
	as := who
	message = e.What(withUID(e.Owner), withUID(e.User))
	if e.Home == "" { // in a home of one's own
		return message, "'rewind doctor' names what is not yours in rewind's own directory, and how it is given back"
	}
	if strings.Contains(as, " ") {
		as = "'#" + strconv.Itoa(e.Owner) + "'" // as sudo takes it; to a shell # begins a comment
	}
	hint = fmt.Sprintf("run it as %s: sudo -u %s %s; or set REWIND_HOME to a directory of %s's", who, as, command,
		osfile.UserName(e.User))
	if e.User == 0 && e.Dir == e.Home {
		hint += "; 'rewind doctor --mend' gives back what root left here"
	}
	if e.Owner == 0 && e.Dir == e.Home {
		hint = mendHint(e.Home)
	}
	return message, hint
}

// ownerOf looks for another user's directory or file of rewind's own that explains an error of permission.
func ownerOf(err error) *relay.OwnerError {
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
	return fmt.Sprintf("root gives it back: sudo env REWIND_HOME=%s rewind doctor --mend; or set REWIND_HOME to a directory "+
		"of your own", home)
}

// withUID is a user's name with its number.
func withUID(uid int) string {
	name, number := osfile.UserName(uid), strconv.Itoa(uid)
	if uid == 0 || strings.HasSuffix(name, " "+number) {
		return name
	}
	return name + " (uid " + number + ")"
}

// mend gives back what in rewind's own directory is not its owner's: run by root, what root left there; run by the
// owner, what needs no root. Nothing else is opened. dryRun: it is only listed.
func mend(dryRun bool) (api.MendResponse, error) {
	home, err := relay.Home()
	if err != nil {
		return api.MendResponse{}, tellHome(err, "")
	}
	do := owner.Mend
	if dryRun {
		do = owner.Plan
	}
	r, err := do(home)
	out := mended(r, dryRun)
	switch {
	case errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR):
		err = &api.Error{
			Word: api.WordUsage, Message: home + " is a link, or no directory",
			Hint: "set REWIND_HOME to the directory itself",
		}
	case errors.Is(err, owner.ErrNobody):
		hint := "set REWIND_HOME to the directory of the user who is locked out: sudo env REWIND_HOME=... rewind doctor --mend"
		err = &api.Error{Word: api.WordUsage, Message: clean(err), Hint: hint}
	case errors.Is(err, owner.ErrNotYours):
		err = tellHome(relay.CheckHome(home), "rewind doctor --mend")
	case err != nil:
		err = tell(err)
	}
	return out, err
}

func mended(r *owner.Report, dryRun bool) api.MendResponse {
	if r == nil {
		return api.MendResponse{}
	}
	entries := func(list []owner.Entry) []api.MendEntry {
		out := []api.MendEntry{}
		for _, e := range list {
			out = append(out, api.MendEntry{Path: api.Text(e.Path), Owner: osfile.UserName(e.UID), Why: e.Why})
		}
		return out
	}
	return api.MendResponse{
		Home: api.Text(r.Home), Owner: osfile.UserName(r.Owner), DryRun: dryRun,
		Given: entries(r.Given), Removed: entries(r.Removed), Aside: entries(r.Aside), Left: entries(r.Left),
	}
}

// foreignNamed is how many files of others a check names.
const foreignNamed = 5
