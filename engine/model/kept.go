package model

import (
	"rewind/internal/value"
	"rewind/refs"
)

// Taken is what a restore would keep without Exact.
type Taken struct {
	By    string // the other session that changed the paths; "": no checkpoint holds them
	Paths []string
}

// Kept is a path that a restore leaves as it is although the target has it otherwise or not at all.
type Kept struct {
	Path   string
	Dir    bool // with all below it
	Reason value.KeptReason
	By     string // of value.KeptSession: the other session
	Shared bool   // of value.KeptSession: the restoring session may have written it, too
}

// Covers reports whether a directory that stays says all that is to be said of another path that does.
func (k Kept) Covers(o Kept) bool {
	return k.Dir && k.Reason == o.Reason && k.By == o.By && k.Shared == o.Shared && refs.Below(o.Path, k.Path)
}
