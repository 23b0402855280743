package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rewind/internal/torture"
)

// The users of the hostile matrix: numbers that no system has given to anybody.
const (
	victim   = 31001
	attacker = 31002
)

// Bounds of every command in the hostile matrix.
const (
	hostileTime   = 20 * time.Second
	hostileMemory = 200 << 20 // bytes resident
)

// A scene is a machine in small: a victim with a home, an attacker, a directory that both can write, and a project.
// Everything but the project and the victim's $REWIND_HOME is outside: no command may change it.
type scene struct {
	t    *testing.T
	dir  string
	proj string // the victim works here
	with string // REWIND_DAEMON of every command
}

// newScene makes a scene with nothing hostile in it.
func newScene(t *testing.T, with string) *scene {
	t.Helper()
	dir, err := os.MkdirTemp("", "rewind-scene-")
	must(t, err)
	t.Cleanup(func() { discard(t, dir) })
	s := &scene{t: t, dir: dir, proj: filepath.Join(dir, "shared", "proj"), with: with}
	write(t, dir, map[string]string{
		"home/.ssh/id_ed25519": "the victim's key\n", "home/.ssh/authorized_keys": "ssh-ed25519 AAAA victim\n",
		"home/.ssh/config": "Host *\n",
		"home/.zshenv":     "export A=1\n", "home/.config/autostart/keep": "keep\n", "home/notes/a.md": "notes\n",
		"attacker/loot": "nothing yet\n", "attacker/dir/x": "x\n",
		"home/.gitconfig": "[user]\n\tname = V\n\temail = v@example.org\n[safe]\n\tdirectory = *\n[init]\n\tdefaultBranch = main\n",
	})
	must(t, os.MkdirAll(s.proj, 0o755), os.Chmod(dir, 0o755))
	s.give("home", victim)
	s.give("attacker", attacker)
	must(t, os.Chmod(filepath.Join(dir, "shared"), 0o777|os.ModeSticky),
		os.Chmod(filepath.Join(dir, "home/.ssh"), 0o700))
	must(t, os.Chmod(filepath.Join(dir, "home/.ssh/id_ed25519"), 0o600))
	must(t, os.Lchown(s.proj, victim, victim))
	return s
}

// path is a path of the scene.
func (s *scene) path(rel string) string { return filepath.Join(s.dir, filepath.FromSlash(rel)) }

// give makes everything below a directory a user's.
func (s *scene) give(rel string, uid int) {
	s.t.Helper()
	must(s.t, filepath.WalkDir(s.path(rel), func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, uid)
	}))
}

// An outcome is how a command ended.
type outcome struct {
	code      int
	out, errs string
	memory    int64
	hung      bool
}

// as runs a program as a user, in a directory.
func (s *scene) as(uid int, dir, stdin string, args ...string) outcome {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hostileTime)
	defer cancel()
	name := args[0]
	if uid != 0 {
		id := fmt.Sprint(uid)
		name, args = "setpriv",
			append([]string{"setpriv", "--reuid", id, "--regid", id, "--clear-groups", "--"}, args...)
	}
	cmd := exec.CommandContext(ctx, name, args[1:]...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.WaitDelay = time.Second
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.path("home"), "REWIND_DAEMON=" + s.with, "REWIND_IDLE=20s", "TZ=UTC",
		"TERM=dumb",
		"NO_COLOR=1", "LC_ALL=C.UTF-8",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0", "GOTRACEBACK=none", "TMPDIR=" + os.TempDir(),
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Start()
	must(s.t, err)
	ended, most := make(chan struct{}), make(chan int64, 1)
	go func() { most <- peak(cmd.Process.Pid, ended) }()
	err = cmd.Wait()
	close(ended)
	o := outcome{out: out.String(), errs: errs.String(), memory: <-most, hung: ctx.Err() != nil}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !o.hung {
		s.t.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
	if st := cmd.ProcessState; st != nil {
		o.code = st.ExitCode()
	}
	return o
}

// peak is the most memory in bytes that a process was seen to have resident, until it ended. What the kernel counts for
// a process that has ended begins with what its parent had.
func peak(pid int, ended <-chan struct{}) (most int64) {
	for {
		select {
		case <-ended:
			return most
		case <-time.After(3 * time.Millisecond):
		}
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			continue
		}
		if _, rest, ok := strings.Cut(string(b), "VmHWM:"); ok {
			var kib int64
			if _, err := fmt.Sscan(rest, &kib); err == nil {
				most = max(most, kib<<10)
			}
		}
	}
}

// rewind runs the program as the victim, in the project.
func (s *scene) rewind(args ...string) outcome {
	s.t.Helper()
	return s.as(victim, s.proj, "", append([]string{"rewind"}, args...)...)
}

