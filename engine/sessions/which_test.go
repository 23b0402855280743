package sessions_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"rewind/engine/enginetest"
	"rewind/engine/ledger"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/engine/sessions"
	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// A desk is a log that is written by hand, and who is asked of it: always the same one, and one who knows nothing yet.
type desk struct {
	*enginetest.Project
	log *oplog.Log
	ss  *sessions.Sessions
	now time.Time
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	p := enginetest.NewProject(t)
	d := &desk{Project: p, log: p.E.Log, now: time.UnixMilli(1_800_000_000_000)}
	d.log.Now = func() time.Time { return d.now }
	d.ss = d.fresh()
	return d
}

func (d *desk) fresh() *sessions.Sessions {
	return sessions.New(d.log, ledger.New(d.log, &ledger.State{}))
}

// session stores a record of an agent's session, of which an event came just now.
func (d *desk) session(name string, set func(*model.Session)) {
	d.T.Helper()
	s := &model.Session{Name: name, Event: "prompt", Last: d.now}
	if set != nil {
		set(s)
	}
	tx := d.log.Objs.Begin()
	d.Must(tx.Batch().Set(model.SessionKey(name), s.Encode()))
	d.Must(tx.Commit(enginetest.Bg, kv.Durable))
	d.Must(d.log.LoadSessions())
	d.log.Remember(s)
}

// op appends an operation.
func (d *desk) op(op refs.Operation, updates ...refs.Update) {
	d.T.Helper()
	d.Must(d.log.Record(enginetest.Bg, op, updates...))
}

// prompt is an event in a turn.
func (d *desk) prompt(session string) {
	d.T.Helper()
	d.op(refs.Operation{Kind: refs.KindEvent, Session: session, Turn: 1, Cause: refs.Cause{Event: "prompt"}})
}

func forkOf(name string) func(*model.Session) {
	return func(s *model.Session) {
		s.Event, s.Fork = "", &model.Lineage{Lineage: value.Lineage{Session: name, Kind: "checkout"}}
	}
}

// TestSessionOfID: a session by its name, or how its id begins.
func TestSessionOfID(t *testing.T) {
	d := newDesk(t)
	begun := []string{"claude/aaaa1111x", "claude/aaaa1111y", "codex/bbbb", "claude/c", "droid/q", "droid/qq"}
	for _, name := range begun {
		d.session(name, nil)
	}
	d.session("claude/lane", func(s *model.Session) { s.LaneOf = "claude/c" })
	for _, name := range []string{"gemini/branch", "claude/c"} {
		d.op(refs.Operation{Kind: refs.KindTag}, refs.Update{Name: refs.Session(name), New: enginetest.TestID("x")})
	}
	names, err := d.ss.SessionNames()
	d.Must(err)
	all := []string{
		"claude/aaaa1111x", "claude/aaaa1111y", "claude/c", "codex/bbbb", "droid/q", "droid/qq", "gemini/branch",
	}
	enginetest.Equal(t, "names", names, all)
	for name, want := range map[string]string{
		"claude/aaaa1111x": "claude/aaaa1111x", "aaaa1111y": "claude/aaaa1111y", "bb": "codex/bbbb",
		"codex/b": "codex/bbbb", "codex/": "codex/bbbb", "code": "", "none": "", "claude/lane": "", "lane": "",
		"gemini/branch": "gemini/branch", "bran": "gemini/branch", "claude/none": "",
		"q": "droid/q", "qq": "droid/qq", // whole, though another one begins so
	} {
		got, err := d.ss.SessionOfID(name)
		if got != want || (err == nil) != (want != "") || errors.Is(err, model.ErrNotFound) != (want == "") {
			t.Errorf("%s: %s, %v; want %s", name, got, err, want)
		}
	}
	var several *sessions.SeveralSessionsError
	if _, err := d.ss.SessionOfID("aaaa"); !errors.As(err, &several) || !errors.Is(err, model.ErrWhichSession) {
		t.Fatalf("the beginning of two: %v", err)
	}
	enginetest.Equal(t, "the beginning of two", several.Names, all[:2])
	if several.Prefix != "aaaa" || !strings.HasSuffix(several.Error(), strings.Join(all[:2], ", ")) {
		t.Errorf("%+v", several)
	}
	for name, want := range map[string]string{
		"claude/aaaa1111x": "aaaa1111x", "codex/bbbb": "bbbb", "claude/none12345": "none1234", "claude/bbbb": "bbbb",
	} {
		if got := sessions.ShortOf(name, all); got != want {
			t.Errorf("%s is short %s, want %s", name, got, want)
		}
	}
}

