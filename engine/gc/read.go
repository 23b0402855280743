package gc

import (
	"fmt"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
)

// gcReader reads for one gc: the objects of a collection's list, each with one look-up, and checkpoints with the squash
// records that were read at the beginning. For one goroutine.
type gcReader struct {
	e                       *Collector
	cps, trees, transcripts *objstore.ListReader
	squashes                map[string]string // by key, encoded
}

// gcReader reads the squash records and makes a reader.
func (co *Collector) gcReader(c *objstore.Collection) (*gcReader, error) {
	r := &gcReader{
		e: co, cps: c.Reader(objstore.Checkpoint), trees: c.Reader(objstore.Tree), transcripts: c.Reader(objstore.Transcript),
		squashes: map[string]string{},
	}
	err := co.log.DB.Scan(kv.Range{Prefix: []byte{kv.PrefixSquash}}, func(key, raw []byte) error {
		r.squashes[string(key)] = string(raw)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("gc: squash records: %w", err)
	}
	return r, nil
}

// Get implements objstore.Getter for what gc reads.
func (r *gcReader) Get(k objstore.Kind, id objstore.ID) ([]byte, error) {
	switch k {
	case objstore.Checkpoint:
		return r.cps.Get(id)
	case objstore.Tree:
		return r.trees.Get(id)
	case objstore.Transcript:
		return r.transcripts.Get(id)
	}
	return r.e.log.Objs.Get(k, id)
}

// checkpoint reads a checkpoint as oplog.Log.Checkpoint does.
func (r *gcReader) checkpoint(id objstore.ID) (*model.Checkpoint, error) {
	raw, err := r.cps.Get(id)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	cp, err := model.DecodeCheckpoint(id, raw)
	if err != nil {
		return nil, err
	}
	g, err := r.squash(id)
	if err != nil {
		return nil, &value.OpError{Op: "checkpoint", Subject: id.Short(), Err: err}
	}
	if g != nil {
		g.Apply(cp)
	}
	return r.e.log.Orphaned(cp, nil)
}

// squash is the squash record of a checkpoint; nil: it has none.
func (r *gcReader) squash(id objstore.ID) (*model.Squash, error) {
	raw, ok := r.squashes[string(model.SquashKey(id))]
	if !ok {
		return nil, nil
	}
	return model.DecodeSquash([]byte(raw))
}
