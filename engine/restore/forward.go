package restore

import (
	"context"

	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/refs"
)

// Forward goes to the end of the n-th turn behind the point that a session has gone back to, along the nearest stretch
// of its future, with code and conversation. A *model.NoTurnAheadError where there are fewer. The outcomes are
// Checkout's.
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
		none := &model.NoTurnAheadError{There: len(line.Turns), Whose: rs.sessions.Whose()(f.Session)}
		return nil, &value.OpError{Op: "session", Subject: f.Session, Typed: true, Err: none}
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

// behind counts what comes after the target of a request on the branch that it moves. nil: nothing, the target is not
// on it, or it cannot be read; none of these stops the request. It reads each of those checkpoints, as a dry run may.
func (rs *runner) behind(r *request) *value.Behind {
	if r.moment == nil || len(r.Paths) > 0 {
		return nil
	}
	id, err := rs.log.Refs.ID(refs.Session(r.Session))
	if err != nil || id.IsZero() {
		return nil
	}
	type turn struct {
		session string
		number  uint64
	}
	read := rs.log.Checkpoints()
	b, turns := &value.Behind{Session: r.Session}, map[turn]bool{}
	for id != r.target.ID {
		cp, err := read(id)
		if err != nil || len(cp.Parents) == 0 || cp.Seq < r.target.Seq {
			return nil
		}
		if cp.Cause.Turn > 0 {
			turns[turn{cp.Session, cp.Cause.Turn}] = true
		}
		b.Checkpoints++
		id = cp.Parents[0]
	}
	delete(turns, turn{r.target.Session, r.target.Cause.Turn}) // of which the target is
	b.Turns = len(turns)
	if p := r.moment; p.Session == r.Session && (p.Turn > 0 || p.Start) { // with those that changed nothing
		b.Turns = max(b.Turns, rs.history.TurnPlaces(rs.log.Session(r.Session))-p.Turn)
	}
	if b.Turns == 0 && b.Checkpoints == 0 {
		return nil
	}
	return b
}
