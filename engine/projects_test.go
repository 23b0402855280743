package engine

import (
	"os"
	"path/filepath"
	"testing"
)

// What is remembered of where projects are is what looking again finds, whatever was done meanwhile.
func TestProjectsRememberOnlyWhatIsStillSo(t *testing.T) {
	p := newProject(t)
	other := newProject(t)
	inside := filepath.Join(p.root, "a", "b")
	p.must(os.MkdirAll(inside, 0o755))
	link := filepath.Join(t.TempDir(), "link")
	p.must(os.Symlink(p.root, link))
	home := p.home

	var ps Projects
	check := func(after, dir string) {
		t.Helper()
		for range 2 { // as it is found, and as it is remembered
			got, gotErr := ps.Find(bg, home, dir, 0)
			want, wantErr := Find(bg, home, dir, 0)
			switch {
			case (gotErr == nil) != (wantErr == nil):
				t.Fatalf("after %s, %s: %v, looking again: %v", after, dir, gotErr, wantErr)
			case gotErr == nil && (got.Root != want.Root || got.ID != want.ID || got.Store != want.Store || got.Mode != want.Mode):
				t.Fatalf("after %s, %s is in %s (%s), looking again: %s (%s)", after, dir, got.Root, got.ID, want.Root, want.ID)
			}
		}
	}
	all := func(after string) {
		t.Helper()
		for _, dir := range []string{p.root, inside, link} {
			check(after, dir)
		}
	}
	all("nothing")
	if len(ps.found) != 3 {
		t.Fatalf("%d directories are remembered, want 3", len(ps.found))
	}
	p.must(os.MkdirAll(filepath.Join(p.root, "a", ".agent"), 0o755))
	all("a directory that could be a nearer project's")
	p.must(os.Remove(link))
	p.must(os.Symlink(other.root, link))
	all("a link to another project")
	id := filepath.Join(p.root, ".agent", "rewind", "id")
	raw, err := os.ReadFile(id)
	p.must(err)
	p.must(os.Remove(id))
	all("the marker was removed")
	p.must(os.Remove(id))
	p.must(os.WriteFile(id, []byte("damaged\n"), 0o600))
	all("the marker was damaged")
	p.must(os.WriteFile(id+".new", raw, 0o600))
	p.must(os.Rename(id+".new", id))
	all("the marker was put back")
	agent := filepath.Join(p.root, ".agent")
	p.must(os.Rename(agent, agent+"-moved"))
	p.must(os.Symlink(agent+"-moved", agent))
	all("the marker became a link")
	p.must(os.Remove(agent))
	p.must(os.Rename(agent+"-moved", agent))
	all("it is a directory again")
	moved := filepath.Join(t.TempDir(), "moved")
	p.must(os.Rename(p.root, moved))
	p.must(os.Symlink(moved, p.root))
	all("the project was moved, and a link is where it was")
	check("that", moved)
}
