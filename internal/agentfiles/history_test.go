package agentfiles

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const other = "00000002-0000-4000-8000-000000000000"

// TestLinkHistory: backups get second names, and only those go again; nothing is reached through a link.
func TestLinkHistory(t *testing.T) {
	home, f := laid(t)
	own := folders(home)
	to := strings.Replace(f.String(), id, other, 1)
	if n, err := own.LinkHistory(f.String(), to); n != 0 || err != nil {
		t.Errorf("there is none: %d, %v", n, err)
	}
	dir := filepath.Join(home, ".claude", history)
	must(t, os.MkdirAll(filepath.Join(dir, id, "dir"), 0o700), os.WriteFile(filepath.Join(dir, id, "a@v1"), []byte("a"), 0o600),
		os.Symlink("/etc/passwd", filepath.Join(dir, id, "link")))
	for range 2 { // again is nothing new
		if n, err := own.LinkHistory(f.String(), to); n != 1 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	list, err := os.ReadDir(filepath.Join(dir, other))
	if err != nil || len(list) != 1 || !same(filepath.Join(dir, id, "a@v1"), filepath.Join(dir, other, "a@v1")) {
		t.Errorf("%v, %v", list, err)
	}
	must(t, os.WriteFile(filepath.Join(dir, other, "b@v1"), []byte("the agent's"), 0o600), own.UnlinkHistory(f.String(), to))
	if list, err := os.ReadDir(filepath.Join(dir, other)); err != nil || len(list) != 1 || list[0].Name() != "b@v1" {
		t.Errorf("%v, %v", list, err)
	}
	must(t, os.RemoveAll(filepath.Join(dir, other)), os.Mkdir(home+"/elsewhere", 0o700),
		os.Symlink(home+"/elsewhere", filepath.Join(dir, other)))
	if _, err := own.LinkHistory(f.String(), to); err == nil {
		t.Error("it is linked where a link leads")
	}
	if _, err := own.LinkHistory(f.String(), "/elsewhere/.claude/projects/-p/"+other+".jsonl"); err == nil {
		t.Error("another's folder")
	}
	if list, err := os.ReadDir(home + "/elsewhere"); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// TestWritable: a directory that can be made is as good as one that is there; what is no directory is none.
func TestWritable(t *testing.T) {
	home, f := laid(t)
	must(t, f.Writable(), os.RemoveAll(f.Folder), f.Writable(), os.WriteFile(f.Folder, nil, 0o600))
	if f.Writable() == nil {
		t.Error("a file in place of the folder")
	}
	if os.Getuid() != 0 {
		must(t, os.Remove(f.Folder), os.Chmod(home, 0o500))
		if f.Writable() == nil {
			t.Error("the home directory cannot be written")
		}
		must(t, os.Chmod(home, 0o700))
	}
}
