package engine_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rewind/engine"
	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/torture"
	"rewind/internal/value"
	"rewind/refs"
	"rewind/tree"
)

// names are few, so that paths collide and change their type, and as hostile as a file system allows.
var names = []string{"a", "b", "new\nline", "\xff\xfe", "-rf", " sp ", "é", "*", "x.log", strings.Repeat("n", 255)}

// machine drives a project with random edits and restores and holds the promises of a restore against what it sees
// with its own eyes.
type machine struct {
	*enginetest.Project
	saved []savedState
	dir   string
	talk  *enginetest.Talker
	turns int
}

type savedState struct {
	cp    *model.Checkpoint
	state enginetest.Listing // without ignored files
}

func ignoredName(path string) bool {
	_, name := tree.Split(path)
	return strings.HasSuffix(name, ".log")
}

// somePath draws a path of up to three components whose parents are directories, or nothing.
func (m *machine) somePath(t *rapid.T) string {
	n := rapid.IntRange(1, 3).Draw(t, "depth")
	path := ""
	for i := range n {
		if i > 0 {
			if fi, err := os.Lstat(m.Path(path)); err == nil && !fi.IsDir() {
				return path
			} else if err != nil {
				m.Must(os.Mkdir(m.Path(path), 0o755))
			}
		}
		path = tree.Join(path, rapid.SampledFrom(names).Draw(t, "name"))
	}
	return path
}

func (m *machine) clear(path string) {
	_ = filepath.WalkDir(m.Path(path), func(p string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(p, 0o755)
		}
		return nil
	})
	m.Must(os.RemoveAll(m.Path(path)))
}

func (m *machine) writeFile(t *rapid.T) {
	path := m.somePath(t)
	m.clear(path)
	content := rapid.SampledFrom([]string{"", "one\n", "two\n", "three", "\x00bin"}).Draw(t, "content")
	m.Must(os.WriteFile(m.Path(path), []byte(content), 0o600))
	m.Must(os.Chmod(m.Path(path), os.FileMode(rapid.SampledFrom([]int{0o644, 0o600, 0o755, 0o444}).Draw(t, "mode"))))
}

func (m *machine) symlink(t *rapid.T) {
	path := m.somePath(t)
	m.clear(path)
	m.Must(os.Symlink(rapid.SampledFrom([]string{"a", "../..", "/etc/passwd", "nowhere\n"}).Draw(t, "target"), m.Path(path)))
}

func (m *machine) mkdir(t *rapid.T) {
	path := m.somePath(t)
	m.clear(path)
	m.Must(os.Mkdir(m.Path(path), 0o755))
	m.Must(os.Chmod(m.Path(path), os.FileMode(rapid.SampledFrom([]int{0o755, 0o700, 0o1777}).Draw(t, "mode"))))
}

func (m *machine) rename(t *rapid.T) {
	from, to := m.somePath(t), m.somePath(t)
	if _, err := os.Lstat(m.Path(from)); err != nil || refs.Below(to, from) || refs.Below(from, to) {
		return
	}
	m.clear(to)
	m.Must(os.Rename(m.Path(from), m.Path(to)))
}

// captured is the listing without what no snapshot takes.
func (m *machine) captured() enginetest.Listing {
	return enginetest.List(m.T, m.Root).Without(ignoredName)
}

// ignored is the rest of it, without the directories above.
func (m *machine) ignored() enginetest.Listing {
	all, out := enginetest.List(m.T, m.Root), enginetest.Listing{}
	kept := all.Without(ignoredName)
	for p, v := range all {
		if _, ok := kept[p]; !ok {
			out[p] = v
		}
	}
	return out
}

func (m *machine) takeCheckpoint(t *rapid.T) {
	cp := m.Save("step")
	m.saved = append(m.saved, savedState{cp, m.captured()})
}

// checkout holds promises 8, 9 and 12 and the exactness of the result.
func (m *machine) checkoutSome(t *rapid.T) {
	if len(m.saved) == 0 {
		return
	}
	want := rapid.SampledFrom(m.saved).Draw(t, "checkpoint")
	exact := rapid.Bool().Draw(t, "exact")
	m.restoreTo(t, want.state, exact, func() (*restore.Result, error) {
		return m.E.Restorer.Checkout(enginetest.Bg, want.cp.ID.String(), restore.Options{Scope: refs.Scope{Exact: exact}})
	})
}

