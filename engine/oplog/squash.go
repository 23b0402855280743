package oplog

import (
	"errors"
	"fmt"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/objstore"
)

// squashed is cp with its squash record applied. It passes err on. A store without squash records is asked once.
func (l *Log) squashed(cp *model.Checkpoint, err error) (*model.Checkpoint, error) {
	if err != nil || l.squashes.Load() == model.SquashesNone {
		return cp, err
	}
	if l.squashes.Load() == model.SquashesUnknown {
		found := model.SquashesNone
		err := l.DB.Scan(kv.Range{Prefix: []byte{kv.PrefixSquash}}, func(_, _ []byte) error {
			found = model.SquashesSome
			return kv.ErrStop
		})
		if err != nil {
			return nil, fmt.Errorf("checkpoint %s: squash record: %w", cp.ID.Short(), err)
		}
		l.squashes.CompareAndSwap(model.SquashesUnknown, found)
		return l.squashed(cp, nil)
	}
	g, err := l.squash(cp.ID)
	if err != nil {
		return nil, fmt.Errorf("checkpoint %s: %w", cp.ID.Short(), err)
	}
	if g != nil {
		g.Apply(cp)
	}
	return cp, nil
}

// squash reads the squash record of a checkpoint; nil: it has none.
func (l *Log) squash(id objstore.ID) (g *model.Squash, err error) {
	key := model.SquashKey(id)
	if there, err := l.DB.Has(key); err != nil || !there {
		return nil, err
	}
	err = l.DB.View(key, func(v []byte) error {
		g, err = model.DecodeSquash(v)
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, nil
	}
	return g, err
}

// KnowSquashes says that the store has squash records. Safe for concurrent use.
func (l *Log) KnowSquashes() { l.squashes.Store(model.SquashesSome) }

// NoSquashes reports whether the store is known to have no squash records. Safe for concurrent use.
func (l *Log) NoSquashes() bool { return l.squashes.Load() == model.SquashesNone }
