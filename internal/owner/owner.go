// Package owner finds what in rewind's own directory belongs to another user than the directory, and gives back what
// root left there: a command that was run by root with a user's HOME leaves files that lock the user out.
//
// Who owns the directory can put anything there, links and other names of foreign files included, and exchange it at
// any moment. So everything is read and changed by handle, beneath handles, without following links. A file with a
// second name is left alone. So is everything on another file system, everything that is neither file nor directory,
// and everything of a third user's.
package owner

import "errors"

// ErrNobody says that a home has no owner to whom anything could be given back.
var ErrNobody = errors.New("neither the directory nor the one that it lies in belongs to a user other than root")

// ErrNotYours says that who runs is neither root nor the home's owner.
var ErrNotYours = errors.New("it belongs to another user")

// Entry is something in a home that is not its owner's.
type Entry struct {
	Path string // below the home
	UID  int    // whose it is
	dir  bool
	Why  string // why it is left as it is; "": it need not be
}

// Report is what was found, or done.
type Report struct {
	Home    string
	Owner   int
	Given   []Entry // have become the owner's
	Removed []Entry // of the run directory, where nothing is needed
	Aside   []Entry // a run directory that was moved out of the way, by its new name
	Left    []Entry
}

// Foreign is what was found in all.
func (r *Report) Foreign() int { return len(r.Given) + len(r.Removed) + len(r.Aside) + len(r.Left) }