const hostileEvent = `{"session_id":"5e55104e-0000-4000-8000-000000000001","hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"true"}}`

// hook is one event of an agent at work in the project.
func (s *scene) hook(uid int) outcome {
	s.t.Helper()
	return s.as(uid, s.proj, hostileEvent, "rewind", "hook", "--agent", "claude", "--event", "post-tool-use")
}

// must is rewind for what has to succeed, before anything is hostile.
func (s *scene) must(args ...string) string {
	s.t.Helper()
	o := s.rewind(args...)
	if o.code != 0 {
		s.t.Fatalf("rewind %s: exit code %d\n%s%s", strings.Join(args, " "), o.code, o.out, o.errs)
	}
	return o.out
}

// outside describes everything that no command may change: kinds, modes, owners, contents, targets of links. ours are
// the directories that may change, below the scene; without any, those of the project and of the victim's $REWIND_HOME.
// also are parts of them that may not.
func (s *scene) outside(ours, also []string) map[string]string {
	s.t.Helper()
	all, skip := map[string]string{}, map[string]bool{}
	for _, rel := range ours {
		skip[s.path(rel)] = true
	}
	look := func(top string) {
		must(s.t, filepath.WalkDir(top, func(path string, _ fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			if skip[path] {
				return fs.SkipDir
			}
			all[path], err = describe(path)
			return err
		}))
	}
	look(s.dir)
	for _, rel := range also {
		look(s.path(rel))
	}
	return all
}

// describe is one line about an entry; the content of a large file is told by its size alone.
func describe(path string) (string, error) {
	fi, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	st, _ := fi.Sys().(*syscall.Stat_t)
	text := fmt.Sprintf("%v %d:%d", fi.Mode(), st.Uid, st.Gid)
	switch {
	case fi.Mode().IsRegular() && fi.Size() < 1<<20:
		b, err := os.ReadFile(path)
		return fmt.Sprintf("%s %d bytes %q", text, fi.Size(), b[:min(len(b), 4096)]), err
	case fi.Mode().IsRegular():
		return fmt.Sprintf("%s %d bytes", text, fi.Size()), nil
	case fi.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		return text + " -> " + to, err
	}
	return text, nil
}

// changed names what differs between two descriptions.
func changed(was, is map[string]string) []string {
	var diff []string
	for _, p := range slices.Sorted(maps.Keys(was)) {
		switch now, ok := is[p]; {
		case !ok:
			diff = append(diff, p+" is gone")
		case now != was[p]:
			diff = append(diff, fmt.Sprintf("%s was %.200s, is %.200s", p, was[p], now))
		}
	}
	for _, p := range slices.Sorted(maps.Keys(is)) {
		if _, ok := was[p]; !ok {
			diff = append(diff, p+" is new")
		}
	}
	return diff
}

// A hostileCase makes a scene hostile. believed says that the store in it is the victim's own, into which somebody got:
// its commands may fail or succeed, and only what is outside counts. What is not believed must not be touched at all.
type hostileCase struct {
	name     string
	believed bool
	plant    func(s *scene)
	root     bool     // who runs the commands is root, with the victim's HOME
	works    bool     // hostile or not, the victim's own project goes on
	still    []string // besides what is outside, this may not change; below the scene
}

// storeCommands are run in every scene, behind one hook.
var storeCommands = [][]string{
	{"list"},
	{"save", "x"},
	{"checkout", "--abort"},
	{"checkout", "--continue"},
	{"checkout", "@-"},
	{"verify"},
	{"status"},
	{"undo"},
	{"undo-restore"},
	{"gc"},
	{"diff"},
	{"show", "@"},
	{"sessions"},
	{"turns"},
	{"ops"},
	{"validate"},
	{"config"},
	{"verify", "--repair"},
	{"purge", "a.txt", "--yes"},
}

