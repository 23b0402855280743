package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

type options struct {
	dir   string // of the module
	pkg   string // below it
	n     int
	seed  uint64
	jobs  int
	at    string        // file.go:line, the only one that gets faults; "": all lines do
	tests string        // a regular expression as go test -run takes it; "": all tests
	slow  string        // tests, as go test -skip takes them, that run where no other one has found a fault; "": none
	least time.Duration // the shortest time limit of a run of the tests
	out   io.Writer
}

// session is a run of the command.
type session struct {
	options
	path    string            // the directory of the package
	sources map[string][]byte // its files, by name
	tmp     string            // all that the run writes is below it
	limit   time.Duration     // of a run of the tests

	mu                        sync.Mutex // of all below, and of out
	tried, built, found, hung int
}

// run draws faults, tries each, and prints the survivors and the figures.
func (o options) run(ctx context.Context) (err error) {
	if o.n < 1 || o.jobs < 1 {
		return fmt.Errorf("n %d, jobs %d: at least 1", o.n, o.jobs)
	}
	s := &session{options: o, sources: map[string][]byte{}}
	all, err := s.read(ctx)
	if err != nil {
		return err
	}
	drawn := draw(all, o.n, o.seed)
	if s.tmp, err = os.MkdirTemp("", "mutants-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeAll(s.tmp)) }()
	if err := os.Chmod(s.tmp, 0o755); err != nil { // tests start programs from there as another user
		return err
	}
	if err := s.clean(ctx); err != nil {
		return err
	}
	fmt.Fprintf(o.out, "%s: %d of %d faults, SEED=%d, a run of the tests may take %v\n", o.pkg, len(drawn), len(all), o.seed, s.limit)
	err = s.tryAll(ctx, drawn)
	percent := 100.0
	if s.built > 0 {
		percent = 100 * float64(s.found) / float64(s.built)
	}
	fmt.Fprintf(o.out, "%s: %d drawn, %d tried, %d built, %d found (%d by a hang), %d survived: %.0f %%\n",
		o.pkg, len(drawn), s.tried, s.built, s.found, s.hung, s.built-s.found, percent)
	return err
}

// read reads the files of the package that are no tests, and returns all mutants of them.
func (s *session) read(ctx context.Context) (all []mutant, err error) {
	cmd := command(ctx, "go", "list", "-json=Dir,GoFiles", "./"+s.pkg)
	cmd.Dir, cmd.Stderr = s.dir, os.Stderr
	raw, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", s.pkg, err)
	}
	var p struct {
		Dir     string
		GoFiles []string
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, fmt.Errorf("go list %s: %w", s.pkg, err)
	}
	s.path = p.Dir
	for _, name := range p.GoFiles {
		src, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return nil, err
		}
		list, err := mutantsOf(name, src)
		if err != nil {
			return nil, err
		}
		s.sources[name] = src
		for _, m := range list {
			if at := m.file + ":" + strconv.Itoa(m.line); s.at == "" || s.at == at {
				all = append(all, m)
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("package %s: no place for a fault", s.pkg)
	}
	return all, nil
}

// draw returns n of the mutants, at random.
func draw(all []mutant, n int, seed uint64) (drawn []mutant) {
	for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(all))[:min(n, len(all))] {
		drawn = append(drawn, all[i])
	}
	return drawn
}

// clean runs the tests without a fault: they have to pass. What they take sets the time limit.
func (s *session) clean(ctx context.Context) error {
	if out, ok := s.build(ctx, s.tmp, ""); !ok {
		return fmt.Errorf("package %s without a fault: no test binary: %s", s.pkg, out)
	}
	began := time.Now()
	if out, err := s.all(ctx, s.tmp, ""); err != nil {
		return fmt.Errorf("package %s without a fault: tests: %w\n%s", s.pkg, err, out)
	}
	s.limit = max(s.least, 5*time.Since(began)).Round(time.Millisecond)
	return nil
}

// tryAll tries mutants, so many side by side. The first error ends it.
func (s *session) tryAll(ctx context.Context, drawn []mutant) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan int)
	var all sync.WaitGroup
	for range s.jobs {
		all.Go(func() {
			for i := range queue {
				if err := s.try(ctx, strconv.Itoa(i), drawn[i]); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range drawn {
		select {
		case queue <- i:
		case <-ctx.Done():
		}
	}
	close(queue)
	all.Wait()
	return context.Cause(ctx)
}

// try builds a mutant and runs the tests on it, in a directory of its own that goes afterwards.
func (s *session) try(ctx context.Context, name string, m mutant) (err error) {
	dir := filepath.Join(s.tmp, name)
	defer func() { err = errors.Join(err, removeAll(dir)) }()
	overlay, err := s.overlay(dir, m)
	if err != nil {
		return err
	}
	_, built := s.build(ctx, dir, overlay)
	if !built {
		return s.note(ctx, m, false, "")
	}
	limited, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	out, err := s.all(limited, dir, overlay)
	switch {
	case err == nil:
		return s.note(ctx, m, true, "")
	case limited.Err() != nil:
		return s.note(ctx, m, true, hang)
	}
	return s.note(ctx, m, true, finder(out))
}

// overlay writes the mutant's file into dir, and beside it what 'go build -overlay' reads: its path is returned.
func (s *session) overlay(dir string, m mutant) (string, error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	source, file := filepath.Join(dir, m.file), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(source, m.apply(s.sources[m.file]), 0o644); err != nil {
		return "", err
	}
	b, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(s.path, m.file): source}})
	if err != nil {
		return "", err
	}
	return file, os.WriteFile(file, b, 0o644)
}

