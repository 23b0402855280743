package oplog

import (
	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/tree"
)

// A content that a checkpoint names can be gone: purged on purpose, or lost to damage. All else of the checkpoint
// stays. A restore leaves the path as it finds it, present or absent, and names it; a diff and a list say the word.

// GoneEntry is why the content of a file is gone; "": it is there, or ent is nil or no file.
func (l *Log) GoneEntry(ent *tree.Entry) (value.KeptReason, error) {
	if !model.IsFile(ent) {
		return "", nil
	}
	g, ok, err := l.Objs.Tombstone(objstore.Blob, ent.ID.Key())
	if err != nil || !ok {
		return "", err
	}
	if g.Reason == objstore.Purged {
		return value.KeptPurged, nil
	}
	there, err := l.Objs.Has(objstore.Blob, ent.ID) // the content may have been stored again
	if err != nil || there {
		return "", err
	}
	return value.KeptLost, nil
}

// GoneChange is why one of the contents of a change is gone; "": neither is. there is the log of another worktree that
// a state is of; nil: none is.
func (l *Log) GoneChange(there *Log, ch tree.Change) (string, error) {
	for _, ent := range []*tree.Entry{ch.Old, ch.New} {
		if why, err := l.GoneBeside(there, ent); err != nil || why != "" {
			return string(why), err
		}
	}
	return "", nil
}
