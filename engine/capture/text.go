package capture

import (
	"rewind/engine/model"
	"rewind/internal/textdiff"
	"rewind/objstore"
	"rewind/tree"
)

// TextOf is how the text of a path changes, with so many unchanged lines around each change.
func TextOf(get objstore.Getter, ch tree.Change, context int) (textdiff.Result, error) {
	var sides [2][]byte
	for i, ent := range []*tree.Entry{ch.Old, ch.New} {
		if !model.IsFile(ent) {
			continue
		}
		if ent.Size > textdiff.MaxBytes {
			return textdiff.Result{Kind: textdiff.TooLarge}, nil
		}
		var err error
		if sides[i], err = get.Get(objstore.Blob, ent.ID); err != nil {
			return textdiff.Result{}, err
		}
	}
	return textdiff.Diff(sides[0], sides[1], context), nil
}
