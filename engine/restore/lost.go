package restore

import (
	"rewind/engine/oplog"
	"rewind/objstore"
	"rewind/tree"
)

// refuseLost refuses a restore of what is lost. A lost directory that was not asked for reads as an empty one afterwards.
func (pl *planner) refuseLost() error {
	paths, trees, err := pl.e.log.LostIn(pl.target)
	if err != nil {
		return err
	}
	var asked []string
	for _, p := range paths {
		if pl.r.Paths.Has(p) || p == "" || pl.r.Paths.HasBelow(p) {
			asked = append(asked, p)
		}
	}
	if len(asked) > 0 {
		return &oplog.LostError{Checkpoint: pl.target.ID, Paths: asked}
	}
	pl.lost = trees
	return nil
}

// sparing reads trees, the lost ones as empty.
type sparing struct {
	objstore.Getter
	lost map[objstore.ID]bool
}

func (s sparing) Get(k objstore.Kind, id objstore.ID) ([]byte, error) {
	if k == objstore.Tree && s.lost[id] {
		return tree.Encode(nil)
	}
	return s.Getter.Get(k, id)
}
