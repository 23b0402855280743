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
	"rewind/engine/restore"
	"rewind/engine/sessions"
	"rewind/hooks"
	"rewind/internal/value"
)

// TestTitles: a title names a session whole, else by its beginning, else by a part; case does not matter. Where several
// are named equally well, all are told.
func TestTitles(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("f", "0")
	p.Save("first")
	called := map[string]string{}
	for n, text := range []string{"Repair the parser", "repair the lexer", "now repair", "now"} {
		k := p.Talker(n + 1)
		k.Take(text, nil)
		called[k.Name()] = fmt.Sprint(n)
	}
	p.Settle()
	for name, want := range map[string]string{
		"repair the parser": "0", "REPAIR THE L": "1", "now rep": "2", "parser": "0", "now": "3", "session:Lexer": "1",
		"repair the": "0 1", "e": "0 1 2", "none": "",
	} {
		release := p.E.Log.Hold()
		got, err := p.E.History.BranchNamed(name)
		release()
		var several *sessions.SeveralSessionsError
		is := called[got]
		if errors.As(err, &several) {
			var all []string
			for n := range 4 {
				for _, s := range several.Names {
					if called[s] == fmt.Sprint(n) {
						all = append(all, called[s])
					}
				}
			}
			is = strings.Join(all, " ")
		}
		if is != want || want == "" && !errors.Is(err, model.ErrNotFound) {
			t.Errorf("%s: %q, %v; want %q", name, is, err, want)
		}
	}
}

// TestDescribeMissing: of a session whose file is gone the turns are told that its events tell of.
func TestDescribeMissing(t *testing.T) {
	t.Parallel()
	p, first := enginetest.TwoTurns(t)
	other := p.Talker(2)
	other.Take("other", nil)
	p.Settle()
	p.Must(os.Remove(other.File))
	several := &sessions.SeveralSessionsError{Names: []string{first.Name(), other.Name(), "claude/none"}}
	p.E.History.Describe(enginetest.Bg, several)
	var got []string
	for _, s := range several.Sessions {
		line := fmt.Sprintf("%s %q %d turns, missing %t, %t", s.Name, s.Title, s.Turns, s.Missing, s.Short != "")
		got = append(got, line)
	}
	enginetest.Equal(t, "sessions", got, []string{
		first.Name() + ` "one" 2 turns, missing false, true`, other.Name() + ` "other" 1 turns, missing true, true`,
	})
	p.E.History.Describe(enginetest.Bg, several)
	if len(several.Sessions) != 2 {
		t.Errorf("described twice: %d", len(several.Sessions))
	}
}

// TestNoTurn: who asks for a turn that is not there is told how many there are, of a fork also those that it inherited.
func TestNoTurn(t *testing.T) {
	t.Parallel()
	p, first := enginetest.TwoTurns(t)
	unused := p.Fork("turn:1", restore.Options{}).Fork
	for session, turns := range map[string]uint64{first.Name(): 2, unused.Session: 1} {
		_, err := p.E.History.Resolve("turn:9@" + session)
		var none *model.NoTurnError
		if !errors.As(err, &none) || *none != (model.NoTurnError{Session: session, Turn: 9, Turns: turns}) {
			t.Errorf("%s: %v", session, err)
		}
	}
	_, err := p.E.History.Resolve("turn:1@none")
	var none *model.NoTurnError
	if err == nil || errors.As(err, &none) {
		t.Errorf("of nobody: %v", err)
	}
}

// TestNamesOfBranches: a branch within a session has a name of its own, behind the session's.
func TestNamesOfBranches(t *testing.T) {
	t.Parallel()
	p, first := enginetest.TwoTurns(t)
	at := first.Parent
	first.Take("left", p.Edits("f", "3"))
	first.Parent = at
	first.Take("gone on", p.Edits("f", "4"))
	_, _, err := p.E.History.SessionList(enginetest.Bg, true, 0)
	p.Must(err)
	_, err = p.E.History.Tag(enginetest.Bg, "works", "turn:1", false)
	p.Must(err)
	list, err := p.E.History.Names(enginetest.Bg)
	p.Must(err)
	var got []string
	for _, n := range list {
		got = append(got, fmt.Sprintf("%s %s %q of %q, %t", n.Kind, n.Name, n.Title, n.Session, n.Checkpoint.IsZero()))
	}
	name := first.Name()
	enginetest.Equal(t, "names", got, []string{
		`tag works "" of "", false`, fmt.Sprintf(`session %s "one" of %q, false`, name, name),
		fmt.Sprintf(`branch turn:3@%s "left" of %q, true`, name, name),
	})
}

