package torture

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

// patched finds the files that a patch changes, as diff -u names them.
var patched = regexp.MustCompile(`(?m)^--- a/(\S+)`)

// Patch is where the patch of a fault lies, below the module's root: testdata/faults/<name>.patch.
func Patch(root, fault string) string {
	return filepath.Join(root, "internal", "torture", "testdata", "faults", fault+".patch")
}

// Overlay writes the files that a fault changes into dir, changed, and beside them what 'go build -overlay' reads: its
// path is returned. root is the module's root; nothing in it changes. The patch has to apply without fuzz: one that
// does not is out of date. It needs the program patch.
func Overlay(root, fault, dir string) (string, error) {
	root, err := filepath.Abs(root) // both programs run elsewhere
	if err != nil {
		return "", err
	}
	name := Patch(root, fault)
	text, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("torture: fault %s: %w", fault, err)
	}
	replace := map[string]string{}
	for _, m := range patched.FindAllSubmatch(text, -1) {
		from, to := filepath.Join(root, string(m[1])), filepath.Join(dir, string(m[1]))
		b, err := os.ReadFile(from)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o755)
		}
		if err == nil {
			err = os.WriteFile(to, b, 0o644)
		}
		if err != nil {
			return "", fmt.Errorf("torture: fault %s: %w", fault, err)
		}
		replace[from] = to
	}
	if out, err := exec.Command("patch", "-p1", "-s", "-F0", "-d", dir, "-i", name).CombinedOutput(); err != nil {
		return "", fmt.Errorf("torture: fault %s does not apply any more: %w: %s", fault, err, out)
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, b, 0o644)
}
