package manage_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

// TestPrunableByItself: a fork stays when nobody asks, where somebody has gone back in it or its agent's title is not
// that of the original.
func TestPrunableByItself(t *testing.T) {
	p, k, _ := family(t)
	itself := func() []string {
		got, err := manager(p).Prunable(enginetest.Bg, manage.Prune{Unused: true, Itself: true}, p.Env())
		p.Must(err)
		return got
	}
	c := p.Fork("turn:2", restore.Options{Session: model.SessionChoice{Session: k.Name()}}).Session
	enginetest.Equal(t, "as it was made", itself(), []string{c})
	title, err := p.E.History.TitleOf(p.E.Log.Records[k.Name()])
	p.Must(err)
	made := p.E.Log.Records[c].Fork.Kind
	for name, want := range map[string][]string{title + " (branch)": {c}, "named": nil} {
		done(p, refs.KindRename, name, c)
		p.E.Log.Records[c].Fork.Kind = model.ByAgent
		enginetest.Equal(t, "made by an agent, called "+name, itself(), want)
		p.E.Log.Records[c].Fork.Kind = made
		_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
		p.Must(err)
	}
	enginetest.Equal(t, "as it was made, again", itself(), []string{c})
	o := restore.Options{CodeOnly: true}
	o.Session.Session = c
	p.Checkout("turn:1", o)
	k.Take("four", nil)
	enginetest.Equal(t, "somebody went back in it", itself(), nil)
}

// TestRecords: the records of sessions after an operation on them.
func TestRecords(t *testing.T) {
	p, k, forks := family(t)
	a := forks[0].Session
	said := p.E.Log.Records[a].Fork.Transcript
	if said.IsZero() || p.E.Log.Records[k.Name()].Cursor.Length == 0 {
		t.Fatalf("%+v, %+v", p.E.Log.Records[a].Fork, p.E.Log.Records[k.Name()].Cursor)
	}
	back := []refs.File{{Path: forks[0].Path, To: said}}
	for what, tt := range map[string]struct {
		m      value.Managed
		files  []refs.File
		title  string
		kept   bool // what is known of its conversation
		origin objstore.ID
	}{
		"archived": {value.Managed{Session: a, Now: value.Archived}, nil, "[Fork @1] fork 0", true, said},
		"renamed":  {value.Managed{Session: a, WasTitle: "x", Title: "y"}, nil, "y", true, said},
		"deleted":  {value.Managed{Session: a, Now: value.Deleted}, nil, "[Fork @1] fork 0", false, said},
		"brought back": {
			value.Managed{Session: a, Was: value.Deleted}, back, "[Fork @1] fork 0", true, said,
		},
		"brought back without its file": {
			value.Managed{Session: a, Was: value.Deleted}, nil, "[Fork @1] fork 0", true, objstore.Zero,
		},
		"brought back with another": {
			value.Managed{Session: a, Was: value.Deleted},
			[]refs.File{{Path: k.File, To: said}},
			"[Fork @1] fork 0", true,
			objstore.Zero,
		},
		"deleted twice": {
			value.Managed{Session: a, Was: value.Deleted, Now: value.Deleted}, nil, "[Fork @1] fork 0", true, said,
		},
	} {
		release := p.E.Log.Hold()
		p.E.Log.Records[a].Cursor.Length = 9
		list, err := manager(p).Records([]value.Managed{{Session: "claude/none"}, tt.m}, tt.files)
		release()
		p.Must(err)
		if len(list) != 1 {
			t.Fatalf("%s: %+v", what, list)
		}
		s := list[0]
		if s == p.E.Log.Records[a] || s.Standing != tt.m.Now || s.Title != tt.title || s.Fork.Transcript != tt.origin {
			t.Errorf("%s: %+v, of %+v", what, s, s.Fork)
		}
		if (s.Cursor.Length == 9) != tt.kept || s.Cursor.Path != p.E.Log.Records[a].Cursor.Path {
			t.Errorf("%s: %+v", what, s.Cursor)
		}
		if p.E.Log.Records[a].Fork.Transcript != said {
			t.Errorf("%s: the record has changed", what)
		}
	}
}
