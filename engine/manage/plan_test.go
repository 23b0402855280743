package manage_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/manage"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func manager(p *enginetest.Project) *manage.Manager {
	return manage.New(p.E.Log, p.E.Sessions, p.E.Talks, p.E.History)
}

// family is a session of two turns with two forks of its first one.
func family(t *testing.T) (p *enginetest.Project, k *enginetest.Talker, forks [2]*restore.Forked) {
	t.Helper()
	p, k = enginetest.TwoTurns(t)
	p.Settle()
	for i := range forks {
		forks[i] = p.Fork("turn:1@"+k.Name(), restore.Options{Title: fmt.Sprint("fork ", i)})
	}
	k.Take("three", nil) // the project is at k again
	p.Settle()
	return p, k, forks
}

// told is a plan in words: what becomes of each session and of each file, and what is lost.
func told(plan *manage.Plan) string {
	var out []string
	for _, m := range plan.Managed {
		line := fmt.Sprintf("%s %q to %q", m.Session, m.Was, m.Now)
		if m.Title != m.WasTitle {
			line += fmt.Sprintf(", called %q", m.Title)
		}
		out = append(out, line)
	}
	for _, f := range plan.Files {
		what := "changes"
		switch {
		case f.To.IsZero():
			what = "goes"
		case f.From.IsZero():
			what = "comes"
		}
		out = append(out, filepath.Base(f.Path)+" "+what)
	}
	for _, l := range plan.Losses {
		out = append(out, fmt.Sprintf("lost %d turns, %d checkpoints", l.Turns, l.Checkpoints))
	}
	return strings.Join(out, "; ")
}

// decided is what a request would do, or why it does not. Nothing is done.
func decided(p *enginetest.Project, r manage.Request, stored bool) (string, error) {
	defer p.E.Log.Hold()()
	p.Must(p.E.Talks.ReadySessions())
	r.Env = p.Env()
	plan, err := manager(p).Plan(r)
	if err != nil {
		return "", err
	}
	return decide(p, plan, stored)
}

func decide(p *enginetest.Project, plan *manage.Plan, stored bool) (string, error) {
	var tx *objstore.Tx
	if stored {
		tx = p.E.Log.Objs.Begin()
		defer tx.Discard()
	}
	if err := plan.Decide(enginetest.Bg, tx); err != nil {
		return "", err
	}
	return told(plan), nil
}

// done carries a request out.
func done(p *enginetest.Project, kind refs.Kind, title string, sessions ...string) *refs.Operation {
	p.T.Helper()
	r, err := p.E.Restorer.Manage(enginetest.Bg, manage.Request{
		Kind: kind, Sessions: sessions, Title: title, LastCopy: true, Env: p.Env(),
	})
	p.Must(err)
	return r.Operation
}

// want is a request with what it plans; words in angle brackets are an error's.
type want struct {
	r    manage.Request
	plan string
}

func (w want) check(t *testing.T, p *enginetest.Project, names *strings.Replacer) {
	t.Helper()
	got, err := decided(p, w.r, true)
	if err != nil {
		got = "<" + err.Error() + ">"
	}
	plan := names.Replace(w.plan)
	if part, failed := strings.CutPrefix(plan, "<"); failed {
		if err == nil || !strings.Contains(got, strings.TrimSuffix(part, ">")) {
			t.Errorf("%s %q: %s, want %s", w.r.Kind, w.r.Sessions, got, plan)
		}
		return
	}
	if got != plan {
		t.Errorf("%s %q: %s, want %s", w.r.Kind, w.r.Sessions, got, plan)
	}
}

