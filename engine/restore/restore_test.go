package restore_test

import (
	"errors"
	"os"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/restore"
	"rewind/refs"
	"rewind/tree"
)

// A path that H does not have stays with KeepMine, and is named; else it goes, and comes back with undo-restore.
func TestCheckoutKeepsWhatNoCheckpointHolds(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("a", "1")
	one := p.Save("one")
	p.Write("a", "2")
	p.Write("b", "b")
	two := p.Save("two")
	p.Write("new", "n")
	p.Write("dir/new", "n")

	r := p.Checkout(one.ID.String(), restore.Options{KeepMine: true})
	kept := []string{"session a", "session b", "session dir", "session new"}
	enginetest.Equal(t, "kept", p.KeptNames(r), kept)
	r = p.Checkout(two.ID.String(), restore.Options{DryRun: true, KeepMine: true})
	if r.Operation != nil {
		t.Error("a dry run made an operation")
	}
	// A second checkout keeps them too: a safety checkpoint does not make them known.
	r = p.Checkout(one.ID.String(), restore.Options{KeepMine: true})
	enginetest.Equal(t, "kept again", p.KeptNames(r), kept)

	before := enginetest.List(t, p.Root)
	p.Checkout(one.ID.String(), restore.Options{Scope: refs.Scope{Exact: true}})
	if _, err := os.Lstat(p.Path("dir")); err == nil {
		t.Error("--exact left dir")
	}
	if _, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{KeepMine: true}); err != nil {
		t.Fatal(err)
	}
	p.WantTree(before)
}

// Going back and forth leaves nothing of the one state in the other.
func TestCheckoutBackAndForth(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("only-one", "1")
	p.Write("x/y/z", "1")
	one := p.Save("one")
	first := enginetest.List(t, p.Root)
	p.Remove("only-one", "x")
	p.Write("x", "now a file")
	p.Write("only-two/f", "2")
	two := p.Save("two")
	second := enginetest.List(t, p.Root)
	for range 3 {
		p.Checkout(one.ID.String(), restore.Options{})
		p.WantTree(first)
		p.Checkout(two.ID.String(), restore.Options{})
		p.WantTree(second)
	}
}

// A file changed since H is replaced, named, and its bytes are in the safety checkpoint.
func TestPromise08ReplacedFilesAreInTheSafetyCheckpoint(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("a", "one")
	one := p.Save("one")
	p.Write("a", "two")
	two := p.Save("two")
	p.Write("a", "unsaved")
	r := p.Checkout(one.ID.String(), restore.Options{})
	enginetest.Equal(t, "replaced", r.Plan.Replaced, []string{"a"})
	if got := p.Cat(r.Safety, "a"); got != "unsaved" {
		t.Errorf("the safety checkpoint has %q", got)
	}
	// What a restore laid out is in a checkpoint: nothing to name.
	if r = p.Checkout(two.ID.String(), restore.Options{}); len(r.Plan.Replaced) != 0 {
		t.Errorf("replaced: %q", r.Plan.Replaced)
	}
}

// Ignored files survive everything; one that the checkpoint holds is replaced, and stored whole first.
func TestCheckoutAndIgnoredFiles(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("build/out", "captured before it was ignored")
	p.Write("src", "1")
	one := p.Save("one")
	p.Write(".gitignore", "build/\n*.log\n")
	p.Write("a.log", "log")
	p.Write("build/other", "o")
	p.Save("two")
	p.Write("build/out", "rebuilt")
	p.Write("src", "2")
	p.Save("three")
	r := p.Checkout(one.ID.String(), restore.Options{Scope: refs.Scope{Exact: true}})
	for name, want := range map[string]string{
		"a.log": "log", "build/other": "o", "build/out": "captured before it was ignored",
		"src": "1",
	} {
		if b, err := os.ReadFile(p.Path(name)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v; want %q", name, b, err, want)
		}
	}
	if got := p.Cat(r.Safety, "build/out"); got != "rebuilt" {
		t.Errorf("the safety checkpoint has %q of the ignored file", got)
	}
	if _, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{}); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(p.Path("build/out")); string(b) != "rebuilt" {
		t.Errorf("after undo-restore the ignored file has %q", b)
	}
}

