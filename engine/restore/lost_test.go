package restore_test

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/manage"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/value"
	"rewind/refs"
)

// TestBringBack: what an agent has lost of any agent's session is known, and laid out again to the byte; what rewind or
// the agent itself took out is no loss.
func TestBringBack(t *testing.T) {
	for n, tt := range agentSamples {
		t.Run(string(tt.agent)+" "+tt.file, func(t *testing.T) {
			p := newSampled(t, n)
			p.stop()
			p.end()
			o := restore.Options{Env: p.Env()}
			loss := func(want value.Loss) {
				t.Helper()
				s := p.Session(p.name)
				if got, _ := p.E.Talks.Loss(&s); got != want {
					t.Errorf("lost %q, want %q", got, want)
				}
			}
			back := func() *restore.BroughtBack {
				t.Helper()
				r, err := p.E.Restorer.BringBack(enginetest.Bg, p.name, o)
				p.Must(err)
				return r
			}
			loss(value.NoLoss)
			if _, err := p.E.Restorer.BringBack(enginetest.Bg, p.name, o); !errors.Is(err, model.ErrUsage) {
				t.Errorf("nothing is lost: %v", err)
			}
			p.Must(os.Remove(p.file))
			loss(value.LossGone)
			dry := o
			dry.DryRun = true
			_, err := p.E.Restorer.BringBack(enginetest.Bg, p.name, dry)
			p.Must(err)
			if _, err := os.Stat(p.file); err == nil {
				t.Error("a dry run wrote the file")
			}
			if r := back(); r.Fork != nil || int(r.Turns) != len(p.c.Turns) || p.Slurp(p.file) != string(p.raw) {
				t.Errorf("%+v", r)
			}
			loss(value.NoLoss)

			if conversation.IsDocument(p.file) { // the agent itself goes back in it
				return
			}
			line := slices.Index(p.raw[len(p.raw)/2:], '\n')
			p.Must(os.WriteFile(p.file, p.raw[:len(p.raw)/2+line+1], 0o600))
			loss(value.LossCut)
			p.stop() // which captures it so
			loss(value.LossCut)
			p.Reopen()
			p.Gc(gc.Options{})
			loss(value.LossCut)
			p.end()
			if r := back(); r.Fork != nil || p.Slurp(p.file) != string(p.raw) {
				t.Errorf("%+v", r)
			}
			loss(value.NoLoss)
			last := p.raw[bytes.LastIndexByte(p.raw[:len(p.raw)-1], '\n')+1:]
			p.Must(os.WriteFile(p.file, slices.Concat(p.raw, last), 0o600))
			p.stop()
			loss(value.NoLoss)
			p.Verify()
		})
	}
}

// TestTitleIsNoLoss: Droid writes its first line anew, with a shorter title; nothing is lost.
func TestTitleIsNoLoss(t *testing.T) {
	n := len(agentSamples) - 1
	p := newSampled(t, n)
	p.stop()
	i := bytes.Index(p.raw, []byte(`"owner"`))
	p.Must(os.WriteFile(p.file, append(bytes.Clone(p.raw[:i]), p.raw[i+bytes.IndexByte(p.raw[i:], ',')+1:]...), 0o600))
	p.stop()
	s := p.Session(p.name)
	if loss, _ := p.E.Talks.Loss(&s); loss != value.NoLoss || s.Cursor.Length >= int64(len(p.raw)) {
		t.Errorf("lost %q, %d of %d", loss, s.Cursor.Length, len(p.raw))
	}
}

// Who has nothing that could be brought back is told why, and nothing is written.
func TestBringBackIsRefused(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	o := restore.Options{Env: p.Env()}
	refused := func(name, says string) {
		t.Helper()
		r, err := p.E.Restorer.BringBack(enginetest.Bg, name, o)
		if !errors.Is(err, model.ErrUsage) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %+v, %v; want %q", name, r, err, says)
		}
	}
	refused(model.Manual, "no agent's session")
	refused(k.Name(), "nothing is lost")
	p.Must(os.Remove(k.File))
	note := running(p, k.Name())
	var open *model.RunningError
	_, err := p.E.Restorer.BringBack(enginetest.Bg, k.Name(), o)
	if !errors.As(err, &open) || open.Session != k.Name() {
		t.Errorf("while it is open: %v", err)
	}
	p.Must(os.Remove(note))
	if _, err := p.E.Restorer.BringBack(enginetest.Bg, "claude/nobody", o); err == nil {
		t.Error("a session that is not known is brought back")
	}
	if len(p.Files()) > 0 {
		t.Errorf("%q", p.Files())
	}
	r, err := p.E.Restorer.BringBack(enginetest.Bg, k.Name(), o)
	p.Must(err)
	if r.Operation == nil || r.Path != k.File || r.Session != k.Name() {
		t.Errorf("%+v", r)
	}
	p.WantTalk(k.File, "done: two", "one", "two")
	_, err = p.E.Restorer.Manage(enginetest.Bg, manage.Request{
		Kind: refs.KindDelete, Sessions: []string{k.Name()}, LastCopy: true, Env: p.Env(),
	})
	p.Must(err)
	refused(k.Name(), "")
}

// Where something else is in the session's file, what it lost becomes a session of its own, and the file stays.
func TestBringBackBesideAnotherOne(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	other := strings.ReplaceAll(p.Slurp(k.File), "one", "eno")
	other = other[:strings.LastIndex(other[:len(other)/2], "\n")+1]
	p.Must(os.WriteFile(k.File, []byte(other), 0o600))
	k.Stop()
	was := p.Slurp(k.File)
	dry, err := p.E.Restorer.BringBack(enginetest.Bg, k.Name(), restore.Options{Env: p.Env(), DryRun: true})
	p.Must(err)
	if dry.Fork == nil || dry.Turns != 2 || len(p.Files()) != 1 {
		t.Errorf("dry run: %+v, %q", dry, p.Files())
	}
	r, err := p.E.Restorer.BringBack(enginetest.Bg, k.Name(), restore.Options{Env: p.Env()})
	p.Must(err)
	if r.Fork == nil || r.Operation != nil || len(p.Files()) != 2 {
		t.Fatalf("%+v, %q", r, p.Files())
	}
	if r.Path != r.Fork.Path || r.Path == k.File {
		t.Fatalf("%+v, %q", r, p.Files())
	}
	p.WantTalk(r.Path, "done: two", "one", "two")
	if p.Slurp(k.File) != was {
		t.Error("the session's own file has changed")
	}
	p.Verify()
}
