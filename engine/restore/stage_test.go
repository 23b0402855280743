package restore_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/project"
	"rewind/engine/restore"
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
