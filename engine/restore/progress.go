package restore

import (
	"context"

	"rewind/engine/model"
	"rewind/internal/value"
)

// progress is the function that tells how far a restore's steps are: to who waits for the restore, and to who asks for the state meanwhile.
func (rs *Restorer) progress(ctx context.Context) func(phase string, done, total int) {
	told := model.AskerOf(ctx).Told
	return func(phase string, done, total int) {
		r := value.Progress{Phase: phase, Files: done, Total: total}
		if now := rs.worktree.Busy.Load(); now != nil {
			now.Reach(r)
		}
		if told != nil {
			told(r)
		}
	}
}

// withTakeBackPhase is ctx with a progress that names each phase as part of taking the restore back.
func withTakeBackPhase(ctx context.Context) context.Context {
	a := model.AskerOf(ctx)
	if told := a.Told; told != nil {
		a.Told = func(r value.Progress) {
			r.Phase = "taking it back: " + r.Phase
			told(r)
		}
	}
	return model.WithAsker(ctx, a)
}
