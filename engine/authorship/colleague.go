package authorship

import (
	"cmp"
	"math"
	"slices"

	"rewind/engine/capture"
	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/engine/sessions"
	"rewind/hooks"
	"rewind/internal/clients"
	"rewind/objstore"
	"rewind/refs"
)

// Judge says, for a restore of one session, whether a change is a colleague's, and so is kept: whether another session
// made it that is no past of this one. Four things are its past. The session itself with its lanes. The sessions that
// restores made it from, up to then. What sessions of its family did, if they are not at work or if it lies on its
// line. What sessions that are not at work did before its conversation began. A person's own restores and saves are no
// colleague's. The log's lock is held as long as a Judge is used.
type Judge struct {
	Going
	e         *Authors
	began     uint64             // the first operation of the session, or of the first one that it was forked from
	own       map[string]uint64  // sessions whose changes are its own, with the operation from which they are no more
	from      map[string]parting // the sessions that it was forked from
	family    string
	ancestors map[objstore.ID]bool // answers of isAncestor
	tips      []objstore.ID        // where isAncestor goes on
	working   map[string]bool      // answers of atWork
	turning   map[string]bool      // answers of inTurn
	later     map[string]bool      // answers of cameAfter
	processes *clients.Processes   // of the machine, as atWork saw them first
	passed    walked               // what undoneBy has read
}

// Judge reads what is needed to judge changes for who goes back. The log's lock is held.
func (a *Authors) Judge(g Going) (*Judge, error) {
	session := g.Session
	if err := a.log.LoadSessions(); err != nil {
		return nil, err
	}
	g.Session = a.wholeSession(session)
	j := &Judge{
		Going: g, e: a, began: math.MaxUint64, own: a.ownPast(session), from: map[string]parting{},
		family: a.sessions.Family(session), ancestors: map[objstore.ID]bool{}, working: map[string]bool{},
		turning: map[string]bool{}, later: map[string]bool{}, processes: a.log.Processes(),
	}
	for _, name := range []refs.Name{refs.Session(session), refs.Cursor(session)} {
		id, err := a.log.Refs.ID(name)
		if err != nil {
			return nil, err
		}
		j.tips = append(j.tips, id)
	}
	for at := j.Session; len(j.from) < sessions.MaxFamily; {
		s := a.log.Session(at)
		if s != nil && s.Began > 0 {
			j.began = min(j.began, s.Began)
		}
		if s == nil || s.Fork == nil {
			break
		}
		if at = a.wholeSession(s.Fork.Session); j.from[at].began > 0 {
			break
		}
		var err error
		if j.from[at], err = a.parted(s); err != nil {
			return nil, err
		}
		j.tips = append(j.tips, j.from[at].point)
	}
	return j, nil
}

// parting is where a fork and the session that it was made of part, by operations.
type parting struct {
	point objstore.ID // the state that it was made at; zero: it is not known any more
	cut   uint64      // has the state that it was made at; where that is not known any more, as began
	began uint64      // the fork's first
}

func (a *Authors) parted(fork *model.Session) (p parting, err error) {
	p.began = cmp.Or(fork.Began, math.MaxUint64)
	p.cut = p.began
	id, err := objstore.ParseID(fork.Fork.Checkpoint)
	if err != nil {
		return p, nil //nolint:nilerr // it was made where no code was captured
	}
	cp, err := a.log.Checkpoint(id)
	switch {
	case model.IsLost(err):
		return p, nil
	case err == nil:
		p.point, p.cut = id, min(cp.Seq, p.began)
	}
	return p, err
}

// wholeSession is the session that name works for, if its agent gives subagents sessions of their own; else name.
func (a *Authors) wholeSession(name string) string {
	for range sessions.MaxFamily {
		s := a.log.Session(name)
		if s == nil || s.LaneOf == "" {
			break
		}
		name = s.LaneOf
	}
	return name
}

