package restore

import (
	"rewind/engine/oplog"
	"rewind/objstore"
	"rewind/tree"
)

// refuseLost refuses a restore of what is lost. A lost directory that was not asked for reads as an empty one afterwards.
func (pl *planner) refuseLost() error {
	paths, trees, err := pl.restorer.log.LostIn(pl.target)
	if err != nil {
		return err
	}
	var asked []string
	for _, p := range paths {
		if pl.request.Paths.Has(p) || p == "" || pl.request.Paths.HasBelow(p) {
			asked = append(asked, p)
		}
	}
	if len(asked) > 0 {
		return &oplog.LostError{Checkpoint: pl.target.ID, Paths: asked}
	}
	pl.lostTrees = trees
	return nil
}

// lostAsEmpty reads trees, the lost ones as empty.
type lostAsEmpty struct {
	objstore.Getter
	lost map[objstore.ID]bool
}

func (s lostAsEmpty) Get(k objstore.Kind, id objstore.ID) ([]byte, error) {
	if k == objstore.Tree && s.lost[id] {
		return tree.Encode(nil)
	}
	return s.Getter.Get(k, id)
}
