//go:build acceptance

package acceptance

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rewind/internal/acceptance/fakemodel"
)

func TestPlacesClaude(t *testing.T) { testPlaces(t, claude) }
func TestPlacesCodex(t *testing.T)  { testPlaces(t, codex) }

// places are where an agent may be started, and what that is made of.
var places = []struct {
	name string
	make func(w *world) string
}{
	{"subfolder", func(w *world) string { return w.mkdir(filepath.Join(w.project, "pkg", "deep")) }},
	{"worktree", func(w *world) string {
		dir := filepath.Join(filepath.Dir(w.project), "tree")
		w.must("git", "worktree", "add", "-q", "-b", "side", dir)
		return dir
	}},
	{"link", func(w *world) string {
		dir := filepath.Join(filepath.Dir(w.project), "link")
		if err := os.Symlink(w.project, dir); err != nil {
			w.Fatal(err)
		}
		return dir
	}},
	{"names", func(w *world) string {
		dir := filepath.Join(filepath.Dir(w.project), "mein Projekt ä 日本 'x'")
		if err := os.Rename(w.project, dir); err != nil {
			w.Fatal(err)
		}
		return dir
	}},
}

// testPlaces has two turns in each place and goes back to the first.
func testPlaces(t *testing.T, c client) {
	t.Parallel()
	d := drivers[slices.IndexFunc(drivers, func(d driver) bool { return d.client == c })]
	for _, p := range places {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c, "together")
			dir := p.make(w)
			real, err := filepath.EvalSymlinks(dir)
			if err != nil {
				t.Fatal(err)
			}
			w.moves(real, "together")
			d.onPath(w)
			d.offline(w) // trusts the directory that it is
			w.project = dir
			w.install()
			w.rewind("init")
			d.begin(w, prompts[0])
			id := w.session()
			d.must(w, id, prompts[1])
			w.checkTurns(id, prompts...)
			alpha := func(want string) {
				w.Helper()
				if got := w.read(filepath.Join(w.project, "alpha.txt")); got != want {
					w.Errorf("alpha.txt is %q, want %q", got, want)
				}
			}
			alpha("two\n")
			r := w.goes("checkout", "turn:1", "--session", id)
			alpha("one\n")
			if r.Talk.Fork == nil {
				w.Errorf("no new session: %+v", r)
			}
			w.goes("undo-restore")
			alpha("two\n")
			w.cutAt(d, id)
			alpha("one\n")
			w.checkQuiet()
		})
	}
}

// cutAt cuts a session in place after its first turn, and goes on: turn 1 stays what it was.
func (w *world) cutAt(d driver, id string) {
	w.Helper()
	w.goes("checkout", "turn:1", "--in-place", "--session", id)
	w.isThere("alpha.txt beta.txt")
	d.must(w, id, "NEXT-CUT please")
	w.checkTurns(id, prompts[0], "NEXT-CUT please")
	w.goes("checkout", "turn:1", "--session", id, "--code-only")
	w.isThere("alpha.txt beta.txt")
}

// moves makes another directory the project, and a model that writes there.
func (w *world) moves(dir, play string) {
	w.Helper()
	script, err := fakemodel.Parse([]byte(w.read(filepath.Join("testdata", "scripts", play+".json"))))
	if err != nil {
		w.Fatal(err)
	}
	w.project, w.model = dir, fakemodel.New(script, dir)
	server := httptest.NewServer(w.model)
	w.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	w.url = server.URL
}