// ownPast has the sessions whose changes are a session's own, with the operation from which they are no more: itself,
// for ever, and those that restores made it of, up to that restore. What those had done after the target was taken
// back, or the session continues from there.
func (a *Authors) ownPast(session string) map[string]uint64 {
	session = a.wholeSession(session)
	own := map[string]uint64{session: math.MaxUint64}
	until := uint64(math.MaxUint64)
	for range conversation.MaxForks {
		s := a.log.Session(session)
		if s == nil || s.Fork == nil || !refs.KindOf(s.Fork.Kind).IsRestore() {
			break
		}
		session, until = a.wholeSession(s.Fork.Session), min(until, s.Began)
		if _, seen := own[session]; seen {
			break
		}
		own[session] = until
	}
	return own
}

// Stranger reports whether what a session did at an operation is a colleague's.
func (j *Judge) Stranger(by string, seq uint64) bool { return j.stranger(by, seq) }

// atWork reports whether a session is running; each is looked at once.
func (j *Judge) atWork(name string) bool {
	at, known := j.working[name]
	if s := j.e.log.Session(name); !known && s != nil {
		_, at = j.e.sessions.AtWork(s, j.processes)
		j.working[name] = at
	}
	return at
}

// of is judge for a checkpoint. A session's original may be at work. What the original did on this one's line is still
// this one's past. What it did since is not, even if this one is there since it was opened. Nor is what it does after
// the cut in an open turn, nor what gc merged into such a step from other lines.
func (j *Judge) of(cp *model.Checkpoint, by []string) judged {
	d := j.judge(by, cp.Seq)
	if len(j.from) == 0 || d.other == "" || len(by) == 0 {
		return d
	}
	rest := slices.DeleteFunc(slices.Clone(by), func(name string) bool {
		return j.isPast(name, cp.Seq) && !slices.Contains(cp.Aside, name) && j.isAncestor(cp)
	})
	if len(rest) == 0 {
		return judged{}
	}
	less := len(rest) < len(by)
	d = j.judge(rest, cp.Seq)
	d.shared = d.shared || d.stays != "" && less
	return d
}

// isPast reports whether an operation of a session that this one was forked from was before the two parted.
func (j *Judge) isPast(by string, seq uint64) bool {
	whole := j.e.wholeSession(by)
	p := j.from[whole]
	return seq < p.began && (seq <= p.cut || !j.open(by, whole, j.inTurn))
}

// concerns reports whether somebody else than the session's line has part in a checkpoint.
func (j *Judge) concerns(cp *model.Checkpoint) bool {
	return cp.HasPersons() || j.of(cp, cp.Authors()).other != ""
}

// InCall returns the function that reports whether what is new at a path is of this session's open calls alone: a
// shell's, or an edit that names the path, or one below it. An interrupted call is open until the next prompt. nil: the
// session has no open call.
func (j *Judge) InCall() func(path string) bool {
	calls, own := j.e.worktree.OpenCalls(), capture.OpenCalls{}
	seq := j.e.log.DB.LastSeq() + 1
	for name, list := range calls {
		its := slices.DeleteFunc(slices.Clone(list), func(c model.Call) bool {
			return c.ID == model.TurnCall || c.Class == hooks.Editor && len(c.Paths) == 0
		})
		if len(its) > 0 && j.isOwn(name, seq) {
			own[name] = its
		}
	}
	if len(own) == 0 {
		return nil
	}
	of, its := calls.Authors(), own.Authors()
	return func(path string) bool {
		return len(its(path)) > 0 && !slices.ContainsFunc(of(path), func(by string) bool { return !j.isOwn(by, seq) })
	}
}

// isAncestor reports whether a checkpoint lies before the session's tip or its cursor, or before the state that it was
// forked at: a fork that left the code begins where others had come to by then. If the line cannot be read that far, it
// does not.
func (j *Judge) isAncestor(cp *model.Checkpoint) bool {
	for i, id := range j.tips {
		for !id.IsZero() && !j.ancestors[id] {
			at, err := j.e.log.Checkpoint(id)
			if err != nil || at.Seq < cp.Seq {
				break
			}
			j.ancestors[id] = true
			id = at.Parent()
		}
		j.tips[i] = id
	}
	return j.ancestors[cp.ID]
}
