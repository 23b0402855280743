package manage

import (
	"slices"

	"rewind/engine/model"
	"rewind/engine/sessions"
	"rewind/refs"
)

// lossOf says what goes with a session when all of going go: the turns behind the last that a session which stays has,
// too. Its checkpoints stay, as any others, until gc lets them go.
func (m *Manager) lossOf(s *model.Session, going []*model.Session) model.Loss {
	stays := func(name string) *model.Session {
		o := m.log.Session(name)
		goes := slices.ContainsFunc(going, func(g *model.Session) bool { return g.Name == name })
		same := o == nil || o == s
		if same || goes || sessions.FileMissing(o) {
			return nil
		}
		return o
	}
	both := 0
	if s.Fork != nil {
		both = s.Fork.Both
	}
	shared := 0
	if s.Fork != nil && stays(s.Fork.Session) != nil {
		shared = both
	}
	for name, o := range m.log.EachSession() {
		if o.Fork == nil || stays(name) == nil {
			continue
		}
		switch {
		case o.Fork.Session == s.Name:
			shared = max(shared, o.Fork.Turn)
		case s.Fork != nil && o.Fork.Session == s.Fork.Session:
			shared = max(shared, min(both, o.Fork.Both))
		}
	}
	loss := model.Loss{Session: s.Name, Bytes: s.Cursor.Length}
	loss.Title, _ = m.history.TitleOf(s) // shown only
	turns := int(m.history.SaidTurns(s))
	loss.Turns = max(turns-shared, 0)
	loss.Checkpoints = m.ownCheckpoints(s)
	return loss
}

// maxOwn bounds how many checkpoints of a session are counted.
const maxOwn = 10_000

// ownCheckpoints is how many checkpoints on a session's branch are its own.
func (m *Manager) ownCheckpoints(s *model.Session) (n int) {
	id, err := m.log.Refs.ID(refs.Session(s.Name))
	for err == nil && !id.IsZero() && n < maxOwn {
		var cp *model.Checkpoint
		if cp, err = m.log.Checkpoint(id); err != nil || cp.Session != s.Name {
			break
		}
		n++
		id = cp.Parent()
	}
	return n
}
