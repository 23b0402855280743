package conversation_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"rewind/engine/capture"
	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
)

// unnamed is the text of a session as a tool copies it that names nothing: under other ids of records.
func unnamed(p *enginetest.Project, of, to *enginetest.Talker) string {
	text := strings.ReplaceAll(p.Slurp(of.File), of.ID, to.ID)
	return strings.ReplaceAll(text, "-8111-"+of.ID[:8], "-8111-"+to.ID[:8])
}

// origin is what is told of a session's origin.
func origin(s model.Session) string {
	if s.Fork == nil {
		return "none"
	}
	return fmt.Sprintf("%s at %d by %s", s.Fork.Session, s.Fork.Turn, s.Fork.How)
}

// A looker asks whether the origin of a session is looked for.
type looker struct {
	*enginetest.Project
	is   model.Session // a copy of another one
	text string        // of it
}

// looks reports whether an origin is found of a session that is as is, but for a change, and of which no origin is
// told.
func (l *looker) looks(change func(s *model.Session)) bool {
	l.T.Helper()
	l.Must(l.E.Log.LoadSessions())
	s := l.is
	s.Fork = nil
	change(&s)
	l.E.Log.Lock()
	defer l.E.Log.Unlock()
	l.E.Log.Remember(&s)
	l.E.Talks.ResolveOrigin(enginetest.Bg, s.Name)
	return l.E.Log.Session(s.Name).Fork != nil
}

// says has a session say something else.
func (l *looker) says(text string) func(s *model.Session) {
	id := put(l.Project, text)
	return func(s *model.Session) { s.Cursor.Transcript, s.Cursor.Length = id, int64(len(text)) }
}

// longer is the text with a line behind it, as many bytes long as n.
func longer(text string, n int) string {
	const line = `{"type":"x","pad":""}` + "\n"
	return text + strings.Replace(line, `""`, `"`+strings.Repeat("x", n-len(text)-len(line))+`"`, 1)
}

// TestLookedAgain: the origin of a session is looked for when its conversation has become another one, or longer by
// half, or by anything while it has nothing of its own; and not for nothing, also by who opens the store next.
func TestLookedAgain(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	copied := p.Talker(2)
	both := p.Slurp(k.File)
	have(p, copied.File, both)
	copied.Line("user", `{"role":"user","content":"another way"}`)
	copied.Say("gone")
	_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	p.Must(err)
	l := &looker{Project: p, is: p.Session(copied.Name()), text: p.Slurp(copied.File)}
	if got, want := origin(l.is), k.Name()+" at 2 by header"; got != want {
		t.Fatalf("the copy is of %s, want %s", got, want)
	}
	long := len(l.text) + (len(l.text)+1)/2
	nothing := func(*model.Session) {}
	doubled := l.says(longer(l.text, 2*len(l.text)))
	for _, reopen := range []func(){func() {}, p.Reopen} {
		for _, c := range []struct {
			what   string
			change func(s *model.Session)
			want   bool
		}{
			{"as it was", nothing, false},
			{"longer by less than half", l.says(longer(l.text, long-1)), false},
			{"longer by half", l.says(longer(l.text, long)), true},
			{"shorter", l.says(l.text), true},
			{"other words", l.says(strings.Replace(l.text, "another way", "another day", 1)), true},
			{"nothing of its own", l.says(both), true},
			{"the same again", l.says(both), false},
			{"longer, and was open", l.says(longer(both, len(both)+40)), true},
			{"its own again", l.says(l.text), true},
			{"not captured", func(s *model.Session) { s.Cursor = model.Cursor{} }, false},
			{"purged", func(s *model.Session) { doubled(s); s.Purged = true }, false},
			{"of an agent that is not understood", func(s *model.Session) { doubled(s); s.Agent = "other" }, false},
			{"of a lane", func(s *model.Session) { doubled(s); s.LaneOf = k.Name() }, false},
		} {
			reopen()
			if got := l.looks(c.change); got != c.want {
				t.Errorf("%s: looked for %v", c.what, got)
			}
		}
		l.looks(l.says(l.text + "{}\n"))
		l.looks(l.says(l.text))
	}
	if l.looks(nothing) {
		t.Error("looked for again, for nothing")
	}
	p.E.Talks.ForgetOrigins([]string{k.Name()})
	if l.looks(nothing) {
		t.Error("looked for again, when another one was forgotten")
	}
	p.E.Talks.ForgetOrigins([]string{copied.Name()})
	if !l.looks(nothing) {
		t.Error("forgotten, and not looked for")
	}
	made := &model.Lineage{Lineage: value.Lineage{Session: "claude/x", Kind: value.ForkMade}}
	l.looks(func(s *model.Session) { doubled(s); s.Fork = made })
	if f := p.E.Log.Session(copied.Name()).Fork; f != made {
		t.Errorf("rewind made it, and it is told to be of %+v", f)
	}
}

