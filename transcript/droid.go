package transcript

import (
	"strings"

	"rewind/internal/jsonscan"
)

// droidDialect: Factory Droid, JSON lines: a session_start, which is rewritten when a title comes, then messages that
// name their parents.
var droidDialect = dialect{
	parser: func() parser { return new(droidParser) },
	within: func() parser { return new(droidParser) },
	forker: func(f Fork) forker { return &droidFork{f: f} },
	place:  droidPlace, chain: true, answers: true, session: roleDroidID,
}

// Roles of the places in a session_start that a fork rewrites.
const (
	roleDroidID     = iota + 1
	roleDroidTitle  // title, sessionTitle
	roleDroidParent // parent
	roleDroidAt     // forkedAtMessageId
	roleDroidManual // isSessionTitleManuallySet
	roleDroidDir    // cwd
	roleDroidEnd    // the last bracket
)

// newSession are titles that nobody has given.
var newSession = map[string]bool{"": true, "New Session": true, "New session": true, "Untitled": true}

type droidParser struct {
	kind, id, role, visibility, hook, parent, title, at string
	blocks
}

func (p *droidParser) parse(s *jsonscan.Scanner, l *line) error {
	*p = droidParser{}
	if err := s.Object(func(key []byte) error { return p.member(s, l, key) }); err != nil {
		return err
	}
	l.Type = p.kind
	if p.kind != "session_start" {
		l.marks = l.marks[:0]
	}
	if err := l.mark(s, roleDroidEnd, s.Offset()-1, ""); err != nil {
		return err
	}
	switch p.kind {
	case "session_start":
		l.Session, l.Forked, l.Lead = p.id, Parent{Session: p.parent, Message: p.at}, true
		if !newSession[p.title] {
			l.Title = oneLine(p.title, maxTitle)
		}
		l.Parent = ""
	case "message":
		l.ID = p.id
		p.message(l)
	default:
		l.Parent, l.Cwd = "", ""
	}
	return nil
}

func (p *droidParser) member(s *jsonscan.Scanner, l *line, key []byte) error {
	switch string(key) {
	case "type":
		return l.str(s, &p.kind, maxWord)
	case "id":
		return l.id(s, &p.id, roleDroidID)
	case "parentId":
		return l.id(s, &l.Parent, 0)
	case "parent":
		return l.id(s, &p.parent, roleDroidParent)
	case "forkedAtMessageId":
		return l.id(s, &p.at, roleDroidAt)
	case "title", "sessionTitle":
		s.Next()
		start := s.Offset()
		title, _, err := l.text(s, maxTitle)
		if err != nil {
			return err
		}
		if string(key) == "title" || p.title == "" {
			p.title = title
		}
		return l.mark(s, roleDroidTitle, start, title)
	case "isSessionTitleManuallySet":
		return l.value(s, roleDroidManual)
	case "cwd":
		return l.path(s, &l.Cwd, roleDroidDir)
	case "timestamp":
		return l.time(s, &l.Time)
	case "message":
		return p.readMessage(s, l)
	}
	return s.Skip()
}

func (p *droidParser) readMessage(s *jsonscan.Scanner, l *line) error {
	p.blocks.reset(l)
	if s.Next() != '{' {
		return s.Skip()
	}
	return s.Object(func(key []byte) error {
		switch string(key) {
		case "role":
			return l.str(s, &p.role, maxWord)
		case "visibility":
			return l.str(s, &p.visibility, maxWord)
		case "hookEventName":
			return l.str(s, &p.hook, maxWord)
		case "content":
			return p.blocks.read(s, l)
		}
		return s.Skip()
	})
}

// droidSummary is the type of the record that has a summary of what was said before.
const droidSummary = "compaction_state"

// message says what a message is. What only one of the two can see is the client's: runs of hooks, reminders. Those
// ahead of a prompt are in its turn.
func (p *droidParser) message(l *line) {
	l.Type += "/" + p.role
	switch {
	case p.visibility == "user_only":
		l.Hidden = true
		l.Lead = p.hook == "UserPromptSubmit" || p.hook == "SessionStart"
	case p.visibility == "llm_only" || strings.HasPrefix(l.ID, "context-"):
		l.Kind = Context
		l.Lead = strings.HasPrefix(l.ID, "context-")
	case p.role == "assistant":
		l.Kind, l.Message = Reply, l.ID
	case len(l.Results) > 0:
		l.Kind = Result
	case p.role == "user":
		l.Kind = Prompt
		if !p.typed(l) {
			l.Kind, l.Hidden = Context, true
		}
	}
}

// droidFork writes a fork as the client does: the same messages under the same ids, and a session_start with another id
// that says where it was forked.
type droidFork struct {
	f       Fork
	at      string // the last message that both have
	scanned bool
}

func (d *droidFork) record(l *line, out *output) error {
	if l.Kind == Broken {
		return nil
	}
	if l.Type != "session_start" {
		return out.copy(l.Offset, l.Offset+l.Size)
	}
	if !d.scanned && !d.f.Clone { // the first line names the last
		d.scanned = true
		c, err := Scan(Droid, out.src)
		if err != nil {
			return err
		}
		if len(c.Turns) > 0 {
			d.at = c.Turns[len(c.Turns)-1].Last
		}
	}
	return out.copy(l.Offset, l.Offset+l.Size, d.splices(l)...)
}

// splices is what a fork changes in a session_start; what is not there is put in front of its last bracket.
func (d *droidFork) splices(l *line) []splice {
	values := map[int]string{roleDroidID: quoted(d.f.ID)}
	if d.f.Title != "" {
		values[roleDroidTitle] = quoted(d.f.Title)
	}
	if !d.f.Clone { // a title that nobody set by hand is written anew with the next prompt
		values[roleDroidParent], values[roleDroidAt], values[roleDroidManual] = quoted(d.f.From), quoted(d.at), "true"
	}
	var splices []splice
	there := map[int]bool{}
	for _, m := range l.marks {
		there[m.role] = true
		if m.role == roleDroidDir {
			values[m.role] = d.f.moved(m.old)
		}
		if with := values[m.role]; with != "" {
			splices = append(splices, splice{m.start, m.end, with})
		}
	}
	end := l.marks[len(l.marks)-1]
	for _, add := range []struct {
		role int
		key  string
	}{{roleDroidTitle, "title"}, {roleDroidParent, "parent"}, {roleDroidAt, "forkedAtMessageId"}} {
		if with := values[add.role]; with != "" && !there[add.role] {
			splices = append(splices, splice{end.start, end.start, `,"` + add.key + `":` + with})
		}
	}
	return splices
}

func (d *droidFork) end(*output) error { return nil }
