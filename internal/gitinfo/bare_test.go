package gitinfo

import (
	"os"
	"path/filepath"
	"testing"
)

// A repository without a working tree of its own, beside its worktrees, has no index, which is no fault.
func TestBareHasNoIndex(t *testing.T) {
	for config, faults := range map[string]int{
		"[core]\n\tbare = true\n": 0, "[core]\n\tbare\n": 0, "[core]\n\tbare = false\n": 1, "": 1,
	} {
		root := t.TempDir()
		for path, data := range map[string]string{
			".git": "gitdir: ./.bare\n", ".bare/HEAD": "ref: refs/heads/main\n", ".bare/config": config, ".bare/objects/x": "",
			".bare/refs/heads/main": "0123456789012345678901234567890123456789\n",
		} {
			path = filepath.Join(root, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var r Reader
		f := r.Read(root, false)
		if len(f.Faults) != faults {
			t.Errorf("config %q: faults %+v, want %d", config, f.Faults, faults)
		}
		if len(f.Dirs) != 1 || f.Dirs[0] != ".bare" {
			t.Errorf("git's directories %q", f.Dirs)
		}
	}
}