// TestFindSession: where no id fits a title does.
func TestFindSession(t *testing.T) {
	d := newDesk(t)
	d.session("claude/aaaa", nil)
	if got, err := d.ss.FindSession("title"); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("nobody knows titles: %s, %v", got, err)
	}
	var found []string
	var lost error
	asked := ""
	d.ss.TitlesBy(func(title string, whole bool) ([]string, error) {
		if asked = title; whole {
			asked += " whole"
		}
		return found, lost
	})
	broken := errors.New("broken")
	for _, tt := range []struct {
		name  string
		whole bool
		found []string
		lost  error
		want  string
		err   error
		asked string
	}{
		{"aaaa", false, []string{"claude/b"}, nil, "claude/aaaa", nil, ""},
		{"title", false, []string{"claude/b"}, nil, "claude/b", nil, "title"},
		{"title", true, []string{"claude/b"}, nil, "claude/b", nil, "title whole"},
		{"title", false, []string{"claude/b", "claude/c"}, nil, "", model.ErrWhichSession, "title"},
		{"title", false, nil, nil, "", model.ErrNotFound, "title"},
		{"title", false, []string{"claude/b"}, broken, "", broken, "title"},
	} {
		find := d.ss.FindSession
		if tt.whole {
			find = d.ss.FindWhole
		}
		found, lost, asked = tt.found, tt.lost, ""
		got, err := find(tt.name)
		if got != tt.want || !errors.Is(err, tt.err) || asked != tt.asked {
			t.Errorf("%+v: %s, %v, asked for %q", tt, got, err, asked)
		}
		var several *sessions.SeveralSessionsError
		if errors.As(err, &several) && several.Title != tt.name {
			t.Errorf("%+v: %+v", tt, several)
		}
	}
}

// wantActive holds where the project stands and who is at work, by who was asked before and by who was not.
func (d *desk) wantActive(what string, at sessions.Position, names ...string) {
	d.T.Helper()
	for _, ss := range []*sessions.Sessions{d.ss, d.fresh()} {
		got, active, err := ss.Active()
		d.Must(err)
		if got != at {
			d.T.Fatalf("%s: it stands at %+v, want %+v", what, got, at)
		}
		enginetest.Equal(d.T, what, active, names)
	}
}

func at(session string) sessions.Position {
	return sessions.Position{Session: session, Branch: session}
}

