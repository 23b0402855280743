package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestImports holds the wall: a command is a client. What it links is paid for by every call, and a store opened here
// would be a second owner.
func TestImports(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", ".")
	cmd.Env = append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0", "HOME="+userHome)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	may := map[string]bool{"rewind/cmd/rewind": true, "rewind/api": true}
	for _, name := range []string{
		"relay", "relay/hookwire", "value", "term", "textdiff", "naming", "programs", "detach", "osfile",
		"render", "confine", "gitcmd", "gitinfo", "gitworktree", "memlimit", "procstate",
	} {
		may["rewind/internal/"+name] = true
	}
	for dep := range strings.FieldsSeq(string(out)) {
		if strings.HasPrefix(dep, "rewind/") && !may[dep] || strings.Contains(dep, "pebble") || strings.Contains(dep, "sqlite") {
			t.Errorf("links %s", dep)
		}
	}
}
