package restore_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// A store that somebody has prepared has a journal, an operation or a session record with names of their choice, and
// all else as it should be.

// said stores bytes as a transcript, as a session file's are.
func said(p *enginetest.Project, text string) objstore.ID {
	p.T.Helper()
	tx := p.E.Log.Objs.Begin()
	id, _, err := conversation.PutBytes(tx, objstore.ID{}, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	p.Must(err)
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
	return id
}

// plant writes raw bytes as the journal.
func plant(p *enginetest.Project, raw []byte) {
	p.T.Helper()
	b := p.E.Log.DB.NewBatch()
	p.Must(b.Set(model.JournalKey, raw))
	p.Must(b.Commit(enginetest.Bg, kv.Durable))
	p.E.Log.BeginRestore()
}

// twoStates is a project at its second checkpoint, and the steps that lead back to the first.
func twoStates(t *testing.T) (p *enginetest.Project, one, two *model.Checkpoint, steps []tree.Change) {
	t.Helper()
	p = enginetest.NewProject(t)
	p.Write("f", "1")
	one = p.Save("one")
	p.Write("f", "2")
	two = p.Save("two")
	from, err := tree.Lookup(p.E.Log.Objs, two.Tree, "f")
	p.Must(err)
	to, err := tree.Lookup(p.E.Log.Objs, one.Tree, "f")
	p.Must(err)
	return p, one, two, []tree.Change{{Path: "f", Old: &from, New: &to}}
}

// codeAlone ends what is half done and leaves session files as they are.
func codeAlone(p *enginetest.Project, back bool) error {
	end := p.E.Restorer.ContinueCode
	if back {
		end = p.E.Restorer.AbortCode
	}
	_, err := end(enginetest.Bg, p.Env())
	return err
}

// foreignPaths are names that a journal of somebody else's may have for a session file, none of which is one of the
// person's.
func foreignPaths(p *enginetest.Project) map[string]string {
	home := p.User()
	id := enginetest.ClaudeID(7)
	return map[string]string{
		"a shell's start file":      home + "/.zshenv",
		"what the desktop starts":   home + "/.config/autostart/x.desktop",
		"the agent's settings":      home + "/.claude/settings.json",
		"the agent's instructions":  home + "/.claude/CLAUDE.md",
		"a hook of the agent's":     home + "/.claude/hooks/x.sh",
		"a command of the agent's":  home + "/.claude/commands/x.md",
		"settings of a project":     p.Root + "/.claude/settings.json",
		"no id":                     home + "/.claude/projects/x/notes.jsonl",
		"a folder too deep":         home + "/.claude/projects/x/y/" + id + ".jsonl",
		"a folder too high":         home + "/.claude/projects/" + id + ".jsonl",
		"dots":                      home + "/.claude/projects/x/../../../.zshenv",
		"dots in a session's place": home + "/.claude/projects/../../projects/x/" + id + ".jsonl",
		"another folder":            home + "/other/projects/x/" + id + ".jsonl",
		"the project's folder":      p.Root + "/.claude/projects/x/" + id + ".jsonl",
		"codex' settings":           home + "/.codex/config.toml",
		"codex in the project": p.Root + "/.codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-" + id +
			".jsonl",
		"gemini's settings":             home + "/.gemini/settings.json",
		"gemini's chats, no name of it": home + "/.gemini/tmp/x/chats/x.json",
		"droid's settings":              home + "/.factory/settings.json",
		"beside no session of droid's":  home + "/.factory/sessions/x/all.settings.json",
		"git's hook":                    p.Root + "/.git/hooks/pre-commit",
		"relative":                      "x.jsonl",
		"above":                         "../x.jsonl",
		"nothing":                       "",
		"a NUL":                         home + "/.claude/projects/x/" + id + ".jsonl\x00",
		"a line":                        home + "/.claude/projects/x\n/" + id + ".jsonl",
		"through a link":                home + "/.claude/projects/link/" + id + ".jsonl",
		"through a link that stays":     home + "/.claude/projects/inner/" + id + ".jsonl",
		"a link to nothing":             home + "/.claude/projects/x/" + enginetest.ClaudeID(8) + ".jsonl",
		"a link to a file":              home + "/.claude/projects/x/" + enginetest.ClaudeID(9) + ".jsonl",
		"a directory":                   home + "/.claude/projects/x/" + enginetest.ClaudeID(10) + ".jsonl",
		"one of two names":              home + "/.claude/projects/x/" + enginetest.ClaudeID(11) + ".jsonl",
	}
}

// victim lays out the home directory that foreignPaths are about.
func victim(p *enginetest.Project) {
	p.T.Helper()
	home := p.User()
	for _, d := range []string{
		".claude/projects/x", ".claude/projects/real", ".codex", ".gemini", ".factory", "elsewhere",
		"other/projects/x",
	} {
		p.Must(os.MkdirAll(filepath.Join(home, d), 0o700))
	}
	for name, to := range map[string]string{
		".claude/projects/link": "../../elsewhere", ".claude/projects/inner": "real",
		".claude/projects/x/" + enginetest.ClaudeID(8) + ".jsonl": "../../../.profile", ".claude/projects/x/" +
			enginetest.ClaudeID(9) +
			".jsonl": "../../settings.json",
	} {
		p.Must(os.Symlink(to, filepath.Join(home, name)))
	}
	p.Must(os.MkdirAll(filepath.Join(home, ".claude/projects/x", enginetest.ClaudeID(10)+".jsonl"), 0o700))
	for _, name := range []string{
		".claude/settings.json", ".claude/projects/x/" + enginetest.ClaudeID(11) + ".jsonl",
		".bashrc",
	} {
		p.Must(os.WriteFile(filepath.Join(home, name), []byte("mine\n"), 0o600))
	}
	p.Must(os.Link(filepath.Join(home, ".claude/projects/x", enginetest.ClaudeID(11)+".jsonl"),
		filepath.Join(home, "second")))
}

// TestT21Promise17JournalNames: a journal that somebody has prepared, whose session files are none of the person's,
// changes nothing outside: it is refused both ways, and the code alone goes on, or back.
func TestT21Promise17JournalNames(t *testing.T) {
	p0, _, _, _ := twoStates(t)
	for what := range foreignPaths(p0) {
		for _, back := range []bool{false, true} {
			p, one, two, steps := twoStates(t)
			victim(p)
			path := foreignPaths(p)[what]
			home, root := enginetest.List(t, p.User()), enginetest.List(t, p.Root)
			f := refs.File{Path: path, To: said(p, "evil\n")}
			if back {
				f = refs.File{Path: path, From: said(p, "evil\n")}
			}
			// the bytes are what it expects: it is not passed over as changed
			if strings.HasPrefix(what, "a link to a file") || what == "one of two names" {
				f = refs.File{Path: path, From: said(p, "mine\n"), To: said(p, "evil\n")}
				if back {
					f.From, f.To = f.To, f.From
				}
			}
			j := &model.Journal{Kind: refs.KindCheckout, Session: model.Manual, Restore: refs.Restore{
				Target: one.ID, Safety: two.ID,
				Files: []refs.File{f},
			}, Before: two.ID, After: one.ID, Stage: restore.NewStageName(), Steps: steps}
			plant(p, j.Encode())
			name := fmt.Sprintf("%s, back %v", what, back)
			untouched := func() {
				t.Helper()
				if d := enginetest.List(t, p.User()).Diff(home); d != "" {
					t.Errorf("%s: the home directory has changed:\n%s", name, d)
				}
			}
			end := p.E.Restorer.Continue
			if back {
				end = p.E.Restorer.Abort
			}
			_, err := end(enginetest.Bg, p.Env())
			untouched()
			if err == nil {
				t.Errorf("%s: it is taken", name)
				continue
			}
			if errors.Is(err, kv.ErrCorrupt) { // it cannot even be read: repair takes it out
				continue
			}
			if p.WantTree(root); !strings.Contains(err.Error(), "session file") {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := p.E.Worktree.Save(enginetest.Bg, "", "", nil); !errors.Is(err, model.ErrHalfDone) {
				t.Errorf("%s: save: %v", name, err)
			}
			if err := codeAlone(p, back); err != nil {
				t.Errorf("%s: the code alone: %v", name, err)
			}
			untouched()
			want := map[bool]string{false: "1", true: "2"}[back]
			if got := p.Read("f"); got != want {
				t.Errorf("%s: f is %q, want %q", name, got, want)
			}
			p.Save("goes on")
		}
	}
}

// TestT21Promise17OperationNames: what undo-restore, undo and checkout find in the log of a store that somebody has
// prepared is not written or removed either, and the code goes back all the same.
func TestT21Promise17OperationNames(t *testing.T) {
	p0, _, _, _ := twoStates(t)
	for what := range foreignPaths(p0) {
		p, one, two, _ := twoStates(t)
		victim(p)
		path := foreignPaths(p)[what]
		if path == "" {
			continue
		}
		home := enginetest.List(t, p.User())
		var files []refs.File
		if _, err := os.Lstat(path); err == nil {
			files = []refs.File{{Path: path, From: said(p, "evil\n"), To: said(p, "mine\n")}}
		} else {
			files = []refs.File{{Path: path, From: said(p, "evil\n")}}
		}
		b, err := os.ReadFile(filepath.Join(p.User(), ".bashrc"))
		p.Must(err)
		// whose bytes were guessed: made by the restore, nobody has used it
		files = append(files, refs.File{Path: filepath.Join(p.User(), ".bashrc"), To: said(p, string(b))})
		for _, fs := range [][]refs.File{files[:1], files[1:]} {
			rs := &refs.Restore{Target: one.ID, Safety: two.ID, Changed: 1, Files: fs, Fork: "claude/" +
				enginetest.ClaudeID(3)}
			op := refs.Operation{Time: 1, Kind: refs.KindCheckout, Session: model.Manual, Restore: rs}
			if _, err := refs.DecodeOperation(1, op.Encode()); err != nil {
				continue // a path that no file of ours has: the operation is a damaged one
			}
			p.Must(p.E.Log.Record(enginetest.Bg, op))
			_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
			if d := enginetest.List(t, p.User()).Diff(home); d != "" {
				t.Fatalf("%s: the home directory has changed (%v):\n%s", what, err, d)
			}
			if err != nil {
				if _, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env(), CodeOnly: true}); err != nil {
					t.Errorf("%s: the code alone: %v", what, err)
				}
			}
			p.Must(p.E.Log.Record(enginetest.Bg, op))
			p.Write("f", "3")
			if _, err := p.E.Restorer.Checkout(enginetest.Bg, one.ID.String(), restore.Options{Env: p.Env()}); err != nil {
				t.Errorf("%s: checkout: %v", what, err)
			}
			if d := enginetest.List(t, p.User()).Diff(home); d != "" {
				t.Fatalf("%s: checkout has changed the home directory:\n%s", what, d)
			}
		}
	}
}

