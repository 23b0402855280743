package engine

import (
	"context"
	"errors"
	"os"
	"testing"

	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/restore"
	"rewind/refs"
	"rewind/tree"
)

var bg = context.Background()

// A path that H does not have is kept and named; --exact takes it, and it comes back with undo-restore.
func TestCheckoutKeepsWhatNoCheckpointHolds(t *testing.T) {
	p := newProject(t)
	p.write("a", "1")
	one := p.save("one")
	p.write("a", "2")
	p.write("b", "b")
	two := p.save("two")
	p.write("new", "n")
	p.write("dir/new", "n")

	r := p.checkout(one.ID.String(), restore.Options{})
	equal(t, "kept", p.keptNames(r), []string{"new dir", "new new"})
	if _, err := os.Lstat(p.path("b")); err == nil {
		t.Error("b is still there although two holds it and one does not")
	}
	r = p.checkout(two.ID.String(), restore.Options{DryRun: true})
	if r.Operation != nil {
		t.Error("a dry run made an operation")
	}
	// A second checkout keeps them too: a safety checkpoint does not make them known.
	r = p.checkout(one.ID.String(), restore.Options{})
	equal(t, "kept again", p.keptNames(r), []string{"new dir", "new new"})

	before := list(t, p.root)
	p.checkout(one.ID.String(), restore.Options{Scope: refs.Scope{Exact: true}})
	if _, err := os.Lstat(p.path("dir")); err == nil {
		t.Error("--exact left dir")
	}
	if _, err := p.e.Restorer.UndoRestore(bg, 0, restore.Options{}); err != nil {
		t.Fatal(err)
	}
	p.wantTree(before)
}

// Going back and forth leaves nothing of the one state in the other.
func TestCheckoutBackAndForth(t *testing.T) {
	p := newProject(t)
	p.write("only-one", "1")
	p.write("x/y/z", "1")
	one := p.save("one")
	first := list(t, p.root)
	p.remove("only-one", "x")
	p.write("x", "now a file")
	p.write("only-two/f", "2")
	two := p.save("two")
	second := list(t, p.root)
	for range 3 {
		p.checkout(one.ID.String(), restore.Options{})
		p.wantTree(first)
		p.checkout(two.ID.String(), restore.Options{})
		p.wantTree(second)
	}
}

// A file changed since H is replaced, named, and its bytes are in the safety checkpoint.
func TestPromise08ReplacedFilesAreInTheSafetyCheckpoint(t *testing.T) {
	p := newProject(t)
	p.write("a", "one")
	one := p.save("one")
	p.write("a", "two")
	two := p.save("two")
	p.write("a", "unsaved")
	r := p.checkout(one.ID.String(), restore.Options{})
	equal(t, "replaced", r.Plan.Replaced, []string{"a"})
	if got := p.cat(r.Safety, "a"); got != "unsaved" {
		t.Errorf("the safety checkpoint has %q", got)
	}
	// What a restore laid out is in a checkpoint: nothing to name.
	if r = p.checkout(two.ID.String(), restore.Options{}); len(r.Plan.Replaced) != 0 {
		t.Errorf("replaced: %q", r.Plan.Replaced)
	}
}

// Ignored files survive everything; one that the checkpoint holds is replaced, and stored whole first.
func TestCheckoutAndIgnoredFiles(t *testing.T) {
	p := newProject(t)
	p.write("build/out", "captured before it was ignored")
	p.write("src", "1")
	one := p.save("one")
	p.write(".gitignore", "build/\n*.log\n")
	p.write("a.log", "log")
	p.write("build/other", "o")
	p.save("two")
	p.write("build/out", "rebuilt")
	p.write("src", "2")
	p.save("three")
	r := p.checkout(one.ID.String(), restore.Options{Scope: refs.Scope{Exact: true}})
	for name, want := range map[string]string{"a.log": "log", "build/other": "o", "build/out": "captured before it was ignored", "src": "1"} {
		if b, err := os.ReadFile(p.path(name)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v; want %q", name, b, err, want)
		}
	}
	if got := p.cat(r.Safety, "build/out"); got != "rebuilt" {
		t.Errorf("the safety checkpoint has %q of the ignored file", got)
	}
	if _, err := p.e.Restorer.UndoRestore(bg, 0, restore.Options{}); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(p.path("build/out")); string(b) != "rebuilt" {
		t.Errorf("after undo-restore the ignored file has %q", b)
	}
}

