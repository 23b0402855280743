package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestCheckoutSaysWhereItIs: on a terminal a long checkout says in every phase what it does and how far it is, also
// while it is taken back; who asks for the state meanwhile is told that it runs, not that it is half done.
func TestCheckoutSaysWhereItIs(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds of writing")
	}
	rewind, err := realProgram()
	must(t, err)
	home := t.TempDir()
	dir := filepath.Join(home, "p")
	env := []string{"HOME=" + home, "REWIND_HOME=" + filepath.Join(home, ".rewind"), "REWIND_DAEMON=", "REWIND_IDLE=2m"}
	quiet := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(rewind, append([]string{"-C", dir}, args...)...)
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("rewind %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	fill := func(word string) {
		t.Helper()
		files := map[string]string{}
		for i := range 8000 {
			files[fmt.Sprintf("d%d/f%d", i%100, i)] = strings.Repeat(word, 100) + fmt.Sprint(i)
		}
		write(t, dir, files)
	}
	fill("one")
	quiet("init", "--agents", "none")
	t.Cleanup(func() { quiet("daemon", "stop") })
	fill("two")
	quiet("save", "two")

	// counted goes back, and reports whether status told how far that is. A fast disk may be done before status is
	// asked.
	counted := func() bool {
		s := onTerminal(t, dir, 24, 80, env, rewind, "checkout", "@-")
		// a fast disk is done with a phase before anything is drawn
		s.await(`(writing|setting|clearing away) [0-9,]+/8,000`)
		began := time.Now()
		status := quiet("status")
		if time.Since(began) > 3*time.Second {
			t.Errorf("status waited %s for the checkout", time.Since(began))
		}
		runs := fmt.Sprintf("a checkout, process %d", s.cmd.Process.Pid)
		// while the disk is waited for there is nothing to count; what comes before and behind it is counted
		for strings.Contains(status, runs) && !strings.Contains(status, runs+": ") {
			status = quiet("status")
		}
		if strings.Contains(status, "half done") {
			t.Fatalf("half done:\n%s", status)
		}
		code, text := s.ends()
		if code != 0 || !regexp.MustCompile(`(setting|clearing away) [0-9,]+/8,000`).MatchString(text) {
			t.Errorf("exit code %d\n%q", code, text)
		}
		return strings.Contains(status, runs+": ")
	}
	for tries := 1; !counted(); tries++ {
		if tries == 10 {
			t.Fatal("status told of no checkout how far it is")
		}
		quiet("checkout", "session:manual")
	}

	s := onTerminal(t, dir, 24, 80, env, rewind, "checkout", "session:manual")
	s.await(`writing [1-9][0-9,]+/8,000|waiting for the disk|setting`)
	s.press("\x03")
	s.await(`interrupted, `)
	code, text := s.ends()
	// a daemon that does not answer in time, beside other work, is not waited for: it takes it back all the same
	said := regexp.MustCompile(`interrupted; nothing was changed|says what became of it`).MatchString(text)
	if code != 130 || !said {
		t.Errorf("exit code %d\n%q", code, text)
	}
	after := quiet("status")
	for range 600 {
		if !strings.Contains(after, "a checkout") {
			break
		}
		time.Sleep(100 * time.Millisecond)
		after = quiet("status")
	}
	taken := strings.Contains(after, "unsaved     nothing") && !strings.Contains(after, "half done")
	if !taken || strings.Contains(after, "a checkout") {
		t.Errorf("afterwards:\n%s", after)
	}
}
