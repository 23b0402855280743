package gitinfo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"rewind/internal/gitcmd"
)

// git runs a command that reads. ok is false when git answers no: exit code 1 without a message.
func (r *Repo) git(args ...string) (out []byte, ok bool, err error) {
	return r.gitAt(r.gitDir, args...)
}

func (r *Repo) gitAt(gitDir string, args ...string) (out []byte, ok bool, err error) {
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
		out, ok, err := r.run(gitDir, args)
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

func (r *Repo) run(gitDir string, args []string) (out []byte, ok bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), gitTimeout)
	defer cancel()
	cmd, err := gitcmd.Command(ctx, gitDir, r.root, args...)
	if err != nil {
		return nil, false, fmt.Errorf("git %s: %w", args[0], errNoGit)
	}
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

// asked asks a question that may start git, unless that has been refused lately and the files that decide are what they
// were: git's configuration, and of. What is wrong is said again.
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

// silence remembers, for all of a process, of which git directories git did not answer at all: it is started again for
// none of them before its configuration has changed, or a while has passed.
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