// A secret file is never overwritten unless its bytes may be stored: refused, and nothing is touched.
func TestCheckoutRefusesToOverwriteSecrets(t *testing.T) {
	p := newProject(t)
	p.must(project.SetConfig(p.home, p.root, "secrets.store", []string{"true"}))
	p.reopen()
	p.write(".env", "KEY=1")
	p.write("a", "1")
	one := p.save("one")
	p.must(project.SetConfig(p.home, p.root, "secrets.store", []string{"false"}))
	p.reopen()
	p.write(".env", "KEY=2")
	p.write("a", "2")
	p.save("two")
	before := list(t, p.root)
	ops, err := p.e.History.Operations(bg, 0, true)
	p.must(err)
	_, err = p.e.Restorer.Checkout(bg, one.ID.String(), restore.Options{})
	var unsaved *model.UnsavedError
	if !errors.As(err, &unsaved) || unsaved.Paths[0] != (model.Blocked{Path: ".env", Reason: tree.ReasonSecret}) {
		t.Fatalf("got %v", err)
	}
	p.wantTree(before)
	if now, _ := p.e.History.Operations(bg, 0, true); len(now) != len(ops) {
		t.Error("a refused checkout left an operation")
	}
	p.checkout(one.ID.String(), restore.Options{Scope: refs.Scope{Paths: []string{"a"}}})
	if b, _ := os.ReadFile(p.path(".env")); string(b) != "KEY=2" {
		t.Errorf(".env is %q", b)
	}
}

func (p *fixture) reopen() {
	p.t.Helper()
	p.close()
	e, err := Open(bg, p.home, p.root, p.options())
	p.must(err)
	p.e = e
}

// A file over the size limit that is in the way is stored whole first.
func TestCheckoutStoresFilesOverTheLimitWhole(t *testing.T) {
	p := newProject(t)
	p.write("big", "small")
	one := p.save("one")
	p.must(project.SetConfig(p.home, p.root, "limits.file_size", []string{"10B"}))
	p.reopen()
	p.write("big", "more than ten bytes")
	p.write("a", "1")
	two := p.save("two")
	skips, err := p.e.Log.Note(two)
	p.must(err)
	found := false
	for _, s := range skips {
		found = found || s.Path == "big" && s.Reason == tree.ReasonSize
	}
	if !found {
		t.Fatalf("big is not noted: %v", skips)
	}
	r := p.checkout(one.ID.String(), restore.Options{})
	if got := p.cat(r.Safety, "big"); got != "more than ten bytes" {
		t.Errorf("the safety checkpoint has %q", got)
	}
}

// A directory that still holds ignored files cannot become a file: both stay as they are, and it is named.
func TestCheckoutNamesWhatIsInTheWay(t *testing.T) {
	p := newProject(t)
	p.write("x", "a file")
	one := p.save("one")
	p.remove("x")
	p.write("x/keep.log", "ignored")
	p.write("x/f", "captured")
	p.write(".gitignore", "*.log\n")
	p.save("two")
	r := p.checkout(one.ID.String(), restore.Options{Scope: refs.Scope{Exact: true}})
	equal(t, "kept", p.keptNames(r), []string{"occupied x"})
	if b, _ := os.ReadFile(p.path("x/keep.log")); string(b) != "ignored" {
		t.Errorf("the ignored file is %q", b)
	}
	// The other way round: a new file stands where the checkpoint has a directory.
	p = newProject(t)
	p.write("d/f", "1")
	one = p.save("one")
	p.remove("d")
	p.write("other", "1")
	p.save("two")
	p.write("d", "a new file")
	r = p.checkout(one.ID.String(), restore.Options{})
	equal(t, "kept", p.keptNames(r), []string{"new d", "below d/f"})
	if b, _ := os.ReadFile(p.path("d")); string(b) != "a new file" {
		t.Errorf("the new file is %q", b)
	}
}

