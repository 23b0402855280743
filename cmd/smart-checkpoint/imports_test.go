package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// maxPackages is what the client links at most. What it links is paid for by every tool call: os costs about 0.1 ms,
// net 0.3, encoding/json 0.2, net/http 1.8, and a database is not to be thought of.
const maxPackages = 68

func TestImports(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", ".")
	cmd.Env = append(cmd.Environ(), "GOOS=linux", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if len(deps) > maxPackages {
		t.Errorf("%d packages, at most %d: %q", len(deps), maxPackages, deps)
	}
	for _, banned := range []string{"net", "net/http", "encoding/json", "fmt", "reflect", "os/exec", "crypto/rand", "runtime/debug"} {
		if slices.Contains(deps, banned) {
			t.Errorf("links %s", banned)
		}
	}
	for _, d := range deps {
		first, _, _ := strings.Cut(d, "/")
		if strings.Contains(first, ".") || strings.HasPrefix(d, "rewind/") && d != "rewind/internal/relay" &&
			d != "rewind/internal/relay/hookwire" && d != "rewind/internal/guard" && d != "rewind/cmd/smart-checkpoint" {
			t.Errorf("links %s", d)
		}
	}
}
