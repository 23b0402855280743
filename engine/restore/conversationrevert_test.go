package restore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/refs"
)

// A session that a restore made is removed with it where nobody has used its file, and stays, and is named, where
// anybody has changed it, in whichever way; the code goes back either way.
func TestUndoRestoreOfAChangedFork(t *testing.T) {
	t.Parallel()
	says := `{"type":"user","message":{"role":"user","content":"more"},"uuid":"1","sessionId":"x"}` + "\n"
	for name, c := range map[string]struct {
		change  func(p *enginetest.Project, path, text string) error
		goes    bool
		foreign bool // no session file of an agent's lies there any more
	}{
		"as it was made": {func(*enginetest.Project, string, string) error { return nil }, true, false},
		"with what says nothing behind it": {func(_ *enginetest.Project, path, text string) error {
			return os.WriteFile(path, []byte(text+`{"type":"mode","mode":"normal"}`+"\n"), 0o600)
		}, true, false},
		"gone on with": {func(_ *enginetest.Project, path, text string) error {
			return os.WriteFile(path, []byte(text+says), 0o600)
		}, false, false},
		"rewritten": {func(_ *enginetest.Project, path, text string) error {
			return os.WriteFile(path, []byte(strings.Replace(text, "one", "two", 1)), 0o600)
		}, false, false},
		"rewritten and longer": {func(_ *enginetest.Project, path, text string) error {
			text = strings.Replace(text, "one", "two", 1) + `{"type":"mode","mode":"normal"}` + "\n"
			return os.WriteFile(path, []byte(text), 0o600)
		}, false, false},
		"cut": {func(_ *enginetest.Project, path, text string) error {
			return os.WriteFile(path, []byte(text[:len(text)/2]), 0o600)
		}, false, false},
		"a link": {func(p *enginetest.Project, path, text string) error {
			other := filepath.Join(p.User(), "other")
			return errors.Join(os.WriteFile(other, []byte(text), 0o600), os.Remove(path), os.Symlink(other, path))
		}, false, true},
		"a directory": {func(_ *enginetest.Project, path, _ string) error {
			return errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
		}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, k := enginetest.TwoTurns(t)
			p.Settle()
			before := p.Slurp(k.File)
			went := p.Back("turn:1", restore.Options{})
			fork := went.Conversation.Path
			p.Must(c.change(p, fork, p.Slurp(fork)))
			was, err := os.Lstat(fork)
			p.Must(err)
			for _, dry := range []bool{true, false} {
				o := restore.Options{Env: p.Env(), DryRun: dry}
				r, err := p.E.Restorer.UndoRestore(enginetest.Bg, went.Operation.Seq, o)
				p.Must(err)
				removed, kept := []string{fork}, []string(nil)
				mode, session := model.ConversationBack, k.Name()
				switch {
				case c.foreign:
					removed, mode, session = nil, model.ConversationNone, ""
				case !c.goes:
					removed, kept = kept, removed
				}
				enginetest.Equal(t, "removed", r.Conversation.Removed, removed)
				enginetest.Equal(t, "kept", r.Conversation.Kept, kept)
				if r.Conversation.Mode != mode || r.Conversation.Session != session {
					t.Errorf("%+v", r.Conversation)
				}
			}
			now, err := os.Lstat(fork)
			if c.goes != errors.Is(err, os.ErrNotExist) || !c.goes && !os.SameFile(was, now) {
				t.Errorf("the fork's file: %v", err)
			}
			if p.Read("f") != enginetest.Big("2") || p.Slurp(k.File) != before {
				t.Errorf("f is %.3q, or the session has changed", p.Read("f"))
			}
			p.Verify()
		})
	}
}

// A session that was cut is not brought back while its agent has it open, unless that is forced, or where something
// else has taken the place of its file: the code goes back alone and says how the conversation comes later, and who
// asks for the conversation alone is refused.
func TestUndoRestoreOfACutThatMustStay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		begin func(p *enginetest.Project, k *enginetest.Talker) (end func() error)
		is    func(err error) bool
		force bool // it can be forced
	}{
		"while it is open": {
			func(p *enginetest.Project, k *enginetest.Talker) func() error {
				note := running(p, k.Name())
				return func() error { return os.Remove(note) }
			},
			func(err error) bool { var open *model.RunningError; return errors.As(err, &open) },
			true,
		},
		"a directory": {
			func(p *enginetest.Project, k *enginetest.Talker) func() error {
				away := k.File + "-away"
				p.Must(errors.Join(os.Rename(k.File, away), os.Mkdir(k.File, 0o700)))
				return func() error { return errors.Join(os.Remove(k.File), os.Rename(away, k.File)) }
			},
			func(err error) bool { return err != nil },
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, k := enginetest.TwoTurns(t)
			p.Settle()
			before := p.Slurp(k.File)
			went := p.Back("turn:1", restore.Options{InPlace: true})
			p.Settle()
			cut := p.Slurp(k.File)
			undo := func(o restore.Options) (*restore.Result, error) {
				o.Env = p.Env()
				return p.E.Restorer.UndoRestore(enginetest.Bg, went.Operation.Seq, o)
			}
			alone := talkAlone
			end := c.begin(p, k)
			if _, err := undo(restore.Options{Scope: alone}); !c.is(err) || p.Read("f") != enginetest.Big("1") {
				t.Errorf("the conversation alone: %v", err)
			}
			r, err := undo(restore.Options{})
			p.Must(err)
			later := fmt.Sprintf("'rewind undo-restore %d --context-only'", went.Operation.Seq)
			if !c.force {
				later = "it is a directory"
			}
			if r.Conversation.Mode != model.ConversationNone || !strings.Contains(r.Conversation.Why, later) ||
				p.Read("f") != enginetest.Big("2") {
				t.Errorf("%+v, f %.3q", r.Conversation, p.Read("f"))
			}
			if !c.force {
				p.Must(end())
			}
			if p.Slurp(k.File) != cut {
				t.Error("the session has changed")
			}
			r, err = undo(restore.Options{Scope: alone, Force: c.force})
			p.Must(err)
			if p.Slurp(k.File) != before || r.Conversation.Turn != 2 || r.Conversation.Path != k.File {
				t.Errorf("%+v, or the file is not as it was", r.Conversation)
			}
			p.Verify()
		})
	}
}

