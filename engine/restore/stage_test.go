package restore_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/project"
	"rewind/engine/restore"
	"rewind/internal/worktreefs"
	"rewind/internal/worktreefs/faultfs"
)

// leftovers are the files in all stages of a project.
func leftovers(p *enginetest.Project) (out []string) {
	p.T.Helper()
	root, err := p.E.Log.Root()
	p.Must(err)
	defer root.Close()
	list, err := p.E.Restorer.StageDirs(root)
	p.Must(err)
	for _, dir := range list {
		files, err := dir.Leftovers()
		p.Must(err)
		out = append(out, files...)
		dir.Close()
	}
	slices.Sort(out)
	return out
}

// Where the marker's directory cannot be made, a restore has its stage in Home, also one that is carried on, and leaves
// none there.
func TestStageInHome(t *testing.T) {
	t.Parallel()
	p, _ := enginetest.TwoTurns(t)
	stages := p.Home.StageDir(p.E.Project().ID)
	p.Remove(filepath.Dir(project.MarkerDir))
	p.Write(filepath.Dir(project.MarkerDir), "a person's file")
	j := p.Crashed("turn:1", restore.Options{CodeOnly: true}, false, 0)
	there := func(what string, want bool) {
		t.Helper()
		if _, err := os.Lstat(filepath.Join(stages, j.Stage)); (err == nil) != want {
			t.Errorf("%s: the stage: %v", what, err)
		}
	}
	there("begun", true)
	p.Reopen()
	p.E.Restorer.DropEmptyStages()
	there("half done", true)
	_, err := p.E.Restorer.Continue(enginetest.Bg, p.Env())
	p.Must(err)
	there("done", false)
	if _, err := os.Lstat(stages); !errors.Is(err, os.ErrNotExist) || p.Read("f") != enginetest.Big("1") {
		t.Errorf("stages are left in Home: %v; f is %.3q", err, p.Read("f"))
	}
	kept := filepath.Join(stages, restore.NewStageName(), "bytes")
	p.Must(os.MkdirAll(filepath.Dir(kept), 0o700))
	p.Must(os.WriteFile(kept, []byte("of a racing edit"), 0o600))
	p.Checkout("turn:2", restore.Options{})
	enginetest.Equal(t, "leftovers", leftovers(p), []string{kept})
}

// What restores left in their stages is listed, in Home and in the project; what is no stage is not, and neither are
// stages of a project that the marker does not name.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	home, here := p.Home.StageDir(p.E.Project().ID), p.Path(project.MarkerDir+"/"+project.MarkerStage)
	enginetest.Equal(t, "none", leftovers(p), nil)
	op := restore.NewStageName()
	for _, dir := range []string{home, here} {
		p.Must(os.MkdirAll(filepath.Join(dir, op), 0o700))
		p.Must(os.MkdirAll(filepath.Join(dir, restore.NewStageName()), 0o700))
		p.Must(os.WriteFile(filepath.Join(dir, op, "a"), []byte("1"), 0o600))
		p.Must(os.WriteFile(filepath.Join(dir, op, "b"), []byte("2"), 0o600))
		p.Must(os.WriteFile(filepath.Join(dir, "a file"), []byte("no stage"), 0o600))
	}
	in := project.MarkerDir + "/" + project.MarkerStage + "/" + op
	ofHome := []string{filepath.Join(home, op, "a"), filepath.Join(home, op, "b")}
	enginetest.Equal(t, "left", leftovers(p), append([]string{in + "/a", in + "/b"}, ofHome...))

	p.E.Log.Lock() // a restore is under way
	p.E.Restorer.DropEmptyStages()
	p.E.Log.Unlock()
	if list, err := os.ReadDir(here); err != nil || len(list) != 3 {
		t.Errorf("while the log is held: %v, %v", list, err)
	}
	p.E.Restorer.DropEmptyStages()
	for _, dir := range []string{home, here} {
		if list, err := os.ReadDir(dir); err != nil || len(list) != 2 {
			t.Errorf("%s has %v, %v", dir, list, err)
		}
	}

	p.Must(os.RemoveAll(here))
	p.Must(os.WriteFile(here, []byte("no directory"), 0o600))
	enginetest.Equal(t, "no directory", leftovers(p), ofHome)
	p.Must(os.RemoveAll(home))
	p.Remove(project.MarkerDir)
	p.Must(os.MkdirAll(filepath.Join(here, op), 0o700))
	p.Must(os.WriteFile(filepath.Join(here, op, "a"), []byte("1"), 0o600))
	enginetest.Equal(t, "of another project", leftovers(p), nil)
}

