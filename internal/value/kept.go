package value

// Kept is a path that a restore leaves as it is although its target has it otherwise or not at all.
type Kept struct {
	Path   Text       `json:"path"`
	Dir    bool       `json:"dir,omitempty"` // with all below it
	Reason KeptReason `json:"reason"`
	By     string     `json:"by,omitempty"`     // of KeptSession: which one changed it, as agent/id; Person: a person did
	Shared bool       `json:"shared,omitempty"` // of KeptSession: the one that goes back may have written it, too, for calls of both ran
	// Conflict is why what goes could not be taken out of it, of KeptSession. "": nothing was to be.
	Conflict MergeReason `json:"conflict,omitempty"`
	Gone     bool        `json:"gone,omitempty"` // of KeptSession and KeptSince: somebody removed it
}

// Person is in the place of a session what is nobody's call: a person's, an editor's, a build's.
const Person = "manual"

// Taken are paths of others that a restore set, or removed.
type Taken struct {
	By    string `json:"by,omitempty"` // the other session that changed them, as agent/id; "": no checkpoint held them
	Paths []Text `json:"paths"`
}

// Conflict is a path that changed while a restore ran, and was left as it is, or bytes of a racing editor.
type Conflict struct {
	Path    Text   `json:"path"`
	Reason  string `json:"reason"`             // lower case, without the path
	SavedAs Text   `json:"saved_as,omitempty"` // where bytes lie that are neither in the tree nor known to be stored; "": there are none
}

// Without is a path that a restore set, or found set, without something.
type Without struct {
	Path Text     `json:"path"`
	What []string `json:"what"` // sorted: setuid, setgid, sticky, owner, group, capabilities, attributes, links, permissions
}

// KeptReason is why a restore leaves a path as it is although its target has it otherwise: the engine decides it, the
// API carries the word, and the command line has a heading for each. "" says that it does not stay.
type KeptReason string

// The reasons.
const (
	KeptUnsaved  KeptReason = "new"      // no checkpoint holds it: first seen by this command
	KeptSkipped  KeptReason = "skipped"  // the target did not capture it: ignored then, or over the size limit
	KeptHidden   KeptReason = "hidden"   // left out since the target, by an ignore file that is set
	KeptUnread   KeptReason = "unread"   // it cannot be read, so that no checkpoint has it
	KeptSession  KeptReason = "session"  // another session changed it after the target
	KeptSince    KeptReason = "since"    // somebody changed it after the restore that is taken back
	KeptHolds    KeptReason = "holds"    // a directory with kept, ignored or skipped files in it is in the way
	KeptOccupied KeptReason = "occupied" // as KeptHolds, and the target has a file there
	KeptPurged   KeptReason = "purged"   // the target's content was purged from the store
	KeptLost     KeptReason = "lost"     // the target's content is damaged beyond repair
	KeptBelow    KeptReason = "below"    // it would lie below a kept path
	KeptGit      KeptReason = "git"      // git's own directory, whatever its name: never written
	KeptTree     KeptReason = "tree"     // another working tree: a linked one, or a repository of which the target has nothing
	KeptDatabase KeptReason = "database" // it belongs to a database that cannot be set whole
	KeptNoLinks  KeptReason = "nolinks"  // a symbolic link, and the file system has none
	KeptNoName   KeptReason = "noname"   // the file system cannot have the name, or not beside another one
)

// Incomplete reports whether a restore that keeps a path for this reason is done only in part: the target has something
// there that could not be laid out. What stays because it was to stay leaves nothing undone.
func (r KeptReason) Incomplete() bool {
	switch r {
	case KeptOccupied, KeptPurged, KeptLost, KeptBelow, KeptDatabase, KeptNoLinks, KeptNoName:
		return true
	}
	return false
}
