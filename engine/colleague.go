package engine

import (
	"math"
	"slices"

	"rewind/hooks"
	"rewind/internal/clients"
	"rewind/objstore"
	"rewind/refs"
)

// judge says, for a restore of one session, whether what somebody did is a colleague's, and so stays: whether it was another session
// that is no past of this one. Its past is itself with its lanes; what restores made it of, up to then; what sessions of its family did
// that are not at work, or on the line that it goes on from; and what was done before its conversation began by who is not at work now.
// A person's own restores and saves are nobody's. e.mu is held as long as it is used.
type judge struct {
	e       *Engine
	session string
	began   uint64            // the first operation of it, or of the first that it goes back to by its forks
	own     map[string]uint64 // sessions whose changes are its own, with the operation from which on they are not
	from    []string          // what it was forked from, the nearest first
	family  string
	line    map[objstore.ID]bool // as far as it was asked about
	tips    []objstore.ID        // where it goes on from there
	working map[string]bool      // of sessions that were asked about
	look    *clients.Look        // by which that is known
}

func (e *Engine) judge(session string) (*judge, error) {
	if err := e.loadSessions(); err != nil {
		return nil, err
	}
	j := &judge{
		e: e, session: e.wholeSession(session), began: math.MaxUint64, own: e.ownPast(session), family: e.family(session),
		line: map[objstore.ID]bool{}, working: map[string]bool{}, look: e.processes(),
	}
	for _, name := range []refs.Name{refs.Session(session), refs.Cursor(session)} {
		id, err := e.refs.ID(name)
		if err != nil {
			return nil, err
		}
		j.tips = append(j.tips, id)
	}
	for at := j.session; len(j.from) < maxFamily; at = j.from[len(j.from)-1] {
		s := e.sessions[at]
		if s != nil && s.Began > 0 {
			j.began = min(j.began, s.Began)
		}
		if s == nil || s.Fork == nil {
			break
		}
		j.from = append(j.from, e.wholeSession(s.Fork.Session))
	}
	return j, nil
}

// wholeSession is the session that one stands for: of a subagent that its agent gives a session of its own, the one it works for.
func (e *Engine) wholeSession(name string) string {
	for range maxFamily {
		s := e.sessions[name]
		if s == nil || s.LaneOf == "" {
			break
		}
		name = s.LaneOf
	}
	return name
}

// ownPast are the sessions whose changes are a session's own, with the operation from which on they are not: itself, for ever, and
// those that restores made it of, up to then. What they had done behind the place where it begins was taken back, or it goes on from
// there.
func (e *Engine) ownPast(session string) map[string]uint64 {
	session = e.wholeSession(session)
	own := map[string]uint64{session: math.MaxUint64}
	until := uint64(math.MaxUint64)
	for range maxBases {
		s := e.sessions[session]
		if s == nil || s.Fork == nil || !refs.KindOf(s.Fork.Kind).IsRestore() {
			break
		}
		session, until = e.wholeSession(s.Fork.Session), min(until, s.Began)
		if _, seen := own[session]; seen {
			break
		}
		own[session] = until
	}
	return own
}

// stranger reports whether what a session did at an operation is a colleague's, wherever it did it.
func (j *judge) stranger(by string, seq uint64) bool {
	whole := j.e.wholeSession(by)
	switch {
	case whole == Manual, seq < j.own[whole]:
		return false
	case j.e.family(by) == j.family, seq < j.began:
		return j.atWork(by) || whole != by && j.atWork(whole)
	}
	return true
}

// atWork reports whether a session is running; each is looked at once.
func (j *judge) atWork(name string) bool {
	at, known := j.working[name]
	if s := j.e.sessions[name]; !known && s != nil {
		_, at = j.e.atWork(s, j.look)
		j.working[name] = at
	}
	return at
}

// colleague gives the first of the authors of a change at an operation whose change stays; "": it goes. shared: it is also this
// session's own.
func (j *judge) colleague(by []string, seq uint64) (who string, shared bool) {
	for _, name := range by {
		switch {
		case !j.stranger(name, seq):
			shared = true
		case who == "":
			who = name
		}
	}
	return who, shared && who != ""
}

// of is colleague for what a checkpoint says of one of its paths. What this session was forked from did on the line that it goes on
// from is its past, whatever that one does now; what gc merged into such a step from other lines is not.
func (j *judge) of(cp *Checkpoint, by []string) (who string, shared bool) {
	if who, shared = j.colleague(by, cp.Seq); who == "" || len(j.from) == 0 {
		return who, shared
	}
	rest := slices.DeleteFunc(slices.Clone(by), func(name string) bool {
		return slices.Contains(j.from, j.e.wholeSession(name)) && !slices.Contains(cp.Aside, name) && j.onLine(cp)
	})
	who, shared = j.colleague(rest, cp.Seq)
	return who, shared || who != "" && len(rest) < len(by)
}

// inCall gives the function that says whether what is new at a path is this session's alone, by its open calls: a shell's, or an edit's that names it. An
// interrupted call is open until the next prompt. nil: it has none.
func (j *judge) inCall() func(path string) bool {
	calls := j.e.openCalls()
	seq := j.e.db.LastSeq() + 1
	named, shell := map[string]bool{}, false
	for name, list := range calls {
		if !j.isOwn(name, seq) {
			continue
		}
		for _, c := range list {
			shell = shell || c.Class != hooks.Editor && c.ID != turnCall
			for _, p := range c.Paths {
				named[p] = true
			}
		}
	}
	if !shell && len(named) == 0 {
		return nil
	}
	of := calls.authors()
	return func(path string) bool {
		return (shell || named[path]) && !slices.ContainsFunc(of(path), func(by string) bool { return !j.isOwn(by, seq) })
	}
}

// onLine reports whether a checkpoint lies before the session's tip or its cursor. A line that cannot be read on is one that it does
// not lie on.
func (j *judge) onLine(cp *Checkpoint) bool {
	for i, id := range j.tips {
		for !id.IsZero() && !j.line[id] {
			at, err := j.e.checkpoint(id)
			if err != nil || at.Seq < cp.Seq {
				break
			}
			j.line[id] = true
			if id = (objstore.ID{}); len(at.Parents) > 0 {
				id = at.Parents[0]
			}
		}
		j.tips[i] = id
	}
	return j.line[cp.ID]
}