func (m *machine) restoreTo(t *rapid.T, want enginetest.Listing, exact bool, run func() (*restore.Result, error)) {
	before, ignored := enginetest.List(t, m.Root), m.ignored()
	r, err := run()
	if err != nil {
		t.Fatalf("restore: %v", err)
	}
	if len(r.Conflicts) > 0 {
		t.Fatalf("conflicts without a racing edit: %+v", r.Conflicts)
	}
	after := enginetest.List(t, m.Root)
	if d := m.ignored().Diff(ignored); d != "" {
		t.Fatalf("ignored files changed:\n%s", d)
	}
	// Whatever differs from the target is named, or holds something that is.
	named := func(path string) bool {
		for _, k := range r.Plan.Kept {
			if refs.Below(path, string(k.Path)) || refs.Below(string(k.Path), path) {
				return true
			}
		}
		for p := range ignored {
			if refs.Below(p, path) {
				return true
			}
		}
		return slices.Contains(r.KeptDirs, path)
	}
	if d := after.Without(ignoredName).Without(named).Diff(want.Without(named)); d != "" {
		t.Fatalf("the result is not the target:\n%s kept: %v", d, m.KeptNames(r))
	}
	if exact {
		for _, k := range r.Plan.Kept {
			if k.Reason == value.KeptUnsaved {
				t.Fatalf("--exact kept %q", k.Path)
			}
		}
	}
	if r.Operation == nil {
		if d := after.Diff(before); d != "" {
			t.Fatalf("no operation, but the tree changed:\n%s", d)
		}
		return
	}
	if !exact {
		for p := range before {
			_, there := after[p]
			named := strings.HasPrefix(before[p], "d") || slices.Contains(r.Plan.Yours, p)
			if !there && !named && !m.heldBefore(r, p) {
				t.Fatalf("%q is gone and not named, although no checkpoint before this command holds it", p)
			}
		}
	}
	// What was there before is in the safety checkpoint, or still there.
	for p, v := range before {
		if after[p] == v {
			continue
		}
		ent, err := tree.Lookup(m.E.Log.Objs, r.Safety.Tree, p)
		if err != nil {
			t.Fatalf("%q was changed and is not in the safety checkpoint: %v", p, err)
		}
		if model.IsFile(&ent) != !strings.HasPrefix(v, "d") {
			t.Fatalf("%q in the safety checkpoint is %c, was %s", p, ent.Type, v)
		}
	}
	if rapid.Bool().Draw(t, "undo-restore") {
		if _, err := m.E.Restorer.UndoRestore(enginetest.Bg, r.Operation.Seq, restore.Options{}); err != nil {
			t.Fatalf("undo-restore: %v", err)
		}
		if d := enginetest.List(t, m.Root).Diff(before); d != "" {
			t.Fatalf("undo-restore does not give the state before:\n%s", d)
		}
	}
}

// heldBefore reports whether a step before the restore holds a path.
func (m *machine) heldBefore(r *restore.Result, path string) bool {
	found := false
	m.Must(m.E.Log.Refs.Newest(r.Safety.Seq, func(op *refs.Operation) error {
		if op.Kind == refs.KindCheckpoint && !found {
			cp, err := m.E.Log.Checkpoint(op.Checkpoint)
			m.Must(err)
			_, err = tree.Lookup(m.E.Log.Objs, cp.Tree, path)
			found = err == nil
		}
		return nil
	}))
	return found
}

// thin has gc remove some checkpoints. What is left is as it was.
func (m *machine) thin(t *rapid.T) {
	before, ignored := enginetest.List(t, m.Root), m.ignored()
	m.Collect(gc.Options{Keep: rapid.IntRange(1, 4).Draw(t, "keep")})
	if d := enginetest.List(t, m.Root).Diff(before) + m.ignored().Diff(ignored); d != "" {
		t.Fatalf("gc changed the worktree:\n%s", d)
	}
	m.saved = slices.DeleteFunc(m.saved, func(s savedState) bool { return !m.Has(s.cp) })
}

func (m *machine) along(t *rapid.T) {
	move := m.E.Restorer.Undo
	if rapid.Bool().Draw(t, "redo") {
		move = m.E.Restorer.Redo
	}
	before := m.ignored()
	_, err := move(enginetest.Bg, rapid.IntRange(1, 3).Draw(t, "steps"), restore.Options{})
	if err != nil && !errors.Is(err, model.ErrNotFound) {
		t.Fatalf("undo or redo: %v", err)
	}
	if d := m.ignored().Diff(before); d != "" {
		t.Fatalf("ignored files changed:\n%s", d)
	}
}

