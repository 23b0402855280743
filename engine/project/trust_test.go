package project_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewind/engine/project"
	"rewind/internal/worktreefs"
)

// TestPromise17MarkerIDs holds what is read from a marker of anything.
func TestPromise17MarkerIDs(t *testing.T) {
	a, b := strings.Repeat("0a", 16), strings.Repeat("1b", 16)
	dir := t.TempDir()
	file := filepath.Join(project.Marker(dir), "id")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "garbage\n" + a + "\r\n\n" + strings.ToUpper(a) + "\n../../x\n" + b + "\n" + a
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	top, err := worktreefs.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer top.Close()
	m := project.ReadMarkerIn(top)
	for id, want := range map[string]bool{
		a: true, b: true, strings.ToUpper(a): false, "../../x": false, "garbage": false, "": false,
	} {
		if got := m.Names(id); got != want {
			t.Errorf("%q: %v", id, got)
		}
	}
}
