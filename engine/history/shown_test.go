package history_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/purge"
	"rewind/hooks"
)

// TestUncapturedIsShown: files that a turn edited and no checkpoint has are told with it, each once, by path; with a
// step of it those up to the step; of other turns and sessions none.
func TestUncapturedIsShown(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write(".gitignore", "*.log\n")
	p.Save("first")
	a, b := p.Agent("a"), p.Agent("b")
	edit := func(k *enginetest.Agent, call, code string, names ...string) *model.Checkpoint {
		tool := hooks.Tool{Name: "Write", Call: call, Class: hooks.Editor}
		p.Write("f", code)
		for _, name := range names {
			p.Write(name, code)
			tool.Paths = append(tool.Paths, p.Path(name))
		}
		h := k.Send(hooks.Event{Kind: hooks.AfterTool, Tool: tool}, capture.HandleOptions{}) // nobody announced it
		return p.Get(h)
	}
	a.Prompt("one")
	edit(a, "a1", "1", "first.log")
	a.Stop()
	a.Prompt("two")
	step := edit(a, "a2", "2", "z.log", "d/b.log")
	b.Prompt("beside")
	edit(b, "b1", "3", "other.log")
	edit(a, "a3", "4", "z.log", "a.log")
	a.Stop()
	b.Stop()
	for name, want := range map[string]string{
		"turn:1@claude/a": "first.log", "turn:2@claude/a": "a.log d/b.log z.log", "turn:1@claude/b": "other.log",
		step.ID.String(): "d/b.log z.log", "turn:0@claude/a": "",
	} {
		s, err := p.E.History.Show(enginetest.Bg, name, nil)
		p.Must(err)
		all, row, err := p.E.History.ShowTurn(enginetest.Bg, name, "", nil)
		p.Must(err)
		for what, shown := range map[string]*history.Shown{"alone": s, "all of it": all} {
			var got []string
			for _, u := range shown.Uncaptured {
				if got = append(got, string(u.Path)); u.Reason != "ignored" || u.Session == "" || u.Turn == 0 {
					t.Errorf("%s: %+v", name, u)
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s, %s: %s, want %s", name, what, got, want)
			}
		}
		if (row != nil) != (strings.HasPrefix(name, "turn:") && !strings.HasPrefix(name, "turn:0")) {
			t.Errorf("%s: row %+v", name, row)
		}
	}
}

// TestGitGoneIsShown: where git's repository was and is no more by the end of a step, it is told where it stood.
func TestGitGoneIsShown(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	git := gitOf(p)
	git("init", "-q", "-b", "main")
	show := func(cp *model.Checkpoint) string {
		t.Helper()
		s, err := p.E.History.Show(enginetest.Bg, cp.ID.String(), nil)
		p.Must(err)
		return s.GitGone.Branch
	}
	var got []string
	for i := range 4 {
		if i == 2 {
			p.Must(os.RemoveAll(p.Path(".git")))
		}
		p.Write("f", fmt.Sprint(i))
		got = append(got, show(p.Save("")))
	}
	enginetest.Equal(t, "gone", got, []string{"", "", "main", ""})
	k := p.Agent("a")
	p.Must(os.MkdirAll(p.Path("d"), 0o755))
	git("init", "-q", "-b", "other")
	p.Write("f", "again")
	p.Save("")
	k.Prompt("remove it")
	k.Run("c1", func() { p.Write("f", "5"); p.Must(os.RemoveAll(p.Path(".git"))) })
	k.Run("c2", func() { p.Write("f", "6") })
	k.Stop()
	s, row, err := p.E.History.ShowTurn(enginetest.Bg, "turn:1@claude/a", "", nil)
	p.Must(err)
	if s.GitGone.Branch != "other" || len(row.Steps) != 2 {
		t.Errorf("of the turn: %+v, %d steps", s.GitGone, len(row.Steps))
	}
	git("init", "-q", "-b", "third")
	p.Write("f", "7")
	p.Save("")
	p.Must(os.WriteFile(p.Path(".git/HEAD"), []byte("nothing\n"), 0o600)) // it is there, and broken
	p.Write("f", "8")
	if got := show(p.Save("")); got != "" {
		t.Errorf("of a repository that is broken: %q", got)
	}
}

// TestNoConversation: why there is nothing of a conversation, and whose turns there are instead.
func TestNoConversation(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("f", "0")
	cp := p.Save("first")
	h := p.E.History
	list, why, err := h.Messages(enginetest.Bg, cp.ID.String(), 3)
	if p.Must(err); len(list) > 0 || why != "it belongs to no agent's session" {
		t.Errorf("%+v, %q", list, why)
	}
	turns := func() *model.NoConversationError {
		t.Helper()
		var none *model.NoConversationError
		if _, err := h.Turns(enginetest.Bg, model.SessionChoice{Session: model.Manual}, 0); !errors.As(err, &none) {
			t.Fatalf("%v", err)
		}
		return none
	}
	if none := turns(); !none.None || none.Instead != "" {
		t.Errorf("%+v", none)
	}
	p.Talker(1).Take("one", nil)
	silent := p.Agent("silent")
	silent.Start()
	if none := turns(); none.None || none.Instead != enginetest.ClaudeID(1)[:len(none.Instead)] {
		t.Errorf("%+v", none)
	}
	silent.Prompt("without a file")
	silent.Stop()
	list, why, err = h.Messages(enginetest.Bg, "turn:1@claude/silent", 3)
	if err == nil && (len(list) > 0 || why != "the conversation had not begun, or was not captured") {
		t.Errorf("%+v, %q", list, why)
	}
}

// TestGoneIsShown: of a file whose content was purged it is told where a step shows it.
func TestGoneIsShown(t *testing.T) {
	t.Parallel()
	const secret = "hunter22-of-the-long-forgotten-field"
	p := enginetest.NewProject(t)
	p.Write("f", secret)
	p.Write("g", "kept")
	first := p.Save("first")
	p.Write("f", "2")
	p.Write("g", "kept, too")
	second := p.Save("second")
	p.Purge(purge.Options{Texts: [][]byte{[]byte(secret)}})
	for _, cp := range []*model.Checkpoint{first, second} {
		s, err := p.E.History.Show(enginetest.Bg, cp.ID.String(), nil)
		p.Must(err)
		var gone []string
		for path, why := range s.Gone {
			gone = append(gone, path+" "+why)
		}
		enginetest.Equal(t, "gone", gone, []string{"f purged"})
	}
}