func TestCheckoutPaths(t *testing.T) {
	p := newProject(t)
	p.write("d/a", "1")
	p.write("d/b", "1")
	p.write("c", "1")
	one := p.save("one")
	p.write("d/a", "2")
	p.remove("d/b")
	p.write("d/new", "2")
	p.write("c", "2")
	two := p.save("two")
	r := p.checkout(one.ID.String(), restore.Options{Scope: refs.Scope{Paths: []string{"d/"}}})
	want := listing{}
	for k, v := range list(t, p.root) {
		want[k] = v
	}
	if _, ok := want["d/new"]; ok {
		t.Error("d/new is still there although two holds it")
	}
	if cur, _ := p.e.Sessions.Current(model.Manual); cur.ID != two.ID {
		t.Error("a checkout of paths moved the cursor")
	}
	equal(t, "paths", r.Operation.Restore.Paths, []string{"d"})
	var missing *model.PathError
	if _, err := p.e.Restorer.Checkout(bg, one.ID.String(), restore.Options{Scope: refs.Scope{Paths: []string{"c", "nope"}}}); !errors.As(err, &missing) || missing.Path != "nope" {
		t.Errorf("a path that is not there: %v", err)
	}
	for _, bad := range []string{"../x", "/etc/passwd", "a/../../x", "a\x00b"} {
		if _, err := p.e.Restorer.Checkout(bg, one.ID.String(), restore.Options{Scope: refs.Scope{Paths: []string{bad}}}); !errors.Is(err, model.ErrUsage) {
			t.Errorf("path %q: %v", bad, err)
		}
	}
	if _, err := p.e.Restorer.UndoRestore(bg, 0, restore.Options{}); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(p.path("d/new")); string(b) != "2" {
		t.Errorf("after undo-restore d/new is %q", b)
	}
}

// undo walks back over steps, saves unsaved changes as a step, and redo goes forward again.
func TestUndoRedo(t *testing.T) {
	p := newProject(t)
	states := []listing{}
	for _, s := range []string{"1", "2", "3"} {
		p.write("f", s)
		p.save(s)
		states = append(states, list(t, p.root))
	}
	p.write("f", "unsaved")
	p.write("new", "kept all along")
	undo := func(n int) *restore.Result {
		t.Helper()
		r, err := p.e.Restorer.Undo(bg, n, restore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := undo(1); r.Saved == nil {
		t.Error("unsaved changes were not saved")
	}
	isNew := func(path string) bool { return path == "new" }
	at := func(i int) {
		t.Helper()
		if d := list(t, p.root).without(isNew).diff(states[i]); d != "" {
			t.Fatalf("not at state %d:\n%s", i, d)
		}
	}
	at(2)
	if r := undo(1); r.Saved != nil {
		t.Error("a new file alone made a step")
	}
	at(1)
	undo(1)
	at(0)
	if _, err := p.e.Restorer.Undo(bg, 1, restore.Options{}); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("undo before the first step: %v", err)
	}
	if _, err := p.e.Restorer.Redo(bg, 2, restore.Options{}); err != nil {
		t.Fatal(err)
	}
	at(2)
	if _, err := p.e.Restorer.Redo(bg, 1, restore.Options{}); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(p.path("f")); string(b) != "unsaved" {
		t.Errorf("redo to the end gives %q", b)
	}
	if b, _ := os.ReadFile(p.path("new")); string(b) != "kept all along" {
		t.Errorf("the new file is %q", b)
	}
	undo(2)
	at(1)
	p.write("f", "another way")
	p.save("ends the redo line")
	if _, err := p.e.Restorer.Redo(bg, 1, restore.Options{}); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("redo after a new step: %v", err)
	}
}

