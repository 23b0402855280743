package restore

import (
	"context"
	"fmt"

	"rewind/engine/capture"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/refs"
)

// Switch sets the project to the tip of a session's branch, and the session itself goes on: its file is not touched. A
// name is that of history.BranchNamed, or of history.Way: to the end of a branch within a session goes what a checkout
// makes, a session that ends there. What other sessions changed since the tip is kept, as a checkout keeps it. The
// outcomes are Checkout's; where the project stands there already, nothing is done, with unsaved changes neither; else
// those become a step of the branch that is left. A session that goes on in another worktree is a
// *model.ElsewhereError. With o.InPlace a file that was cut, and not gone on with, becomes again what it was at the
// newest step of the branch.
func (rs *Restorer) Switch(ctx context.Context, name string, o Options) (*Result, error) {
	defer rs.log.Hold()()
	if err := rs.conversations.ReadySessions(); err != nil {
		return nil, err
	}
	if way, err := rs.history.Way(ctx, name); err != nil || way != "" {
		return rs.switchToWay(ctx, way, o, err)
	}
	session, err := rs.history.BranchNamed(name)
	if err != nil {
		return nil, err
	}
	if s := rs.log.Session(session); s != nil {
		if root := rs.sessions.Elsewhere(s); root != "" {
			return nil, &model.ElsewhereError{Session: session, Root: root}
		}
	}
	p, err := rs.tipOf(ctx, session)
	if err != nil {
		return nil, err
	}
	if o.InPlace {
		was, err := rs.history.CutOff(session)
		if err != nil {
			return nil, err
		}
		if o.InPlace = was != nil; o.InPlace { // else the file has all of it
			p = was
		}
	}
	target, err := rs.targetOf(p, refs.KindSwitch, session, o)
	if err != nil {
		return nil, err
	}
	o.Session, o.Paths = model.SessionChoice{Session: session}, nil
	r, err := rs.requestTo(refs.KindSwitch, session, target, p, o)
	if err != nil {
		return nil, err
	}
	r.namedSession, r.keepForks = session, true
	if there, err := rs.standsAt(r); err != nil || there && !o.InPlace {
		return rs.stay(r, err)
	}
	rs.saveLeft(r)
	return rs.Run(ctx, r, o.Progress)
}

// saveLeft makes a restore that leaves a branch for another one save the unsaved changes there, also those of a pick or
// revert. They become the newest step of that branch, and the way back leads to it. What becomes of each file is
// decided as without it.
func (rs *Restorer) saveLeft(r *request) {
	r.choose = func(pl *planner, c *capture.Capture) error {
		r.saveOn = ""
		at, err := rs.sessions.Position()
		if err != nil || r.Kind == refs.KindSwitch && at.Session == r.Session || r.ContextOnly || len(r.Paths) > 0 {
			return err
		}
		head, err := rs.log.Head()
		if err != nil || head.Tree.IsZero() {
			return err
		}
		dirty, err := pl.dirty(c, stateOf{tree: head.Tree}, nil)
		if err == nil && (dirty || pl.takesUnknown()) {
			r.saveOn = at.Session
		}
		return err
	}
}

// tipOf is the moment that is the newest of a session: its conversation as it is, and the code at the end of that
// (history.Tip).
func (rs *Restorer) tipOf(ctx context.Context, session string) (*history.Moment, error) {
	p := &history.Moment{Name: "session " + session, Session: session, Now: true}
	s := rs.log.Session(session)
	if s != nil {
		if err := rs.history.CatchUp(ctx, session); err != nil {
			return nil, err
		}
		rs.conversations.ResolveOrigin(ctx, session)
		s = rs.log.Session(session)
		p.Transcript = s.Cursor.Transcript
	}
	tip, err := rs.history.Tip(session)
	p.Checkpoint = tip
	return p, err
}

// standsAt reports whether the project stands where a switch is to go: on its session, and that on its target.
func (rs *Restorer) standsAt(r *request) (bool, error) {
	at, err := rs.sessions.Position()
	return err == nil && at.Session == r.Session && at.Branch == r.Session && r.Before == r.Target, err
}

// stay is the result of a switch to where the project is.
func (rs *Restorer) stay(r *request, err error) (*Result, error) {
	if err != nil {
		return nil, err
	}
	res := &Result{Plan: &Plan{Target: r.target, Scope: r.Scope}}
	if s := rs.log.Session(r.Session); s != nil && !r.options.CodeOnly && r.options.Env.Home != "" {
		res.Conversation = &model.Conversation{
			Mode: model.ConversationOriginal, Session: s.Name, Path: s.Transcript, Turn: int(s.Turn), Why: "the conversation ends there",
		}
	}
	return res, rs.matchPlan(r.options, res, [len(planParts)][]planLine{{{said: fmt.Sprintf("stay %q %s", r.Session, r.Target)}}})
}

// switchToWay is Switch to a branch within a session. Nobody goes on in that one where it is: a session that has it at
// its end does.
func (rs *Restorer) switchToWay(ctx context.Context, way string, o Options, err error) (*Result, error) {
	if err != nil {
		return nil, err
	}
	r, err := rs.PrepareCheckout(ctx, way, o)
	if err != nil {
		return nil, err
	}
	rs.saveLeft(r)
	return rs.Run(ctx, r, o.Progress)
}