// TestLookFailedIsRepeated: where something could not be read the origin is looked for a while later, and at once by a
// person's import.
func TestLookFailedIsRepeated(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	copied := p.Talker(2)
	have(p, copied.File, p.Slurp(k.File))
	copied.Line("user", `{"role":"user","content":"another way"}`)
	copied.Say("gone")
	_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	p.Must(err)
	is := p.Session(copied.Name())
	for _, byHand := range []bool{false, true} {
		var fails atomic.Bool
		q := p.Copied(p.FS.Clone(100, 1), func() error {
			if fails.Load() {
				return fmt.Errorf("read: %w", syscall.EMFILE)
			}
			return nil
		})
		now := p.E.Log.Now()
		q.E.Log.Now = func() time.Time { return now }
		l := &looker{Project: q, is: is}
		looks := func() bool {
			fails.Store(false)
			return l.looks(func(*model.Session) {})
		}
		if looks() {
			t.Fatal("looked for again, for nothing")
		}
		q.E.Talks.ForgetOrigins([]string{copied.Name()})
		q.E.Log.Lock()
		fails.Store(true)
		q.E.Talks.ResolveOrigin(enginetest.Bg, copied.Name())
		q.E.Log.Unlock()
		if looks() {
			t.Error("looked for at once")
		}
		if byHand {
			_, err := q.E.Talks.Import(enginetest.Bg, q.Env(), nil)
			p.Must(err)
			if q.Session(copied.Name()).Fork == nil {
				t.Error("not looked for by an import")
			}
		} else if now = now.Add(2 * time.Second); !looks() {
			t.Error("not looked for later")
		}
		q.Close()
	}
}

// TestTurnTold: where it is found of a session that it has turns of another one, its newest event is told again with
// the right number of its turn, unless another session's came behind it.
func TestTurnTold(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		last  func(p *enginetest.Project, copied *enginetest.Talker)
		cause string // of the event that is told again; "": none is
	}{
		"an event": {func(_ *enginetest.Project, copied *enginetest.Talker) {
			copied.Say("gone")
			copied.Stop()
		}, "stop"},
		"a checkpoint": {func(p *enginetest.Project, copied *enginetest.Talker) {
			p.Write("f", enginetest.Big("3"))
			copied.Say("gone")
			copied.Stop()
		}, "stop"},
		"another's conversation went on": {func(p *enginetest.Project, copied *enginetest.Talker) {
			copied.Stop()
			other := p.Talker(4)
			other.Line("user", `{"role":"user","content":"elsewhere"}`)
			_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
			p.Must(err)
			other.Say("gone on")
			p.Must(p.E.Talks.CaughtUp(enginetest.Bg, other.Name()))
		}, "stop"},
		"another's event": {func(p *enginetest.Project, copied *enginetest.Talker) {
			copied.Stop()
			p.Talker(3).Ask("something else")
		}, ""},
	} {
		p, k := enginetest.Begun(t)
		k.Line("user", `{"role":"user","content":"one"}`)
		k.Say("done: one")
		k.Line("user", `{"role":"user","content":"two"}`)
		k.Say("done: two")
		copied := p.Talker(2)
		copied.N, copied.Parent = 100, strings.Replace(k.Parent, "-8111-"+k.ID[:8], "-8111-"+copied.ID[:8], 1)
		copied.Send(hooks.Event{Kind: hooks.Prompt, Prompt: "another way"}, capture.HandleOptions{})
		have(p, copied.File, unnamed(p, k, copied))
		first := p.Slurp(k.File)
		have(p, k.File, "")
		copied.Used("another way")
		c.last(p, copied)
		p.Settle()
		told := func() string {
			s := p.Session(copied.Name())
			return fmt.Sprintf("turn %d, %s", s.Turn, origin(s))
		}
		if got := told(); got != "turn 1, none" {
			t.Errorf("%s: before it is known: %s", what, got)
		}
		have(p, k.File, first)
		_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
		p.Must(err)
		if got, want := told(), "turn 3, "+k.Name()+" at 2 by content"; got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
		head, err := p.E.Log.Head()
		p.Must(err)
		again, want := "", ""
		p.Must(p.E.Log.Refs.Newest(0, func(op *refs.Operation) error {
			if op.Session == copied.Name() && op.Turn == 3 {
				again += fmt.Sprintln(op.Kind, op.Checkpoint, op.Transcript, op.Cause.Event, op.Time > 0)
			}
			return nil
		}))
		if c.cause != "" {
			now := p.Session(copied.Name()).Cursor.Transcript
			want = fmt.Sprintln(refs.KindEvent, head.Checkpoint, now, c.cause, true)
		}
		if again != want {
			t.Errorf("%s: told again as %s, want %s", what, again, want)
		}
	}
}

