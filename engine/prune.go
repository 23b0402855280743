package engine

import (
	"context"
	"errors"

	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/refs"
)

// PruneForks deletes the forks that p chooses, in one operation. Without m.LastCopy those that have turns which no other session has stay:
// they are left. One that an agent has opened meanwhile stays, too.
func (e *Engine) PruneForks(ctx context.Context, p history.Prune, m restore.Managing) (r *restore.ManagedResult, left []model.Loss,
	err error,
) {
	names, err := e.History.Prunable(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	m.Kind = refs.KindDelete
	for len(names) > 0 {
		try := m
		try.Sessions, try.DryRun = names, true
		if r, err = e.Restorer.Manage(ctx, try); err != nil {
			var running *model.RunningError
			if !errors.As(err, &running) {
				return nil, nil, err
			}
			names = without(names, running.Session)
			continue
		}
		kept := len(names)
		for _, l := range r.Losses {
			if l.Turns > 0 && !m.LastCopy {
				left, names = append(left, l), without(names, l.Session)
			}
		}
		if kept > len(names) { // what stays may have what others would lose
			continue
		}
		if m.DryRun {
			return r, left, nil
		}
		m.Sessions = names
		r, err = e.Restorer.Manage(ctx, m)
		return r, left, err
	}
	return &restore.ManagedResult{}, left, nil
}

// without is list without one name.
func without(list []string, name string) (out []string) {
	for _, n := range list {
		if n != name {
			out = append(out, n)
		}
	}
	return out
}