// TestPlan: what is planned of sessions as they are, and after each was renamed, archived, promoted and deleted.
func TestPlan(t *testing.T) {
	p, k, forks := family(t)
	a, b := forks[0].Session, forks[1].Session
	names := strings.NewReplacer(
		"KFILE", filepath.Base(k.File), "AFILE", filepath.Base(forks[0].Path), "BFILE", filepath.Base(forks[1].Path),
		"K", k.Name(), "A", a, "B", b)
	one := func(kind refs.Kind, sessions ...string) manage.Request {
		return manage.Request{Kind: kind, Sessions: sessions}
	}
	for _, w := range []want{
		{one(refs.KindArchive, k.Name()), `K "" to "archived"`},
		{one(refs.KindArchive, a, b), `A "" to "archived"; B "" to "archived"`},
		{one(refs.KindArchive, a, strings.TrimPrefix(a, "claude/")), `A "" to "archived"`}, // the same one
		{one(refs.KindArchive, model.Manual), "<no agent's session>"},
		{one(refs.KindArchive, "nobody"), "<nobody>"},
		{one(refs.KindUnarchive, a), "<it is not archived>"},
		{one(refs.KindPromote, a), `A "" to "main"; K "" to "archived"`},
		{one(refs.KindPromote, k.Name()), "<it is the main line already>"},
		{one(refs.KindPromote, a, b), "<wants one session>"},
		{one(refs.KindPromote), "<wants one session>"},
		{manage.Request{Kind: refs.KindRename, Sessions: []string{a}, Title: "new"}, `A "" to "", called "new"; AFILE changes`},
		{one(refs.KindRename, a), "<an empty title>"},
		{manage.Request{Kind: refs.KindRename, Sessions: []string{a, b}, Title: "new"}, "<wants one session>"},
		{one(refs.KindDelete, a), `A "" to "deleted"; AFILE goes; lost 0 turns, 0 checkpoints`},
		{one(refs.KindDelete, "fork"), "<fork>"}, // a part of a title names none
		{one(refs.KindDelete, k.Name()), "<2 turns>"},
		{
			manage.Request{Kind: refs.KindDelete, Sessions: []string{k.Name()}, LastCopy: true},
			`K "" to "deleted"; KFILE goes; lost 2 turns, 2 checkpoints`,
		},
		{
			manage.Request{Kind: refs.KindDelete, Sessions: []string{k.Name()}, DryRun: true},
			`K "" to "deleted"; KFILE goes; lost 2 turns, 2 checkpoints`,
		},
		{ // the one that is left has the first turn
			manage.Request{Kind: refs.KindDelete, Sessions: []string{k.Name(), a}, LastCopy: true},
			`K "" to "deleted"; A "" to "deleted"; KFILE goes; AFILE goes; lost 2 turns, 2 checkpoints; lost 0 turns, 0 checkpoints`,
		},
		{
			manage.Request{Kind: refs.KindDelete, Sessions: []string{k.Name(), a, b}, DryRun: true},
			`K "" to "deleted"; A "" to "deleted"; B "" to "deleted"; KFILE goes; AFILE goes; BFILE goes; ` +
				`lost 3 turns, 2 checkpoints; lost 1 turns, 0 checkpoints; lost 1 turns, 0 checkpoints`,
		},
	} {
		w.check(t, p, names)
	}
	if got, err := decided(p, one(refs.KindDelete, a), false); err != nil || strings.Contains(got, "goes") {
		t.Errorf("nothing is stored: %s, %v", got, err)
	}
	var last *model.LastCopyError
	if _, err := decided(p, one(refs.KindDelete, k.Name()), true); !errors.As(err, &last) || last.Turns != 2 || last.Session != k.Name() {
		t.Errorf("the last copy: %v", err)
	}

	done(p, refs.KindArchive, "", a)
	done(p, refs.KindPromote, "", b)
	for _, w := range []want{
		{one(refs.KindArchive, a), "<it is archived already>"},
		{one(refs.KindUnarchive, a), `A "archived" to ""`},
		{one(refs.KindPromote, b), "<it is the main line already>"},
		{one(refs.KindPromote, a), `A "archived" to "main"; B "main" to "archived"`},
		{one(refs.KindPromote, k.Name()), `K "archived" to "main"; B "main" to "archived"`},
		{one(refs.KindUnarchive, b), "<it is not archived>"},
	} {
		w.check(t, p, names)
	}
	done(p, refs.KindDelete, "", b)
	for _, w := range []want{
		{one(refs.KindDelete, b), "<it was deleted already>"},
		{one(refs.KindArchive, b), "<it was deleted>"},
		{one(refs.KindUnarchive, b), "<it was deleted>"},
		{one(refs.KindPromote, b), "<it was deleted>"},
		{one(refs.KindPromote, a), `A "archived" to "main"`}, // the main line is gone
		{ // and no copy of the first turn but the archived one
			manage.Request{Kind: refs.KindDelete, Sessions: []string{k.Name(), a}, DryRun: true},
			`K "archived" to "deleted"; A "archived" to "deleted"; KFILE goes; AFILE goes; ` +
				`lost 3 turns, 2 checkpoints; lost 1 turns, 0 checkpoints`,
		},
	} {
		w.check(t, p, names)
	}
}

