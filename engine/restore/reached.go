package restore

import (
	"context"

	"rewind/engine/model"
	"rewind/internal/value"
)

// reached tells who waits for a restore, and who asks for the state meanwhile, how far its steps are.
func (rs *Restorer) reached(ctx context.Context) func(phase string, done, total int) {
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

// takingBack is a context in which what is reached is told as of what is taken back.
func takingBack(ctx context.Context) context.Context {
	a := model.AskerOf(ctx)
	if told := a.Told; told != nil {
		a.Told = func(r value.Progress) {
			r.Phase = "taking it back: " + r.Phase
			told(r)
		}
	}
	return model.WithAsker(ctx, a)
}
