package history

import (
	"rewind/engine/model"
	"rewind/objstore"
)

// Dresser gives what dresses many checkpoints as List does, each of which costs little then. Aside is not filled in: who walks the log
// knows.
func (h *History) Dresser() (func(*model.Checkpoint) (Listed, error), error) {
	tags, err := h.tagsByID()
	if err != nil {
		return nil, err
	}
	notes, err := h.log.AllMessages()
	if err != nil {
		return nil, err
	}
	cursor, err := h.cursor()
	if err != nil {
		return nil, err
	}
	return func(cp *model.Checkpoint) (Listed, error) {
		short, err := h.log.Objs.ShortID(objstore.Checkpoint, cp.ID)
		return Listed{
			Checkpoint: cp, Short: short, Current: cp.ID == cursor, Tags: tags[cp.ID], Messages: notes[cp.ID.Key()],
			Safety: cp.Cause.Event == model.EventSafety,
		}, err
	}, nil
}

// Tips are the checkpoints at which branches end and sessions stand: what is neither one of them nor before one was left behind.
func (h *History) Tips() (map[objstore.ID]bool, error) { return h.tips() }