// TestPlanUndo: what takes back an operation on sessions, by what became of the file since.
func TestPlanUndo(t *testing.T) {
	p, _, forks := family(t)
	a := forks[0]
	file := filepath.Base(a.Path)
	undone := func(op *refs.Operation) (string, error) {
		defer p.E.Log.Hold()()
		p.Must(p.E.Talks.ReadySessions())
		plan, err := manager(p).PlanUndo(op, manage.Request{Env: p.Env()})
		if err != nil {
			return "", err
		}
		if plan.Session() != a.Session || plan.Kind != refs.KindUndoForks {
			t.Errorf("it is about %s, a %s", plan.Session(), plan.Kind)
		}
		return decide(p, plan, true)
	}
	check := func(what string, op *refs.Operation, want string) {
		t.Helper()
		if got, err := undone(op); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", what, got, err, want)
		}
	}
	archived := done(p, refs.KindArchive, "", a.Session)
	check("archived", archived, a.Session+` "archived" to ""`)
	done(p, refs.KindUnarchive, "", a.Session)
	renamed := done(p, refs.KindRename, "new", a.Session)
	check("renamed", renamed, a.Session+` "" to "", called "[Fork @1] fork 0"; `+file+" changes")
	p.Opened(a.Fork).Used("it goes on")
	check("renamed, and it went on", renamed, a.Session+` "" to "", called "[Fork @1] fork 0"; `+file+" changes")
	before := p.Slurp(a.Path)
	deleted := done(p, refs.KindDelete, "", a.Session)
	check("deleted", deleted, a.Session+` "deleted" to ""; `+file+" comes")
	p.Must(os.WriteFile(a.Path, []byte(before), 0o600))
	check("deleted, and put back by hand", deleted, a.Session+` "deleted" to ""`)
	p.Must(os.WriteFile(a.Path, []byte("{}\n"), 0o600))
	if got, err := undone(deleted); !errors.Is(err, os.ErrExist) {
		t.Errorf("deleted, and another file is there: %s, %v", got, err)
	}
	nobody := &refs.Operation{Seq: 7, Restore: &refs.Restore{}}
	if _, err := undone(nobody); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("of no session: %v", err)
	}
}

// TestForkLimits: forks that are archived do not count; a limit of nothing is none.
func TestForkLimits(t *testing.T) {
	p, _, forks := family(t)
	size := 0
	for _, f := range forks {
		size += len(p.Slurp(f.Path))
	}
	m := manager(p)
	check := func(setting, v string, refused, many bool) {
		t.Helper()
		p.Set("forks.max_"+setting, v)
		p.Set("forks.warn_"+setting, v)
		defer func() { p.Set("forks.max_"+setting, "0"); p.Set("forks.warn_"+setting, "0") }()
		defer p.E.Log.Hold()()
		p.Must(p.E.Talks.ReadySessions())
		err := m.MayFork()
		var limit *model.ForkLimitError
		if errors.As(err, &limit) != refused || (err != nil) != refused {
			t.Errorf("%s %s: %v", setting, v, err)
		}
		if refused && (limit.Setting != "forks.max_"+setting || limit.Forks != 2 || limit.Bytes != int64(size)) {
			t.Errorf("%s %s: %+v, want 2 forks of %d bytes", setting, v, limit, size)
		}
		text := m.Many()
		if (text != "") != many || many && !strings.Contains(text, "forks.warn_"+setting) {
			t.Errorf("%s %s: %q", setting, v, text)
		}
	}
	for _, name := range []string{"forks.max_number", "forks.max_size", "forks.warn_number", "forks.warn_size"} {
		p.Set(name, "0")
	}
	check("number", "0", false, false)
	check("number", "1", true, true)
	check("number", "2", true, false)
	check("number", "3", false, false)
	check("size", "1", true, true)
	check("size", fmt.Sprint(size-1), true, true)
	check("size", fmt.Sprint(size), true, false)
	check("size", fmt.Sprint(size+1), false, false)
	done(p, refs.KindArchive, "", forks[0].Session)
	check("number", "2", false, false)
	p.Must(os.Remove(forks[1].Path))
	check("number", "1", false, false)
}

