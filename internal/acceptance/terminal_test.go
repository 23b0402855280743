//go:build acceptance

package acceptance

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// terminal is an agent in a terminal of 150 by 45, worked by tmux.
type terminal struct {
	*world
	socket, log string
}

const (
	look   = 200 * time.Millisecond // between two looks at a screen
	steady = 1200 * time.Millisecond
)

// open starts the agent. The terminal is gone, and all that it wrote is kept, when the agent has ended.
func (w *world) open(args ...string) *terminal {
	w.Helper()
	return w.start(append([]string{w.program}, args...)...)
}

// start starts any program in a terminal.
func (w *world) start(words ...string) *terminal {
	w.Helper()
	w.terminals++
	name := filepath.Join(w.home, fmt.Sprint(".terminal", w.terminals))
	t := &terminal{world: w, socket: name + ".tmux", log: name}
	w.write(t.log, "")
	// The program waits until all that it writes is recorded.
	begin := `while [ ! -s "$0.on" ]; do sleep 0.05; done; exec "$@"`
	w.Cleanup(func() { _, _, _ = t.tmux("kill-server") })
	w.must(append([]string{
		"tmux", "-S", t.socket, "-f", "/dev/null", "new-session", "-d", "-x", "150", "-y", "45", "-c", w.project, "--",
		"/bin/sh", "-c", begin, t.log,
	}, words...)...)
	if _, errs, err := t.tmux("pipe-pane", "-o", "cat >> '"+t.log+"'"); err != nil {
		w.Fatalf("tmux pipe-pane: %v\n%s", err, errs)
	}
	w.write(t.log+".on", "on")
	return t
}

func (t *terminal) tmux(args ...string) (out, errs string, err error) {
	return t.run(append([]string{"tmux", "-S", t.socket}, args...)...)
}

// screen is what a user sees; ok is false when the agent has ended.
func (t *terminal) screen() (s string, ok bool) {
	out, _, err := t.tmux("capture-pane", "-p")
	return strings.TrimRight(out, "\n"), err == nil
}

func (t *terminal) press(keys ...string) {
	t.Helper()
	if _, errs, err := t.tmux(append([]string{"send-keys"}, keys...)...); err != nil {
		t.Fatalf("%s: press %v: %v\n%s", t.client, keys, err, errs)
	}
}

// until looks at the screen until a condition holds.
func (t *terminal) until(what string, holds func(screen string) bool) string {
	t.Helper()
	last := ""
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(look) {
		s, ok := t.screen()
		if !ok {
			t.Fatalf("%s ended before %s; its last screen:\n%s\n%s", t.client, what, last, tail(t.read(t.log), 2000))
		}
		if last = s; holds(s) {
			return s
		}
	}
	t.Fatalf("%s: no %s within %v; its screen:\n%s", t.client, what, patience, last)
	return ""
}

// settles waits until the screen is the same for a while: the agent waits for the user.
func (t *terminal) settles() string {
	t.Helper()
	return t.still(steady)
}

func (t *terminal) still(span time.Duration) string {
	t.Helper()
	before, since := "", time.Now()
	return t.until("steady screen", func(s string) bool {
		if s != before {
			before, since = s, time.Now()
		}
		return s != "" && time.Since(since) >= span
	})
}

// question is what an agent may ask a user before it takes a prompt.
type question struct {
	text string
	keys []string
}

// greets answers questions until the agent has none and shows where to type. It returns the texts of those that were
// asked.
func (t *terminal) greets(prompt string, questions ...question) []string {
	t.Helper()
	var asked []string
next:
	for {
		s := t.still(2 * steady)
		for _, q := range questions {
			if strings.Contains(s, q.text) {
				asked = append(asked, q.text)
				t.Logf("%s asks:\n%s", t.client, s)
				t.press(q.keys...)
				t.until("next screen", func(now string) bool { return now != s })
				continue next
			}
		}
		if strings.Contains(s, prompt) {
			return asked
		}
		t.Fatalf("%s shows something that nobody knows how to answer:\n%s", t.client, s)
	}
}

// say types a prompt that a turn of the script matches, and waits for the end of the answer.
func (t *terminal) say(prompt string) {
	t.Helper()
	turn, _, _ := strings.Cut(prompt, " ")
	t.press("-l", prompt)
	t.until("typed prompt", func(s string) bool { return strings.Contains(s, prompt) })
	t.settles()
	asked := t.asked(turn)
	t.press("Enter")
	t.until("answer to "+prompt, func(s string) bool { return t.asked(turn) > asked && strings.Contains(s, turn+" complete.") })
	t.settles()
}

// ends waits for the end of the agent and keeps what it has shown.
func (t *terminal) ends() {
	t.Helper()
	defer func() { t.output = append(t.output, t.read(t.log)) }()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(look) {
		if _, ok := t.screen(); !ok {
			return
		}
	}
	s, _ := t.screen()
	t.Fatalf("%s does not end; its screen:\n%s", t.client, s)
}

// leave tells the agent to end with a command of its own, and waits for that.
func (t *terminal) leave(command string) {
	t.Helper()
	t.press("-l", command)
	t.settles()
	t.press("Enter")
	t.ends()
}

// shut closes the terminal's window: the agent is told by a signal, and is given the time to end.
func (t *terminal) shut() {
	t.Helper()
	pid, _, err := t.tmux("list-panes", "-F", "#{pane_pid}")
	if err != nil {
		return
	}
	_, _, _ = t.tmux("kill-session")
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(look) {
		if _, _, err := t.run("kill", "-0", strings.TrimSpace(pid)); err != nil {
			break
		}
	}
	t.output = append(t.output, t.read(t.log))
}

func tail(s string, n int) string { return s[max(len(s)-n, 0):] }
