package authorship

import (
	"rewind/engine/model"
	"rewind/refs"
)

// Way is which changes behind a target are taken away by who goes there.
type Way byte

// The ways.
const (
	GoTo     Way = iota // all but colleagues'
	AsItWas             // all but those of sessions with a turn or a call open: no session names the target
	TakeBack            // those of the session's line: never a person's, never another session's
	ByStep              // those of the session's line and a person's
)

// Going is who goes back, and how.
type Going struct {
	Session  string
	Way      Way
	KeepMine bool // a person's changes stay, whatever the way is
	// From is the operation that found the worktree as the target has it, behind which changes count; 0: the one that
	// made the target. What came between the two, and left nothing, is in neither.
	From uint64
	// Only, where it is not nil, are the operations of the one change that is taken back: what else the session did
	// stays, as others' work does, and changes count behind From.
	Only map[uint64]bool
}

// KeepsPerson reports whether what a person did stays.
func (g Going) KeepsPerson() bool { return g.KeepMine || g.Way == TakeBack }

// stranger reports whether a change by a session at an operation stays, whatever branch it is on.
func (j *Judge) stranger(by string, seq uint64) bool {
	whole := j.e.wholeSession(by)
	switch {
	case whole == model.Manual:
		return j.KeepsPerson()
	case seq < j.own[whole]:
		return !j.takesAt(seq)
	case j.Way == TakeBack:
		return true
	case j.Way == ByStep:
		past := seq < j.began || j.e.sessions.Family(by) == j.family
		return !past || j.open(by, whole, j.atWork)
	}
	if j.Way == AsItWas || j.e.sessions.Family(by) == j.family || j.cameAfter(whole) {
		return j.open(by, whole, j.inTurn)
	}
	return seq >= j.began || j.open(by, whole, j.atWork) // else it was done before its conversation began
}

// open asks of a session and, of a lane, of the one that it works for.
func (j *Judge) open(by, whole string, is func(string) bool) bool {
	return is(by) || whole != by && is(whole)
}

// silence is how long nothing is heard of a session of which no program is seen until it counts as over.
const silence = model.ActiveWithin

// cameAfter reports whether a session began after the one that goes back was over: it had ended, or its program is
// gone. Each is looked at once.
func (j *Judge) cameAfter(other string) bool {
	after, known := j.later[other]
	if s, o := j.e.log.Session(j.Session), j.e.log.Session(other); !known && s != nil && o != nil {
		after = j.wasOver(s, o)
		j.later[other] = after
	}
	return after
}

// wasOver reports whether a session was over when another one began.
func (j *Judge) wasOver(s, o *model.Session) bool {
	switch {
	case s.Last.IsZero():
		return false
	case o.First.Before(s.Last): // it was heard of since, if only as it was opened to be looked at
		over, err := j.e.sessions.OverBefore(s.Name, o, silence)
		return over && err == nil
	}
	return s.Ended || o.First.Sub(s.Last) > silence && !j.atWork(s.Name)
}

// takesAt reports whether what the session did at an operation is taken away by who goes back.
func (j *Judge) takesAt(seq uint64) bool { return j.Only == nil || j.Only[seq] }

// judged is whose a change is in the eyes of who goes back.
type judged struct {
	stays  string // whose change keeps the path; model.Manual: a person's; "": nobody's
	shared bool   // the session may have made it, too
	other  string // who made it and is not of the session's line; model.Manual: a person; "": the session alone
}

// byNobody reports whether no call made the change.
func (d *judged) byNobody() bool { return d.other == model.Manual }

// ofRestore is judge for what a restore set. Between the branches of a family it is the person's way, whichever branch
// it moved, as long as nobody is at work on that one.
func (j *Judge) ofRestore(op *refs.Operation) judged {
	family := j.e.sessions.Family(op.Session) == j.family
	works := j.Only == nil && j.open(op.Session, j.e.wholeSession(op.Session), j.inTurn)
	if j.Way == TakeBack && family && !works {
		return judged{}
	}
	return j.judge([]string{op.Session}, op.Seq-1) // the one that it made begins with it
}

// judge says whose a change by some sessions at an operation is. Without a session it is a person's.
func (j *Judge) judge(by []string, seq uint64) (d judged) {
	if len(by) == 0 {
		d.other = model.Manual
		if j.KeepsPerson() {
			d.stays = model.Manual
		}
		return d
	}
	for _, name := range by {
		switch {
		case j.isOwn(name, seq) && j.takesAt(seq):
			d.shared = true
			continue
		case d.other == "":
			d.other = name
		}
		switch {
		case !j.stranger(name, seq):
			d.shared = true
		case d.stays == "":
			d.stays = name
		}
	}
	d.shared = d.shared && d.stays != ""
	return d
}
