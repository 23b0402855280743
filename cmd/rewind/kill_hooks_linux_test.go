package main

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"rewind/internal/torture"
)

// someone is a home directory of its own, with two agents and a project, and the real program.
type someone struct {
	t       *testing.T
	home    string
	program string
}

var settingsBefore = map[string]string{
	".claude/settings.json": "{\r\n  // mine\r\n  \"model\": \"opus\",\r\n}\r\n",
	".gemini/settings.json": "{}",
	"p/a":                   "one\n",
}

func newSomeone(t *testing.T) someone {
	t.Helper()
	program, err := realProgram()
	must(t, err)
	home := filepath.Join(memoryDir(t), "home")
	write(t, home, settingsBefore)
	write(t, home, map[string]string{".rewind/system/smart-checkpoint": "#!/bin/sh\n"})
	must(t, os.Chmod(filepath.Join(home, ".rewind/system/smart-checkpoint"), 0o755))
	for _, name := range []string{"rewind", "rewindd"} { // nothing is copied: each piece of that would be a point
		must(t, os.Symlink(filepath.Join(filepath.Dir(program), name), filepath.Join(home, ".rewind/system", name)))
	}
	return someone{t, home, program}
}

// run runs a command in the project, killed instead of its nth call that changes something, and returns its exit code
// and how many there were.
func (s someone) run(n int, args ...string) (code, met int) {
	s.t.Helper()
	count := filepath.Join(s.home, "count")
	cmd := exec.Command("killat",
		append([]string{"-count", count, strconv.Itoa(n), s.program, "-C", filepath.Join(s.home, "p")},
			args...)...)
	cmd.Env = append(os.Environ(), "HOME="+s.home, "REWIND_HOME=", "REWIND_DAEMON=off")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == 99 && strings.Contains(string(out), "operation not permitted"):
		s.t.Skip("missing tool: ptrace")
	case errors.As(err, &exit) && exit.ExitCode() != 99:
		code = exit.ExitCode()
	default:
		if err != nil {
			s.t.Fatalf("%v\n%s", err, out)
		}
	}
	b, err := os.ReadFile(count)
	must(s.t, err)
	met, err = strconv.Atoi(strings.TrimSpace(string(b)))
	must(s.t, err)
	return code, met
}

// exit is run for what nobody kills.
func (s someone) exit(args ...string) int {
	s.t.Helper()
	cmd := exec.Command(s.program, append([]string{"-C", filepath.Join(s.home, "p")}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+s.home, "REWIND_HOME=", "REWIND_DAEMON=off")
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

func (s someone) mustRun(args ...string) {
	s.t.Helper()
	if code := s.exit(args...); code != 0 {
		s.t.Fatalf("rewind %s exited with %d", strings.Join(args, " "), code)
	}
}

// saved is where keep keeps the home.
func (s someone) saved() string { return s.home + ".saved" }

// keep keeps the home as it is for reset.
func (s someone) keep() {
	s.t.Helper()
	copyAll(s.t, s.home, s.saved())
}

// reset lays the home out as it was kept: settings, hooks and stores name it by its path.
func (s someone) reset() {
	s.t.Helper()
	discard(s.t, s.home)
	copyAll(s.t, s.saved(), s.home)
}

// copyAll copies a directory to a place where nothing is yet, or over what is there.
func copyAll(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-aT", from, to).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v\n%s", err, out)
	}
}

func (s someone) settings(name string) string {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.home, name))
	must(s.t, err)
	return string(b)
}

// files names all files below a directory. A kill at the very end leaves empty directories of the marker.
func (s someone) files(dir string) string {
	s.t.Helper()
	var list []string
	must(s.t, filepath.WalkDir(filepath.Join(s.home, dir), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(s.home, path)
			list = append(list, rel)
		}
		return err
	}))
	return strings.Join(list, " ")
}

// TestKillHooks kills a registration and its undoing before each call that changes something: every settings file has
// its old bytes or its new ones, a second run ends what the first began, and undoing gives the first bytes.
func TestKillHooks(t *testing.T) {
	t.Parallel()
	names := []string{".claude/settings.json", ".gemini/settings.json"}
	for _, flag := range []string{"--register-hooks", "--unregister-hooks"} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			s := newSomeone(t)
			if flag == "--unregister-hooks" {
				s.mustRun("config", "--register-hooks")
			}
			s.keep()
			_, calls := s.run(0, "config", flag)
			var k kills
			for n := 1; n <= calls; n++ {
				if !torture.Today(n) {
					continue
				}
				s.reset()
				old := map[string]string{}
				for _, name := range names {
					old[name] = s.settings(name)
				}
				code, _ := s.run(n, "config", flag)
				state := ""
				half := map[string]string{}
				for _, name := range names {
					half[name] = s.settings(name)
				}
				s.mustRun("config", flag)
				for _, name := range names {
					switch half[name] {
					case old[name]:
						state += "old "
					case s.settings(name):
						state += "new "
					default:
						t.Errorf("killed at call %d: %s is neither old nor new:\n%s", n, name, half[name])
					}
				}
				k.add(code == 137, state)
				s.mustRun("config", "--unregister-hooks")
				for _, name := range names {
					if got := s.settings(name); got != settingsBefore[name] {
						t.Errorf("killed at call %d: undoing gives %q for %s", n, got, name)
					}
					if list, _ := os.ReadDir(filepath.Dir(filepath.Join(s.home, name))); flag == "--register-hooks" &&
						len(list) != 1 {
						t.Errorf("killed at call %d: there is more than the settings: %v", n, list)
					}
				}
			}
			k.check(t, calls)
		})
	}
}