// turn has an agent say something: what is unsaved becomes a step of its session, with the conversation as it is then.
func (m *machine) turn(*rapid.T) {
	m.turns++
	h := m.talk.Take(fmt.Sprint("turn ", m.turns), nil)
	if !h.Checkpoint.IsZero() {
		m.saved = append(m.saved, savedState{m.Get(h), m.captured()})
	}
}

// fork makes a session of a moment; the worktree stays, or goes there as by a checkout.
func (m *machine) fork(t *rapid.T) {
	want := rapid.SampledFrom(m.saved).Draw(t, "checkpoint")
	o := restore.Options{Env: m.Env(), DryRun: true}
	var none *model.NoConversationError
	if _, err := m.E.Restorer.Fork(enginetest.Bg, want.cp.ID.String(), o); errors.As(err, &none) {
		return
	}
	o.DryRun, o.Checkout, o.Exact = false, rapid.Bool().Draw(t, "checkout"), rapid.Bool().Draw(t, "exact")
	var f *restore.Forked
	run := func() (r *restore.Result, err error) {
		if f, err = m.E.Restorer.Fork(enginetest.Bg, want.cp.ID.String(), o); err != nil {
			return nil, err
		}
		if said, _ := m.Prompts(f.Path); len(said) == 0 || said[0] != "turn 1" {
			t.Fatalf("the fork says %q", said)
		}
		return f.Restore, nil
	}
	if o.Checkout {
		m.restoreTo(t, want.state, o.Exact, run)
		return
	}
	before := enginetest.List(t, m.Root)
	if _, err := run(); err != nil {
		t.Fatalf("fork: %v", err)
	}
	if d := enginetest.List(t, m.Root).Diff(before); d != "" {
		t.Fatalf("a fork changed the worktree:\n%s", d)
	}
}

// reopenSome makes sure that nothing lives in the process alone.
func (m *machine) reopenSome(*rapid.T) { m.Reopen() }

// crash has the process die where it stands: what it has written is there, and nobody has closed the store.
func (m *machine) crash(*rapid.T) {
	left := m.FS.Clone(100, 0)
	m.Close() // the one that died: it writes where nobody looks any more
	m.FS = left
	var err error
	m.E, err = engine.Open(enginetest.Bg, m.Home, m.Root, m.Options())
	m.Must(err)
}

// TestT20ModelRestore is promises 8, 9, 12 and 13 over random trees with hostile names, an agent's turns, forks, gc and
// crashes: a checkout gives the tree back byte for byte and mode for mode, but for the paths it names; undo-restore
// gives the state before it back exactly.
func TestT20ModelRestore(t *testing.T) {
	dir := t.TempDir()
	run, size := 0, torture.Begin(t)
	enginetest.CheckFor(t, size, func(t *rapid.T) {
		run++
		base := filepath.Join(dir, fmt.Sprint(run))
		root := filepath.Join(base, "project")
		if err := os.MkdirAll(root, 0o755); err != nil {
			t.Fatal(err)
		}
		m := &machine{dir: base}
		m.Project = enginetest.OpenProject(t, root, filepath.Join(base, "home"))
		defer func() {
			m.Close()
			m.clear("")
			_ = os.RemoveAll(base)
		}()
		m.Set("gc.grace", "0s")
		m.talk = m.Talker(1)
		m.Must(os.WriteFile(m.Path(".rewindignore"), []byte("*.log\n"), 0o644))
		m.takeCheckpoint(t)
		t.Repeat(map[string]func(*rapid.T){
			"write":    m.writeFile,
			"write2":   m.writeFile,
			"symlink":  m.symlink,
			"mkdir":    m.mkdir,
			"remove":   func(t *rapid.T) { m.clear(m.somePath(t)) },
			"rename":   m.rename,
			"save":     m.takeCheckpoint,
			"checkout": m.checkoutSome,
			"along":    m.along,
			"gc":       m.thin,
			"turn":     m.turn,
			"fork":     m.fork,
			"reopen":   m.reopenSome,
			"crash":    m.crash,
		})
		n, err := m.E.Checker.Verify(enginetest.Bg, true, nil, func(err error) { t.Fatalf("verify: %v", err) })
		if err != nil || n.Checked == 0 {
			t.Fatalf("verify: %v, %v", n, err)
		}
	})
}