// TestOriginInHook: the origin of a session is known when its first hook has answered, and is not looked for again.
func TestOriginInHook(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	for n, name := range []string{"unnamed", "names", "long"} {
		copied := p.Talker(n + 2)
		copied.N, copied.Parent = 1000*(n+1), k.Parent
		text := unnamed(p, k, copied)
		if name == "names" {
			text = p.Slurp(k.File)
		}
		have(p, copied.File, text)
		if name == "long" {
			copied.Append(longer("", conversation.HookRead-len(text)))
		}
		copied.Used("another way")
		copied.Stop()
		s := p.Session(copied.Name())
		if name == "long" { // which is more than a hook reads
			if s.Fork != nil || !s.Cursor.Transcript.IsZero() {
				t.Errorf("of much it is told in a hook: %+v", s.Fork)
			}
			p.Settle()
			s = p.Session(copied.Name())
		}
		if got := origin(s); !strings.HasPrefix(got, k.Name()+" at 2 by ") {
			t.Errorf("%q: of %s", name, got)
		}
		p.Reopen()
		if l := (&looker{Project: p, is: s}); l.looks(func(*model.Session) {}) {
			t.Errorf("%q: looked for again", name)
		}
		back := s
		p.E.Log.Lock()
		p.E.Log.Remember(&back)
		p.E.Log.Unlock()
	}
}

// TestAlsoOfParents: who asks for the origin of a session has that of the one found looked for, too.
func TestAlsoOfParents(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	b, c := p.Talker(2), p.Talker(3)
	have(p, b.File, p.Slurp(k.File))
	b.Used("another way")
	b.Say("gone")
	have(p, c.File, p.Slurp(b.File))
	c.Used("a third one")
	c.Say("gone too")
	_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	p.Must(err)
	p.E.Talks.ForgetOrigins([]string{b.Name(), c.Name()})
	p.E.Log.Lock()
	defer p.E.Log.Unlock()
	for _, name := range []string{b.Name(), c.Name()} {
		s := *p.E.Log.Session(name)
		s.Fork = nil
		p.E.Log.Remember(&s)
	}
	p.E.Talks.ResolveOrigin(enginetest.Bg, "claude/none")
	p.E.Talks.ResolveOrigin(enginetest.Bg, c.Name())
	for name, of := range map[string]string{b.Name(): k.Name(), c.Name(): b.Name()} {
		if f := p.E.Log.Session(name).Fork; f == nil || f.Session != of {
			t.Errorf("%s is of %+v, want %s", name, f, of)
		}
	}
}