// TestKillRemove kills init --remove: the project's files stay, what is left is a project or the rest of one that a
// second call takes away, and a new project can be begun in either case.
func TestKillRemove(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"global", "project"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := newSomeone(t)
			s.mustRun("init", "--mode", mode)
			id := strings.TrimSpace(s.settings("p/.agent/rewind/id"))
			s.keep()
			calls := math.MaxInt
			for range 3 { // on a busy machine one makes more calls than others, and the last ones count here
				_, n := s.run(0, "init", "--remove", "--yes")
				calls = min(calls, n)
				s.reset()
			}
			list := points(4, calls)
			for n := max(calls-20, 1); n <= calls; n++ { // where the store and the marker go
				if torture.Today(n) {
					list = append(list, n)
				}
			}
			if torture.Full() {
				list = points(calls, calls)
			}
			var k kills
			for i, n := range list {
				s.reset()
				code, _ := s.run(n, "init", "--remove", "--yes")
				state := "a project"
				switch code := s.exit("verify"); code {
				case 0:
				case 10:
					state = "none"
				default:
					t.Errorf("killed at call %d: verify exits with %d", n, code)
				}
				k.add(code == 137, state)
				if i%2 == 1 && state == "none" { // it was removed, and lies in the trash
					s.mustRun("stores", "restore", id)
					s.mustRun("verify")
				}
				if i%2 == 0 {
					switch code := s.exit("init", "--remove", "--yes"); code {
					case 0, 10:
					default:
						t.Errorf("killed at call %d: removing again exits with %d", n, code)
					}
					if left := s.files("p"); left != "p/a" || s.settings("p/a") != "one\n" {
						t.Errorf("killed at call %d: the project has %s", n, left)
					}
				}
				s.mustRun("init", "--mode", mode)
				s.mustRun("verify")
				if mode == "global" {
					if stores, err := os.ReadDir(filepath.Join(s.home, ".rewind/storage")); err != nil ||
						len(stores) != 1 {
						t.Errorf("killed at call %d: storage has %v %v", n, stores, err)
					}
				}
			}
			t.Logf("%d of %d points killed the program, over %d calls; afterwards: %v", k.fired, k.total, calls,
				k.states)
			if k.fired < k.total-max(2, k.total/5) { // most points are the last calls, whose number varies
				t.Errorf("only %d of %d points killed the program", k.fired, k.total)
			}
		})
	}
}

// TestKillRestore kills 'stores restore' before each call that changes something: the project is there, or the store
// lies in the trash still, and a second call brings it back.
func TestKillRestore(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"global", "project"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := newSomeone(t)
			s.mustRun("init", "--mode", mode)
			s.mustRun("config", "limits.file_size", "2MiB")
			id := strings.TrimSpace(s.settings("p/.agent/rewind/id"))
			s.mustRun("init", "--remove", "--yes")
			s.keep()
			_, calls := s.run(0, "stores", "restore", id)
			var k kills
			want := 14
			if torture.Full() {
				want = calls
			}
			for _, n := range points(want, calls) {
				s.reset()
				code, _ := s.run(n, "stores", "restore", id)
				state := "back"
				if s.exit("verify") != 0 {
					state = "in the trash"
					s.mustRun("stores", "restore", id)
					s.mustRun("verify")
				}
				k.add(code == 137, state)
				if got := s.settings("p/.agent/rewind/config.json"); !strings.Contains(got, "file_size") {
					t.Errorf("killed at call %d (%s): the settings are %q", n, state, got)
				}
				if got := strings.TrimSpace(s.settings("p/.agent/rewind/id")); got != id {
					t.Errorf("killed at call %d (%s): the marker names %q, want %s", n, state, got, id)
				}
				s.mustRun("init", "--remove", "--now", "--yes")
				if left, err := os.ReadDir(filepath.Join(s.home, ".rewind/trash")); err != nil || len(left) > 0 {
					t.Errorf("killed at call %d (%s): the trash has %v %v", n, state, left, err)
				}
			}
			k.check(t, calls)
		})
	}
}
