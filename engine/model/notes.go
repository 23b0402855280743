package model

import (
	"errors"
	"strings"
	"syscall"

	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/tree"
)

// Progress reports how far a capture or a restore has come; it is called from several goroutines.
type Progress func(files int, bytes int64)

// Covering finds the skip that stands for path: its own, or that of a directory above it. What a rule says of a
// directory does not count for a path that the note lists as named: that was looked at.
func Covering(skips []tree.Skip, path string) (tree.Skip, bool) {
	named := false
	for p := path; p != ""; p, _ = tree.Split(p) {
		for _, s := range tree.LinesAt(skips, p) {
			switch {
			case s.IsNamed():
				named = named || p == path
			case s.Leaves() && !(named && isRule(s.Reason)):
				return s, true
			}
		}
	}
	return tree.Skip{}, false
}

// isRule reports whether a reason is that of a rule.
func isRule(reason byte) bool { return reason == tree.ReasonIgnored || reason == tree.ReasonBuiltin }

// Covered reports whether a note lists a path as not captured.
func Covered(note []tree.Skip, path string) bool {
	_, ok := Covering(note, path)
	return ok
}

// GitUnread gives the paths of a note that say what could not be read of the user's repository.
func GitUnread(note []tree.Skip) []string {
	var paths []string
	for _, s := range note {
		if s.Reason == tree.ReasonUnreadable && (s.Path == ".git" || strings.HasPrefix(s.Path, ".git/")) {
			paths = append(paths, s.Path)
		}
	}
	return paths
}

// IsFormat reports whether an error says that bytes are no tree.
func IsFormat(err error) bool {
	var f *tree.FormatError
	return errors.As(err, &f)
}

// IsUnreadable reports whether err says that something stored is gone, or damaged, and so will be the next time. Any
// other error may pass.
func IsUnreadable(err error) bool {
	return errors.Is(err, objstore.ErrNotFound) || errors.Is(err, objstore.ErrCorrupt) || IsFormat(err)
}

// MayPass reports whether an error in reading may be gone the next time: the system's, as of too many open files. What
// is damaged, or cannot be parsed, stays so.
func MayPass(err error) bool {
	var of syscall.Errno
	return errors.As(err, &of)
}

// IsLost is IsUnreadable, or damage of the store's own tables: a repair is asked for then, and may bring it back.
func IsLost(err error) bool { return IsUnreadable(err) || errors.Is(err, kv.ErrCorrupt) }

// IsFile reports whether an entry is there and no directory.
func IsFile(e *tree.Entry) bool { return e != nil && e.Type != tree.TypeDir }

// Object names an object of a store.
type Object struct {
	Kind objstore.Kind
	Id   objstore.ID
}