// TestLastLine: a last line that nobody ended is captured by who may look at all processes, once the session has ended
// or its file is quiet; not in a hook.
func TestLastLine(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	was := p.Session(k.Name())
	now := p.E.Log.Now()
	p.E.Log.Now = func() time.Time { return now }
	const most = conversation.HookRead + 1
	for _, c := range []struct {
		what   string
		line   string
		change func(s *model.Session)
		age    time.Duration
		most   int64
		want   bool
	}{
		{"busy", `{"type":"x"}`, nil, 0, most, false},
		{"almost quiet", `{"type":"x"}`, nil, model.QuietAfter - time.Millisecond, most, false},
		{"quiet", `{"type":"x"}`, nil, model.QuietAfter, most, true},
		{"quiet, in a hook", `{"type":"x"}`, nil, model.QuietAfter, most - 1, false},
		{"ended", `{"type":"x"}`, func(s *model.Session) { s.Ended = true }, 0, most, true},
		{"imported", `{"type":"x"}`, func(s *model.Session) { s.Imported = true }, 0, most, true},
		{"with a space", ` {"type":"x"}`, nil, model.QuietAfter, most, true},
		{"no record", `"x"`, nil, model.QuietAfter, most, false},
		{"half a record", `{"type":"x"`, nil, model.QuietAfter, most, false},
	} {
		s := was
		if c.change != nil {
			c.change(&s)
		}
		text := p.Slurp(k.File)
		k.Append(c.line)
		p.Must(chtimes(k.File, now.Add(-c.age)))
		tx := p.E.Log.Objs.Begin()
		p.Must(p.E.Talks.Tail(tx, &s, c.most))
		tx.Discard()
		want := int64(len(text))
		if c.want {
			want += int64(len(c.line))
		}
		if s.Cursor.Length != want {
			t.Errorf("%s: captured to %d, want %d", c.what, s.Cursor.Length, want)
		}
		have(p, k.File, text)
	}
}

// TestSeenFile: a file that is the one that was seen, as long and of the same time, is not read again; another one is.
func TestSeenFile(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	was, text := p.Session(k.Name()), p.Slurp(k.File)
	other := strings.Replace(text, "done: two", "done: tow", 1)
	at := p.E.Log.Now().Add(-time.Hour)
	tail := func() objstore.ID {
		s := was
		tx := p.E.Log.Objs.Begin()
		defer tx.Discard()
		p.Must(p.E.Talks.Tail(tx, &s, conversation.HookRead))
		return s.Cursor.Transcript
	}
	for what, c := range map[string]struct {
		do   func()
		read bool
	}{
		"the same time": {func() { have(p, k.File, other); p.Must(chtimes(k.File, at)) }, false},
		"another time":  {func() { have(p, k.File, other); p.Must(chtimes(k.File, at.Add(time.Second))) }, true},
		"another file": {func() {
			have(p, k.File+".new", other)
			p.Must(chtimes(k.File+".new", at))
			p.Must(os.Rename(k.File+".new", k.File))
		}, true},
		"longer": {func() { have(p, k.File, text+"{}\n"); p.Must(chtimes(k.File, at)) }, true},
		"read, and not recorded": {func() {
			have(p, k.File, other)
			p.Must(chtimes(k.File, at.Add(time.Second)))
			tail()
		}, true},
		"never seen": {func() {
			have(p, k.File, other)
			p.Must(chtimes(k.File, at))
			p.E.Talks.Files = nil
		}, true},
	} {
		have(p, k.File, text)
		p.Must(chtimes(k.File, at))
		p.E.Talks.Files = nil
		if id := tail(); id != was.Cursor.Transcript {
			t.Fatalf("%s: captured anew as it was", what)
		}
		c.do()
		if id := tail(); (id != was.Cursor.Transcript) != c.read {
			t.Errorf("%s: read %v", what, !c.read)
		}
	}
}