const hang = "a hang"

// note counts a mutant and prints what became of it. by is what found it; "": nothing did. After an interruption
// nothing is counted.
func (s *session) note(ctx context.Context, m mutant, built bool, by string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return nil
	}
	place := fmt.Sprintf("%s/%s:%d: %s", s.pkg, m.file, m.line, m.kind)
	s.tried++
	if !built {
		fmt.Fprintf(s.out, "%s: does not compile\n", place)
		return nil
	}
	s.built++
	if by == "" {
		fmt.Fprintf(s.out, "%s: SURVIVED\n%s", place, m.diff(s.sources[m.file]))
		return nil
	}
	s.found++
	if by == hang {
		s.hung++
	}
	fmt.Fprintf(s.out, "%s: found by %s\n", place, by)
	return nil
}

// build compiles the tests of the package into dir, with a fault if overlay is not empty. ok is whether that gave a
// program.
func (s *session) build(ctx context.Context, dir, overlay string) (out []byte, ok bool) {
	bin := filepath.Join(dir, "tests")
	cmd := command(ctx, "go", "test", "-c", "-p=1", "-ldflags=-s -w", "-overlay="+overlay, "-o", bin, "./"+s.pkg)
	cmd.Dir = s.dir
	out, err := cmd.CombinedOutput()
	if _, serr := os.Stat(bin); err == nil {
		err = serr // a package without tests gives none
	}
	return out, err == nil
}

// memory is how much of it a run of the tests may use, in KiB: a loop that does not end must not take all of the
// machine's.
const memory = 8 << 20

// all runs the tests, the slow ones last, up to one that fails. Where tests are named, those are run, slow or not.
func (s *session) all(ctx context.Context, dir, overlay string) (out []byte, err error) {
	if s.slow == "" || s.tests != "" {
		return s.test(ctx, dir, overlay, "-test.run="+s.tests)
	}
	out, err = s.test(ctx, dir, overlay, "-test.skip="+s.slow)
	if err == nil {
		out, err = s.test(ctx, dir, overlay, "-test.run="+s.slow)
	}
	return out, err
}

// test runs the program that build has made. Its temporary files are in dir, and rapid keeps no input that fails, which
// it would put into the repository. Programs that the tests build have the fault, too.
func (s *session) test(ctx context.Context, dir, overlay string, which ...string) ([]byte, error) {
	tmp := filepath.Join(dir, "t")
	if err := removeAll(tmp); err != nil {
		return nil, err
	}
	if err := os.Mkdir(tmp, 0o755); err != nil {
		return nil, err
	}
	limited := fmt.Sprintf(`ulimit -v %d 2>/dev/null; exec "$0" "$@"`, memory)
	args := []string{"-c", limited, filepath.Join(dir, "tests"), "-test.failfast", "-test.count=1", "-test.timeout=0"}
	cmd := command(ctx, "sh", append(args, which...)...)
	cmd.Dir, cmd.Env = s.path, append(os.Environ(), "TMPDIR="+tmp, "RAPID_NOFAILFILE=1")
	if overlay != "" {
		cmd.Env = append(cmd.Env, strings.TrimSpace("GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay))
	}
	name := filepath.Join(dir, "out") // a file, since whoever holds a pipe open is waited for
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cmd.Stdout, cmd.Stderr = f, f
	err = cmd.Run()
	if cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // what the tests have left; mostly nothing
	}
	out, rerr := os.ReadFile(name)
	return out, cmp.Or(err, rerr)
}

// command is a command in a group of its own, all of which is killed when ctx ends.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second // something else may hold the output open
	return cmd
}

var failedRE = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// finder names what found a fault, by the output of the tests.
func finder(out []byte) string {
	if m := failedRE.FindSubmatch(out); m != nil {
		return string(m[1])
	}
	if bytes.Contains(out, []byte("panic: ")) {
		return "a panic"
	}
	return "a failure without a name"
}

// removeAll removes a directory, whatever modes the tests have left in it.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if errors.Is(err, fs.ErrPermission) {
		filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error { //nolint:errcheck // what fails shows below
			if d != nil && d.IsDir() {
				return os.Chmod(path, 0o700)
			}
			return nil
		})
		err = os.RemoveAll(dir)
	}
	return err
}