// TestActive: where the project stands, and who is at work, operation by operation.
func TestActive(t *testing.T) {
	d := newDesk(t)
	const a, b, lane, kid = "claude/a", "claude/b", "claude/lane", "claude/kid"
	d.session(a, nil)
	d.session(b, nil)
	d.session(lane, func(s *model.Session) { s.LaneOf = b })
	d.session(kid, forkOf(a))
	event := func(session, word string, turn uint64) {
		t.Helper()
		d.op(refs.Operation{Kind: refs.KindEvent, Session: session, Turn: turn, Cause: refs.Cause{Event: word}})
	}
	d.wantActive("nothing", at(model.Manual))
	event(a, "session-start", 1)
	event(a, "stop", 0)
	d.op(refs.Operation{Kind: refs.KindTag, Session: a, Turn: 1})
	d.wantActive("no turn", at(model.Manual))
	d.prompt(a)
	d.wantActive("a turn", at(a), a)
	event(b, "session-start", 1)
	d.wantActive("another one starts", at(a), a)
	d.prompt(b)
	d.wantActive("and has a turn", at(b), b, a)
	d.prompt(lane)
	d.wantActive("a lane", at(b), b, a)
	d.now = d.now.Add(model.ActiveWithin)
	d.wantActive("ten minutes later", at(b), b, a)
	d.prompt(a)
	d.now = d.now.Add(time.Millisecond)
	d.wantActive("and a bit", at(a), a)
	d.prompt(b)
	event(a, "session-end", 1)
	d.wantActive("one ends", at(b), b)
	d.now = d.now.Add(2 * model.ActiveWithin)
	d.wantActive("long after", at(b))
	d.prompt(a)
	d.prompt(b)
	restore := &refs.Restore{Goes: kid}
	d.op(refs.Operation{Kind: refs.KindCheckout, Session: a, Restore: restore})
	d.wantActive("a restore", sessions.Position{Session: kid, Branch: a})
	d.op(refs.Operation{Kind: refs.KindCheckpoint, Session: model.Manual})
	d.wantActive("a save behind it", at(model.Manual))
	d.prompt(b)
	d.wantActive("a turn behind it", at(b), b, kid, a)
	d.prompt(a)
	d.wantActive("the fork is not used, and its family is", at(a), a, b)
	d.prompt(b)
	d.session(a, func(s *model.Session) { s.Left = true })
	d.wantActive("one was left", at(b), b, kid)
	d.prompt(kid)
	d.wantActive("the fork is used", at(kid), kid, b)
	d.op(refs.Operation{Kind: refs.KindCheckout, Session: a, Restore: &refs.Restore{Goes: b}})
	d.wantActive("a restore to another family", at(b))
}

// TestBranch: behind a restore the branch is the session that it moved, as long as both stand at the same place.
func TestBranch(t *testing.T) {
	d := newDesk(t)
	const a, kid = "claude/a", "claude/kid"
	d.session(a, nil)
	d.session(kid, forkOf(a))
	d.op(refs.Operation{Kind: refs.KindUndo, Session: a, Restore: &refs.Restore{Goes: kid}})
	moved := sessions.Position{Session: kid, Branch: a}
	x, y := enginetest.TestID("x"), enginetest.TestID("y")
	for _, tt := range []struct {
		what   string
		update refs.Update
		want   sessions.Position
	}{
		{"no cursors", refs.Update{Name: refs.Tag("t"), New: x}, moved},
		{"one cursor", refs.Update{Name: refs.Cursor(a), New: x}, moved},
		{"the same", refs.Update{Name: refs.Cursor(kid), New: x}, moved},
		{"others", refs.Update{Name: refs.Cursor(kid), Old: x, New: y}, at(kid)},
	} {
		d.op(refs.Operation{Kind: refs.KindTag}, tt.update)
		d.wantActive(tt.what, tt.want)
		for name, want := range map[string]string{"": tt.want.Branch, kid: tt.want.Branch, a: a} {
			if got, err := d.ss.Walked(model.SessionChoice{Session: name}); err != nil || got != want {
				t.Errorf("%s: %q walks %s, %v; want %s", tt.what, name, got, err, want)
			}
		}
	}
	if got, err := d.ss.Walked(model.SessionChoice{Session: "none"}); !errors.Is(err, model.ErrNotFound) || got != "" {
		t.Errorf("nobody walks %s, %v", got, err)
	}
}

