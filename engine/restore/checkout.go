package restore

import (
	"cmp"
	"context"

	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/internal/naming"
	"rewind/internal/textdiff"
	"rewind/refs"
)

// Checkout sets the worktree to the checkpoint of a name; the cursor follows unless o.Paths limits the restore. It may
// be done, or done except for Kept and Conflicts. It may be refused with the tree untouched (*UnsavedError, *PathError,
// kv.ErrNoSpace, ...), or taken back after a failure (*TakenBackError). If it could not be taken back, it is half done
// (*HalfDoneError).
func (rs *Restorer) Checkout(ctx context.Context, name string, o Options) (*Result, error) {
	defer rs.log.Hold()()
	if err := rs.log.CheckWhole(); err != nil {
		return nil, err
	}
	r, err := rs.PrepareCheckout(ctx, name, o)
	if err != nil {
		return nil, err
	}
	return rs.Run(ctx, r, o.Progress)
}

// PrepareCheckout is the request that a checkout of a name makes; Run carries it out.
func (rs *Restorer) PrepareCheckout(ctx context.Context, name string, o Options) (*request, error) {
	if err := rs.log.LoadSessions(); err != nil {
		return nil, err
	}
	var err error
	if o.Paths, err = model.NewPathSet(o.Paths); err != nil {
		return nil, err
	}
	n, err := history.ParseName(name)
	if err != nil {
		return nil, err
	}
	whose := o.Session.Session != ""
	o.Session.Session = cmp.Or(o.Session.Session, sessionIn(n))
	p, err := rs.history.NamedMoment(ctx, name, o.Session)
	if err != nil {
		return nil, err
	}
	target, err := rs.targetOf(p, refs.KindCheckout, name, o)
	if err != nil {
		return nil, err
	}
	for _, p := range o.Paths {
		if _, err := rs.log.Lookup(target, p); err != nil {
			return nil, err
		}
	}
	mover, err := rs.moverOf(n, p, target, o)
	if err != nil {
		return nil, err
	}
	session, err := rs.sessions.Mover(target, mover)
	if err != nil {
		return nil, err
	}
	r, err := rs.requestTo(refs.KindCheckout, session, target, p, o)
	if err != nil {
		return nil, err
	}
	r.asItWas = !whose && namesNoSession(n, target)
	rs.saysOf(r, n, p)
	r.namedSession, err = rs.sessions.NamedIn(o.Session)
	return r, err
}

// sessionIn is the session whose line a name means, as it says itself: "turn:2@x" and "fork:x" do.
func sessionIn(n naming.Name) string {
	if n.Kind == naming.Fork {
		return n.Text
	}
	return n.Session
}

// saysOf adds to a request what the name of its target says of it.
func (rs *Restorer) saysOf(r *request, n naming.Name, p *history.Moment) {
	switch {
	case n.IsTurn():
		r.lineOf = p.Session
	case n.Kind == naming.Current:
		r.lineOf = r.Session
	}
	if n.IsTurn() && n.Before {
		r.front = n.Turn + 1
	}
}

// moverOf is whose cursor a checkout moves, as far as its name says it: a checkpoint at which a session stands can be
// another one's.
func (rs *Restorer) moverOf(
	n naming.Name, p *history.Moment, target *model.Checkpoint, o Options,
) (model.SessionChoice, error) {
	var err error
	w, family := o.Session, rs.sessions.Family
	switch {
	case w.Session != "":
	case n.Kind == naming.Current, o.TakeBack && target.Session == model.Manual: // whose changes go is asked
		w.Session, err = rs.sessions.Session(w)
	case n.IsTurn() && family(target.Session) != family(p.Session):
		w.Session = p.Session
	}
	return w, err
}

// targetOf is the checkpoint of a moment that a restore goes to; with the conversation alone, which leaves the code,
// what a session stands on does where no code was captured.
func (rs *Restorer) targetOf(
	p *history.Moment, kind refs.Kind, name string, o Options,
) (target *model.Checkpoint, err error) {
	target = p.Checkpoint
	if target == nil && o.ContextOnly {
		if target, err = rs.sessions.Current(p.Session); err != nil {
			return nil, err
		}
	}
	if target == nil {
		return nil, rs.history.NoCode(kind.String(), name, p)
	}
	return target, nil
}

// requestTo is the request that goes to a target, with the conversation of a moment, and moves a session's cursor
// there.
func (rs *Restorer) requestTo(
	kind refs.Kind, session string, target *model.Checkpoint, p *history.Moment, o Options,
) (*request, error) {
	if err := o.checkMerge(); err != nil {
		return nil, err
	}
	if o.Tag != "" {
		if err := rs.history.FreeTag(o.Tag); err != nil {
			return nil, err
		}
	}
	r := o.newRequest(kind, session)
	r.setTarget(target)
	r.keepCursor, r.moment = len(r.Paths) > 0 || r.ContextOnly, p
	var err error
	r.Before, err = rs.log.Refs.ID(refs.Cursor(session))
	return r, err
}

// checkMerge refuses what has no meaning with Merge.
func (o *Options) checkMerge() error {
	switch {
	case o.Merge && o.Exact:
		return model.Usagef("exact and merge exclude each other")
	case o.Merge && o.ContextOnly:
		return model.Usagef("merge and context_only exclude each other: a merge is of files")
	case !o.Merge && o.Prefer != textdiff.Neither:
		return model.Usagef("prefer goes with merge")
	}
	return nil
}
