package restore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rewind/engine"
	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/purge"
	"rewind/engine/register"
	"rewind/engine/restore"
	"rewind/internal/agentfiles"
	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
	"rewind/refs"
	"rewind/transcript"
)

// state is everything that a restore may change: the worktree, the session files, and where the sessions stand.
func state(p *enginetest.Project, k *enginetest.Talker) string {
	p.T.Helper()
	var b strings.Builder
	l := enginetest.List(p.T, p.Root)
	for _, path := range sortedKeys(l) {
		fmt.Fprintln(&b, path, l[path])
	}
	for _, name := range p.Files() {
		if name != filepath.Base(k.File) {
			fmt.Fprintln(&b, "fork") // its ids are new ones each time
			continue
		}
		fmt.Fprintln(&b, name, len(p.Slurp(filepath.Join(p.Chats(), name))), p.Slurp(filepath.Join(p.Chats(), name)))
	}
	at, err := p.E.Log.Refs.ID(refs.Cursor(k.Name()))
	p.Must(err)
	fmt.Fprintln(&b, at, p.Session(k.Name()).Turn)
	return b.String()
}

func sortedKeys(l enginetest.Listing) []string {
	var out []string
	for k := range l {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// TestT10Promise11ConversationGoesBackWhole: a checkout that dies anywhere ends by Continue at the target, by Abort as
// it was before: code
// and conversation.
func TestT10Promise11ConversationGoesBackWhole(t *testing.T) {
	ended, alone := 0, refs.Scope{ContextOnly: true}
	for _, mode := range []restore.Options{{}, {InPlace: true}, {Scope: alone}, {Scope: alone, InPlace: true}} {
		want := ""
		for step := range 5 { // 0: all goes well
			for _, back := range []bool{false, true} {
				p, k := enginetest.TwoTurns(t)
				o := mode
				o.Session = model.SessionChoice{Session: k.Name()}
				before := state(p, k)
				if step == 0 {
					p.Back("turn:1", o)
					want = generic(p, state(p, k), k)
					continue
				}
				j := p.Crashed("turn:1", o, step > 1 && !mode.ContextOnly, step-2)
				if len(j.Files) == 0 {
					t.Fatal("no session file is changed")
				}
				p.Reopen()
				if _, err := p.E.Restorer.Checkout(enginetest.Bg, "turn:1", restore.Options{}); !errors.Is(err, model.ErrHalfDone) {
					t.Fatalf("half done: %v", err)
				}
				if _, err := p.E.Restorer.Fork(enginetest.Bg, "turn:1", restore.Options{Env: p.Env()}); !errors.Is(err, model.ErrHalfDone) {
					t.Fatalf("fork, half done: %v", err)
				}
				if _, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil); !errors.Is(err, model.ErrHalfDone) {
					t.Fatalf("import, half done: %v", err)
				}
				settleHalfDone(p)
				ended++
				if back {
					if _, err := p.E.Restorer.Abort(enginetest.Bg, p.Env()); err != nil {
						t.Fatalf("%+v %d: abort: %v", mode, step, err)
					}
					if got := state(p, k); got != before {
						t.Errorf("%+v %d: aborted, but not as before:\n%s\nwas\n%s", mode, step, got, before)
					}
				} else {
					r, err := p.E.Restorer.Continue(enginetest.Bg, p.Env())
					if err != nil {
						t.Fatalf("%+v %d: continue: %v", mode, step, err)
					}
					if got := generic(p, state(p, k), k); !mode.ContextOnly && got != want {
						t.Errorf("%+v %d: continued, but not at the target:\n%s\nwant\n%s", mode, step, got, want)
					}
					p.WantTalk(r.Conversation.Path, "done: one", "one")
					if r.Conversation.Fork != nil &&
						(!r.Conversation.Fork.Listed || r.Conversation.Fork.Session == "") {
						t.Errorf("%+v", r.Conversation.Fork)
					}
				}
				if _, err := p.E.Restorer.Abort(enginetest.Bg, p.Env()); !errors.Is(err, model.ErrNotHalfDone) {
					t.Errorf("again: %v", err)
				}
				p.Verify()
			}
		}
	}
	t.Logf("%d crashes", ended)
}

// generic takes out of a state what differs from project to project.
func generic(p *enginetest.Project, state string, k *enginetest.Talker) string {
	at, err := p.E.Log.Refs.ID(refs.Cursor(k.Name()))
	p.Must(err)
	cp, err := p.E.Log.Checkpoint(at)
	p.Must(err)
	return strings.NewReplacer(p.Root, "ROOT", at.String(), fmt.Sprint("turn ", cp.Cause.Turn)).Replace(state)
}

func settleHalfDone(p *enginetest.Project) {
	if _, err := p.E.Worktree.FollowUp(enginetest.Bg); err != nil && !errors.Is(err, model.ErrHalfDone) {
		p.T.Fatalf("settle: %v", err)
	}
}

// TestT11Promise09SessionWrittenMeanwhile: an agent that writes its session between the plan and the cut loses nothing:
// the restore is refused, or taken back whole.
func TestT11Promise09SessionWrittenMeanwhile(t *testing.T) {
	for _, step := range []int{1, 2, 3} {
		p, k := enginetest.TwoTurns(t)
		code := enginetest.List(t, p.Root)
		p.Crashed("turn:1", restore.Options{InPlace: true}, step > 1, step-2)
		k.Used("meanwhile")
		with := p.Slurp(k.File)
		if _, err := p.E.Restorer.Continue(enginetest.Bg, p.Env()); step < 3 &&
			!errors.Is(err, conversation.ErrSessionChanged) {
			t.Errorf("step %d: continue: %v", step, err)
		} else if step == 3 && err == nil {
			continue // it was cut before, and written behind the cut: that is how it is
		}
		if p.Slurp(k.File) != with {
			t.Errorf("step %d: continue has changed the session", step)
		}
		if _, err := p.E.Restorer.Abort(enginetest.Bg, p.Env()); err != nil {
			t.Fatalf("step %d: abort: %v", step, err)
		}
		if p.Slurp(k.File) != with {
			t.Errorf("step %d: abort has changed the session", step)
		}
		p.WantTree(code)
		k.Stop() // and all goes on
		p.Verify()
	}
}

// The same within one call: the worktree is taken back, and nothing is left half done.
func TestT11Promise09SessionWrittenInTheRestore(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	p.Close()
	faults := kvtest.NewFaultFS(p.FS)
	var err error
	p.E, err = engine.Open(enginetest.Bg, p.Home, p.Root, project.Options{KV: kv.Options{FS: faults}})
	p.Must(err)
	code, with := enginetest.List(t, p.Root), ""
	loaded(p)
	r, err := p.E.Restorer.PrepareCheckout(enginetest.Bg, "turn:1", restore.Options{Env: p.Env(), InPlace: true})
	p.Must(err)
	faults.Hook(func(c kvtest.Call) {
		// the journal: the plan is made by then; the store may sync tables at any time
		if c.Kind == kvtest.Sync && strings.HasSuffix(c.Path, ".log") && with == "" {
			k.Used("meanwhile")
			with = p.Slurp(k.File)
		}
	})
	_, err = p.E.Restorer.Run(enginetest.Bg, r, nil)
	faults.Hook(nil)
	var taken *restore.TakenBackError
	if !errors.As(err, &taken) || !errors.Is(err, conversation.ErrSessionChanged) {
		t.Errorf("got %v", err)
	}
	if with == "" || p.Slurp(k.File) != with {
		t.Error("the session has changed, or was not written")
	}
	p.WantTree(code)
	if s := p.Session(k.Name()); s.Turn != 2 {
		t.Errorf("turn %d", s.Turn)
	}
	k.Stop()
	if got := p.Talk(p.Session(k.Name())); string(got) != with {
		t.Errorf("%d bytes are captured afterwards, the file has %d", len(got), len(with))
	}
	p.Verify()
}

// What a killed writer left beside session files goes with the next write, a look at the project, or a purge; what a
// living one holds stays,
// and so does what only looks like it. No agent takes it for a session.
func TestSessionTemporaries(t *testing.T) {
	p, k := enginetest.Begun(t)
	k.Take("one", p.Edits("f", "1"))
	left := filepath.Join(p.Chats(), "."+enginetest.ClaudeID(9)+".jsonl"+agentfiles.Temporary+"123")
	held, other := left+"4", filepath.Join(p.Chats(), ".notes.txt"+agentfiles.Temporary+"123")
	linked, dir := left+"5", left+"6"
	p.Must(os.Mkdir(dir, 0o700))
	p.Must(os.WriteFile(p.Path("beside"), []byte("mine"), 0o600))
	p.Must(os.Symlink(p.Path("beside"), linked))
	for _, path := range []string{held, other} {
		p.Must(os.WriteFile(path, []byte("x"), 0o600))
	}
	writer, err := os.Open(held)
	p.Must(err)
	p.Must(syscall.Flock(int(writer.Fd()), syscall.LOCK_EX))
	found, _, err := transcript.Find(transcript.Claude, os.DirFS(filepath.Join(p.User(), ".claude")), p.Root)
	if err != nil || len(found) != 1 {
		t.Errorf("%q, %v", found, err)
	}
	for name, next := range map[string]func(){
		"a fork":  func() { p.Fork("turn:1", restore.Options{}) },
		"a look":  func() { p.E.Tidy(p.Env()) },
		"a purge": func() { p.Purge(purge.Options{Texts: [][]byte{[]byte("nowhere")}, Folders: register.Folders(p.Env())}) },
	} {
		p.Must(os.WriteFile(left, []byte("x"), 0o600))
		next()
		if _, err := os.Lstat(left); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: it is there: %v", name, err)
		}
		for _, path := range []string{held, other, linked, dir, p.Path("beside")} {
			if _, err := os.Lstat(path); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	p.Must(writer.Close())
	p.E.Tidy(p.Env())
	if _, err := os.Lstat(held); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its writer is gone, and it is there: %v", err)
	}
}

// Empty stages of killed restores go; one with bytes in it stays, and so does what is none.
func TestEmptyStages(t *testing.T) {
	p, k := enginetest.Begun(t)
	k.Take("one", p.Edits("f", "1"))
	stages := p.Path(project.MarkerDir + "/" + project.MarkerStage)
	empty, full := filepath.Join(stages, restore.NewStageName()), filepath.Join(stages, restore.NewStageName())
	other := filepath.Join(stages, "other")
	for name, next := range map[string]func(){
		"a look":    func() { p.E.Tidy(p.Env()) },
		"a restore": func() { p.Checkout("@-", restore.Options{}) },
	} {
		for _, dir := range []string{empty, full, other} {
			p.Must(os.MkdirAll(dir, 0o700))
		}
		p.Must(os.WriteFile(filepath.Join(full, "x"), []byte("kept"), 0o600))
		next()
		if _, err := os.Lstat(empty); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: it is there: %v", name, err)
		}
		for _, path := range []string{filepath.Join(full, "x"), other} {
			if _, err := os.Lstat(path); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
