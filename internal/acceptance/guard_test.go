//go:build acceptance

package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewind/internal/acceptance/fakemodel"
)

// TestGuard: with hooks.guard an agent that would go back by itself is told no, and why, and everything else goes on.
// Without, it does.
func TestGuard(t *testing.T) {
	for _, y := range ways {
		if y.mode != "print" && y.client != droid || y.client.version != newest(y.client.agent) {
			continue
		}
		for _, guard := range []string{"true", "false"} {
			t.Run(y.String()+"-"+guard, func(t *testing.T) {
				w := newWorld(t, y.client, "guard")
				y.offline(w)
				w.install()
				w.rewind("init")
				w.rewind("config", "hooks.guard", guard)
				y.talk(w, "TURN-1 please")
				if _, err := os.Stat(filepath.Join(w.project, "refused.txt")); (err == nil) != (guard == "false") {
					t.Errorf("%s: the command that goes back: %v", w.client, err)
				}
				for name, want := range map[string]string{"alpha.txt": "one\n", "beta.txt": "made-by-bash\n"} {
					if got, err := os.ReadFile(filepath.Join(w.project, name)); err != nil || string(got) != want {
						t.Errorf("%s: %s is %q (%v), want %q", w.client, name, got, err, want)
					}
				}
				if n := refusals(w.model.Requests()); (n > 0) != (guard == "true") {
					t.Errorf("%s: %d requests tell the model of a refusal", w.client, n)
				}
			})
		}
	}
}

// refusals are the requests that carry what the guard says.
func refusals(list []fakemodel.Request) (n int) {
	for _, r := range list {
		if strings.Contains(string(r.Body), "rewind guard: ") {
			n++
		}
	}
	return n
}