// TestT21Promise17SessionRecordNames: a session record that somebody has prepared has no fork made in a folder of
// theirs, and has no agent's program run on one.
func TestT21Promise17SessionRecordNames(t *testing.T) {
	for _, agent := range []hooks.Agent{hooks.Claude, hooks.Codex} {
		p, k := enginetest.TwoTurns(t)
		bin, ran := t.TempDir(), filepath.Join(t.TempDir(), "ran")
		p.Must(os.WriteFile(filepath.Join(bin, "codex"), []byte("#!/bin/sh\necho \"$CODEX_HOME\" >>"+ran+"\n"), 0o700))
		env := p.Env()
		env.Path = value.Text(bin)
		in := filepath.Join(p.Root, ".claude", "projects", "x")
		path := filepath.Join(in, enginetest.ClaudeID(1)+".jsonl")
		if agent == hooks.Codex {
			in = filepath.Join(p.Root, ".codex", "sessions", "2026", "11", "20")
			path = filepath.Join(in, "rollout-2026-11-20T10-00-00-"+enginetest.ClaudeID(1)+".jsonl")
		}
		p.Must(os.MkdirAll(in, 0o700))
		p.Must(os.WriteFile(path, []byte(p.Slurp(k.File)), 0o600))
		s := p.Session(k.Name())
		s.Agent, s.Transcript, s.Cursor.Path = agent, path, path
		b := p.E.Log.DB.NewBatch()
		p.Must(b.Set(model.SessionKey(s.Name), s.Encode()))
		p.Must(b.Commit(enginetest.Bg, kv.Durable))
		p.Reopen()
		loaded(p)
		before := enginetest.List(t, in)
		untouched := func(what string, err error) {
			t.Helper()
			if d := enginetest.List(t, in).Diff(before); d != "" {
				t.Errorf("%s: %s: the folder has changed (%v):\n%s", agent, what, err, d)
			}
			if got, err := os.ReadFile(ran); err == nil {
				t.Errorf("%s: %s: codex was run in %s", agent, what, got)
				p.Must(os.Remove(ran))
			}
		}
		w := model.SessionChoice{Session: k.Name()}
		_, err := p.E.Restorer.Fork(enginetest.Bg, "@", restore.Options{Session: w, Env: env})
		untouched("fork", err)
		_, err = p.E.Restorer.Clone(enginetest.Bg, restore.Options{Session: w, Env: env})
		untouched("clone", err)
		_, err = p.E.Restorer.Checkout(enginetest.Bg, "turn:1", restore.Options{Session: w, Env: env, InPlace: true})
		untouched("in place", err)
		if err == nil {
			t.Errorf("%s: it was cut in place", agent)
		}
		p.Checkout("turn:2", restore.Options{Session: w, CodeOnly: true})
		r, err := p.E.Restorer.Checkout(enginetest.Bg, "turn:1", restore.Options{Session: w, Env: env})
		untouched("checkout", err)
		// promise 18
		if agent == hooks.Claude && (err != nil || p.Read("f") != enginetest.Big("1") || r.Conversation == nil ||
			r.Conversation.Why == "") {
			t.Errorf("%s: the code did not go: %+v, %v", agent, r, err)
		}
	}
}

