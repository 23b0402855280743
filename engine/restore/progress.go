package restore

import (
	"context"

	"rewind/engine/model"
)

// progress tells who waits for a restore, and who asks for the state meanwhile, how far its steps are.
func (rs *Restorer) progress(ctx context.Context) func(phase string, done, total int) {
	told := model.AskerOf(ctx).Told
	return func(phase string, done, total int) {
		r := model.Reached{Phase: phase, Files: done, Total: total}
		if now := rs.worktree.Busy.Load(); now != nil {
			now.Reach(r)
		}
		if told != nil {
			told(r)
		}
	}
}

// withTakeBackPhase is a context in which what is reached is told as of what is taken back.
func withTakeBackPhase(ctx context.Context) context.Context {
	a := model.AskerOf(ctx)
	if told := a.Told; told != nil {
		a.Told = func(r model.Reached) {
			r.Phase = "taking it back: " + r.Phase
			told(r)
		}
	}
	return model.WithAsker(ctx, a)
}
