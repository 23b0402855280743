package restore

import (
	"context"

	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/refs"
)

// Forward goes to the end of the n-th turn behind the point that a session has gone back to, along the nearest stretch of its future, with
// code and conversation. A *model.NoTurnAheadError where there are fewer. The outcomes are Checkout's.
func (rs *Restorer) Forward(ctx context.Context, n int, o Options) (*Result, error) {
	defer rs.log.Hold()()
	if err := rs.conversations.ReadySessions(); err != nil {
		return nil, err
	}
	f, err := rs.history.FutureOf(ctx, o.Session)
	if err != nil {
		return nil, err
	}
	line := &model.Ahead{}
	if len(f.Lines) > 0 {
		line = &f.Lines[0]
	}
	if n < 1 || n > len(line.Turns) {
		return nil, &value.OpError{Op: "session", Subject: f.Session, Typed: true, Err: &model.NoTurnAheadError{There: len(line.Turns)}}
	}
	p, err := rs.history.MomentAhead(line, &line.Turns[n-1])
	if err != nil {
		return nil, err
	}
	target, err := rs.targetOf(p, refs.KindCheckout, p.Name, o)
	if err != nil {
		return nil, err
	}
	o.Session, o.Paths = model.SessionChoice{Session: line.Session}, nil
	session, err := rs.sessions.Mover(target, o.Session)
	if err != nil {
		return nil, err
	}
	r, err := rs.requestTo(refs.KindCheckout, session, target, p, o)
	if err != nil {
		return nil, err
	}
	r.namedSession = line.Session
	return rs.Run(ctx, r, o.Progress)
}