// A secret file is never overwritten unless its bytes may be stored: refused, and nothing is touched.
func TestCheckoutRefusesToOverwriteSecrets(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Must(project.SetConfig(p.Home, p.Root, "secrets.store", []string{"true"}))
	p.Reopen()
	p.Write(".env", "KEY=1")
	p.Write("a", "1")
	one := p.Save("one")
	p.Must(project.SetConfig(p.Home, p.Root, "secrets.store", []string{"false"}))
	p.Reopen()
	p.Write(".env", "KEY=2")
	p.Write("a", "2")
	p.Save("two")
	before := enginetest.List(t, p.Root)
	ops, err := p.E.History.Operations(enginetest.Bg, 0, history.Every)
	p.Must(err)
	_, err = p.E.Restorer.Checkout(enginetest.Bg, one.ID.String(), restore.Options{})
	var unsaved *model.UnsavedError
	if !errors.As(err, &unsaved) || unsaved.Paths[0] != (model.Blocked{Path: ".env", Reason: tree.ReasonSecret}) {
		t.Fatalf("got %v", err)
	}
	p.WantTree(before)
	if now, _ := p.E.History.Operations(enginetest.Bg, 0, history.Every); len(now) != len(ops) {
		t.Error("a refused checkout left an operation")
	}
	p.Checkout(one.ID.String(), restore.Options{Scope: refs.Scope{Paths: []string{"a"}}})
	if b, _ := os.ReadFile(p.Path(".env")); string(b) != "KEY=2" {
		t.Errorf(".env is %q", b)
	}
}

// The same below a directory that is ignored now; once secrets may be stored it goes, and comes back.
func TestCheckoutRefusesToOverwriteIgnoredSecrets(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Set("secrets.store", "true")
	p.Reopen()
	for _, path := range []string{"conf/b/.env", "conf/a.pem", "conf/plain"} {
		p.Write(path, "then")
	}
	one := p.Save("one")
	p.Set("secrets.store", "false")
	p.Reopen()
	p.Write(".gitignore", "conf/\n")
	for _, path := range []string{"conf/b/.env", "conf/a.pem", "conf/plain"} {
		p.Write(path, "now")
	}
	p.Save("two")
	before := enginetest.List(t, p.Root)
	_, err := p.E.Restorer.Checkout(enginetest.Bg, one.ID.String(), restore.Options{})
	var unsaved *model.UnsavedError
	if !errors.As(err, &unsaved) {
		t.Fatalf("got %v", err)
	}
	enginetest.Equal(t, "refused", unsaved.Paths, []model.Blocked{
		{Path: "conf/a.pem", Reason: tree.ReasonSecret}, {Path: "conf/b/.env", Reason: tree.ReasonSecret},
	})
	p.WantTree(before)
	p.Set("secrets.store", "true")
	p.Reopen()
	p.Checkout(one.ID.String(), restore.Options{})
	if p.Read("conf/b/.env") != "then" || p.Read("conf/plain") != "then" {
		t.Errorf("%q, %q", p.Read("conf/b/.env"), p.Read("conf/plain"))
	}
	_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
	p.Must(err)
	p.WantTree(before)
}

// A file over the size limit that is in the way is stored whole first.
func TestCheckoutStoresFilesOverTheLimitWhole(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("big", "small")
	one := p.Save("one")
	p.Must(project.SetConfig(p.Home, p.Root, "limits.file_size", []string{"10B"}))
	p.Reopen()
	p.Write("big", "more than ten bytes")
	p.Write("a", "1")
	two := p.Save("two")
	skips, err := p.E.Log.Note(two)
	p.Must(err)
	found := false
	for _, s := range skips {
		found = found || s.Path == "big" && s.Reason == tree.ReasonSize
	}
	if !found {
		t.Fatalf("big is not noted: %v", skips)
	}
	r := p.Checkout(one.ID.String(), restore.Options{})
	if got := p.Cat(r.Safety, "big"); got != "more than ten bytes" {
		t.Errorf("the safety checkpoint has %q", got)
	}
}

