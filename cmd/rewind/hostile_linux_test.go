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

// A scene is a machine in small: a victim with a home, an attacker, a directory that both can write, and a project. Everything but the project and the victim's
// $REWIND_HOME is outside: no command may change it.
type scene struct {
	t    *testing.T
	dir  string
	proj string // the victim works here
}

// newScene makes a scene with nothing hostile in it.
func newScene(t *testing.T) *scene {
	t.Helper()
	dir, err := os.MkdirTemp("", "rewind-scene-")
	must(t, err)
	t.Cleanup(func() { discard(t, dir) })
	s := &scene{t: t, dir: dir, proj: filepath.Join(dir, "shared", "proj")}
	write(t, dir, map[string]string{
		"home/.ssh/id_ed25519": "the victim's key\n", "home/.ssh/authorized_keys": "ssh-ed25519 AAAA victim\n", "home/.ssh/config": "Host *\n",
		"home/.zshenv": "export A=1\n", "home/.config/autostart/keep": "keep\n", "home/notes/a.md": "notes\n",
		"attacker/loot": "nothing yet\n", "attacker/dir/x": "x\n",
		"home/.gitconfig": "[user]\n\tname = V\n\temail = v@example.org\n[safe]\n\tdirectory = *\n[init]\n\tdefaultBranch = main\n",
	})
	must(t, os.MkdirAll(s.proj, 0o755), os.Chmod(dir, 0o755))
	s.give("home", victim)
	s.give("attacker", attacker)
	must(t, os.Chmod(filepath.Join(dir, "shared"), 0o777|os.ModeSticky), os.Chmod(filepath.Join(dir, "home/.ssh"), 0o700))
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
		name, args = "setpriv", append([]string{"setpriv", "--reuid", id, "--regid", id, "--clear-groups", "--"}, args...)
	}
	cmd := exec.CommandContext(ctx, name, args[1:]...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.WaitDelay = time.Second
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.path("home"), "REWIND_DAEMON=off", "TZ=UTC", "TERM=dumb", "NO_COLOR=1", "LC_ALL=C.UTF-8",
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

// peak is the most memory in bytes that a process was seen to have resident, until it ended. What the kernel counts for a process that has ended begins with what its
// parent had.
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
func (s *scene) hook() outcome {
	s.t.Helper()
	return s.as(victim, s.proj, hostileEvent, "rewind", "hook", "--agent", "claude", "--event", "post-tool-use")
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

// outside describes everything that no command may change: kinds, modes, owners, contents, targets of links.
func (s *scene) outside(also ...string) map[string]string {
	s.t.Helper()
	all := map[string]string{}
	skip := map[string]bool{s.proj: true, s.path("home/.rewind"): true}
	for _, a := range also {
		delete(skip, a)
	}
	must(s.t, filepath.WalkDir(s.dir, func(path string, _ fs.DirEntry, err error) error {
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

// A hostileCase makes a scene hostile. believed says that the store in it is the victim's own, into which somebody got: its commands may fail or succeed, and only
// what is outside counts. What is not believed must not be touched at all.
type hostileCase struct {
	name     string
	believed bool
	plant    func(s *scene)
	commands [][]string // besides those that every case runs; nil: none
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
	was := s.outside()
	if !c.believed {
		was = s.outside(s.proj)
	}
	check := func(what string, o outcome) {
		t.Helper()
		now := s.outside()
		if !c.believed {
			now = s.outside(s.proj)
		}
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
	o := s.hook()
	check("a hook", o)
	if o.code != 0 {
		t.Errorf("%s: the hook exits with %d: %s", c.name, o.code, o.errs)
	}
	for _, args := range append(commands, c.commands...) {
		if o.hung {
			return // so would all others
		}
		o = s.rewind(args...)
		check("rewind "+strings.Join(args, " "), o)
		if o.code < 0 || o.code == 2 {
			t.Errorf("%s: rewind %s exits with %d: %s", c.name, strings.Join(args, " "), o.code, o.errs)
		}
		if !c.believed && o.code == 0 && (args[0] == "list" || args[0] == "save" || args[0] == "checkout") {
			t.Errorf("%s: rewind %s believes it:\n%s", c.name, strings.Join(args, " "), o.out)
		}
	}
}

// TestT21Promise17Hostile: stores, markers and repositories that somebody else made or got at. Nothing outside of the project and the victim's own $REWIND_HOME
// changes, no command hangs or takes more than 200 MiB, no hook fails; of what the victim did not make nothing is opened.
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
	picked := torture.Spread(min(m.Points, len(all)), len(all), m.Seed)
	for _, half := range []int{0, 1} { // two at a time
		t.Run(fmt.Sprint("half", half), func(t *testing.T) {
			t.Parallel()
			for i, n := range picked {
				if i%2 != half {
					continue
				}
				c := all[n-1]
				t.Run(strings.ReplaceAll(c.name, "/", "|"), func(t *testing.T) {
					c.play(t, newScene(t), commands)
				})
				m.Point()
				m.Fired(1)
			}
		})
	}
}

// hostileStore is a project of the victim's with a store in it, and the home that knows it, as a directory to copy from.
func hostileStore(t *testing.T) *scene {
	t.Helper()
	s := newScene(t)
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

// An entry of a store that is planted anew, and the kinds of what is planted.
type planting struct {
	name string
	put  func(s *scene, path string) error
}

// plantings are what an entry of a store, a marker or a settings file may be instead.
var plantings = []planting{
	{"link to a file", func(s *scene, path string) error { return os.Symlink(s.path("home/.ssh/id_ed25519"), path) }},
	{"link to a directory", func(s *scene, path string) error { return os.Symlink(s.path("home/.ssh"), path) }},
	{"relative link out", func(s *scene, path string) error {
		rel, err := filepath.Rel(filepath.Dir(path), s.path("home/.ssh"))
		return errors.Join(err, os.Symlink(rel, path))
	}},
	{"dangling link", func(s *scene, path string) error { return os.Symlink(s.path("home/.config/autostart/x.desktop"), path) }},
	{"pipe", func(s *scene, path string) error { return syscall.Mkfifo(path, 0o600) }},
	{"device", func(s *scene, path string) error { return syscall.Mknod(path, syscall.S_IFCHR|0o600, 1<<8|5) }},
	{"hard link", func(s *scene, path string) error { return os.Link(s.path("home/.ssh/authorized_keys"), path) }},
	{"huge", func(s *scene, path string) error {
		return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 3<<30))
	}},
	{"directory", func(s *scene, path string) error {
		return errors.Join(os.Mkdir(path, 0o700), os.WriteFile(filepath.Join(path, "x"), []byte("x"), 0o600))
	}},
	{"loop", func(s *scene, path string) error { return os.Symlink(filepath.Base(path), path) }},
}

// entries of a store that may be planted; a * stands for the first file that matches.
var storeEntries = []string{
	"", "format", "lock", "tide", "checked", "ballast", "last-fatal", "making", "swap", "gc-ran", "project.json", "seal", "repair", "quarantine", "db",
	"db/LOCK", "db/extent", "db/archive", "db/MANIFEST-*", "db/*.sst", "db/OPTIONS-*", "db/marker.manifest*", "db/marker.format*", "db/*.log", "db/*.wal", "format.tmp", "db/archive/000001.sst",
}

// find gives the path of an entry, which need not be there.
func find(store, entry string) string {
	if list, err := filepath.Glob(filepath.Join(store, entry)); err == nil && len(list) > 0 {
		return list[0]
	}
	return filepath.Join(store, strings.ReplaceAll(entry, "*", "000009"))
}

// hostileCases are all of them, the families in turns.
func hostileCases(from *scene) []hostileCase {
	var all []hostileCase
	add := func(c hostileCase) { all = append(all, c) }
	// Entries of a store: one that came with a repository, and the victim's own that somebody got at.
	for _, entry := range storeEntries {
		if strings.Contains(entry, "*") {
			if list, _ := filepath.Glob(filepath.Join(from.proj, ".agent/rewind/store", entry)); len(list) == 0 {
				continue
			}
		}
		for _, p := range plantings {
			for _, believed := range []bool{false, true} {
				name := fmt.Sprintf("store/%s is a %s, known %v", entry, p.name, believed)
				add(hostileCase{name: name, believed: believed, plant: func(s *scene) {
					s.lay(from, believed)
					path := find(filepath.Join(s.proj, ".agent/rewind/store"), entry)
					must(s.t, os.RemoveAll(path), os.MkdirAll(filepath.Dir(path), 0o700), p.put(s, path))
					_ = os.Lchown(path, victim, victim)
				}})
			}
		}
		// Another user's.
		add(hostileCase{name: "store/" + entry + " is another user's", believed: true, plant: func(s *scene) {
			s.lay(from, true)
			path := find(filepath.Join(s.proj, ".agent/rewind/store"), entry)
			if _, err := os.Lstat(path); err != nil {
				must(s.t, os.WriteFile(path, []byte("x"), 0o666))
			}
			must(s.t, os.Lchown(path, attacker, attacker), os.Chmod(path, 0o777))
		}})
	}
	// The directories above a store.
	for _, above := range []string{".agent", ".agent/rewind"} {
		for _, p := range plantings {
			add(hostileCase{name: above + " is a " + p.name, plant: func(s *scene) {
				s.lay(from, false)
				path := filepath.Join(s.proj, above)
				must(s.t, os.RemoveAll(path), p.put(s, path))
			}})
		}
		add(hostileCase{name: above + " is a link to a store elsewhere", plant: func(s *scene) {
			s.lay(from, false)
			must(s.t, os.Rename(filepath.Join(s.proj, above), s.path("attacker/stolen")), os.Symlink(s.path("attacker/stolen"), filepath.Join(s.proj, above)))
		}})
		add(hostileCase{name: above + " is another user's", plant: func(s *scene) {
			s.lay(from, false)
			must(s.t, filepath.WalkDir(filepath.Join(s.proj, above), func(path string, _ fs.DirEntry, err error) error {
				return errors.Join(err, os.Lchown(path, attacker, attacker))
			}))
		}})
	}
	// Markers and settings.
	for _, file := range []string{"id", "config.json", ".gitignore", "stage"} {
		for _, p := range plantings {
			add(hostileCase{name: "marker " + file + " is a " + p.name, plant: func(s *scene) {
				write(s.t, s.proj, map[string]string{"a.txt": "a\n", ".agent/rewind/id": strings.Repeat("ab", 16) + "\n"})
				s.give("shared/proj", victim)
				path := filepath.Join(s.proj, ".agent/rewind", file)
				must(s.t, os.RemoveAll(path), p.put(s, path))
			}})
		}
	}
	for _, id := range []string{
		"", "\n", "../../../../home/.ssh", "/etc/passwd", strings.Repeat("00", 16), strings.Repeat("g", 32), strings.Repeat("ab", 16), "ab\x00cd", strings.Repeat("ab", 1<<20), "\xff\xfe",
		strings.Repeat(strings.Repeat("ab", 16)+"\n", 200), "~/.ssh", "$(touch /tmp/x)", strings.Repeat("AB", 16),
	} {
		add(hostileCase{name: fmt.Sprintf("marker id %.12q", id), plant: func(s *scene) {
			write(s.t, s.proj, map[string]string{"a.txt": "a\n", ".agent/rewind/id": id})
			s.give("shared/proj", victim)
		}})
	}
	// From above: a project of the attacker's in the shared directory, and in the root of the scene.
	for _, owner := range []int{attacker, victim} {
		for _, planted := range []string{"", "db/archive", "lock", "db"} {
			add(hostileCase{name: fmt.Sprintf("a store above, of %d, %s a link", owner, planted), plant: func(s *scene) {
				s.lay(from, false)
				must(s.t, os.Rename(filepath.Join(s.proj, ".agent"), s.path("shared/.agent")))
				s.give("shared/.agent", owner)
				if planted != "" {
					path := filepath.Join(s.path("shared/.agent/rewind/store"), planted)
					must(s.t, os.RemoveAll(path), os.Symlink(s.path("home/.ssh"), path))
				}
			}})
		}
	}
	// A clone: everything in git.
	for _, entry := range []string{"", "db/archive", "lock", "db/LOCK", "db/extent", "db", "project.json", "format"} {
		add(hostileCase{name: "clone, store/" + entry + " a link", plant: func(s *scene) {
			s.lay(from, false)
			store := filepath.Join(s.proj, ".agent/rewind/store")
			if entry != "" {
				path := filepath.Join(store, entry)
				must(s.t, os.RemoveAll(path), os.Symlink(strings.Repeat("../", 5+strings.Count(entry, "/"))+"home/.ssh", path))
			}
			must(s.t, os.Remove(filepath.Join(s.proj, ".agent/rewind/.gitignore")))
			s.give("shared/proj", victim)
			for _, args := range [][]string{{"git", "init", "-q"}, {"git", "add", "-A", "-f"}, {"git", "commit", "-q", "-m", "x"}} {
				if o := s.as(victim, s.proj, "", args...); o.code != 0 {
					s.t.Fatalf("%v: %s", args, o.errs)
				}
			}
			must(s.t, os.Rename(s.proj, s.path("attacker/repository")))
			if o := s.as(victim, s.path("shared"), "", "git", "clone", "-q", s.path("attacker/repository"), "proj"); o.code != 0 {
				s.t.Fatalf("git clone: %s", o.errs)
			}
		}})
	}
	return all
}