// TestT21Promise17JournalTellsAgents: whose list is told at the end of a journal is the person's own agent, in its own
// folder.
func TestT21Promise17JournalTellsAgents(t *testing.T) {
	p, one, two, steps := twoStates(t)
	victim(p)
	bin, ran := t.TempDir(), filepath.Join(t.TempDir(), "ran")
	p.Must(os.WriteFile(filepath.Join(bin, "codex"), []byte("#!/bin/sh\necho \"$CODEX_HOME\" >>"+ran+"\n"), 0o700))
	env := p.Env()
	env.Path = value.Text(bin)
	made := &model.Session{
		Name: "codex/" + enginetest.ClaudeID(5), Agent: hooks.Codex, ID: enginetest.ClaudeID(5),
		Fork: &model.Lineage{Lineage: value.Lineage{Session: "codex/" + enginetest.ClaudeID(4)}},
		Transcript: filepath.Join(p.Root, ".codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-"+
			enginetest.ClaudeID(5)+".jsonl"),
	}
	j := &model.Journal{
		Kind: refs.KindCheckout, Session: model.Manual, Restore: refs.Restore{Target: one.ID, Safety: two.ID},
		Before: two.ID, After: one.ID, Stage: restore.NewStageName(), Steps: steps, Made: made,
	}
	plant(p, j.Encode())
	p.Must(os.MkdirAll(filepath.Dir(made.Transcript), 0o700))
	_, err := p.E.Restorer.Continue(enginetest.Bg, env)
	if b, rerr := os.ReadFile(ran); rerr == nil {
		t.Errorf("codex was run in %s (%v)", b, err)
	}
}