// A restore needs no Home where the marker's directory can be made, and makes one where it cannot.
func TestStageWithoutHome(t *testing.T) {
	t.Parallel()
	p, _ := enginetest.TwoTurns(t)
	p.Must(os.RemoveAll(p.Home.Dir))
	p.Checkout("turn:1", restore.Options{})
	if _, err := os.Stat(p.Home.Dir); err == nil || p.Read("f") != enginetest.Big("1") {
		t.Errorf("f is %.3q, or Home was made", p.Read("f"))
	}
	enginetest.Equal(t, "leftovers", leftovers(p), nil)
	p.Remove(filepath.Dir(project.MarkerDir))
	p.Write(filepath.Dir(project.MarkerDir), "a person's file")
	p.Checkout("turn:2", restore.Options{})
	if _, err := os.Stat(p.Home.Dir); err != nil || p.Read("f") != enginetest.Big("2") {
		t.Errorf("f is %.3q, Home: %v", p.Read("f"), err)
	}
	if _, err := os.Stat(p.Home.StageDir(p.E.Project().ID)); err == nil {
		t.Error("a stage is left in Home")
	}
}

// A stage with bytes of a racing edit serves the restore that is carried on, or taken back, and keeps them.
func TestStageThatHoldsBytes(t *testing.T) {
	t.Parallel()
	for _, back := range []bool{false, true} {
		p, one, _, _ := twoStates(t)
		before := enginetest.List(t, p.Root)
		j := p.Crashed(one.ID.String(), restore.Options{}, false, 0)
		in := project.MarkerDir + "/" + project.MarkerStage + "/" + j.Stage + "/bytes"
		if _, err := os.Stat(filepath.Dir(p.Path(in))); err != nil { // not in Home, which is there
			t.Errorf("the stage: %v", err)
		}
		p.Write(in, "of a racing edit")
		p.Reopen()
		p.Must(codeAlone(p, back))
		if back {
			p.WantTree(before)
		} else if p.Read("f") != "1" {
			t.Errorf("f is %q", p.Read("f"))
		}
		enginetest.Equal(t, "leftovers", leftovers(p), []string{in})
		p.E.Restorer.DropEmptyStages()
		enginetest.Equal(t, "leftovers", leftovers(p), []string{in})
	}
}

// What cannot be listed of the stages is an error that names them; a stage that cannot be opened is passed over.
func TestLeftoversThatCannotBeListed(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Must(os.RemoveAll(p.Home.Dir))
	at := project.MarkerDir + "/" + project.MarkerStage
	p.Write(at+"/"+restore.NewStageName()+"/a", "1")
	list := func(s *faultfs.Script) ([]string, error) {
		t.Helper()
		p.E.Log.Wrap = func(d worktreefs.Dir) worktreefs.Dir { return faultfs.Wrap(d, s) }
		root, err := p.E.Log.Root()
		p.E.Log.Wrap = nil
		p.Must(err)
		defer root.Close()
		dirs, err := p.E.Restorer.StageDirs(root)
		p.Must(err)
		if len(dirs) != 1 {
			t.Fatalf("%d directories", len(dirs))
		}
		defer dirs[0].Close()
		s.Reads, s.Err = true, syscall.EIO // from here on
		return dirs[0].Leftovers()
	}
	if files, err := list(&faultfs.Script{}); err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	for op, calls := range map[string]int{"opendir": strings.Count(at, "/") + 1, "readdir": 2} {
		for n := 1; n <= calls; n++ {
			files, err := list(&faultfs.Script{FailOp: op, FailAt: n})
			if !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), at) || len(files) > 0 {
				t.Errorf("%s %d: %q, %v", op, n, files, err)
			}
		}
	}
	files, err := list(&faultfs.Script{FailOp: "opendir", FailAt: strings.Count(at, "/") + 2})
	if err != nil || len(files) > 0 {
		t.Errorf("a stage that cannot be opened: %q, %v", files, err)
	}
}