// A directory that still holds ignored files cannot become a file: both stay as they are, and it is named.
func TestCheckoutNamesWhatIsInTheWay(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("x", "a file")
	one := p.Save("one")
	p.Remove("x")
	p.Write("x/keep.log", "ignored")
	p.Write("x/f", "captured")
	p.Write(".gitignore", "*.log\n")
	p.Save("two")
	r := p.Checkout(one.ID.String(), restore.Options{Scope: refs.Scope{Exact: true}})
	enginetest.Equal(t, "kept", p.KeptNames(r), []string{"occupied x"})
	if b, _ := os.ReadFile(p.Path("x/keep.log")); string(b) != "ignored" {
		t.Errorf("the ignored file is %q", b)
	}
	// The other way round: a new file stands where the checkpoint has a directory.
	p = enginetest.NewProject(t)
	p.Write("d/f", "1")
	one = p.Save("one")
	p.Remove("d")
	p.Write("other", "1")
	p.Save("two")
	p.Write("d", "a new file")
	r = p.Checkout(one.ID.String(), restore.Options{KeepMine: true})
	enginetest.Equal(t, "kept", p.KeptNames(r), []string{"session d", "session d/f", "session other"})
	if b, _ := os.ReadFile(p.Path("d")); string(b) != "a new file" {
		t.Errorf("the new file is %q", b)
	}
}

func TestCheckoutPaths(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("d/a", "1")
	p.Write("d/b", "1")
	p.Write("c", "1")
	one := p.Save("one")
	p.Write("d/a", "2")
	p.Remove("d/b")
	p.Write("d/new", "2")
	p.Write("c", "2")
	two := p.Save("two")
	r := p.Checkout(one.ID.String(), restore.Options{Scope: refs.Scope{Paths: []string{"d/"}}})
	want := enginetest.Listing{}
	for k, v := range enginetest.List(t, p.Root) {
		want[k] = v
	}
	if _, ok := want["d/new"]; ok {
		t.Error("d/new is still there although two holds it")
	}
	if cur, _ := p.E.Sessions.Current(model.Manual); cur.ID != two.ID {
		t.Error("a checkout of paths moved the cursor")
	}
	enginetest.Equal(t, "paths", r.Operation.Restore.Paths, []string{"d"})
	var missing *model.PathError
	if _, err := p.E.Restorer.Checkout(enginetest.Bg, one.ID.String(),
		restore.Options{Scope: refs.Scope{Paths: []string{"c", "nope"}}}); !errors.As(err, &missing) || missing.Path != "nope" {
		t.Errorf("a path that is not there: %v", err)
	}
	for _, bad := range []string{"../x", "/etc/passwd", "a/../../x", "a\x00b"} {
		if _, err := p.E.Restorer.Checkout(enginetest.Bg, one.ID.String(),
			restore.Options{Scope: refs.Scope{Paths: []string{bad}}}); !errors.Is(err, model.ErrUsage) {
			t.Errorf("path %q: %v", bad, err)
		}
	}
	if _, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{}); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(p.Path("d/new")); string(b) != "2" {
		t.Errorf("after undo-restore d/new is %q", b)
	}
}

// undo walks back over steps, saves unsaved changes as a step, and redo goes forward again.
func TestUndoRedo(t *testing.T) {
	p := enginetest.NewProject(t)
	states := []enginetest.Listing{}
	for _, s := range []string{"1", "2", "3"} {
		p.Write("f", s)
		p.Save(s)
		states = append(states, enginetest.List(t, p.Root))
	}
	p.Write("f", "unsaved")
	p.Write("new", "kept all along")
	undo := func(n int) *restore.Result {
		t.Helper()
		r, err := p.E.Restorer.Undo(enginetest.Bg, n, restore.Options{})
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
		if d := enginetest.List(t, p.Root).Without(isNew).Diff(states[i]); d != "" {
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
	if _, err := p.E.Restorer.Undo(enginetest.Bg, 1, restore.Options{}); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("undo before the first step: %v", err)
	}
	if _, err := p.E.Restorer.Redo(enginetest.Bg, 2, restore.Options{}); err != nil {
		t.Fatal(err)
	}
	at(2)
	if _, err := p.E.Restorer.Redo(enginetest.Bg, 1, restore.Options{}); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(p.Path("f")); string(b) != "unsaved" {
		t.Errorf("redo to the end gives %q", b)
	}
	if b, _ := os.ReadFile(p.Path("new")); string(b) != "kept all along" {
		t.Errorf("the new file is %q", b)
	}
	undo(2)
	at(1)
	p.Write("f", "another way")
	p.Save("ends the redo line")
	if _, err := p.E.Restorer.Redo(enginetest.Bg, 1, restore.Options{}); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("redo after a new step: %v", err)
	}
}

