// Package beneath is the disk as a store sees it: a vfs.FS in which every file lies beneath the handle of the store's
// directory. No link is followed in it, what is opened is a regular file of this user's, and a directory that others
// can write is not gone into. What the name of the store's directory becomes after it was opened does not matter: the
// handle stays with the directory that was looked at.
//
// Names are paths, as pebble has them. Those that do not lie in one of the directories an FS was made for are refused.
package beneath

// RefusedError is what is not believed of a store: it was not opened, or not written.
type RefusedError struct {
	Path string
	Why  string
	// Rights: it is somebody else's or open to others. Else it is not of the kind that it should be.
	Rights bool
}

// Rules say what files may be like, by their names.
type Rules struct {
	// MayLink: the file may have more than one name, also where the directory is written. It is never written again
	// once it is made.
	MayLink func(base string) bool
	// Limit is the size in bytes up to which a file is believed; 0: any.
	Limit func(base string) int64
}

func (e *RefusedError) Error() string { return e.Path + ": " + e.Why }
