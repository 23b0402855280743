package restore

import (
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/objstore"
	"rewind/tree"
)

// refuseLost fails with an *oplog.LostError if a path of the request is lost in the checkpoint cp. Lost directories outside of the
// request are put into lostTrees and read as empty from now on.
func (pl *planner) refuseLost(cp *model.Checkpoint) error {
	paths, trees, err := pl.restorer.log.LostIn(cp)
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
		return &oplog.LostError{Checkpoint: cp.ID, Paths: asked}
	}
	pl.lostTrees = trees
	return nil
}

// lostAsEmpty is a Getter that gives lost trees as empty ones.
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