// The fork that a restore has made and nobody has used gives way to the next one on its branch; what a person made, or
// saved in, or asked to keep, stays.
func TestForkGivesWay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(p *enginetest.Project, k *enginetest.Talker, fork *model.Fork)
		to     string // K: the session that the fork is of
		o      restore.Options
		goes   bool
	}{
		"to another turn":       {nil, "turn:2@K", restore.Options{}, true},
		"to where nothing said": {nil, "turn:0@K", restore.Options{}, true},
		"the code alone":        {nil, "turn:2@K", restore.Options{CodeOnly: true}, false},
		"some paths":            {nil, "turn:2@K", restore.Options{Scope: refs.Scope{Paths: refs.PathSet{"f"}}}, false},
		"the session is cut":    {nil, "turn:2@K", restore.Options{InPlace: true}, false},
		"to another session":    {nil, "turn:1@B", restore.Options{}, false},
		"with a save in it": {func(p *enginetest.Project, _ *enginetest.Talker, fork *model.Fork) {
			p.Write("h", "saved")
			_, err := p.E.Worktree.Save(enginetest.Bg, fork.Session, "in the fork", nil)
			p.Must(err)
		}, "turn:2@K", restore.Options{}, false},
		"begun by its agent": {func(p *enginetest.Project, _ *enginetest.Talker, fork *model.Fork) {
			p.Opened(fork).Start()
		}, "turn:2@K", restore.Options{}, false},
		"gone on with": {func(p *enginetest.Project, _ *enginetest.Talker, fork *model.Fork) {
			p.Opened(fork).Used("more")
		}, "turn:2@K", restore.Options{}, false},
		"a person's": {func(p *enginetest.Project, k *enginetest.Talker, _ *model.Fork) {
			_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
			p.Must(err)
			made := p.Fork("turn:1@"+k.Name(), restore.Options{})
			_, err = p.E.Restorer.Switch(enginetest.Bg, made.Session, restore.Options{Env: p.Env()})
			p.Must(err)
		}, "turn:2@K", restore.Options{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, k := enginetest.TwoTurns(t)
			k.Take("three", p.Edits("f", "3"))
			b := p.Talker(2)
			b.Take("else", p.Edits("b", "b's"))
			p.Settle()
			fork := p.Back("turn:1@"+k.Name(), restore.Options{}).Conversation.Fork
			if c.before != nil {
				c.before(p, k, fork)
			}
			files := p.Files()
			to := strings.NewReplacer("K", k.Name(), "B", b.Name()).Replace(c.to)
			dry := c.o
			dry.DryRun = true
			for _, o := range []restore.Options{dry, c.o} {
				r := p.Back(to, o)
				var removed []string
				if r.Conversation != nil {
					removed = r.Conversation.Removed
				}
				want := []string(nil)
				if c.goes {
					want = []string{fork.Path}
				}
				enginetest.Equal(t, "removed", removed, want)
			}
			for _, file := range files {
				gone := !slices.Contains(p.Files(), file)
				if gone != (c.goes && file == filepath.Base(fork.Path)) {
					t.Errorf("%s is gone: %v", file, gone)
				}
			}
			if !c.goes {
				return
			}
			_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
			p.Must(err)
			enginetest.Equal(t, "files, taken back", p.Files(), files)
		})
	}
}

// A session file that is none of the agents' any more, or of a session that nobody knows, is left alone by who takes
// its restore back.
func TestUndoRestoreOfAFileOfNobodys(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	went := p.Back("turn:1", restore.Options{InPlace: true})
	p.Settle()
	cut := p.Slurp(k.File)
	moved := *p.E.Log.Session(k.Name())
	moved.Transcript = filepath.Join(p.Chats(), enginetest.ClaudeID(9)+".jsonl")
	p.E.Log.Remember(&moved)
	k.Used("more")
	with := p.Slurp(k.File)
	_, err := p.E.Restorer.UndoRestore(enginetest.Bg, went.Operation.Seq,
		restore.Options{Env: p.Env(), Scope: refs.Scope{ContextOnly: true}})
	if !errors.Is(err, conversation.ErrSessionChanged) || p.Slurp(k.File) != with || with == cut {
		t.Errorf("%v", err)
	}
}
