package history

import (
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/objstore"
)

// dresser says of checkpoints what lists say of them, each of which costs little then.
type dresser struct {
	teller
	h      *History
	tags   map[objstore.ID][]string
	notes  map[objstore.Key][]string
	cursor objstore.ID
	whose  func(session string) string
}

// teller says in which turn checkpoints were taken.
type teller struct {
	count oplog.Count
	asked func(session string, turn uint64) (string, error)
}

func (h *turnReader) teller() teller { return teller{h.log.Count(), h.prompts()} }

// told is a checkpoint with the number of its turn, and with the prompt of that, as people are told them.
func (t *teller) told(cp *model.Checkpoint) (*model.Checkpoint, error) {
	told := *cp
	told.Cause.Turn = t.count(cp.Session, cp.Cause.Turn, cp.Seq)
	if cp.Cause.Prompt != "" || cp.Cause.Turn == 0 {
		return &told, nil
	}
	var err error
	told.Cause.Prompt, err = t.asked(cp.Session, told.Cause.Turn)
	return &told, err
}

// Told gives what says in which turn checkpoints were taken: it gives each the number and the prompt of its turn, as
// lists have them. For one goroutine.
func (h *turnReader) Told() func(*model.Checkpoint) (*model.Checkpoint, error) {
	t := h.teller()
	return t.told
}

func (h *History) dresser() (d *dresser, err error) {
	d = &dresser{h: h, teller: h.teller(), whose: h.sessions.Whose()}
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
	cp, err := d.told(cp)
	if err != nil {
		return Listed{Checkpoint: cp}, err
	}
	short, err := d.h.log.Objs.ShortID(objstore.Checkpoint, cp.ID)
	return Listed{
		Checkpoint: cp, Short: short, Current: cp.ID == d.cursor, Tags: d.tags[cp.ID], Messages: d.notes[cp.ID.Key()],
		Safety: cp.Cause.Event == model.EventSafety, Whose: d.whose(cp.Session),
	}, err
}

// prompts gives the prompt of a session's turn which no hook told here, as the conversation has it (Untold): the turn
// began in another project. Each is looked up once.
func (h *turnReader) prompts() func(session string, turn uint64) (string, error) {
	type turnOf struct {
		session string
		turn    uint64
	}
	known := map[turnOf]string{}
	return func(session string, turn uint64) (string, error) {
		k := turnOf{session, turn}
		if prompt, ok := known[k]; ok {
			return prompt, nil
		}
		s, err := h.log.StoredSession(session)
		if err == nil && s != nil && s.LaneOf == "" {
			known[k] = h.Untold(s, turn)
		}
		return known[k], err
	}
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