// A session that was moved and has made no step has no tip: nothing is ahead of it, which is no damage.
func TestNothingIsAheadWithoutATip(t *testing.T) {
	p := newProject(t)
	p.write("f", "1")
	first := p.save("1")
	p.write("f", "2")
	p.save("2")
	if line, err := p.e.Restorer.Ahead("claude/moved", first.ID, nil); err != nil || len(line) != 0 {
		t.Errorf("%d steps, %v", len(line), err)
	}
	if line, err := p.e.Restorer.Ahead(model.Manual, first.ID, nil); err != nil || len(line) != 1 {
		t.Errorf("with a tip: %d steps, %v", len(line), err)
	}
}

// undo-restore reverts any restore, goes deeper when repeated, and can itself be reverted.
func TestUndoRestoreAtAnyDepth(t *testing.T) {
	p := newProject(t)
	p.write("f", "0")
	p.save("0")
	var states []listing
	var ops []uint64
	for _, s := range []string{"1", "2", "3", "4", "5"} {
		p.write("f", s)
		p.write("g"+s, s)
		p.save(s)
		states = append(states, list(t, p.root))
		r := p.checkout("@~1", restore.Options{Scope: refs.Scope{Exact: true}})
		ops = append(ops, r.Operation.Seq)
	}
	var last *restore.Result
	for i := len(states) - 1; i >= 0; i-- {
		r, err := p.e.Restorer.UndoRestore(bg, 0, restore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Operation.Restore.Undoes != ops[i] {
			t.Fatalf("reverted operation %d, want %d", r.Operation.Restore.Undoes, ops[i])
		}
		p.wantTree(states[i])
		last = r
	}
	if _, err := p.e.Restorer.UndoRestore(bg, 0, restore.Options{}); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("nothing left: %v", err)
	}
	if _, err := p.e.Restorer.UndoRestore(bg, last.Operation.Seq, restore.Options{}); err != nil {
		t.Fatal(err)
	}
	p.wantTree(states[1])
	// The first restore is in effect again.
	r, err := p.e.Restorer.UndoRestore(bg, 0, restore.Options{})
	if err != nil || r.Operation.Restore.Undoes != ops[0] {
		t.Fatalf("%v, %v", r, err)
	}
	for _, seq := range []uint64{1, 2} {
		if _, err := p.e.Restorer.UndoRestore(bg, seq, restore.Options{}); !errors.Is(err, model.ErrUsage) {
			t.Errorf("operation %d: %v", seq, err)
		}
	}
	if _, err := p.e.Restorer.UndoRestore(bg, 99999, restore.Options{}); !errors.Is(err, refs.ErrNotFound) {
		t.Errorf("no such operation: %v", err)
	}
}

func TestSaveUnchangedMakesNoCheckpoint(t *testing.T) {
	p := newProject(t)
	p.write("f", "1")
	one := p.save("one")
	r, err := p.e.Worktree.Save(bg, "", "again", nil)
	if err != nil || !r.Unchanged || r.Checkpoint.ID != one.ID {
		t.Fatalf("%+v, %v", r, err)
	}
	p.write("f", "2")
	p.save("two")
	p.write("f", "1")
	if back := p.save("back"); back.Tree != one.Tree || back.ID == one.ID {
		t.Error("a state that was there before is a step of its own with the same tree")
	}
}

// A secret file's content is not stored, but that it changed is a step of its own.
func TestSaveRecordsThatASecretChanged(t *testing.T) {
	p := newProject(t)
	p.write(".env", "KEY=1")
	p.write("a", "1")
	one := p.save("one")
	p.write(".env", "KEY=2")
	two := p.save("two")
	if two.ID == one.ID || two.Tree != one.Tree {
		t.Fatalf("%+v", two)
	}
	s, err := p.e.History.Show(bg, "@", nil)
	if err != nil || !s.Secrets[".env"] {
		t.Fatalf("%+v, %v", s, err)
	}
	if again := p.save("three"); again.ID != two.ID {
		t.Error("nothing changed, but there is a new checkpoint")
	}
	p.remove(".env")
	if gone := p.save("four"); gone.ID == two.ID {
		t.Error("the secret is gone, but there is no checkpoint")
	}
}