// TestSession: which session a request means.
func TestSession(t *testing.T) {
	d := newDesk(t)
	for _, name := range []string{"claude/aaaa", "claude/bbbb"} {
		d.session(name, nil)
		d.prompt(name)
		if got, err := d.ss.Session(model.SessionChoice{}); name == "claude/aaaa" && (err != nil || got != name) {
			t.Errorf("the only one: %s, %v", got, err)
		}
	}
	check := func(what string, got string, err error, want string) {
		t.Helper()
		if err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", what, got, err, want)
		}
	}
	var several *sessions.SeveralSessionsError
	if got, err := d.ss.Session(model.SessionChoice{}); !errors.As(err, &several) || got != "" {
		t.Fatalf("two: %s, %v", got, err)
	}
	enginetest.Equal(t, "two", several.Names, []string{"claude/bbbb", "claude/aaaa"})
	got, err := d.ss.Session(model.SessionChoice{Choose: true})
	check("the newest", got, err, "claude/bbbb")
	told := []string{"several sessions are at work here: taking claude/bbbb; --session chooses (claude/aaaa)"}
	enginetest.Equal(t, "notices", d.log.Project.Notices, told)
	got, err = d.ss.Session(model.SessionChoice{Session: "aaaa"})
	check("named", got, err, "claude/aaaa")
	got, err = d.ss.NamedIn(model.SessionChoice{Session: "aaaa"})
	check("named in", got, err, "claude/aaaa")
	got, err = d.ss.NamedIn(model.SessionChoice{})
	check("none is named", got, err, "")
	got, err = d.ss.OrCurrent("")
	check("the current one", got, err, "claude/bbbb")
	got, err = d.ss.OrCurrent("claude/x")
	check("or another", got, err, "claude/x")
}

