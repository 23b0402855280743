package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/restore"
	"rewind/internal/agentfiles"
	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
	"rewind/refs"
	"rewind/transcript"
)

// crashed leaves a checkout as a process leaves it that dies: journal written, the worktree untouched or as the target has it, and the first n session files set.
func (p *fixture) crashed(name string, o restore.Options, applied bool, n int) *model.Journal {
	p.t.Helper()
	o.Env = p.env()
	r, err := p.e.Restorer.PrepareCheckout(bg, name, o)
	p.must(err)
	root, err := p.e.Log.Root()
	p.must(err)
	defer root.Close()
	p.e.Log.Mu.Lock()
	defer p.e.Log.Mu.Unlock()
	plan, c, err := p.e.Restorer.Plan(bg, root, r, nil)
	p.must(err)
	talk, err := p.e.Restorer.PlanConversation(r, c.Tx)
	p.must(err)
	defer talk.Close()
	j := &model.Journal{
		Kind: r.Kind, Session: r.Session, Target: r.Target.ID, Before: r.Before, After: r.Target.ID, Stage: restore.NewStageName(), Steps: plan.Steps, ContextOnly: o.Conversation.ContextOnly,
	}
	if j.ContextOnly {
		j.Steps, j.After = nil, j.Before
	}
	talk.Enter(j)
	durable, err := p.e.Restorer.MakeStage(root, j.Stage)
	p.must(err)
	p.must(durable())
	_, err = p.e.Restorer.Safety(bg, c, j, false)
	p.must(err)
	if applied {
		p.must(p.e.Restorer.Apply(bg, root, j, j.Steps, &restore.Result{}))
	}
	for _, f := range j.Files[:min(max(n, 0), len(j.Files))] {
		p.must(p.e.talks.SetSession(p.env().Folders(), f))
	}
	return j
}

// state is everything that a restore may change: the worktree, the session files, and where the sessions stand.
func (p *fixture) state(k *talker) string {
	p.t.Helper()
	var b strings.Builder
	l := list(p.t, p.root)
	for _, path := range sortedKeys(l) {
		fmt.Fprintln(&b, path, l[path])
	}
	for _, name := range p.files() {
		if name != filepath.Base(k.file) {
			fmt.Fprintln(&b, "fork") // its ids are new ones each time
			continue
		}
		fmt.Fprintln(&b, name, len(p.slurp(filepath.Join(p.chats(), name))), p.slurp(filepath.Join(p.chats(), name)))
	}
	at, err := p.e.Log.Refs.ID(refs.Cursor(k.name()))
	p.must(err)
	fmt.Fprintln(&b, at, p.session(k.name()).Turn)
	return b.String()
}

