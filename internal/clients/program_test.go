package clients

import (
	"os/exec"
	"testing"
)

// A program runs until it is killed, also while nobody has waited for its end; one of the same number that began later
// is another.
func TestProgramRuns(t *testing.T) {
	if See(0) != nil || See(1<<30) != nil {
		t.Error("a process that is not there was seen")
	}
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Skip("missing tool: sleep")
	}
	p := See(cmd.Process.Pid)
	if p == nil || !p.Runs() {
		t.Fatal("it runs, and is not seen")
	}
	if later := (&Program{p.pid, started{ticks: p.began.ticks + 1, at: p.began.at}}); later.Runs() {
		t.Error("another process of its number is taken for it")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it ends by the signal
	if p.Runs() {
		t.Error("it was killed, and runs")
	}
}