// TestLinkMoved: a session file that is a link is read where it leads now, though what it led to is gone.
func TestLinkMoved(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	text := p.Slurp(k.File)
	have(p, k.File, "")
	for n, more := range []string{"", "{}\n", "{}\n{}\n"} {
		to := filepath.Join(p.Chats(), fmt.Sprint(n))
		have(p, to, text+more)
		p.Must(os.Symlink(to, k.File+".new"))
		p.Must(os.Rename(k.File+".new", k.File))
		if n > 0 {
			have(p, filepath.Join(p.Chats(), fmt.Sprint(n-1)), "")
		}
		k.Stop()
		if at := p.Session(k.Name()).Cursor; at.Length != int64(len(text+more)) || at.Path != k.File {
			t.Errorf("%d: captured to %+v, want %d", n, at, len(text+more))
		}
	}
}

// TestLastLineLater: a last line that nobody ended is captured when the file has become quiet since it was seen, though
// it is the same file; not in a hook.
func TestLastLineLater(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	was, text := p.Session(k.Name()), p.Slurp(k.File)
	now := p.E.Log.Now()
	p.E.Log.Now = func() time.Time { return now }
	k.Append(`{"type":"x"}`)
	p.Must(chtimes(k.File, now))
	for _, c := range []struct {
		what string
		most int64
		age  time.Duration
		more int
	}{
		{"busy", conversation.HookRead + 1, 0, 0},
		{"quiet, in a hook", conversation.HookRead, model.QuietAfter, 0},
		{"quiet", conversation.HookRead + 1, 0, len(`{"type":"x"}`)},
	} {
		now = now.Add(c.age)
		s := was
		tx := p.E.Log.Objs.Begin()
		p.Must(p.E.Talks.Tail(tx, &s, c.most))
		tx.Discard()
		if want := int64(len(text) + c.more); s.Cursor.Length != want {
			t.Errorf("%s: captured to %d, want %d", c.what, s.Cursor.Length, want)
		}
	}
}

// TestLastID: the newest id stays known when what comes behind it has none.
func TestLastID(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	last := k.Parent
	k.Append(`{"type":"x"}` + "\n")
	k.Stop()
	if at := p.Session(k.Name()).Cursor; at.Last != last || at.Length != int64(len(p.Slurp(k.File))) {
		t.Errorf("%+v, want the newest %s", at, last)
	}
}

// newest is the newest operation.
func newest(p *enginetest.Project) (last refs.Operation) {
	p.T.Helper()
	p.Must(p.E.Log.Refs.Newest(0, func(op *refs.Operation) error {
		last = *op
		return kv.ErrStop
	}))
	return last
}

// TestImportTold: what an import tells of a session, in its record and in the log.
func TestImportTold(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Save("first")
	now := p.E.Log.Now()
	p.E.Log.Now = func() time.Time { return now }
	for _, agent := range value.Agents() {
		s := p.Scribe(agent, enginetest.Unique())
		s.Asked("hello")
		s.Says("there")
		res, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
		if p.Must(err); len(res.Sessions) != 1 || res.Sessions[0] != s.Name() {
			t.Errorf("%s: imported %q, %v", agent, res.Sessions, res.Failed)
		}
		one, op := p.Session(s.Name()), newest(p)
		got := fmt.Sprint(op.Kind, op.Session, op.Message, op.Transcript, op.Turn, op.Time)
		want := fmt.Sprint(refs.KindImport, s.Name(), s.File, one.Cursor.Transcript, 1, now.UnixMilli())
		if got != want {
			t.Errorf("%s: %s, want %s", agent, got, want)
		}
		if one.Began != op.Seq || one.First.Year() != 2026 || !one.Last.After(one.First) {
			t.Errorf("%s: began %d, not %d; %v to %v", agent, one.Began, op.Seq, one.First, one.Last)
		}
		_, err = p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
		if p.Must(err); newest(p).Seq != op.Seq {
			t.Errorf("%s: imported again", agent)
		}
	}
	own := p.Scribe(hooks.Claude, enginetest.Unique())
	own.Asked("hello")
	have(p, own.File, strings.ReplaceAll(p.Slurp(own.File), `"type":"user"`,
		`"forkedFrom":{"sessionId":"`+own.ID+`","messageUuid":"x"},"type":"user"`))
	_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	if p.Must(err); p.Session(own.Name()).Fork != nil {
		t.Errorf("it is made of itself: %+v", p.Session(own.Name()).Fork)
	}
}