// TestT21Promise17JournalDecoded: a journal with a name that none of ours has is none.
func TestT21Promise17JournalDecoded(t *testing.T) {
	ent := &tree.Entry{Name: "f", Type: tree.TypeFile, Perm: 0o644, ID: enginetest.TestID("e"), Size: 1}
	for what, change := range map[string]func(*model.Journal){
		"no stage":               func(j *model.Journal) { j.Stage = "" },
		"stage: above":           func(j *model.Journal) { j.Stage = "../x" },
		"stage: far above":       func(j *model.Journal) { j.Stage = "../../../../x" },
		"stage: dots":            func(j *model.Journal) { j.Stage = ".." },
		"stage: git":             func(j *model.Journal) { j.Stage = ".git" },
		"stage: absolute":        func(j *model.Journal) { j.Stage = "/tmp" },
		"stage: short":           func(j *model.Journal) { j.Stage = "0011" },
		"stage: long":            func(j *model.Journal) { j.Stage = strings.Repeat("0", 17) },
		"stage: capitals":        func(j *model.Journal) { j.Stage = "00112233445566AA" },
		"stage: no digits":       func(j *model.Journal) { j.Stage = "0011223344556677"[:15] + "g" },
		"stage: NUL":             func(j *model.Journal) { j.Stage = "001122334455667\x00" },
		"step: above":            func(j *model.Journal) { j.Steps[0].Path = "../x" },
		"step: absolute":         func(j *model.Journal) { j.Steps[0].Path = "/etc/x" },
		"step: dots inside":      func(j *model.Journal) { j.Steps[0].Path = "a/../../x" },
		"step: a dot":            func(j *model.Journal) { j.Steps[0].Path = "./x" },
		"step: empty part":       func(j *model.Journal) { j.Steps[0].Path = "a//x" },
		"step: ends in a slash":  func(j *model.Journal) { j.Steps[0].Path = "a/" },
		"step: NUL":              func(j *model.Journal) { j.Steps[0].Path = "a\x00b" },
		"step: nothing":          func(j *model.Journal) { j.Steps[0].Old, j.Steps[0].New = nil, nil },
		"step: twice":            func(j *model.Journal) { j.Steps = append(j.Steps, j.Steps[0]) },
		"path: above":            func(j *model.Journal) { j.Paths = []string{"../x"} },
		"path: absolute":         func(j *model.Journal) { j.Paths = []string{"/x"} },
		"path: not clean":        func(j *model.Journal) { j.Paths = []string{"a/./b"} },
		"session: above":         func(j *model.Journal) { j.Session = "../x" },
		"session: control":       func(j *model.Journal) { j.Session = "claude/\x1b[2J" },
		"made: no lineage":       func(j *model.Journal) { j.Made.Fork = nil },
		"made: name":             func(j *model.Journal) { j.Made.Name = "claude/../x" },
		"moved: name":            func(j *model.Journal) { j.Moved.Name = "\x00" },
		"made: an agent of none": func(j *model.Journal) { j.Made.Agent = "other" },
	} {
		j := enginetest.SampleJournal()
		j.Steps = []tree.Change{{Path: "f", Old: ent}}
		if _, err := model.DecodeJournal(j.Encode()); err != nil {
			t.Fatalf("the sample: %v", err)
		}
		change(j)
		if got, err := model.DecodeJournal(j.Encode()); !errors.Is(err, kv.ErrCorrupt) {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
}

// TestT21Promise17StepsStayInside: steps of a prepared journal that are paths, but not ones to be written: nothing of
// git's or of rewind's own is touched, nor anything behind a link.
func TestT21Promise17StepsStayInside(t *testing.T) {
	for _, path := range []string{
		".git/config", ".git/hooks/post-checkout", ".GIT/config", ".git./config", "git~1/config",
		".g\u200cit/config", "sub/.git/config", ".agent/rewind/id", ".agent/rewind/config.json", ".AGENT/Rewind/id",
		"link/x", "link",
	} {
		p, one, two, _ := twoStates(t)
		out := t.TempDir()
		p.Must(os.MkdirAll(p.Path(".git/hooks"), 0o755))
		p.Must(os.MkdirAll(p.Path("sub/.git"), 0o755))
		p.Must(os.Symlink(out, p.Path("link")))
		to, err := tree.Lookup(p.E.Log.Objs, one.Tree, "f")
		p.Must(err)
		_, to.Name = tree.Split(path)
		id, err := os.ReadFile(p.Path(".agent/rewind/id"))
		p.Must(err)
		j := &model.Journal{
			Kind: refs.KindCheckout, Session: model.Manual, Restore: refs.Restore{Target: one.ID, Safety: two.ID},
			Before: two.ID,
			After:  one.ID, Stage: restore.NewStageName(),
			Steps: []tree.Change{{Path: path, New: &to}},
		}
		plant(p, j.Encode())
		r, err := p.E.Restorer.Continue(enginetest.Bg, p.Env())
		if err == nil && len(r.Conflicts) != 1 {
			t.Errorf("%s: %+v", path, r)
		}
		for _, dir := range []string{out, p.Path(".git/hooks"), p.Path("sub/.git")} {
			if l, err := os.ReadDir(dir); err != nil || len(l) != 0 {
				t.Errorf("%s: in %s: %v, %v", path, dir, l, err)
			}
		}
		if _, err := os.Lstat(p.Path(".git/config")); err == nil {
			t.Errorf("%s: git's configuration was written", path)
		}
		if b, err := os.ReadFile(p.Path(".agent/rewind/id")); err != nil || string(b) != string(id) {
			t.Errorf("%s: the marker is %q, %v", path, b, err)
		}
		if _, err := os.Lstat(p.Path(".agent/rewind/config.json")); err == nil {
			t.Errorf("%s: settings were written", path)
		}
	}
}