// TestLateCall: what a call's checkpoint has of the conversation goes up to the call, though the agent wrote that only
// later: it is found in later captures, also once the file was cut, and in the file where nothing was captured since.
func TestLateCall(t *testing.T) {
	t.Parallel()
	for what, stops := range map[string]bool{"of a turn that is over": true, "of one that was cut short": false} {
		t.Run(what, func(t *testing.T) { lateCall(t, stops) })
	}
}

func lateCall(t *testing.T, stops bool) {
	t.Helper()
	p, k := enginetest.Begun(t)
	k.Take("one", p.Edits("f", "1"))
	k.Take("two", nil)
	k.Send(hooks.Event{Kind: hooks.Prompt, Prompt: "late"}, capture.HandleOptions{})
	tool := hooks.Tool{Name: "Bash", Call: "toolu_late"}
	k.Send(hooks.Event{Kind: hooks.BeforeTool, Tool: tool}, capture.HandleOptions{})
	p.Edits("f", "2")()
	cp := p.Get(k.Send(hooks.Event{Kind: hooks.AfterTool, Tool: tool}, capture.HandleOptions{}))
	h := p.E.History
	moment := func(what string, caughtUp, want bool) {
		t.Helper()
		defer p.E.Log.Hold()()
		p.Must(p.E.Log.LoadSessions())
		m, err := h.Moment("", cp.ID.String())
		if caughtUp {
			m, err = h.NamedMoment(enginetest.Bg, cp.ID.String(), model.SessionChoice{})
		}
		p.Must(err)
		has := strings.Contains(string(enginetest.ReadAll(t, p.E.Log.Objs, m.Transcript)), "toolu_late")
		p.Must(m.Err)
		if (m.Call == "toolu_late") != want || has != want || m.Turn != 0 {
			t.Errorf("%s: call %q, %t, turn %d, %v", what, m.Call, has, m.Turn, m.Err)
		}
	}
	moment("before it is written", false, false)
	k.Line("user", `{"role":"user","content":"late"}`)
	k.Line("assistant", `{"id":"msg_late","type":"message","role":"assistant","content":[{"type":"tool_use",`+
		`"id":"toolu_late","name":"Bash","input":{"command":"y"}}],"stop_reason":"tool_use"}`)
	k.Line("user", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_late","content":"done"}]}`)
	moment("before it is captured", false, false)
	moment("where it is caught up with", true, true)
	k.Work(p.Edits("f", "3"))
	if stops {
		k.Say("done: late")
		k.Stop()
	}
	moment("at last", false, true)
	list, why, err := h.Messages(enginetest.Bg, cp.ID.String(), 2)
	p.Must(err)
	if len(list) < 2 || list[0].Text != "late" || why != "" {
		t.Errorf("%+v, %q", list, why)
	}
	p.Back("turn:1", restore.Options{InPlace: true, Force: !stops})
	moment("once the file is cut", false, true)
}

// TestCommitWithMore: of states with all files of a commit the one with fewest others is meant, which is said; a link
// and a file that can be run are what they are in the commit.
func TestCommitWithMore(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	git := gitOf(p)
	git("init", "-q")
	p.Write("run", "#!/bin/sh\n")
	p.Must(os.Chmod(p.Path("run"), 0o755))
	p.Must(os.Symlink("run", p.Path("link")))
	p.Write("d/f", "1")
	git("add", "run", "link", "d")
	git("commit", "-q", "-m", "one")
	commit := git("rev-parse", "HEAD")
	p.Write("x", "1")
	p.Write("y", "1")
	p.Save("two more")
	p.Remove("y")
	one := p.Save("one more")
	p.Must(os.Chmod(p.Path("run"), 0o644))
	p.Remove("x")
	p.Save("not to be run")
	p.Must(os.Chmod(p.Path("run"), 0o755))
	p.Remove("link")
	p.Write("link", "run")
	p.Save("no link")
	p.Remove("link")
	p.Save("without the link")
	p.E.Log.Project.Notices = nil
	cp, err := p.E.History.Resolve(commit)
	p.Must(err)
	said := strings.Join(p.E.Log.Project.Notices, "\n")
	if cp.ID != one.ID || !strings.Contains(said, "with files on top that it does not have: ") {
		t.Errorf("%q: %q", cp.Cause.Message, said)
	}
}

// TestSessionsOfNobody: a session that did nothing and has no file is none; who lists is told how many others are left
// out.
func TestSessionsOfNobody(t *testing.T) {
	t.Parallel()
	p, first := enginetest.TwoTurns(t)
	p.Talker(2).Take("other", nil)
	p.Agent("idle").Start()
	for limit, want := range map[int]history.Left{0: {}, 1: {Older: 1}, 2: {}} {
		list, left, err := p.E.History.SessionList(enginetest.Bg, false, limit)
		p.Must(err)
		if left != want || len(list) != 2-want.Older {
			t.Errorf("at most %d: %d, %+v", limit, len(list), left)
		}
		for i := range list {
			s := &list[i]
			if s.Missing || s.Problem != "" || s.Turns == 0 {
				t.Errorf("%+v", s)
			}
			if s.Newest == "" && s.Name == first.Name() {
				t.Errorf("%s has no newest checkpoint", s.Name)
			}
		}
	}
	if names, err := p.E.History.Names(enginetest.Bg); err != nil || len(names) != 2 {
		t.Errorf("names: %+v, %v", names, err)
	}
}

// TestNoBranchBefore: who wants the branch before the first one is told that there is none.
func TestNoBranchBefore(t *testing.T) {
	t.Parallel()
	p, _ := enginetest.TwoTurns(t)
	defer p.E.Log.Hold()()
	if got, err := p.E.History.BranchNamed("-"); !errors.Is(err, model.ErrNoBranchBefore) || got != "" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestNearPaths: of a path that a checkpoint does not have those are told that are like it in the directory that is
// there.
func TestNearPaths(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	for _, name := range []string{"src/parser/lexer.go", "src/parsing", "readme"} {
		p.Write(name, name)
	}
	cp := p.Save("first")
	for path, want := range map[string]string{
		"src/parser/lexr.go": "src/parser/lexer.go", "src/parsed/lexer.go/x": "src/parser", "raedme/x/y": "readme",
		"src/parsing/x": "", "nothing like it": "", "src/parser/lexer.go/x/y": "",
	} {
		got := p.E.History.NearPath(&model.PathError{Checkpoint: cp.ID, Path: path})
		if first := strings.Join(got[:min(len(got), 1)], ""); first != want {
			t.Errorf("near %s: %s, want %s", path, got, want)
		}
	}
	nowhere := &model.PathError{Checkpoint: enginetest.TestID("none"), Path: "readme"}
	if got := p.E.History.NearPath(nowhere); got != nil {
		t.Errorf("in a checkpoint that is not there: %s", got)
	}
}

// TestListsOfNobody: a list of a session that nobody knows is empty; of one whose name is not told well it is an error.
func TestListsOfNobody(t *testing.T) {
	t.Parallel()
	p, first := enginetest.TwoTurns(t)
	p.Talker(2).Take("other", nil)
	of := func(session string) history.Filter { return history.Filter{Filter: value.Filter{Session: session}} }
	h := p.E.History
	for session, want := range map[string]int{"none": 0, first.Name(): 2, "0000000": -1} {
		rows, err := h.Rows(enginetest.Bg, history.RowOptions{Filter: of(session), Past: true})
		steps, failed := h.List(enginetest.Bg, history.ListOptions{Filter: of(session)})
		if want < 0 {
			if !errors.Is(err, model.ErrWhichSession) || !errors.Is(failed, model.ErrWhichSession) {
				t.Errorf("%s: %v, %v", session, err, failed)
			}
			continue
		}
		if p.Must(errors.Join(err, failed)); len(rows.Rows) != want || len(steps.Checkpoints) != want {
			t.Errorf("%s: %d rows, %d steps", session, len(rows.Rows), len(steps.Checkpoints))
		}
	}
	bad := history.Filter{Filter: value.Filter{By: "me"}}
	_, err := h.Rows(enginetest.Bg, history.RowOptions{Filter: bad})
	_, failed := h.List(enginetest.Bg, history.ListOptions{Filter: bad})
	if !errors.Is(err, model.ErrUsage) || !errors.Is(failed, model.ErrUsage) {
		t.Errorf("by me: %v, %v", err, failed)
	}
	if _, err := h.Forks(enginetest.Bg, p.Env(), first.Name()); !errors.Is(err, model.ErrNotFound) ||
		!strings.Contains(err.Error(), "it is no fork") {
		t.Errorf("the forks of what is none: %v", err)
	}
	if _, err := h.Forks(enginetest.Bg, p.Env(), "none"); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("the forks of nobody: %v", err)
	}
	old := p.Talker(3)
	old.Used("long ago")
	old.Say("done")
	_, err = p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	p.Must(err)
	if _, err := h.Resolve("session:" + old.ID); !errors.Is(err, model.ErrNotFound) ||
		!strings.Contains(err.Error(), "the session has none") {
		t.Errorf("the newest of a session without any: %v", err)
	}
}
