package history

import (
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/objstore"
)

// dresser says of checkpoints what lists say of them, each of which costs little then.
type dresser struct {
	h      *History
	tags   map[objstore.ID][]string
	notes  map[objstore.Key][]string
	count  oplog.Count
	cursor objstore.ID
	whose  func(session string) string
}

func (h *History) dresser() (d *dresser, err error) {
	d = &dresser{h: h, count: h.log.Count(), whose: h.sessions.Whose()}
	if d.tags, err = h.tagsByID(); err != nil {
		return nil, err
	}
	if d.notes, err = h.log.AllMessages(); err != nil {
		return nil, err
	}
	d.cursor, err = h.cursor()
	return d, err
}

// bare reports whether nobody has marked a checkpoint, and the worktree does not stand on it.
func (d *dresser) bare(cp *model.Checkpoint) bool {
	return cp.ID != d.cursor && len(d.tags[cp.ID]) == 0 && len(d.notes[cp.ID.Key()]) == 0
}

// dress does not fill in Aside: who walks the log knows.
func (d *dresser) dress(cp *model.Checkpoint) (Listed, error) {
	if n := d.count(cp.Session, cp.Cause.Turn, cp.Seq); n != cp.Cause.Turn {
		counted := *cp
		counted.Cause.Turn, cp = n, &counted
	}
	short, err := d.h.log.Objs.ShortID(objstore.Checkpoint, cp.ID)
	return Listed{
		Checkpoint: cp, Short: short, Current: cp.ID == d.cursor, Tags: d.tags[cp.ID], Messages: d.notes[cp.ID.Key()],
		Safety: cp.Cause.Event == model.EventSafety, Whose: d.whose(cp.Session),
	}, err
}

// Dresser gives what dresses many checkpoints as List does. Aside is not filled in.
func (h *History) Dresser() (func(*model.Checkpoint) (Listed, error), error) {
	d, err := h.dresser()
	if err != nil {
		return nil, err
	}
	return d.dress, nil
}

// Tips are the checkpoints at which branches end and sessions stand: what is neither one of them nor before one was
// left behind.
func (h *History) Tips() (map[objstore.ID]bool, error) { return h.tips() }