// TestWhose: a turn is told with its session where the project has another one; a subagent is none.
func TestWhose(t *testing.T) {
	d := newDesk(t)
	told := func(want string) {
		t.Helper()
		if got := d.ss.Whose()("claude/aaaa"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	told("")
	d.session("claude/aaaa", nil)
	d.session("claude/lane", func(s *model.Session) { s.LaneOf = "claude/aaaa" })
	told("")
	d.session("claude/fork", func(s *model.Session) {
		s.Event, s.Fork = "", &model.Lineage{Lineage: value.Lineage{Kind: value.ForkRestore}}
	})
	told("")
	d.session("codex/bbbb", nil)
	told("aaaa")
	if got := d.ss.Whose()(model.Manual); got != "" {
		t.Errorf("a person's own: %q", got)
	}
}

// TestPositionBefore: where the project stood, and the session before.
func TestPositionBefore(t *testing.T) {
	d := newDesk(t)
	first := d.log.DB.LastSeq() + 1
	for _, name := range []string{"claude/a", "claude/b", "claude/c"} {
		d.session(name, nil)
		d.prompt(name)
		d.op(refs.Operation{Kind: refs.KindTag})
		d.op(refs.Operation{Kind: refs.KindEvent, Session: name, Cause: refs.Cause{Event: "session-start"}})
	}
	for seq, want := range map[uint64]string{
		0: model.Manual, 1: model.Manual, first: model.Manual, first + 1: "claude/a", first + 3: "claude/a",
		first + 4: "claude/b", first + 7: "claude/c",
	} {
		if got, err := d.ss.PositionBefore(seq); err != nil || got != at(want) {
			t.Errorf("before %d: %+v, %v; want %s", seq, got, err, want)
		}
	}
	d.session("claude/lane", func(s *model.Session) { s.LaneOf = "claude/c" })
	d.prompt("claude/lane")
	if got, err := d.ss.PositionBefore(d.log.DB.LastSeq() + 1); err != nil || got != at("claude/c") {
		t.Errorf("behind a lane: %+v, %v", got, err)
	}
	for want, ok := range map[string]func(*model.Session) bool{
		"claude/b": func(*model.Session) bool { return true },
		"claude/a": func(s *model.Session) bool { return s.Name != "claude/b" },
		"":         func(*model.Session) bool { return false },
	} {
		if got, err := d.ss.Previous(ok); err != nil || got != want {
			t.Errorf("the one before: %s, %v; want %s", got, err, want)
		}
	}
}

// TestCurrent: the checkpoint that a session stands on, or the one before it stood.
func TestCurrent(t *testing.T) {
	d := newDesk(t)
	if cp, err := d.ss.Current("claude/a"); err != nil || cp != nil {
		t.Errorf("nothing: %+v, %v", cp, err)
	}
	put := func(session string) objstore.ID {
		cp := model.Checkpoint{Session: session, Tree: enginetest.TestID("t"), Time: d.now}
		tx := d.log.Objs.Begin()
		d.Must(d.log.PutCheckpoint(tx, &cp, d.log.DB.LastSeq()+1))
		d.Must(tx.Commit(enginetest.Bg, kv.Durable))
		d.op(refs.Operation{Kind: refs.KindCheckpoint, Session: session, Checkpoint: cp.ID},
			refs.Update{Name: refs.Cursor(session), New: cp.ID})
		return cp.ID
	}
	a, b := put("claude/a"), put("claude/b")
	d.op(refs.Operation{Kind: refs.KindEvent, Session: "claude/a"})
	d.op(refs.Operation{Kind: refs.KindCheckpoint, Session: "claude/none"})
	for session, want := range map[string]objstore.ID{"claude/a": a, "claude/b": b, "claude/none": b} {
		if cp, err := d.ss.Current(session); err != nil || cp.ID != want {
			t.Errorf("%s: %+v, %v", session, cp, err)
		}
	}
	d.op(refs.Operation{Kind: refs.KindUndo, Session: "claude/b", Restore: &refs.Restore{Goes: "claude/a"}})
	if id, err := d.ss.NewestCursor(); err != nil || id != a {
		t.Errorf("behind a restore: %s, %v", id.Short(), err)
	}
	d.op(refs.Operation{Kind: refs.KindUndo, Session: "claude/b", Restore: &refs.Restore{Goes: "claude/new"}})
	if id, err := d.ss.NewestCursor(); err != nil || id != b {
		t.Errorf("behind a restore to a session without a cursor: %s, %v", id.Short(), err)
	}
}

// TestAtWork: who is at work, by the record alone. What a restore left is under way until its turn stops.
func TestAtWork(t *testing.T) {
	d := newDesk(t)
	call, whole := []model.Call{{ID: "1", Tool: "Bash"}}, []model.Call{{ID: model.TurnCall}}
	for what, tt := range map[string]struct {
		s    model.Session
		ago  time.Duration
		want value.WorkKind
		turn bool
	}{
		"a turn":             {model.Session{Event: "prompt", Busy: true}, 0, value.WorkTurn, true},
		"a turn long ago":    {model.Session{Event: "prompt", Busy: true}, model.ActiveWithin, "", false},
		"a call":             {model.Session{Event: "prompt", Calls: call}, model.ActiveWithin, value.WorkCall, true},
		"a call long ago":    {model.Session{Event: "prompt", Calls: call}, time.Hour, "", false},
		"the turn as a call": {model.Session{Event: "x", Calls: whole}, 0, value.WorkTurn, true},
		"nothing":            {model.Session{Event: "stop"}, 0, "", false},
		"ended":              {model.Session{Event: "prompt", Busy: true, Ended: true}, 0, "", false},
		"left":               {model.Session{Event: "prompt", Busy: true, Left: true}, 0, "", false},
		"imported":           {model.Session{Event: "prompt", Busy: true, Imported: true}, 0, "", false},
		"not heard of":       {model.Session{Busy: true}, 0, "", false},
	} {
		tt.s.Name, tt.s.Last = "claude/a", d.now.Add(-tt.ago)
		w, ok := d.ss.AtWork(&tt.s, d.log.Processes())
		named := w.Session == "claude/a" && w.Agent == "claude"
		if ok != (tt.want != "") || w.Known != tt.want || ok && !named {
			t.Errorf("%s: %+v, %v", what, w, ok)
		}
		if got := d.ss.InTurn(&tt.s); got != tt.turn {
			t.Errorf("%s: in a turn %v", what, got)
		}
		list := []model.Session{tt.s}
		if got := len(d.ss.UnderWay(list)) == 1; got != (ok || what == "left") {
			t.Errorf("%s: under way %v", what, got)
		}
	}
	many := make([]model.Session, 9)
	for i := range many {
		many[i] = model.Session{Name: "claude/a", Event: "prompt", Busy: true, Last: d.now}
	}
	if n := len(d.ss.UnderWay(many)); n != 8 {
		t.Errorf("%d of 9 are looked for", n)
	}
}

// TestUnderfoot: who is at work under a restore, and the files that its calls may write. One that a restore left is
// until another one of its family is heard of.
func TestUnderfoot(t *testing.T) {
	d := newDesk(t)
	dir := &tree.Entry{Type: tree.TypeDir}
	file := &tree.Entry{Type: tree.TypeFile}
	steps := []tree.Change{
		{Path: "new", New: file}, {Path: "old", Old: file}, {Path: "both", Old: file, New: file}, {Path: "d", New: dir},
	}
	edit := func(paths ...string) model.Call { return model.Call{ID: "e", Class: hooks.Editor, Paths: paths} }
	for what, tt := range map[string]struct {
		set   func(*model.Session)
		paths string
		files int // -1: it is not at work
	}{
		"a turn":         {func(s *model.Session) { s.Busy = true }, "", 3},
		"a shell":        {func(s *model.Session) { s.Calls = []model.Call{{ID: "s"}} }, "", 3},
		"an edit":        {func(s *model.Session) { s.Calls = []model.Call{edit("old", "x")} }, "old", 1},
		"both":           {func(s *model.Session) { s.Calls = []model.Call{edit("old"), {ID: "s"}} }, "old", 3},
		"of a directory": {func(s *model.Session) { s.Calls = []model.Call{edit("d")} }, "d", 1},
		"nothing":        {func(*model.Session) {}, "", -1},
		"ended":          {func(s *model.Session) { s.Busy, s.Ended = true, true }, "", -1},
		"left":           {func(s *model.Session) { s.Busy, s.Left = true, true }, "", 3},
		"left for the fork": {func(s *model.Session) {
			s.Busy, s.Left, s.Last = true, true, d.now.Add(-time.Second)
		}, "", -1},
	} {
		d.log.Forget()
		d.session("claude/a", tt.set)
		d.session("claude/kid", forkOf("claude/a"))
		if what == "left for the fork" {
			d.session("claude/used", func(s *model.Session) { forkOf("claude/a")(s); s.Event = "prompt" })
		}
		list, err := d.ss.Underfoot("claude/kid", "claude/a", steps)
		d.Must(err)
		if len(list) != min(tt.files+1, 1) {
			t.Errorf("%s: %+v", what, list)
			continue
		}
		for _, w := range list {
			var paths []string
			for _, p := range w.Paths {
				paths = append(paths, string(p))
			}
			if strings.Join(paths, " ") != tt.paths || w.Files != tt.files || !w.Left || w.Session != "claude/a" {
				t.Errorf("%s: %+v", what, w)
			}
		}
	}
}

// TestHolder: a turn that a fork does not have is its original's, until somebody goes on with the fork.
func TestHolder(t *testing.T) {
	d := newDesk(t)
	turns := func(n uint64, set func(*model.Session)) func(*model.Session) {
		return func(s *model.Session) { set(s); s.Turn = n }
	}
	d.session("claude/a", turns(5, func(*model.Session) {}))
	d.session("claude/kid", turns(2, forkOf("claude/a")))
	d.session("claude/used", turns(2, func(s *model.Session) { forkOf("claude/a")(s); s.Event = "prompt" }))
	for _, tt := range []struct {
		session string
		n       uint64
		want    string
	}{
		{"claude/kid", 2, "claude/kid"},
		{"claude/kid", 3, "claude/a"},
		{"claude/a", 9, "claude/a"},
		{"claude/used", 3, "claude/used"},
	} {
		d.prompt(tt.session)
		if got, err := d.ss.OrHolder("", tt.n); err != nil || got != tt.want {
			t.Errorf("turn %d at %s: %s, %v", tt.n, tt.session, got, err)
		}
	}
	d.prompt("claude/kid")
	for session, want := range map[string]string{"": "claude/a", "claude/kid": "claude/kid"} {
		if got, err := d.ss.OrHolder(session, 3); err != nil || got != want {
			t.Errorf("turn 3 of %q: %s, %v", session, got, err)
		}
	}
}

// TestOfTurn: a turn where the project stands on no agent's session is the only conversation's.
func TestOfTurn(t *testing.T) {
	d := newDesk(t)
	talks := func(s *model.Session) {
		s.Event, s.Turn, s.Cursor.Transcript = "", 2, objstore.ID{1}
	}
	of := func(w model.SessionChoice, want string) {
		t.Helper()
		if got, err := d.ss.OfTurn(w, 1); err != nil || got != want {
			t.Errorf("of %+v: %q, %v, want %q", w, got, err, want)
		}
	}
	of(model.SessionChoice{}, model.Manual)
	d.session("claude/a", talks)
	d.session("claude/empty", func(s *model.Session) { s.Event = "" })
	d.session("claude/unused", func(s *model.Session) { forkOf("claude/a")(s); talks(s) })
	d.session("claude/away", func(s *model.Session) { talks(s); s.Standing = value.Archived })
	of(model.SessionChoice{}, "claude/a")
	if got, err := d.ss.OrHolder("", 1); err != nil || got != "claude/a" {
		t.Errorf("holder: %q, %v", got, err)
	}
	d.now = d.now.Add(time.Minute)
	d.session("codex/b", talks)
	var several *sessions.SeveralSessionsError
	_, err := d.ss.OfTurn(model.SessionChoice{}, 1)
	if !errors.As(err, &several) || several.What() == model.ErrWhichSession.Error() || len(several.Names) != 2 {
		t.Errorf("of two: %v", err)
	}
	of(model.SessionChoice{Choose: true}, "codex/b")
	of(model.SessionChoice{Session: "claude/a"}, "claude/a")
	d.prompt("claude/empty")
	of(model.SessionChoice{}, "claude/empty")
}

// TestSameFile: two paths that lead to one file.
func TestSameFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	link, none := filepath.Join(dir, "link"), filepath.Join(dir, "none")
	for _, err := range []error{os.WriteFile(a, nil, 0o600), os.WriteFile(b, nil, 0o600), os.Symlink(a, link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		a, b string
		want bool
	}{{a, a, true}, {a, link, true}, {a, b, false}, {a, none, false}, {none, a, false}, {none, none, true}} {
		if got := sessions.SameFile(tt.a, tt.b); got != tt.want {
			t.Errorf("%s and %s: %v", tt.a, tt.b, got)
		}
	}
}

// TestMustRest: a session that an agent has open is not changed, unless that is forced.
func TestMustRest(t *testing.T) {
	p, k := enginetest.Begun(t)
	k.Take("one", nil)
	s := p.Session(k.Name())
	note := filepath.Join(p.User(), ".claude", "sessions", "1.json")
	for _, open := range []bool{false, true} {
		if open {
			p.Must(os.MkdirAll(filepath.Dir(note), 0o700))
			note = filepath.Join(filepath.Dir(note), strconv.Itoa(os.Getpid())+".json")
			text := `{"pid":` + strconv.Itoa(os.Getpid()) + `,"sessionId":"` + k.ID + `","cwd":"` + p.Root + `"}`
			p.Must(os.WriteFile(note, []byte(text), 0o600))
		}
		var running *model.RunningError
		if err := p.E.Sessions.MustRest(&s, false); errors.As(err, &running) != open || (err != nil) != open {
			t.Errorf("open %v: %v", open, err)
		}
		if err := p.E.Sessions.MustRest(&s, true); err != nil {
			t.Errorf("open %v, forced: %v", open, err)
		}
	}
}

// TestActiveWithoutUse: a save in a session counts for it, and so do turns of a session that has no record, or one that
// nothing was heard of.
func TestActiveWithoutUse(t *testing.T) {
	d := newDesk(t)
	const a, kid = "claude/a", "claude/kid"
	d.session(a, nil)
	d.session(kid, forkOf(a))
	d.op(refs.Operation{Kind: refs.KindEvent, Session: a, Cause: refs.Cause{Event: model.EventSave}})
	d.wantActive("a save", at(a), a)
	d.prompt(kid)
	d.wantActive("a save in a session that is used, beside its fork", at(kid), kid, a)
	d.prompt(a)
	d.wantActive("a fork beside its original", at(a), a, kid)
	d.prompt("claude/none")
	d.wantActive("no record", at("claude/none"), "claude/none", a, kid)
}