// TestPrunable: which forks go when a person asks, and which when nobody does: what somebody has named or brought back
// stays then.
func TestPrunable(t *testing.T) {
	p, _, forks := family(t)
	a, b := forks[0].Session, forks[1].Session // b is the newer one
	check := func(what string, prune manage.Prune, want ...string) {
		t.Helper()
		prune.Unused = true
		got, err := manager(p).Prunable(enginetest.Bg, prune, p.Env())
		p.Must(err)
		slices.Sort(got) // two of one millisecond have no order
		slices.Sort(want)
		enginetest.Equal(t, what, got, want)
	}
	itself := manage.Prune{Itself: true}
	check("asked for", manage.Prune{}, b, a)
	check("both have titles of their own", itself)
	check("the only one has", manage.Prune{Itself: true, Keep: 1})
	if _, err := manager(p).Prunable(enginetest.Bg, manage.Prune{}, p.Env()); !errors.Is(err, model.ErrUsage) {
		t.Errorf("nothing is said: %v", err)
	}
	c := p.Fork("turn:2", restore.Options{Session: model.SessionChoice{Session: "00000001"}}).Session
	check("no title was given", itself, c)
	if got, err := manager(p).Prunable(enginetest.Bg, manage.Prune{Unused: true, Itself: true}, value.AgentEnv{
		Home: value.Text(t.TempDir()),
	}); err != nil || len(got) != 0 {
		t.Errorf("in another home: %q, %v", got, err)
	}
	for _, kind := range []refs.Kind{refs.KindArchive, refs.KindDelete, refs.KindArchive} {
		done(p, kind, "", c)
		_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
		p.Must(err)
	}
	check("it was brought back", itself)
	check("asked for again", manage.Prune{}, c, b, a)
}

// TestPlanWhileOpen: while an agent has a session open its file does not change, unless that is forced; its place in
// lists may.
func TestPlanWhileOpen(t *testing.T) {
	p, _, forks := family(t)
	a := forks[0].Session
	rename := manage.Request{Kind: refs.KindRename, Sessions: []string{a}, Title: "new"}
	remove := manage.Request{Kind: refs.KindDelete, Sessions: []string{a}}
	archive := manage.Request{Kind: refs.KindArchive, Sessions: []string{a}}
	renamed := done(p, refs.KindRename, "old", a)
	undo := func(force bool) error {
		defer p.E.Log.Hold()()
		p.Must(p.E.Talks.ReadySessions())
		plan, err := manager(p).PlanUndo(renamed, manage.Request{Env: p.Env(), Force: force})
		p.Must(err)
		_, err = decide(p, plan, true)
		return err
	}
	_, id := model.SplitSession(a)
	note := filepath.Join(p.User(), ".claude", "sessions", fmt.Sprint(os.Getpid(), ".json"))
	p.Must(os.MkdirAll(filepath.Dir(note), 0o700))
	p.Must(os.WriteFile(note, fmt.Appendf(nil, `{"pid":%d,"sessionId":%q,"cwd":%q}`, os.Getpid(), id, p.Root), 0o600))
	var open *model.RunningError
	for _, force := range []bool{false, true} {
		for _, r := range []manage.Request{rename, remove, archive} {
			r.Force = force
			_, err := decided(p, r, true)
			if want := !force && r.Kind != refs.KindArchive; errors.As(err, &open) != want || (err != nil) != want {
				t.Errorf("%s, forced %v: %v", r.Kind, force, err)
			}
		}
		if err := undo(force); errors.As(err, &open) == force || (err == nil) != force {
			t.Errorf("undo of rename, forced %v: %v", force, err)
		}
	}
	p.Must(os.Remove(note))
	if err := undo(false); err != nil {
		t.Errorf("undo of rename, and nobody has it open: %v", err)
	}
}

// TestPlanNeeded: a rollout of Codex on which another one goes on does not go without that one.
func TestPlanNeeded(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "1")
	p.Save("")
	s := p.Scribe(hooks.Codex, enginetest.Unique())
	s.Tell(hooks.SessionStart, map[string]any{"source": "startup"})
	s.Tell(hooks.Prompt, map[string]any{"prompt": "go", "turn_id": "t"})
	s.Says("done")
	s.Tell(hooks.Stop, map[string]any{"turn_id": "t"})
	p.Settle()
	remove := manage.Request{Kind: refs.KindDelete, Sessions: []string{s.ID}, LastCopy: true, Force: true}
	want := fmt.Sprintf(`codex/%s "" to "deleted"; %s goes; lost 0 turns, 0 checkpoints`, s.ID, filepath.Base(s.File))
	if got, err := decided(p, remove, true); err != nil || got != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	other := enginetest.Unique()
	on := filepath.Join(filepath.Dir(s.File), "rollout-2026-11-20T11-00-00-"+other+".jsonl")
	base := fmt.Sprintf(`"history_base":{"thread_id":%q,"end_byte_offset":9}`, s.ID)
	meta := fmt.Sprintf(`{"type":"session_meta","payload":{"id":%q,%s}}`, other, base)
	p.Must(os.WriteFile(on, []byte(meta+"\n"), 0o600))
	var needed *model.NeededError
	if got, err := decided(p, remove, true); !errors.As(err, &needed) || needed.Session != "codex/"+s.ID {
		t.Fatalf("another one goes on behind it: %s, %v", got, err)
	}
	enginetest.Equal(t, "needed by", needed.Paths, []string{on})
}

