package restore

import (
	"cmp"
	"slices"

	"rewind/engine/authorship"
	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/internal/naming"
	"rewind/refs"
)

// going is who goes back with a request, and how: which changes behind the target it takes away (docs/sessions.md).
func (rs *runner) going(r *request) authorship.Going {
	g := authorship.Going{Session: r.Session, Way: authorship.ByStep, KeepMine: r.options.KeepMine}
	g.From = r.foundBy()
	switch r.Kind {
	case refs.KindUndo:
		if r.options.TakeBack {
			g.Way = authorship.TakeBack
		}
		return g
	case refs.KindRedo, refs.KindUndoRestore:
		return g
	}
	if session, ok := rs.takesBack(r); ok {
		g.Session, g.Way = session, authorship.TakeBack
		return g
	}
	if g.Way = authorship.GoTo; r.asItWas {
		g.Way = authorship.AsItWas
	}
	if r.asItWas && rs.othersSince(r) {
		g.Session = model.Manual // no session is meant, that on whose line the state lies neither
		return g
	}
	of := cmp.Or(r.partOf, r.target) // whose line the target lies on says whose colleagues are meant
	if of != nil && of.Session != model.Manual && of.Cause.Event != model.EventSafety {
		g.Session = of.Session
	}
	g.Session = cmp.Or(r.namedSession, r.lineOf, g.Session)
	return g
}

// othersSince reports whether another session than the one that a request moves was heard of behind its target.
func (rs *runner) othersSince(r *request) bool {
	since := r.since()
	for name, s := range rs.log.EachSession() {
		heard := since != nil && s.Last.After(since.Time)
		if own := name == r.Session || s.LaneOf == r.Session; heard && !own {
			return true
		}
	}
	return false
}

// wentBack is the session that goes back with a request, as its name says it; "": it names the project as it was.
func (rs *runner) wentBack(r *request) string {
	if r.asItWas {
		return ""
	}
	return cmp.Or(r.lineOf, r.namedSession, rs.going(r).Session)
}

// takesBack is the session whose line a request takes back; else it goes to a state. After a switch to another branch
// of the family, that branch's line is taken back if the target is on it. Otherwise the restore goes to the target: the
// changes of two branches are not mixed. Where both work beside each other, each is taken back for itself.
func (rs *runner) takesBack(r *request) (session string, ok bool) {
	at, err := rs.sessions.Position()
	elsewhere := err == nil && at.Session != r.Session && at.Branch != r.Session
	if !r.options.TakeBack || !elsewhere || rs.sessions.Family(at.Session) != rs.sessions.Family(r.Session) {
		return r.Session, r.options.TakeBack
	}
	s := rs.log.Session(r.Session)
	if atWork := s != nil && rs.sessions.InTurn(s); atWork || rs.worksBeside(r.Session, at.Session) {
		return r.Session, true // a restore that went to the other one since has left its work
	}
	return at.Session, rs.liesOn(r, at.Session)
}

// liesOn reports whether a request's target is on a session's branch: the session has the turn that its name says, or
// comes from its state. Where that cannot be read it is: taking back leaves what a person changed, and going to a state
// does not.
func (rs *runner) liesOn(r *request, session string) bool {
	if r.front > 0 && r.lineOf != "" {
		if has, err := rs.history.HasTurn(session, r.lineOf, r.front); err != nil || has {
			return true
		}
	}
	return slices.ContainsFunc([]refs.Name{refs.Session(session), refs.Cursor(session)}, func(name refs.Name) bool {
		tip, err := rs.log.Refs.ID(name)
		return err == nil && rs.authors.LeadsTo(r.target.ID, tip)
	})
}

// worksBeside reports whether the worktree has the work of both sessions: the newest step of session is not on the line
// of other, where the project is, and no restore went to other since. That other one may have begun on that step all
// the same, in a project that the two came to one after the other.
func (rs *runner) worksBeside(session, other string) bool {
	tip, err := rs.log.Refs.ID(refs.Session(session))
	if err != nil || tip.IsZero() {
		return false
	}
	step, err := rs.log.Checkpoint(tip)
	if err != nil {
		return false
	}
	aside, err := rs.history.OtherLine()
	if err != nil {
		return false
	}
	if off, err := aside(step); err != nil || !off {
		return false
	}
	went := false
	err = rs.history.Restores(func(op *refs.Operation, undone uint64) error {
		if op.Seq < step.Seq || went {
			return kv.ErrStop
		}
		there := undone == 0 && op.Kind != refs.KindUndoRestore && len(op.Restore.Paths) == 0
		went = there && model.Successor(op) == other
		return nil
	})
	return err == nil && !went
}

// namesNoSession reports whether a name stands for the project as it was, whoever was at work then: a time, a tag, a
// commit, what a person saved.
func namesNoSession(n naming.Name, target *model.Checkpoint) bool {
	switch n.Kind {
	case naming.Time:
		return true
	case naming.Word:
		isID := len(n.Text) >= 4 && len(target.ID.String()) >= len(n.Text) && target.ID.String()[:len(n.Text)] == n.Text
		return !isID || target.Cause.Event == model.EventSave || target.Session == model.Manual
	}
	return false
}

// all reports whether a restore sets whatever it names, whoever changed it since.
func (pl *planner) all() bool {
	r := pl.request
	if r.options.Merge || r.options.KeepMine {
		return r.Exact
	}
	return r.Exact || len(r.Paths) > 0 && r.Kind == refs.KindCheckout
}

// takesNew reports whether files that no checkpoint holds go, too: the safety checkpoint has them.
func (pl *planner) takesNew() bool {
	g := pl.restorer.going(pl.request)
	goes := g.Way == authorship.GoTo || g.Way == authorship.AsItWas
	return pl.all() || goes && !g.KeepMine
}
