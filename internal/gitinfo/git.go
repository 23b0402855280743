package gitinfo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// keptVariables are the GIT_* variables that a process started here inherits: they say where configuration is, not which repository is
// meant.
var keptVariables = map[string]bool{
	"GIT_CONFIG_GLOBAL": true, "GIT_CONFIG_SYSTEM": true, "GIT_CONFIG_NOSYSTEM": true, "GIT_EXEC_PATH": true,
}

// git runs a command that reads. ok is false when git answers no: exit code 1 without a message.
func (r *Repo) git(args ...string) (out []byte, ok bool, err error) {
	return r.gitAt(r.gitDir, args...)
}

func (r *Repo) gitAt(gitDir string, args ...string) (out []byte, ok bool, err error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return nil, false, fmt.Errorf("git %s: %w", args[0], errNoGit)
	}
	if r.outside.stuck() { // git would read the same files
		return nil, false, fmt.Errorf("git's configuration: %w", errNoAnswer)
	}
	r.mu.Lock()
	of := r.configOf
	r.mu.Unlock()
	if err := silent.about(r.gitDir, of); err != nil {
		return nil, false, err
	}
	type answer struct {
		out []byte
		ok  bool
	}
	// A process that waits for a dead disk may not even end when it is killed, so its end is not waited for.
	wait := gitTimeout + 2*gitGrace
	if r.hurry.Load() {
		wait = gitHurry
	}
	a, err := within(&r.program, wait, "git "+args[0], func() (answer, error) {
		out, ok, err := r.run(path, gitDir, args)
		return answer{out, ok}, err
	})
	if errors.Is(err, errNoAnswer) {
		r.noAnswer(err)
	}
	return a.out, a.ok, err
}

// noAnswer has git not asked again for a while.
func (r *Repo) noAnswer(err error) {
	r.mu.Lock()
	of := r.configOf
	r.mu.Unlock()
	silent.add(r.gitDir, refusal{err: err, of: of, until: time.Now().Add(refusedFor)})
}

func (r *Repo) run(path, gitDir string, args []string) (out []byte, ok bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), gitTimeout)
	defer cancel()
	// The file system monitor would be a program that the repository names.
	all := append([]string{"--git-dir=" + gitDir, "--work-tree=" + r.root, "--no-optional-locks", "-c", "core.fsmonitor=false"}, args...)
	cmd := exec.CommandContext(ctx, path, all...)
	cmd.Dir = r.root
	cmd.Env = environment(os.Environ())
	cmd.WaitDelay = gitGrace
	killWhole(cmd)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err = cmd.Output()
	message, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
	var exit *exec.ExitError
	switch {
	case err == nil:
		return out, true, nil
	case ctx.Err() != nil:
		return nil, false, fmt.Errorf("git %s: %w in %s", args[0], errNoAnswer, gitTimeout)
	case errors.As(err, &exit) && exit.ExitCode() == 1 && message == "":
		return nil, false, nil
	case message != "":
		return nil, false, fmt.Errorf("git %s: %w: %s", args[0], errRefused, message)
	default:
		return nil, false, fmt.Errorf("git %s: %w: %w", args[0], errRefused, err)
	}
}

// refusal is what came of a question that is not asked again for a while.
type refusal struct {
	err   error
	of    []stamp // of the files that the answer depends on
	until time.Time
}

func (no refusal) holds(of []stamp) bool {
	return time.Now().Before(no.until) && slices.Equal(no.of, of)
}

// asked asks a question that may start git, unless that has been refused lately and the files that decide are what they were: git's
// configuration, and of. What is wrong is said again.
func (r *Repo) asked(question string, of []stamp, racy bool, ask func() error) error {
	r.mu.Lock()
	of = append(slices.Clone(of), r.configOf...)
	no, ok := r.refusals[question]
	r.mu.Unlock()
	if ok && no.holds(of) {
		return no.err
	}
	err := ask()
	if !errors.Is(err, errRefused) && !errors.Is(err, errCorrupt) {
		return err // what costs nothing to find out again
	}
	no = refusal{err: err, of: of, until: time.Now().Add(refusedFor)}
	if racy { // a change now might leave the same stamp
		no.until = time.Now().Add(2 * racyWindow)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refusals == nil {
		r.refusals = map[string]refusal{}
	}
	r.refusals[question] = no
	return err
}

// silence remembers, for all of a process, of which git directories git did not answer at all: it is started again for none of them
// before its configuration has changed, or a while has passed.
type silence struct {
	mu sync.Mutex
	of map[string]refusal // by git directory
}

var silent silence

func (s *silence) about(gitDir string, of []stamp) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if no, ok := s.of[gitDir]; ok && no.holds(of) {
		return no.err
	}
	delete(s.of, gitDir)
	return nil
}

func (s *silence) add(gitDir string, no refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[string]refusal{}
	}
	s.of[gitDir] = no
}

// environment drops what would make git look at another repository, write, ask, fetch or trace. Fetching what a repository lacks would run
// what it names; a git that does not know GIT_NO_LAZY_FETCH (before 2.39.4) finds that no way to another one is allowed.
func environment(env []string) []string {
	out := make([]string, 0, len(env)+5)
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if strings.HasPrefix(strings.ToUpper(name), "GIT_") && !keptVariables[name] || name == "LC_ALL" {
			continue
		}
		out = append(out, e)
	}
	return append(out, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
}

// killWhole has a process killed together with all that it starts.
func killWhole(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