// A session that was moved and has made no step has no tip: nothing is ahead of it, which is no damage.
func TestNothingIsAheadWithoutATip(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "1")
	first := p.Save("1")
	p.Write("f", "2")
	p.Save("2")
	if line, err := p.E.Restorer.Ahead("claude/moved", first.ID, nil); err != nil || len(line) != 0 {
		t.Errorf("%d steps, %v", len(line), err)
	}
	if line, err := p.E.Restorer.Ahead(model.Manual, first.ID, nil); err != nil || len(line) != 1 {
		t.Errorf("with a tip: %d steps, %v", len(line), err)
	}
}

// undo-restore reverts any restore, goes deeper when repeated, and can itself be reverted.
func TestUndoRestoreAtAnyDepth(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "0")
	p.Save("0")
	var states []enginetest.Listing
	var ops []uint64
	saved := map[string]*model.Checkpoint{}
	for _, s := range []string{"1", "2", "3", "4", "5"} {
		p.Write("f", s)
		p.Write("g"+s, s)
		saved[s] = p.Save(s)
	}
	for _, s := range []string{"2", "4", "1", "3", "1"} {
		states = append(states, enginetest.List(t, p.Root))
		r := p.Checkout(saved[s].ID.String(), restore.Options{Scope: refs.Scope{Exact: true}})
		ops = append(ops, r.Operation.Seq)
	}
	var last *restore.Result
	for i := len(states) - 1; i >= 0; i-- {
		r, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Operation.Restore.Undoes != ops[i] {
			t.Fatalf("reverted operation %d, want %d", r.Operation.Restore.Undoes, ops[i])
		}
		p.WantTree(states[i])
		last = r
	}
	if _, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{}); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("nothing left: %v", err)
	}
	if _, err := p.E.Restorer.UndoRestore(enginetest.Bg, last.Operation.Seq, restore.Options{}); err != nil {
		t.Fatal(err)
	}
	p.WantTree(states[1])
	// The first restore is in effect again.
	r, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
	if err != nil || r.Operation.Restore.Undoes != ops[0] {
		t.Fatalf("%v, %v", r, err)
	}
	for _, seq := range []uint64{1, 2} {
		if _, err := p.E.Restorer.UndoRestore(enginetest.Bg, seq, restore.Options{}); !errors.Is(err, model.ErrUsage) {
			t.Errorf("operation %d: %v", seq, err)
		}
	}
	if _, err := p.E.Restorer.UndoRestore(enginetest.Bg, 99999, restore.Options{}); !errors.Is(err, refs.ErrNotFound) {
		t.Errorf("no such operation: %v", err)
	}
}

func TestSaveUnchangedMakesNoCheckpoint(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "1")
	one := p.Save("one")
	r, err := p.E.Worktree.Save(enginetest.Bg, "", "again", nil)
	if err != nil || !r.Unchanged || r.Checkpoint.ID != one.ID {
		t.Fatalf("%+v, %v", r, err)
	}
	p.Write("f", "2")
	p.Save("two")
	p.Write("f", "1")
	if back := p.Save("back"); back.Tree != one.Tree || back.ID == one.ID {
		t.Error("a state that was there before is a step of its own with the same tree")
	}
}

// A secret file's content is not stored, but that it changed is a step of its own.
func TestSaveRecordsThatASecretChanged(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write(".env", "KEY=1")
	p.Write("a", "1")
	one := p.Save("one")
	p.Write(".env", "KEY=2")
	two := p.Save("two")
	if two.ID == one.ID || two.Tree != one.Tree {
		t.Fatalf("%+v", two)
	}
	s, err := p.E.History.Show(enginetest.Bg, "@", nil)
	if err != nil || !s.Secrets[".env"] {
		t.Fatalf("%+v, %v", s, err)
	}
	if again := p.Save("three"); again.ID != two.ID {
		t.Error("nothing changed, but there is a new checkpoint")
	}
	p.Remove(".env")
	if gone := p.Save("four"); gone.ID == two.ID {
		t.Error("the secret is gone, but there is no checkpoint")
	}
}
