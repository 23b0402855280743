package restore_test

import (
	"errors"
	"fmt"
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
	cutInPlace(t, p, files, was)
}

// cutInPlace holds that a turn of a session can be gone to in place, or is refused with the reason: it stands in
// another file, or another file goes on from what would go. No other file is touched, and undo-restore brings back
// what went, to the byte.
func cutInPlace(t *testing.T, p *enginetest.Project, files map[string][]string, was map[string]string) {
	t.Helper()
	elsewhere, needed, done := 0, 0, 0
	for _, session := range slices.Sorted(maps.Keys(files)) {
		s := p.Session(session)
		newest := s.Transcript
		for turn := int(s.Turn) - 1; turn > 0 && (done < 3 || needed < 2); turn-- {
			name := fmt.Sprintf("turn:%d@%s", turn, session)
			o := restore.Options{Env: p.Env(), InPlace: true, Scope: refs.Scope{ContextOnly: true}}
			_, err := p.E.Restorer.Checkout(enginetest.Bg, name, o)
			var not *model.NotInPlaceError
			var dependent *model.DependentError
			switch {
			case errors.As(err, &not): // so do the turns before it
				elsewhere++
				turn = 0
			case errors.As(err, &dependent):
				needed++
				other := func(path string) bool { return was[path] == "" || path == newest }
				if slices.ContainsFunc(dependent.Paths, other) {
					t.Errorf("%s: %q depend on it", name, dependent.Paths)
				}
			default:
				p.Must(err)
				done++
				if now, text := p.Session(session), p.Slurp(newest); int(now.Turn) != turn || text == was[newest] {
					t.Errorf("%s: turn %d, of %d bytes are %d left", name, now.Turn, len(was[newest]), len(text))
				}
				if now := p.Session(session); s.Fork != nil && now.Fork.Both != min(s.Fork.Both, turn) {
					t.Errorf("%s: %d turns are another session's, and were %d", name, now.Fork.Both, s.Fork.Both)
				}
				back, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
				p.Must(err)
				now := p.Session(session)
				if now.Turn != s.Turn || back.Conversation.Turn != int(s.Turn) {
					t.Errorf("%s: turn %d is back, in the answer %d, want %d", name, now.Turn,
						back.Conversation.Turn, s.Turn)
				}
				if s.Fork != nil && now.Fork.Both != s.Fork.Both {
					t.Errorf("%s: %d turns are another session's again, want %d", name, now.Fork.Both, s.Fork.Both)
				}
			}
			asItWas(t, p, name, was)
		}
	}
	if min(elsewhere, needed, done) == 0 {
		t.Errorf("%d cut, %d stand elsewhere, of %d others depend", done, elsewhere, needed)
	}
}

// asItWas holds that all session files are as they were.
func asItWas(t *testing.T, p *enginetest.Project, what string, was map[string]string) {
	t.Helper()
	for path, text := range was {
		if p.Slurp(path) != text {
			t.Fatalf("%s: %s is not as it was", what, path)
		}
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
