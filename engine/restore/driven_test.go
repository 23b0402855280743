package restore_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/manage"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/refs"
)

// codexRun is a project with the session files of a driven run of Codex, imported: the files of each session, and the
// text of each file.
func codexRun(t *testing.T) (p *enginetest.Project, files map[string][]string, was map[string]string) {
	t.Helper()
	sets, err := enginetest.ReadDrivenSets(filepath.Join("..", "conversation", "testdata", "many.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	set := sets["codex-0.169.0-run1"]
	p = enginetest.NewProject(t)
	p.Write("f", "0\n")
	p.Save("first")
	set.Move(p.Root)
	p.Must(set.Aside(p.User()))
	files, was = map[string][]string{}, map[string]string{}
	for _, s := range set.Sessions {
		p.Must(set.Put(p.User(), s))
		path := filepath.Join(p.User(), s.File)
		b, err := os.ReadFile(path)
		p.Must(err)
		was[path] = string(b)
		files[s.Name()] = append(files[s.Name()], path)
	}
	_, err = p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	p.Must(err)
	return p, files, was
}

// TestDeleteSeesForksOfASegment: what Codex goes on from may be a segment, whose forks name it by an id of its own: the
// session is not deleted from under them.
func TestDeleteSeesForksOfASegment(t *testing.T) {
	p, files, was := codexRun(t)
	tried := 0
	for _, session := range slices.Sorted(maps.Keys(files)) {
		newest := slices.Max(files[session])
		_, segment, is := strings.Cut(strings.TrimSuffix(filepath.Base(newest), ".jsonl"), "_")
		hangs := false
		for file, text := range was {
			line, _, _ := strings.Cut(text, "\n")
			hangs = hangs || file != newest && strings.Contains(line, `"history_base":{"thread_id":"`+segment+`"`)
		}
		if !is || !hangs {
			continue
		}
		tried++
		_, err := p.E.Restorer.Manage(enginetest.Bg, manage.Request{
			Kind: refs.KindDelete, Sessions: []string{session}, LastCopy: true, DryRun: true, Env: p.Env(),
		})
		var needed *model.NeededError
		if !errors.As(err, &needed) {
			t.Errorf("%s would be deleted: %v", session, err)
		}
	}
	if tried < 3 {
		t.Errorf("%d sessions have forks of their newest segment", tried)
	}
}

// TestDeleteTakesEverySegment: a session of Codex that went back has several files. All of them go, or Codex would list
// the thread as it was before, and all come back.
func TestDeleteTakesEverySegment(t *testing.T) {
	p, files, was := codexRun(t)
	tried, several := 0, 0
	for _, session := range slices.Sorted(maps.Keys(files)) {
		if len(files[session]) < 2 {
			continue
		}
		several++
		_, err := p.E.Restorer.Manage(enginetest.Bg, manage.Request{
			Kind: refs.KindDelete, Sessions: []string{session}, LastCopy: true, Env: p.Env(),
		})
		var needed *model.NeededError
		deleted := !errors.As(err, &needed)
		if deleted {
			p.Must(err)
			tried++
		}
		there := 0
		for _, path := range files[session] {
			if _, err := os.Stat(path); err == nil {
				there++
			}
		}
		if deleted && there > 0 || !deleted && there != len(files[session]) {
			t.Errorf("%s: deleted %v, %d of %d files are there", session, deleted, there, len(files[session]))
		}
		if !deleted {
			continue
		}
		_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
		p.Must(err)
		for _, path := range files[session] {
			if b, err := os.ReadFile(path); err != nil || string(b) != was[path] {
				t.Errorf("%s did not come back as it was: %v", path, err)
			}
		}
	}
	if tried < 3 {
		t.Errorf("%d of %d sessions of several files were deleted", tried, several)
	}
}
