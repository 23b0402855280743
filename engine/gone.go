package engine

import (
	"rewind/objstore"
	"rewind/tree"
)

// A content that a checkpoint names can be gone: purged on purpose, or lost to damage. The checkpoint stays what it is in all else. A restore
// leaves the path as it finds it, present or absent, and names it; a diff and a list say the word.

// goneEntry says why the content of a file is gone; "": it is not, or there is no file.
func (e *Engine) goneEntry(ent *tree.Entry) (KeptReason, error) {
	if !isFile(ent) {
		return "", nil
	}
	g, ok, err := e.objs.Tombstone(objstore.Blob, ent.ID.Key())
	if err != nil || !ok {
		return "", err
	}
	if g.Reason == objstore.Purged {
		return KeptPurged, nil
	}
	there, err := e.objs.Has(objstore.Blob, ent.ID) // it may have been stored again
	if err != nil || there {
		return "", err
	}
	return KeptLost, nil
}

// goneChange says why one of the contents of a change is gone; "": neither is.
func (e *Engine) goneChange(ch tree.Change) (string, error) {
	for _, ent := range []*tree.Entry{ch.Old, ch.New} {
		if why, err := e.goneEntry(ent); err != nil || why != "" {
			return string(why), err
		}
	}
	return "", nil
}
