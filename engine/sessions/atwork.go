package sessions

import (
	"slices"
	"time"

	"rewind/engine/model"
	"rewind/internal/clients"
	"rewind/internal/value"
	"rewind/transcript"
)

// callWithin is how long an open call counts if nothing more is heard of the session and its program is not seen: it
// was killed, or runs where it cannot be seen.
const callWithin = time.Hour

// AtWork reports whether a session is running: a call or a turn is under way, or its program has it open. A session
// that a restore left is not, until it is heard of again, whatever its record and its program say; nor is one that was
// only made or imported. The log's lock is held.
func (ss *Sessions) AtWork(s *model.Session, look *clients.Processes) (value.AtWork, bool) {
	over := s.Left || s.Ended
	if over || s.Imported || s.Event == "" {
		return value.AtWork{}, false
	}
	return ss.work(s, look)
}

// work is AtWork, also for a session that a restore has left.
func (ss *Sessions) work(s *model.Session, look *clients.Processes) (value.AtWork, bool) {
	w := value.AtWork{Session: s.Name, Since: s.Last.UTC()}
	w.Agent, _ = model.SplitSession(s.Name)
	live := ss.Live(s, look)
	if live.Running && !(live.Guess && ss.another(s)) {
		w.Seen, w.PID = value.Text(live.How), live.PID
	}
	silent := ss.log.Since(s.Last)
	switch s = ss.allowed(s); {
	case len(s.Calls) > 0 && (w.Seen != "" || silent < callWithin):
		if len(s.Calls) == 1 && s.Calls[0].ID == model.TurnCall {
			w.Known = value.WorkTurn
			break
		}
		w.Known = value.WorkCall
		for _, c := range s.Calls {
			w.Tools = append(w.Tools, value.Tool{Name: value.Text(c.Tool), Call: value.Text(c.ID)})
		}
	case s.TurnRuns() && (w.Seen != "" || silent < model.ActiveWithin):
		w.Known = value.WorkTurn
	case w.Seen != "" && !live.Server: // Codex's server keeps what was closed
		w.Known = value.WorkOpen
	default:
		return w, false
	}
	return w, true
}

// RefusedBy says who knows which calls of a session a person did not allow, by its file.
func (ss *Sessions) RefusedBy(read func(*model.Session) transcript.Refusal) { ss.refusal = read }

// allowed is a session without the calls that a person did not allow, which never ran, and without the turn that they
// stopped with that: no event says so.
func (ss *Sessions) allowed(s *model.Session) *model.Session {
	calls, r := s.OpenCalls(), transcript.Refusal{}
	if ss.refusal != nil && (len(calls) > 0 || s.TurnRuns()) {
		r = ss.refusal(s)
	}
	if len(calls) == len(s.Calls) && len(r.Calls) == 0 && !r.Over {
		return s
	}
	its := *s
	never := func(c model.Call) bool { return slices.Contains(r.Calls, c.ID) }
	its.Calls = slices.DeleteFunc(slices.Clone(calls), never)
	its.Busy = s.Busy && !(r.Over && len(its.Calls) == 0)
	return &its
}

// OpenCalls are the calls of a session that run, as far as is known: one that a person did not allow never ran. The
// log's lock is held.
func (ss *Sessions) OpenCalls(s *model.Session) []model.Call { return ss.allowed(s).Calls }

// DropRefused takes the calls that a person did not allow out of a session's record: what changed while the question
// stood is nobody's call. The log's lock is held.
func (ss *Sessions) DropRefused(name string) {
	if s := ss.log.Session(name); s != nil && len(s.Calls) > 0 {
		ss.log.Remember(ss.allowed(s))
	}
}

// InTurn reports whether a session's agent is in the middle of a turn.
func (ss *Sessions) InTurn(s *model.Session) bool {
	if !s.TurnRuns() && len(s.Calls) == 0 {
		return false
	}
	w, ok := ss.AtWork(s, ss.log.Processes())
	return ok && w.Known != value.WorkOpen
}

// Live is what can be seen of the program that runs on a session.
func (ss *Sessions) Live(s *model.Session, look *clients.Processes) clients.Live {
	agent := s.Agent
	if !model.Understood(s.Agent) {
		return clients.Live{}
	}
	root, _, err := transcript.SessionFile(agent, s.Transcript)
	if err != nil {
		return clients.Live{}
	}
	live, _ := look.Running(agent, root, s.ID) // an error is taken for no sign
	return live
}

// Program is the program that runs on a session; nil: none is seen, or not on which session it is. It walks over this
// user's processes, and wants no lock.
func (ss *Sessions) Program(s *model.Session) *clients.Program {
	live := ss.Live(s, &clients.Processes{})
	if !live.Running || live.Guess {
		return nil
	}
	return clients.See(live.PID)
}

// another reports whether there is a newer session of the same agent, for which a running program counts that does not
// show which session it has open.
func (ss *Sessions) another(s *model.Session) bool {
	for _, o := range ss.log.EachSession() {
		later := o.Agent == s.Agent && o.Name != s.Name && o.Last.After(s.Last)
		heard := o.Event != "" && !o.Ended && !o.Imported
		if later && heard {
			return true
		}
	}
	return false
}

// MaxFamily bounds how many forks of forks are followed: lineages that agents' files name may form a circle.
const MaxFamily = 64

// Family is the name of the first session that one was forked from, over all forks. Sessions of one family have the
// same. The log's lock is held.
func (ss *Sessions) Family(session string) string {
	first, _ := firstOf(session, func(name string) (*model.Session, error) { return ss.log.Session(name), nil })
	return first
}

// SameFamily reports whether two sessions have the same Family. The caller need not hold the log's lock, nor have
// loaded the records.
func (ss *Sessions) SameFamily(a, b string) (bool, error) {
	first, err := ss.storedFamily(a)
	if err != nil || a == b {
		return a == b, err
	}
	other, err := ss.storedFamily(b)
	return first == other, err
}

// reading is log.StoredSession that reads each record once: members of a family have their ancestors in common.
func (ss *Sessions) reading() func(name string) (*model.Session, error) {
	read := map[string]*model.Session{}
	return func(name string) (*model.Session, error) {
		if s, ok := read[name]; ok {
			return s, nil
		}
		s, err := ss.log.StoredSession(name)
		if err == nil {
			read[name] = s
		}
		return s, err
	}
}

// storedFamily is Family for callers that do not hold the log's lock.
func (ss *Sessions) storedFamily(session string) (string, error) {
	return firstOf(session, ss.log.StoredSession)
}

// firstOf follows the lineages from session to the first one, whose name it returns. get reads a record.
func firstOf(session string, get func(name string) (*model.Session, error)) (string, error) {
	for range MaxFamily {
		s, err := get(session)
		if err != nil {
			return session, err
		}
		if s == nil || s.Before() == "" {
			break
		}
		session = s.Before()
	}
	return session, nil
}
