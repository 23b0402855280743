package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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
	at    string        // lines, as a.go:1,b.go:2, that alone get faults; "": all lines do
	tests string        // a regular expression as go test -run takes it; "": all tests
	slow  string        // tests, as go test -skip takes them, that run where no other one has found a fault; "": none
	least time.Duration // the shortest time limit of a run of the tests
	out   io.Writer
}

// session is a run of the command.
type session struct {
	options
	path    string            // the directory of the package
	name    string            // of the package, as its files say
	sources map[string][]byte // its files, by name
	types   *checker
	tmp     string         // all that the run writes is below it
	limit   time.Duration  // of a run of the tests
	both    program        // the program with those mutants that can be in one
	in      map[int]mutant // those, by their numbers
	wrong   map[int]bool   // the numbers of those that do not compile

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
	if s.types, err = newChecker(ctx, o.dir, o.pkg, s.sources); err != nil {
		return err
	}
	if err := s.clean(ctx, drawn); err != nil {
		return err
	}
	fmt.Fprintf(o.out, "%s: %d of %d faults, %d in one program, SEED=%d, a run of the tests may take %v\n",
		o.pkg, len(drawn), len(all), len(s.in), o.seed, s.limit)
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
	cmd := command(ctx, "go", "list", "-json=Dir,Name,GoFiles", "./"+s.pkg)
	cmd.Dir, cmd.Stderr = s.dir, os.Stderr
	raw, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", s.pkg, err)
	}
	var p struct {
		Dir, Name string
		GoFiles   []string
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, fmt.Errorf("go list %s: %w", s.pkg, err)
	}
	s.path, s.name = p.Dir, p.Name
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
			if at := m.file + ":" + strconv.Itoa(m.line); s.at == "" || slices.Contains(strings.Split(s.at, ","), at) {
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

// A program has the tests of the package.
type program struct {
	path    string
	overlay string // what it was built with; "": nothing
}

// clean runs the tests without a fault: they have to pass. What they take sets the time limit. The program has all
// mutants that can be in one, if its tests pass as long as none is chosen.
func (s *session) clean(ctx context.Context, drawn []mutant) (err error) {
	if err := s.buildTogether(ctx, drawn); err != nil {
		return err
	}
	began := time.Now()
	if len(s.in) > 0 {
		var out []byte
		if out, err = s.all(ctx, s.tmp, s.both, 0); err != nil {
			fmt.Fprintf(s.out, "%s: not in one program, whose tests fail without a fault: %s\n", s.pkg, finder(out))
		}
	}
	if len(s.in) == 0 || err != nil {
		s.in = nil
		p, out, ok := s.build(ctx, s.tmp, "")
		if !ok {
			return fmt.Errorf("package %s without a fault: no test binary: %s", s.pkg, out)
		}
		began = time.Now()
		if out, err := s.all(ctx, s.tmp, p, 0); err != nil {
			return fmt.Errorf("package %s without a fault: tests: %w\n%s", s.pkg, err, out)
		}
	}
	s.limit = max(s.least, 5*time.Since(began)).Round(time.Millisecond)
	return nil
}

// buildTogether builds one program with the mutants, which are numbered from 1 on, but for those in which the compiler
// finds errors.
func (s *session) buildTogether(ctx context.Context, drawn []mutant) error {
	s.in, s.wrong = map[int]mutant{}, map[int]bool{}
	for i, m := range drawn { // a fault that leaves a variable without a use would compile there only
		src := s.sources[m.file]
		if len(s.types.check(map[string][]byte{m.file: m.apply(src)})) > 0 {
			s.wrong[i+1] = true
			continue
		}
		if m.as == "int" {
			m.as = cmp.Or(s.types.numbers[place{m.file, m.from}], m.as)
		}
		if m.fits(src) {
			s.in[i+1] = m
		}
	}
	dir := filepath.Join(s.tmp, "together")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for len(s.in) > 0 {
		wrong := s.types.check(s.mixed())
		for _, at := range wrong {
			s.leaveOut(at)
		}
		if len(wrong) == 0 {
			break
		}
	}
	if len(s.in) == 0 {
		return nil
	}
	overlay, err := s.overlay(dir, s.mixed())
	if err != nil {
		return err
	}
	p, out, ok := s.build(ctx, dir, overlay)
	if s.both = p; !ok {
		s.in = nil
		fmt.Fprintf(s.out, "%s: not in one program, which does not compile: %s", s.pkg, out)
	}
	return nil
}

// leaveOut takes the mutants of a line with an error out of the program that has several. Without any there, those of
// the next line above are: a missing return is found at the end of a function.
func (s *session) leaveOut(wrong token.Position) {
	line, before := 0, len(s.in)
	for _, m := range s.in {
		if m.file == wrong.Filename && m.line <= wrong.Line {
			line = max(line, m.line)
		}
	}
	maps.DeleteFunc(s.in, func(_ int, m mutant) bool { return m.file == wrong.Filename && m.line == line })
	if before == len(s.in) { // something else is wrong
		s.in = nil
		fmt.Fprintf(s.out, "%s: not in one program, which has an error at %s\n", s.pkg, wrong)
	}
}

// mixed are the files with all mutants that are to be in one program.
func (s *session) mixed() map[string][]byte {
	files := map[string][]byte{"mutant_chosen.go": fmt.Appendf(nil, chooser, s.name)}
	for name, src := range s.sources {
		its := maps.Clone(s.in)
		maps.DeleteFunc(its, func(_ int, m mutant) bool { return m.file != name })
		if len(its) > 0 {
			files[name] = together(src, its)
		}
	}
	return files
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
				if err := s.try(ctx, i+1, drawn[i]); err != nil {
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

// try runs the tests on the mutant with a number. What is not in the program that has several gets one of its own. Its
// files are in a directory that goes afterwards.
func (s *session) try(ctx context.Context, n int, m mutant) (err error) {
	dir := filepath.Join(s.tmp, strconv.Itoa(n))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeAll(dir)) }()
	p, built := s.both, !s.wrong[n]
	if _, in := s.in[n]; built && !in {
		overlay, err := s.overlay(dir, map[string][]byte{m.file: m.apply(s.sources[m.file])})
		if err != nil {
			return err
		}
		p, _, built = s.build(ctx, dir, overlay)
	}
	if !built {
		return s.note(ctx, m, false, "")
	}
	limited, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	out, err := s.all(limited, dir, p, n)
	switch {
	case err == nil:
		return s.note(ctx, m, true, "")
	case limited.Err() != nil:
		return s.note(ctx, m, true, hang)
	}
	return s.note(ctx, m, true, finder(out))
}

// overlay writes files of the package into dir, and beside them what 'go build -overlay' reads: its path is returned.
func (s *session) overlay(dir string, files map[string][]byte) (string, error) {
	replace := map[string]string{}
	for name, src := range files {
		source := filepath.Join(dir, name)
		if err := os.WriteFile(source, src, 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(s.path, name)] = source
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
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

// build compiles the tests of the package into dir, with faults if overlay is not empty. ok is whether that gave a
// program.
func (s *session) build(ctx context.Context, dir, overlay string) (p program, out []byte, ok bool) {
	p = program{filepath.Join(dir, "tests"), overlay}
	args := []string{"test", "-c", "-vet=off", "-p=1", "-ldflags=-s -w", "-overlay=" + overlay, "-o", p.path, "./" + s.pkg}
	cmd := command(ctx, "go", args...)
	cmd.Dir = s.dir
	out, err := cmd.CombinedOutput()
	if _, serr := os.Stat(p.path); err == nil {
		err = serr // a package without tests gives none
	}
	return p, out, err == nil
}

// memory is how much of it a run of the tests may use, in KiB: a loop that does not end must not take all of the
// machine's.
const memory = 8 << 20

// all runs the tests, the slow ones last, up to one that fails. Where tests are named, those are run, slow or not.
func (s *session) all(ctx context.Context, dir string, p program, n int) (out []byte, err error) {
	if s.slow == "" || s.tests != "" {
		return s.test(ctx, dir, p, n, "-test.run="+s.tests)
	}
	out, err = s.test(ctx, dir, p, n, "-test.skip="+s.slow)
	if err == nil {
		out, err = s.test(ctx, dir, p, n, "-test.run="+s.slow)
	}
	return out, err
}

// test runs a program with the mutant of a number. Its temporary files are in dir. rapid keeps no input that fails: it
// would put it into the repository, and does not spend 30 s on a smaller one. Programs that the tests build have the
// fault, too.
func (s *session) test(ctx context.Context, dir string, p program, n int, which ...string) ([]byte, error) {
	tmp := filepath.Join(dir, "t")
	if err := removeAll(tmp); err != nil {
		return nil, err
	}
	if err := os.Mkdir(tmp, 0o755); err != nil {
		return nil, err
	}
	limited := fmt.Sprintf(`ulimit -v %d 2>/dev/null; exec "$0" "$@"`, memory)
	args := []string{"-c", limited, p.path, "-test.failfast", "-test.count=1", "-test.timeout=0"}
	cmd := command(ctx, "sh", append(args, which...)...)
	cmd.Dir, cmd.Env = s.path, append(os.Environ(), "TMPDIR="+tmp, chosen+"="+strconv.Itoa(n))
	cmd.Env = append(cmd.Env, "RAPID_NOFAILFILE=1", "RAPID_SHRINKTIME=0")
	if p.overlay != "" {
		cmd.Env = append(cmd.Env, strings.TrimSpace("GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+p.overlay))
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