// play runs a case and says how many commands ran.
func (c hostileCase) play(t *testing.T, s *scene, commands [][]string) {
	t.Helper()
	c.plant(s)
	ours := []string{"shared/proj", "home/.rewind"}
	switch {
	case c.root:
		ours = nil
	case !c.believed:
		ours = ours[1:]
	}
	was := s.outside(ours, c.still)
	check := func(what string, o outcome) {
		t.Helper()
		now := s.outside(ours, c.still)
		diff := changed(was, now)
		for _, d := range diff[:min(len(diff), 3)] {
			t.Errorf("%s: %s changed what is not ours: %s", c.name, what, d)
		}
		if o.hung {
			t.Errorf("%s: %s hangs", c.name, what)
		}
		if o.memory > hostileMemory {
			t.Errorf("%s: %s took %d MiB", c.name, what, o.memory>>20)
		}
		if strings.Contains(o.errs, "panic") || strings.Contains(o.errs, "goroutine ") {
			t.Errorf("%s: %s panics: %s", c.name, what, o.errs)
		}
		was = now
	}
	uid := victim
	if c.root {
		uid = 0
	}
	o := s.hook(uid)
	check("a hook", o)
	if o.code != 0 {
		t.Errorf("%s: the hook exits with %d: %s", c.name, o.code, o.errs)
	}
	for _, args := range commands {
		if o.hung {
			return // so would all others
		}
		o = s.as(uid, s.proj, "", append([]string{"rewind"}, args...)...)
		check("rewind "+strings.Join(args, " "), o)
		if o.code < 0 || o.code == 2 {
			t.Errorf("%s: rewind %s exits with %d: %s", c.name, strings.Join(args, " "), o.code, o.errs)
		}
		if c.root && o.code != 19 {
			t.Errorf("%s: rewind %s by root exits with %d: %s", c.name, strings.Join(args, " "), o.code, o.errs)
		}
		if c.works && o.code != 0 && (args[0] == "list" || args[0] == "save" || args[0] == "verify") {
			t.Errorf("%s: rewind %s exits with %d: %s", c.name, strings.Join(args, " "), o.code, o.errs)
		}
		if !c.believed && o.code == 0 && (args[0] == "list" || args[0] == "save" || args[0] == "checkout") {
			t.Errorf("%s: rewind %s believes it:\n%s", c.name, strings.Join(args, " "), o.out)
		}
	}
}

// TestT21Promise17Hostile: stores, markers and repositories that somebody else made or got at. Nothing outside of the
// project and the victim's own $REWIND_HOME changes, no command hangs or takes more than 200 MiB, no hook fails; of
// what the victim did not make nothing is opened.
func TestT21Promise17Hostile(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("missing right: root, to be other users")
	}
	if _, err := exec.LookPath("setpriv"); err != nil {
		t.Skip("missing tool: setpriv")
	}
	program, err := exec.LookPath("rewind")
	must(t, err)
	for _, dir := range []string{filepath.Dir(program), filepath.Dir(filepath.Dir(program))} {
		must(t, os.Chmod(dir, 0o755))
	}
	m := torture.Begin(t)
	store := hostileStore(t)
	all := hostileCases(store)
	commands := storeCommands
	if !torture.Full() {
		commands = commands[:6]
	}
	if len(all) < 150 {
		t.Fatalf("%d cases, want at least 150", len(all))
	}
	// Each without a daemon, and with the victim's own.
	picked := torture.Spread(min(m.Points, 2*len(all)), 2*len(all), m.Seed)
	for _, half := range []int{0, 1} { // two at a time
		t.Run(fmt.Sprint("half", half), func(t *testing.T) {
			t.Parallel()
			for i, n := range picked {
				if i%2 != half {
					continue
				}
				c, with := all[(n-1)/2], []string{"off", ""}[(n-1)%2]
				t.Run(strings.ReplaceAll(c.name, "/", "|")+map[string]string{"": ", daemon"}[with], func(t *testing.T) {
					s := newScene(t, with)
					if with == "" {
						defer s.as(victim, s.path("home"), "", "rewind", "daemon", "stop")
					}
					c.play(t, s, commands)
				})
				m.Point()
				m.Fired(1)
			}
		})
	}
}

// hostileStore is a project of the victim's with a store in it, and the home that knows it, as a directory to copy
// from.
func hostileStore(t *testing.T) *scene {
	t.Helper()
	s := newScene(t, "off")
	write(t, s.proj, map[string]string{"a.txt": "one\n", "d/b.txt": strings.Repeat("b\n", 3000)})
	s.give("shared/proj", victim)
	s.must("init", "--mode", "project", "--agents", "none")
	for i := range 3 {
		write(t, s.proj, map[string]string{"a.txt": fmt.Sprint(i)})
		s.must("save", fmt.Sprint(i))
	}
	return s
}

// lay copies the victim's project into another scene; known: with the $REWIND_HOME that made it.
func (s *scene) lay(from *scene, known bool) {
	s.t.Helper()
	cp := func(src, dst string) {
		if out, err := exec.Command("cp", "-a", src, dst).CombinedOutput(); err != nil {
			s.t.Fatalf("cp: %v\n%s", err, out)
		}
	}
	must(s.t, os.Remove(s.proj))
	cp(from.proj, s.proj)
	if known {
		cp(from.path("home/.rewind"), s.path("home/.rewind"))
	}
}
