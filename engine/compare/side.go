package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/naming"
	"rewind/internal/value"
	"rewind/refs"
	"rewind/tree"
)

// Options say what is compared.
type Options struct {
	A, B    string              // a session, its title, or any name of a checkpoint; B "": of fork:x the newest state of x, else "@"
	With    *Comparer           // of another worktree of the family, where B is; nil: this one
	Session model.SessionChoice // turns and "@" are this one's
	Paths   []string            // only these; none: all
}

// Side is one of two branches that are compared.
type Side struct {
	Session string // whose branch it is
	Whole   bool   // the session was named: up to its newest state
	Tip     history.Listed
	Steps   []*model.Checkpoint // since the ancestor, the oldest first
	Turns   []Turn              // since the ancestor, the oldest first
	Changes []tree.Change       // from the ancestor to the tip
	Others  []Wrote             // what of the changes is not the session's, or not its alone
	in      *Comparer           // where it lies
}

// AmbiguousError is a name that both a session and a checkpoint have.
type AmbiguousError struct{ name, session, checkpoint string }

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q: both %s and checkpoint %s begin so", e.name, e.session, e.checkpoint)
}

// Compare finds what two names stand for, what they have in common and what each did since. Errors are those of names,
// and *AmbiguousError.
func (c *Comparer) Compare(ctx context.Context, o Options) (*Result, error) {
	only, err := model.NewPathSet(o.Paths)
	if err != nil {
		return nil, err
	}
	if o.B == "" {
		o.B = "@"
		if n, err := history.ParseName(o.A); err == nil && n.Kind == naming.Fork && n.Back == 0 {
			o.B = "session:" + n.Text
		}
	}
	with := cmp.Or(o.With, c)
	res := &Result{get: c.log.Objs}
	if with != c {
		res.get = oplog.Beside{Here: c.log.Objs, There: with.log}
	}
	for i, in := range []*Comparer{c, with} {
		err := in.find(ctx, []string{o.A, o.B}[i], o.Session, &res.Sides[i])
		if err != nil && c != with {
			err = in.log.AsBeside(err)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := res.ancestor(); err != nil {
		return nil, err
	}
	if res.Ancestor == nil {
		return res, res.strangers(only)
	}
	for i := range res.Sides {
		if err := res.since(ctx, &res.Sides[i], only); err != nil {
			return nil, err
		}
	}
	return res, res.overlap()
}

// find fills in what the name of a side stands for.
func (c *Comparer) find(ctx context.Context, name string, w model.SessionChoice, to *Side) error {
	defer c.log.Hold()()
	if err := c.log.LoadSessions(); err != nil {
		return err
	}
	side, cp, err := c.side(ctx, name, w)
	if err != nil {
		return err
	}
	side.in = c
	if side.Tip, err = c.history.Listing(cp); err == nil {
		*to = side
	}
	return err
}

// side is what a name stands for. A word may be a session's id as well as a checkpoint's; a title is looked for where
// it is neither.
func (c *Comparer) side(ctx context.Context, name string, w model.SessionChoice) (Side, *model.Checkpoint, error) {
	n, err := history.ParseName(name)
	if err == nil && n.Kind == naming.Session && n.Back == 0 {
		session, err := c.sessions.FindSession(n.Text)
		if err != nil {
			return Side{}, nil, err
		}
		return c.whole(ctx, session)
	}
	if err == nil && (n.Kind != naming.Word || n.Back > 0) {
		return c.state(name, w)
	}
	session, noSession := c.sessions.SessionOfID(name)
	cp, noCheckpoint := c.history.Resolve(name)
	switch {
	case noSession == nil && noCheckpoint == nil:
		return Side{}, nil, &AmbiguousError{name, session, cp.ID.Short()}
	case noSession == nil:
		return c.whole(ctx, session)
	case noCheckpoint == nil:
		return Side{Session: cp.Session}, cp, nil
	case !errors.Is(noSession, model.ErrNotFound):
		return Side{}, nil, noSession
	}
	session, err = c.sessions.FindSession(name)
	if errors.Is(err, model.ErrNotFound) && !errors.Is(noCheckpoint, model.ErrUsage) {
		err = noCheckpoint
	}
	if err != nil {
		return Side{}, nil, err
	}
	return c.whole(ctx, session)
}

// whole is the branch of a session, up to its newest state.
func (c *Comparer) whole(ctx context.Context, session string) (Side, *model.Checkpoint, error) {
	c.conversations.ResolveOrigin(ctx, session)
	cp, err := c.history.Tip(session)
	if err == nil && cp == nil {
		err = noCode(session)
	}
	return Side{Session: session, Whole: true}, cp, err
}

// state is the branch that a state lies on, up to there.
func (c *Comparer) state(name string, w model.SessionChoice) (Side, *model.Checkpoint, error) {
	name, err := c.history.Named(w, name)
	if err != nil {
		return Side{}, nil, err
	}
	cp, err := c.history.Resolve(name)
	if err != nil {
		return Side{}, nil, err
	}
	return Side{Session: cp.Session}, cp, nil
}

func noCode(session string) error {
	return &value.OpError{Op: "session", Subject: session, Typed: true, Err: fmt.Errorf("%w: no code was captured", model.ErrNotFound)}
}

// strangers fills in how two states differ that have nothing in common: what both have otherwise collides, and the rest
// is no conflict.
func (res *Result) strangers(only refs.PathSet) error {
	return tree.Diff(res.get, res.Sides[0].Tip.Tree, res.Sides[1].Tip.Tree, func(ch tree.Change) error {
		if only.Has(ch.Path) && ch.Old != nil && ch.New != nil {
			o, _, err := res.verdict(nil, ch.Old, ch.New)
			if err != nil {
				return err
			}
			o.Path = value.Text(ch.Path)
			res.Overlaps = append(res.Overlaps, o)
		}
		return nil
	})
}
