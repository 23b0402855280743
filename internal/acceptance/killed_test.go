//go:build acceptance

package acceptance

import (
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestKilledClaude(t *testing.T) { plays(t, "together", testKilled, claude) }
func TestKilledCodex(t *testing.T)  { plays(t, "together", testKilled, codex) }

// testKilled kills the agent in a call and then the daemon, each with SIGKILL, and goes on with the session: the turn
// that was killed keeps its prompt and its work, and the next is captured.
func testKilled(w *world, d driver) {
	w.install()
	w.rewind("init")
	t := d.open(w, "")
	t.say(prompts[0])
	id := w.session()
	t.types("ESC-TURN please")
	t.until("the call at work", func(string) bool { return w.exists("half.txt") })
	t.kill()
	var r struct {
		Daemon struct {
			PID int `json:"pid"`
		} `json:"daemon"`
	}
	w.json(&r, "daemon", "status")
	if r.Daemon.PID == 0 {
		w.Fatal("no daemon runs")
	}
	if err := syscall.Kill(r.Daemon.PID, syscall.SIGKILL); err != nil {
		w.Fatal(err)
	}
	t = d.open(w, id)
	t.say("NEXT-CUT please")
	d.leave(t)
	w.checkTurns(id, prompts[0], "ESC-TURN please", "NEXT-CUT please")
	w.checkFiles("turn:1", "alpha.txt beta.txt")
	w.checkFiles("turn:2", "alpha.txt beta.txt half.txt")
	w.checkFiles("turn:3", "alpha.txt beta.txt cut.txt half.txt")
	w.goes("checkout", "turn:1", "--session", id)
	w.isThere("alpha.txt beta.txt")
	w.goes("undo-restore")
	w.isThere("alpha.txt beta.txt cut.txt half.txt")
	w.checkQuiet()
}

// kill kills the agent and all that belongs to its terminal.
func (t *terminal) kill() {
	t.Helper()
	out, errs, err := t.tmux("list-panes", "-F", "#{pane_pid}")
	pid, bad := strconv.Atoi(strings.TrimSpace(out))
	if err != nil || bad != nil {
		t.Fatalf("%v %v\n%s", err, bad, errs)
	}
	if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	t.ends()
}