func sortedKeys(l listing) []string {
	var out []string
	for k := range l {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// TestT10Promise11ConversationGoesBackWhole: a checkout that dies anywhere ends by Continue at the target, by Abort as it was before: code and conversation.
func TestT10Promise11ConversationGoesBackWhole(t *testing.T) {
	ended := 0
	for _, mode := range []model.ConversationOptions{{}, {InPlace: true}, {ContextOnly: true}, {ContextOnly: true, InPlace: true}} {
		want := ""
		for step := range 5 { // 0: all goes well
			for _, back := range []bool{false, true} {
				p, k := twoTurns(t)
				o := restore.Options{Conversation: mode, Session: model.SessionChoice{Session: k.name()}}
				before := p.state(k)
				if step == 0 {
					p.back("turn:1", o)
					want = p.generic(p.state(k), k)
					continue
				}
				j := p.crashed("turn:1", o, step > 1 && !mode.ContextOnly, step-2)
				if len(j.Files) == 0 {
					t.Fatal("no session file is changed")
				}
				p.reopen()
				if _, err := p.e.Restorer.Checkout(bg, "turn:1", restore.Options{}); !errors.Is(err, model.ErrHalfDone) {
					t.Fatalf("half done: %v", err)
				}
				if _, err := p.e.Restorer.Fork(bg, "turn:1", restore.ForkOptions{Env: p.env()}); !errors.Is(err, model.ErrHalfDone) {
					t.Fatalf("fork, half done: %v", err)
				}
				if _, err := p.e.Restorer.Import(bg, p.env(), nil); !errors.Is(err, model.ErrHalfDone) {
					t.Fatalf("import, half done: %v", err)
				}
				p.settleHalfDone()
				ended++
				if back {
					if _, err := p.e.Restorer.Abort(bg, p.env()); err != nil {
						t.Fatalf("%+v %d: abort: %v", mode, step, err)
					}
					if got := p.state(k); got != before {
						t.Errorf("%+v %d: aborted, but not as before:\n%s\nwas\n%s", mode, step, got, before)
					}
				} else {
					r, err := p.e.Restorer.Continue(bg, p.env())
					if err != nil {
						t.Fatalf("%+v %d: continue: %v", mode, step, err)
					}
					if got := p.generic(p.state(k), k); !mode.ContextOnly && got != want {
						t.Errorf("%+v %d: continued, but not at the target:\n%s\nwant\n%s", mode, step, got, want)
					}
					p.wantTalk(r.Conversation.Path, "done: one", "one")
					if r.Conversation.Fork != nil && (!r.Conversation.Fork.Listed || r.Conversation.Fork.Session == "") {
						t.Errorf("%+v", r.Conversation.Fork)
					}
				}
				if _, err := p.e.Restorer.Abort(bg, p.env()); !errors.Is(err, model.ErrNotHalfDone) {
					t.Errorf("again: %v", err)
				}
				p.verify()
			}
		}
	}
	t.Logf("%d crashes", ended)
}

// generic takes out of a state what differs from project to project.
func (p *fixture) generic(state string, k *talker) string {
	at, err := p.e.Log.Refs.ID(refs.Cursor(k.name()))
	p.must(err)
	cp, err := p.e.Log.Checkpoint(at)
	p.must(err)
	return strings.NewReplacer(p.root, "ROOT", at.String(), fmt.Sprint("turn ", cp.Cause.Turn)).Replace(state)
}

func (p *fixture) settleHalfDone() {
	if _, err := p.e.Worktree.FollowUp(bg); err != nil && !errors.Is(err, model.ErrHalfDone) {
		p.t.Fatalf("settle: %v", err)
	}
}

// TestT11Promise09SessionWrittenMeanwhile: an agent that writes its session between the plan and the cut loses nothing: the restore is refused, or taken
// back whole.
func TestT11Promise09SessionWrittenMeanwhile(t *testing.T) {
	for _, step := range []int{1, 2, 3} {
		p, k := twoTurns(t)
		code := list(t, p.root)
		p.crashed("turn:1", restore.Options{Conversation: model.ConversationOptions{InPlace: true}}, step > 1, step-2)
		k.used("meanwhile")
		with := p.slurp(k.file)
		if _, err := p.e.Restorer.Continue(bg, p.env()); step < 3 && !errors.Is(err, conversation.ErrSessionChanged) {
			t.Errorf("step %d: continue: %v", step, err)
		} else if step == 3 && err == nil {
			continue // it was cut before, and written behind the cut: that is how it is
		}
		if p.slurp(k.file) != with {
			t.Errorf("step %d: continue has changed the session", step)
		}
		if _, err := p.e.Restorer.Abort(bg, p.env()); err != nil {
			t.Fatalf("step %d: abort: %v", step, err)
		}
		if p.slurp(k.file) != with {
			t.Errorf("step %d: abort has changed the session", step)
		}
		p.wantTree(code)
		k.stop() // and all goes on
		p.verify()
	}
}

// The same within one call: the worktree is taken back, and nothing is left half done.
func TestT11Promise09SessionWrittenInTheRestore(t *testing.T) {
	p, k := twoTurns(t)
	p.close()
	faults := kvtest.NewFaultFS(p.fs)
	var err error
	p.e, err = Open(bg, p.home, p.root, project.Options{KV: kv.Options{FS: faults}})
	p.must(err)
	code, with := list(t, p.root), ""
	p.loaded()
	r, err := p.e.Restorer.PrepareCheckout(bg, "turn:1", restore.Options{Env: p.env(), Conversation: model.ConversationOptions{InPlace: true}})
	p.must(err)
	faults.Hook(func(c kvtest.Call) {
		if c.Kind == kvtest.Sync && strings.HasSuffix(c.Path, ".log") && with == "" { // the journal: the plan is made by then; the store may sync tables at any time
			k.used("meanwhile")
			with = p.slurp(k.file)
		}
	})
	_, err = p.e.Restorer.Run(bg, r, nil)
	faults.Hook(nil)
	var taken *restore.TakenBackError
	if !errors.As(err, &taken) || !errors.Is(err, conversation.ErrSessionChanged) {
		t.Errorf("got %v", err)
	}
	if with == "" || p.slurp(k.file) != with {
		t.Error("the session has changed, or was not written")
	}
	p.wantTree(code)
	if s := p.session(k.name()); s.Turn != 2 {
		t.Errorf("turn %d", s.Turn)
	}
	k.stop()
	if got := p.talk(p.session(k.name())); string(got) != with {
		t.Errorf("%d bytes are captured afterwards, the file has %d", len(got), len(with))
	}
	p.verify()
}

// What a killed writer left goes with the next one, when it is old; no agent takes it for a session.
func TestSessionTemporaries(t *testing.T) {
	p, k := begun(t)
	k.take("one", p.edits("f", "1"))
	left := filepath.Join(p.chats(), "."+claudeID(9)+".jsonl"+agentfiles.Temporary+"123")
	young := left + "4"
	for _, path := range []string{left, young} {
		p.must(os.WriteFile(path, []byte("x"), 0o600))
	}
	old := p.tick.AddDate(0, 0, -1)
	p.must(os.Chtimes(left, old, old))
	found, _, err := transcript.Find(transcript.Claude, os.DirFS(filepath.Join(p.user(), ".claude")), p.root)
	if err != nil || len(found) != 1 {
		t.Errorf("%q, %v", found, err)
	}
	p.fork("turn:1", restore.ForkOptions{})
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old one is there: %v", err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Error(err)
	}
}
