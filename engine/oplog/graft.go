package oplog

import (
	"errors"
	"fmt"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
)

// grafted gives a checkpoint as it is by now. A store that has no grafts is asked once.
func (l *Log) grafted(cp *model.Checkpoint, err error) (*model.Checkpoint, error) {
	if err != nil || l.Grafts.Load() == model.GraftsNone {
		return cp, err
	}
	if l.Grafts.Load() == model.GraftsUnknown {
		found := model.GraftsNone
		err := l.DB.Scan(kv.Range{Prefix: []byte{kv.PrefixGraft}}, func(_, _ []byte) error {
			found = model.GraftsSome
			return kv.ErrStop
		})
		if err != nil {
			return nil, &value.OpError{Op: "checkpoint", Subject: cp.ID.Short(), Err: fmt.Errorf("graft: %w", err)}
		}
		l.Grafts.CompareAndSwap(model.GraftsUnknown, found)
		return l.grafted(cp, nil)
	}
	g, err := l.graft(cp.ID)
	if err != nil {
		return nil, &value.OpError{Op: "checkpoint", Subject: cp.ID.Short(), Err: err}
	}
	if g != nil {
		g.Apply(cp)
	}
	return cp, nil
}

// graft reads the graft of a checkpoint; nil: it has none.
func (l *Log) graft(id objstore.ID) (g *model.Graft, err error) {
	key := model.GraftKey(id)
	if there, err := l.DB.Has(key); err != nil || !there {
		return nil, err
	}
	err = l.DB.View(key, func(v []byte) error {
		g, err = model.DecodeGraft(v)
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, nil
	}
	return g, err
}
