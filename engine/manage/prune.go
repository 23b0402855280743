package manage

import (
	"context"
	"slices"
	"strings"
	"time"

	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/internal/value"
	"rewind/refs"
	"rewind/transcript"
)

// Prune says which forks are to go: those that fit all of it. The zero value is none.
type Prune struct {
	Older  time.Duration // nothing came from them for this long; 0: at any age
	Unused bool          // nobody has gone on with them
	Keep   int           // but for the newest so many; 0: none is kept for that
	Makers []string      // only those that one of these made (value.Lineage.Maker); nil: whoever did
	Itself bool          // no person asks: what somebody has named, brought back, or gone back in stays, too
}

// isZero reports whether nothing is said.
func (p Prune) isZero() bool {
	counted := p.Older != 0 || p.Keep != 0
	return !counted && !p.Unused && len(p.Makers) == 0
}

// choose chooses among forks, which are newest first. What an agent has open, where the project stands, what is the
// main line of its family, archived or gone already never goes. A branch within a session is no session that could go.
func (p Prune) choose(list []model.ForkInfo, now time.Time) (out []*model.ForkInfo) {
	if p.isZero() {
		return nil
	}
	list = slices.DeleteFunc(list, func(f model.ForkInfo) bool { return f.Branch != f.Name })
	for i := range list {
		f := &list[i]
		used := f.Own > 0 || f.Event != "" && f.Fork.Kind != model.ByAgent
		live := f.Running || f.Current || f.Missing
		switch {
		case live || f.Standing != value.InUse || !f.Fork.Resolved():
		case i < p.Keep, p.Unused && used, p.Older > 0 && now.Sub(f.Last) < p.Older:
		case len(p.Makers) > 0 && !slices.Contains(p.Makers, f.Fork.Maker()):
		default:
			out = append(out, f)
		}
	}
	return out
}

// Automatic is what the settings have deleted when the project rests; false: nothing.
func (m *Manager) Automatic() (Prune, bool) {
	on, age, keep, makers := m.log.Config.PrunesForks()
	return Prune{Older: age, Unused: true, Keep: keep, Makers: makers, Itself: true}, on && len(makers) > 0
}

// Prunable lists the forks that p chooses, of those whose files are of the agents' own folders.
func (m *Manager) Prunable(ctx context.Context, p Prune, env value.AgentEnv) (names []string, err error) {
	if p.isZero() {
		return nil, model.Usagef("which forks? give an age, how many to keep, a kind, or unused")
	}
	list, err := m.history.Forks(ctx, value.AgentEnv{}, "")
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(f model.ForkInfo) bool { return f.Hidden() })
	chosen := p.choose(list, m.log.Now())
	if !p.Itself || len(chosen) == 0 {
		for _, f := range chosen {
			names = append(names, f.Name)
		}
		return names, nil
	}
	defer m.log.Hold()()
	back, err := m.broughtBack()
	if err != nil {
		return nil, err
	}
	own := register.Folders(env)
	for _, f := range chosen {
		rewound, err := m.rewound(f.Name)
		if err != nil {
			return nil, err
		}
		unneeded := !rewound && !back[f.Name]
		if unneeded && !m.named(f) && model.Placed(own, f.Transcript) == nil {
			names = append(names, f.Name)
		}
	}
	return names, nil
}

// rewound reports whether a session stands before its newest checkpoint.
func (m *Manager) rewound(session string) (bool, error) {
	at, err := m.log.Refs.ID(refs.Cursor(session))
	if err != nil || at.IsZero() {
		return false, err
	}
	tip, err := m.history.NewestOf(session)
	return at != tip, err
}

// broughtBack are the sessions that somebody has brought back after they were deleted.
func (m *Manager) broughtBack() (map[string]bool, error) {
	back := map[string]bool{}
	err := m.history.Restores(func(op *refs.Operation, _ uint64) error {
		if op.Kind == refs.KindUndoForks {
			for _, d := range op.Restore.Managed {
				back[d.Session] = back[d.Session] || d.Was == value.Deleted && d.Now != value.Deleted
			}
		}
		return nil
	})
	return back, err
}

// named reports whether somebody may have given a fork its title: it is not the one that it would get of its original.
func (m *Manager) named(f *model.ForkInfo) bool {
	from := m.log.Session(f.Fork.Session)
	if from == nil {
		return true
	}
	of, err := m.history.TitleOf(from)
	if err != nil {
		return true
	}
	switch f.Fork.Maker() {
	case value.ForkMade, value.ForkRestore:
		return f.Title != transcript.ForkTitle(of, f.Fork.Turn)
	case value.ForkClone:
		return f.Title != transcript.CopyTitle(of)
	}
	return !strings.HasPrefix(f.Title, of) // agents put a word behind it
}