// TestPlanOfWhatIsNotThere: a session without a record or a file.
func TestPlanOfWhatIsNotThere(t *testing.T) {
	p, k, forks := family(t)
	cp, err := p.E.Log.Refs.ID(refs.Session(k.Name()))
	p.Must(err)
	p.Must(p.E.Log.Record(enginetest.Bg, refs.Operation{Kind: refs.KindTag},
		refs.Update{Name: refs.Session("claude/branch"), New: cp}))
	branch := manage.Request{Kind: refs.KindArchive, Sessions: []string{"claude/branch"}}
	if got, err := decided(p, branch, true); !errors.Is(err, model.ErrUsage) {
		t.Errorf("a branch alone: %s, %v", got, err)
	}
	a := forks[0]
	rename := manage.Request{Kind: refs.KindRename, Sessions: []string{a.Session}, Title: "new"}
	if got, err := decided(p, rename, false); err != nil || got != a.Session+` "" to "", called "new"` {
		t.Errorf("nothing is stored: %s, %v", got, err)
	}
	p.Must(os.Remove(k.File))
	for _, w := range []want{ // nothing of its file is to be done
		{
			manage.Request{Kind: refs.KindDelete, Sessions: []string{k.Name()}, LastCopy: true},
			`K "" to "deleted"; lost 2 turns, 2 checkpoints`,
		},
		{manage.Request{Kind: refs.KindArchive, Sessions: []string{k.Name()}}, `K "" to "archived"`},
		{ // and it is no copy of what the other one has
			manage.Request{Kind: refs.KindDelete, Sessions: []string{a.Session, forks[1].Session}, DryRun: true},
			`A "" to "deleted"; B "" to "deleted"; AFILE goes; BFILE goes; ` +
				`lost 1 turns, 0 checkpoints; lost 1 turns, 0 checkpoints`,
		},
	} {
		w.check(t, p, strings.NewReplacer("AFILE", filepath.Base(a.Path), "BFILE", filepath.Base(forks[1].Path),
			"K", k.Name(), "A", a.Session, "B", forks[1].Session))
	}
}

// TestPlanUndoTitles: of several titles that go back each session gets its own, also where it went on; while an agent
// has it open, none does.
func TestPlanUndoTitles(t *testing.T) {
	p, _, forks := family(t)
	var op refs.Operation
	op.Restore = &refs.Restore{}
	for i := len(forks) - 1; i >= 0; i-- {
		done := done(p, refs.KindRename, fmt.Sprint("new ", i), forks[i].Session)
		op.Restore.Managed = append(op.Restore.Managed, done.Restore.Managed...)
		op.Restore.Files = append(op.Restore.Files, done.Restore.Files...)
		p.Opened(forks[i].Fork).Used("it goes on")
	}
	undo := func() (*manage.Plan, error) {
		defer p.E.Log.Hold()()
		p.Must(p.E.Talks.ReadySessions())
		plan, err := manager(p).PlanUndo(&op, manage.Request{Env: p.Env()})
		p.Must(err)
		tx := p.E.Log.Objs.Begin()
		if err := plan.Decide(enginetest.Bg, tx); err != nil {
			tx.Discard()
			return nil, err
		}
		p.Must(tx.Commit(enginetest.Bg, kv.Durable))
		return plan, nil
	}
	plan, err := undo()
	p.Must(err)
	for i, f := range plan.Files {
		want := fmt.Sprintf(`"customTitle":"[Fork @1] fork %d"`, i)
		raw := string(enginetest.ReadAll(t, p.E.Log.Objs, f.To))
		last := raw[max(strings.LastIndex(raw, `"customTitle":`), 0):]
		if f.Path != forks[i].Path || !strings.HasPrefix(last, want) {
			t.Errorf("%s: no %s in\n%s", f.Path, want, raw)
		}
	}
	if len(plan.Files) != 2 || len(plan.Managed) != 2 {
		t.Errorf("%s", told(plan))
	}
	_, id := model.SplitSession(forks[0].Session)
	note := filepath.Join(p.User(), ".claude", "sessions", fmt.Sprint(os.Getpid(), ".json"))
	p.Must(os.MkdirAll(filepath.Dir(note), 0o700))
	p.Must(os.WriteFile(note, fmt.Appendf(nil, `{"pid":%d,"sessionId":%q,"cwd":%q}`, os.Getpid(), id, p.Root), 0o600))
	var open *model.RunningError
	if _, err := undo(); !errors.As(err, &open) || open.Session != forks[0].Session {
		t.Errorf("one is open: %v", err)
	}
}
