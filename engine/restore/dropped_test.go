package restore_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"rewind/engine"
	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/restore"
	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
	"rewind/internal/value"
	"rewind/refs"
)

// atJournal has something done when the next restore has written its journal: the plan is made by then.
func atJournal(p *enginetest.Project, do func()) {
	p.T.Helper()
	p.Close()
	faults := kvtest.NewFaultFS(p.FS)
	var err error
	p.E, err = engine.Open(enginetest.Bg, p.Home, p.Root, project.Options{KV: kv.Options{FS: faults}})
	p.Must(err)
	loaded(p)
	done := false
	faults.Hook(func(c kvtest.Call) {
		if c.Kind == kvtest.Sync && strings.HasSuffix(c.Path, ".log") && !done {
			done = true
			do()
		}
	})
}

// What an unfinished restore does to the conversation is told of its journal.
func TestConversationOfAJournal(t *testing.T) {
	t.Parallel()
	of := &model.Session{
		Name: "claude/x", Transcript: "/x.jsonl", Turn: 3, Title: "t",
		Fork: &model.Lineage{Lineage: value.Lineage{Session: "claude/y"}},
	}
	for name, c := range map[string]struct {
		j    model.Journal
		want *model.Conversation
	}{
		"nothing": {model.Journal{Kind: refs.KindCheckout, Session: "claude/s"}, nil},
		"a fork": {
			model.Journal{Kind: refs.KindUndo, Made: of, Restore: refs.Restore{Files: []refs.File{{}}}},
			&model.Conversation{Mode: model.ConversationFork, Session: "claude/x", Path: "/x.jsonl", Turn: 3},
		},
		"a cut": {
			model.Journal{Kind: refs.KindCheckout, Moved: of},
			&model.Conversation{Mode: model.ConversationInPlace, Session: "claude/x", Path: "/x.jsonl", Turn: 3},
		},
		"a cut that is taken back": {
			model.Journal{Kind: refs.KindUndoRestore, Moved: of},
			&model.Conversation{Mode: model.ConversationBack, Session: "claude/x", Path: "/x.jsonl", Turn: 3},
		},
		"a fork that is taken back": {
			model.Journal{
				Kind: refs.KindUndoRestore, Session: "claude/s", Restore: refs.Restore{Files: []refs.File{{}}},
			},
			&model.Conversation{Mode: model.ConversationBack, Session: "claude/s"},
		},
	} {
		got := restore.Conversation(&c.j)
		if got == nil || c.want == nil {
			if got != c.want {
				t.Errorf("%s: %+v", name, got)
			}
			continue
		}
		f := got.Fork
		if (f != nil) != (c.want.Mode == model.ConversationFork) {
			t.Errorf("%s: %+v", name, f)
		}
		if f != nil && fmt.Sprint(f.From.Session, f.Session, f.Title, f.Path) != "claude/yclaude/xt/x.jsonl" {
			t.Errorf("%s: %+v", name, f)
		}
		got.Fork = nil
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", c.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A session file that cannot be made once the journal is written leaves the restore one of the code, which says so and
// goes back with undo-restore.
func TestForkThatCannotBeMade(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	away := p.Chats() + "-away"
	atJournal(p, func() {
		p.Must(os.Rename(p.Chats(), away))
		p.Must(os.WriteFile(p.Chats(), []byte("no directory"), 0o600))
	})
	r, err := p.E.Restorer.Checkout(enginetest.Bg, "turn:1", restore.Options{Env: p.Env()})
	p.Must(err)
	p.Must(os.Remove(p.Chats()))
	p.Must(os.Rename(away, p.Chats()))
	c, later := r.Conversation, "'rewind checkout "+r.Plan.Target.ID.Short()+" --context-only'"
	if c.Mode != model.ConversationNone || c.Fork != nil || !strings.Contains(c.Why, later) {
		t.Errorf("%+v", c)
	}
	if p.Read("f") != enginetest.Big("1") {
		t.Errorf("f is %.3q", p.Read("f"))
	}
	if at, err := p.E.Sessions.Position(); err != nil || at.Session != k.Name() || len(p.Files()) != 1 {
		t.Errorf("the project stands at %+v, %v; %q", at, err, p.Files())
	}
	if len(r.Operation.Restore.Files) > 0 || r.Operation.Restore.Fork != "" {
		t.Errorf("%+v", r.Operation.Restore)
	}
	_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
	p.Must(err)
	if p.Read("f") != enginetest.Big("2") {
		t.Errorf("taken back, f is %.3q", p.Read("f"))
	}
	p.Verify()
}

// Where the file of the new session is taken by somebody else's, the fork of an earlier restore that was to give way is
// there again.
func TestForkThatWasToGoStays(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	k.Take("three", p.Edits("f", "3"))
	p.Settle()
	first := p.Back("turn:1", restore.Options{}).Conversation.Fork
	was := p.Slurp(first.Path)
	j := p.Crashed("turn:2@"+k.Name(), restore.Options{}, true, 1)
	made := j.Files[len(j.Files)-1].Path
	if _, err := os.Stat(first.Path); !errors.Is(err, os.ErrNotExist) || made == first.Path {
		t.Fatalf("the first fork: %v", err)
	}
	p.Must(os.WriteFile(made, []byte("somebody's\n"), 0o600))
	p.Reopen()
	r, err := p.E.Restorer.Continue(enginetest.Bg, p.Env())
	p.Must(err)
	if r.Conversation.Mode != model.ConversationNone || p.Slurp(first.Path) != was || p.Slurp(made) != "somebody's\n" {
		t.Errorf("%+v", r.Conversation)
	}
	at, err := p.E.Sessions.Position()
	p.Must(err)
	if at.Session != first.Session || p.Read("f") != enginetest.Big("2") {
		t.Errorf("the project stands at %+v; f %.3q", at, p.Read("f"))
	}
}

// An undo-restore whose session file is written meanwhile takes the code back alone, and the conversation later.
func TestUndoRestoreWhileTheSessionIsWritten(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	before := p.Slurp(k.File)
	cut := p.Back("turn:1", restore.Options{InPlace: true})
	p.Settle()
	atJournal(p, func() { k.Used("meanwhile") })
	r, err := p.E.Restorer.UndoRestore(enginetest.Bg, cut.Operation.Seq, restore.Options{Env: p.Env()})
	p.Must(err)
	if c := r.Conversation; c.Mode != model.ConversationNone || !strings.Contains(c.Why, "--context-only") ||
		!strings.Contains(c.Why, "undo-restore") || p.Read("f") != enginetest.Big("2") {
		t.Errorf("%+v, f %.3q", c, p.Read("f"))
	}
	if !strings.Contains(p.Slurp(k.File), "meanwhile") {
		t.Error("what was said meanwhile is gone")
	}
	_, err = p.E.Restorer.UndoRestore(enginetest.Bg, cut.Operation.Seq,
		restore.Options{Env: p.Env(), Scope: refs.Scope{ContextOnly: true}})
	p.Must(err)
	if p.Slurp(k.File) != before {
		t.Error("the conversation does not come back later")
	}
	p.Verify()
}

// Who finishes a restore for the code alone leaves the session file as it is, and the operation names it where it was
// set by then: undo-restore finds it.
func TestCodeAloneOfACut(t *testing.T) {
	t.Parallel()
	for _, set := range []int{0, 1} {
		for _, back := range []bool{false, true} {
			p, k := enginetest.TwoTurns(t)
			p.Settle()
			before := p.Slurp(k.File)
			p.Crashed("turn:1", restore.Options{InPlace: true}, true, set)
			is := p.Slurp(k.File)
			if (is == before) != (set == 0) {
				t.Fatalf("%d files are set", set)
			}
			p.Reopen()
			p.Must(codeAlone(p, back))
			want := map[bool]string{false: "1", true: "2"}[back]
			if p.Slurp(k.File) != is || p.Read("f") != enginetest.Big(want) {
				t.Errorf("set %d, back %v: f %.3q, or the session has changed", set, back, p.Read("f"))
			}
			op, err := p.E.Log.Refs.Operation(p.E.Log.DB.LastSeq())
			p.Must(err)
			has := slices.ContainsFunc(op.Restore.Files, func(f refs.File) bool { return f.Path == k.File })
			if has != (set == 1) {
				t.Errorf("set %d, back %v: the operation has %+v", set, back, op.Restore.Files)
			}
			if s := p.Session(k.Name()); s.Turn != 2 && set == 0 {
				t.Errorf("set %d, back %v: turn %d", set, back, s.Turn)
			}
		}
	}
}

// A failed restore that is taken back says so to who waits for it, and in its error.
func TestTakenBackIsTold(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	atJournal(p, func() { k.Used("meanwhile") })
	var phases sync.Map // told by several goroutines
	ctx := model.WithAsker(enginetest.Bg, model.Asker{Told: func(r value.Progress) { phases.Store(r.Phase, true) }})
	_, err := p.E.Restorer.Checkout(ctx, "turn:1", restore.Options{Env: p.Env(), InPlace: true})
	var taken *restore.TakenBackError
	if !errors.As(err, &taken) || !errors.Is(err, conversation.ErrSessionChanged) ||
		!strings.HasSuffix(err.Error(), "; nothing was changed") || len(taken.Conflicts) > 0 {
		t.Errorf("%v", err)
	}
	there, back := 0, 0
	for phase := range phases.Range {
		if strings.HasPrefix(phase.(string), "taking it back: ") {
			back++
		} else {
			there++
		}
	}
	if there == 0 || back == 0 {
		t.Errorf("told of %d phases, and of %d of taking it back", there, back)
	}
	if p.Read("f") != enginetest.Big("2") {
		t.Errorf("f is %.3q", p.Read("f"))
	}
}
