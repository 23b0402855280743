package manage

import (
	"context"
	"slices"
	"time"

	"rewind/engine/model"
	"rewind/internal/value"
)

// Prune says which forks are to go: those that fit all of it. The zero value is none.
type Prune struct {
	Older  time.Duration // nothing came from them for this long; 0: at any age
	Unused bool          // nobody has gone on with them
	Keep   int           // but for the newest so many; 0: none is kept for that
}

// isZero reports whether nothing is said.
func (p Prune) isZero() bool { return p == Prune{} }

// choose chooses among forks, which are newest first. What an agent has open, where the project stands, what is the main line of its
// family, archived or gone already never goes.
func (p Prune) choose(list []model.ForkInfo, now time.Time) []string {
	if p.isZero() {
		return nil
	}
	var out []string
	for i, f := range list {
		used := f.Own > 0 || f.Event != "" && f.Fork.Kind != model.ByAgent
		switch {
		case f.Running || f.Current || f.Missing || f.Standing != value.InUse || !f.Fork.Resolved():
		case i < p.Keep, p.Unused && used, p.Older > 0 && now.Sub(f.Last) < p.Older:
		default:
			out = append(out, f.Name)
		}
	}
	return out
}

// Prunable lists the forks that p chooses.
func (m *Manager) Prunable(ctx context.Context, p Prune) ([]string, error) {
	if p.isZero() {
		return nil, model.Usagef("which forks? say how old, how many are kept, or that nobody has used them")
	}
	list, err := m.history.Forks(ctx, value.AgentEnv{}, "")
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(f model.ForkInfo) bool { return f.Hidden() })
	return p.choose(list, m.log.Now()), nil
}
