package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand"
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

// gitUser is somebody who is not root, where the tests may become him, with a project in git.
type gitUser struct {
	t       *testing.T
	base    string
	program string
	project string
	cred    *syscall.Credential // nil: the one who runs the tests
	n       int                 // edits so far
	daemon  string              // "off", or "" for commands that one answers
}

func newGitUser(t *testing.T, kind string) *gitUser {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("missing tool: git")
	}
	program, err := realProgram()
	must(t, err)
	u := &gitUser{t: t, base: memoryDir(t), program: program, daemon: "off"}
	must(t, os.Chmod(u.base, 0o755), os.Mkdir(filepath.Join(u.base, "home"), 0o755),
		os.Mkdir(filepath.Join(u.base, "w"), 0o755))
	for dir := filepath.Dir(u.base); dir != "/" && dir != os.TempDir() && dir != "/dev/shm"; dir = filepath.Dir(dir) {
		must(t, os.Chmod(dir, 0o755))
	}
	if os.Getuid() == 0 {
		u.cred = &syscall.Credential{Uid: nobody, Gid: nobody}
		must(t, os.Chmod(filepath.Dir(program), 0o755), os.Chmod(filepath.Dir(filepath.Dir(program)), 0o755))
	}
	u.own()
	main := filepath.Join(u.base, "w", "p")
	u.git(u.base, "config", "--global", "user.name", "n")
	u.git(u.base, "config", "--global", "user.email", "e")
	u.git(u.base, "init", "-q", "-b", "main", main)
	write(t, main, map[string]string{
		"a": "0\n", "kept.log": "0\n", "d/deep/kept.log": "0\n", "free.log": "0\n",
		".gitignore": "*.log\n",
	})
	u.own()
	u.git(main, "add", "-f", "a", "kept.log", "d/deep/kept.log", ".gitignore")
	u.git(main, "commit", "-q", "-m", "one")
	write(t, main, map[string]string{".git/shallow": "", ".git/info/exclude": "# nothing\n"})
	u.project = main
	switch kind {
	case "packed":
		u.git(main, "pack-refs", "--all")
	case "linked":
		u.project = filepath.Join(u.base, "w", "linked")
		u.git(main, "worktree", "add", "-q", u.project)
	}
	u.own()
	u.must("init")
	t.Cleanup(func() { endBelow(u.base, nil) })
	return u
}

// own gives everything to the user.
func (u *gitUser) own() {
	if u.cred == nil {
		return
	}
	for _, dir := range []string{"home", "w"} {
		must(u.t, filepath.WalkDir(filepath.Join(u.base, dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(path, nobody, nobody)
		}))
	}
}

func (u *gitUser) command(dir, stdin, program string, args ...string) (code int, out string) {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	home := filepath.Join(u.base, "home")
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "REWIND_DAEMON=" + u.daemon,
		"REWIND_IDLE=2m", "REWIND_AFTERWARDS=off", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C.UTF-8", "NO_COLOR=1",
	}
	cmd.Stdin = strings.NewReader(stdin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: u.cred}
	b, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		u.t.Fatalf("%s %q hangs: %s", program, args, b)
	case errors.As(err, &exit):
		return exit.ExitCode(), string(b)
	case err != nil:
		u.t.Fatalf("%s %q: %v", program, args, err)
	}
	return 0, string(b)
}

func (u *gitUser) git(dir string, args ...string) {
	u.t.Helper()
	if code, out := u.command(dir, "", "git", args...); code != 0 {
		u.t.Fatalf("git %q: %s", args, out)
	}
}

// must runs rewind in the project; it exits with 0.
func (u *gitUser) must(args ...string) string {
	u.t.Helper()
	code, out := u.command(u.project, "", u.program, args...)
	if code != 0 {
		u.t.Errorf("rewind %s: exit code %d\n%s", strings.Join(args, " "), code, out)
	}
	return out
}

// alone ends the daemon: the next commands do all themselves.
func (u *gitUser) alone() {
	endBelow(u.base, nil)
	u.daemon = "off"
}

// edited are the files that each edit changes: one like any other, and two that are ignored and tracked.
var edited = []string{"a", "kept.log", "d/deep/kept.log"}

// edit writes something new into the files and returns it.
func (u *gitUser) edit() string {
	u.t.Helper()
	u.n++
	v := fmt.Sprintf("%d\n", u.n)
	for _, name := range edited {
		must(u.t, os.WriteFile(filepath.Join(u.project, name), []byte(v), 0o644))
	}
	return v
}

func (u *gitUser) holds(when, want string) {
	u.t.Helper()
	for _, name := range edited {
		if b, err := os.ReadFile(filepath.Join(u.project, name)); err != nil || string(b) != want {
			u.t.Errorf("after %s %s has %q, %v; want %q", when, name, b, err, want)
		}
	}
}

// gitStatus is what of status --json is looked at.
type gitStatus struct {
	Changes []struct{ Path string }
	Checks  []struct{ Name, Level, Text string }
}

func (u *gitUser) status() (s gitStatus) {
	u.t.Helper()
	out := u.must("status", "--json")
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		u.t.Fatalf("%v: %s", err, out)
	}
	return s
}

func (s gitStatus) git() (texts []string) {
	for _, c := range s.Checks {
		if c.Name == "git" && c.Level == "finding" {
			texts = append(texts, c.Text)
		}
	}
	return texts
}

// works runs every command that looks at git or writes the worktree, and returns what status finds wrong with git.
func (u *gitUser) works() []string {
	u.t.Helper()
	saved := u.edit()
	u.must("save")
	if out := u.must("cat", "@:d/deep/kept.log"); out != saved {
		u.t.Errorf("save: the checkpoint has %q, want %q", out, saved)
	}
	hooked := u.edit()
	var after gitStatus
	for range 10 { // one process does it all, and gives up after a second
		u.n++
		event := fmt.Sprintf(`{"session_id":"s1","hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"t%d"}`, u.n)
		if code, out := u.command(u.project, event, u.program, "hook", "--agent", "claude", "--event",
			"post-tool-use"); code != 0 ||
			out != "" {
			u.t.Errorf("hook: exit code %d, %q", code, out)
		}
		if after = u.status(); len(after.Changes) == 0 {
			break
		}
	}
	if len(after.Changes) > 0 {
		u.t.Errorf("hook: unsaved %v", after.Changes)
	}
	unsaved := u.edit()
	if out := u.must("diff"); !strings.Contains(out, "+"+unsaved) || !strings.Contains(out, "-"+hooked) {
		u.t.Errorf("diff says %q", out)
	}
	u.must("checkout", "@", "--session", "claude/s1")
	u.holds("checkout", hooked)
	u.must("undo-restore")
	u.holds("undo-restore", unsaved)
	u.must("undo")
	u.holds("undo", hooked)
	return after.git()
}

// gitDamage is what a power cut, another program or a stranger makes of a file.
type gitDamage struct {
	name string
	do   func(path string, was []byte) error
}

var errNotThis = errors.New("not of this file")

var gitDamages = []gitDamage{
	{"empty", func(path string, _ []byte) error { return os.WriteFile(path, nil, 0o644) }},
	{"zeros", func(path string, was []byte) error { return os.WriteFile(path, make([]byte, len(was)), 0o644) }},
	{"garbage", func(path string, _ []byte) error {
		b := make([]byte, 1<<20)
		rand.New(rand.NewSource(1)).Read(b)
		return os.WriteFile(path, b, 0o644)
	}},
	{"half", func(path string, was []byte) error { return os.WriteFile(path, was[:len(was)/2], 0o644) }},
	{"removed", func(string, []byte) error { return nil }},
	{"pipe", func(path string, _ []byte) error { return syscall.Mkfifo(path, 0o644) }},
	{"directory", func(path string, _ []byte) error { return os.MkdirAll(filepath.Join(path, "x"), 0o755) }},
	{"unknown extension", func(path string, was []byte) error {
		if !bytes.HasPrefix(was, []byte("DIRC")) {
			return errNotThis
		}
		b := append(was[:len(was)-20:len(was)-20], "xtra"...)
		return os.WriteFile(path, append(binary.BigEndian.AppendUint32(b, 0), make([]byte, 20)...), 0o644)
	}},
	{"unreadable", nil},
	{"another's", nil},
	{"another's, unreadable", nil},
}

// damage breaks a path and returns what puts it right; ok is false where that makes no sense.
func (u *gitUser) damage(path string, d gitDamage) (repair func(), ok bool) {
	u.t.Helper()
	fi, err := os.Lstat(path)
	must(u.t, err)
	chown := func(mode fs.FileMode) func() {
		must(u.t, os.Chown(path, 0, 0), os.Chmod(path, mode))
		return func() { must(u.t, os.Chown(path, nobody, nobody), os.Chmod(path, fi.Mode().Perm())) }
	}
	switch {
	case d.name == "unreadable":
		must(u.t, os.Chmod(path, 0))
		return func() { must(u.t, os.Chmod(path, fi.Mode().Perm())) }, true
	case u.cred == nil && strings.HasPrefix(d.name, "another's"):
		return nil, false
	case d.name == "another's":
		return chown(fi.Mode().Perm() | 0o444), true
	case d.name == "another's, unreadable":
		return chown(fi.Mode().Perm() &^ 0o077), true
	}
	data, _ := os.ReadFile(path)
	was := filepath.Join(u.base, "was")
	must(u.t, os.Rename(path, was))
	repair = func() { must(u.t, os.RemoveAll(path), os.Rename(was, path)) }
	switch err := d.do(path, data); {
	case errors.Is(err, errNotThis):
		repair()
		return nil, false
	case err != nil:
		u.t.Fatal(err)
	}
	if u.cred != nil {
		if err := os.Lchown(path, nobody, nobody); err != nil && !errors.Is(err, fs.ErrNotExist) {
			u.t.Fatal(err)
		}
	}
	return repair, true
}

// gitBytes lists all of the repository.
func (u *gitUser) gitBytes() string {
	u.t.Helper()
	var b strings.Builder
	for _, top := range []string{filepath.Join(u.base, "w", "p", ".git"), filepath.Join(u.project, ".git")} {
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) && path == top {
				return nil
			}
			if err != nil {
				return err
			}
			fi, err := d.Info()
			if err != nil {
				return err
			}
			sys := fi.Sys().(*syscall.Stat_t)
			fmt.Fprintf(&b, "%s %v %d %d %v %v\n", path, fi.Mode(), sys.Ino, fi.Size(), sys.Mtim, sys.Ctim)
			return nil
		})
		must(u.t, err)
	}
	return b.String()
}

// silentDamages lose nothing that a checkpoint records or that decides what it holds.
func silentDamage(kind, file, damage string) bool {
	switch file {
	case "shallow", "gitdir":
		return true
	case "packed-refs":
		return kind != "packed" || damage == "another's"
	case "config":
		return slices.Contains([]string{"empty", "half", "removed", "another's"}, damage)
	case "info/exclude":
		return slices.Contains([]string{"empty", "zeros", "garbage", "half", "removed", "another's"}, damage)
	case "objects":
		return damage == "directory" || strings.HasPrefix(damage, "another's") || damage == "unreadable"
	}
	return damage == "another's" || file == "refs" && damage == "another's"
}

// TestT24Promise18GitBroken breaks every file of the user's repository in every way, as a user who is not root: save,
// hooks, status, diff, checkout and undo go on with all bytes, tracked files among the ignored ones included; status
// says what is missing; and no byte of the repository changes.
func TestT24Promise18GitBroken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind  string
		files []string // in the git directory, but for .git
	}{
		{"loose", []string{".git", "HEAD", "index"}},
		{"loose", []string{"config", "refs/heads/main", "refs"}},
		{"loose", []string{"objects", "info/exclude", "shallow", "packed-refs"}},
		{"packed", []string{"packed-refs"}},
		{"linked", []string{".git", "HEAD", "index", "commondir", "gitdir"}},
	} {
		t.Run(c.kind+" "+c.files[0], func(t *testing.T) {
			t.Parallel()
			u := newGitUser(t, c.kind)
			gitDir := filepath.Join(u.base, "w/p/.git")
			if c.kind == "linked" {
				gitDir = filepath.Join(gitDir, "worktrees/linked")
			}
			if texts := u.works(); len(texts) > 0 {
				t.Fatalf("nothing is broken: %q", texts)
			}
			n := 0
			for _, file := range c.files {
				path := filepath.Join(gitDir, file)
				if file == ".git" {
					path = filepath.Join(u.project, ".git")
				}
				if _, err := os.Lstat(path); err != nil {
					continue
				}
				for _, d := range gitDamages {
					if file == ".git" && d.name == "removed" {
						continue // there is no repository any more
					}
					if n++; !torture.Today(n) {
						continue
					}
					repair, ok := u.damage(path, d)
					if !ok {
						continue
					}
					if u.daemon = ""; n/3%3 == 0 { // a command that does all itself costs four times as much
						u.alone()
					}
					what := fmt.Sprintf("%s %s %s", c.kind, file, d.name)
					bytes := u.gitBytes()
					texts := u.works()
					t.Logf("%s: %q", what, texts)
					if u.gitBytes() != bytes {
						t.Errorf("%s: the repository has changed", what)
					}
					if len(texts) == 0 && !silentDamage(c.kind, file, d.name) {
						t.Errorf("%s: status says nothing", what)
					}
					if slices.Contains([]string{"zeros", "pipe", "unreadable"}, d.name) {
						u.begins(what)
					}
					repair()
					if t.Failed() {
						t.Fatalf("%s", what)
					}
				}
			}
			u.alone()
			if texts := u.works(); len(texts) > 0 {
				t.Errorf("put right: %q", texts)
			}
		})
	}
}

// begins sets a project up from nothing, of a working tree with the same repository.
func (u *gitUser) begins(what string) {
	u.t.Helper()
	q := filepath.Join(u.base, "w", "q")
	defer os.RemoveAll(q)
	defer os.RemoveAll(filepath.Join(u.base, "home", ".rewind2"))
	must(u.t, os.Mkdir(q, 0o755))
	if u.cred != nil {
		must(u.t, os.Chown(q, nobody, nobody))
	}
	must(u.t, os.Symlink(filepath.Join(u.project, ".git"), filepath.Join(q, ".git")))
	must(u.t, os.WriteFile(filepath.Join(q, "a"), []byte("x\n"), 0o644))
	code, out := u.command(q, "", "env", "REWIND_HOME="+filepath.Join(u.base, "home", ".rewind2"), u.program, "init")
	if code != 0 {
		u.t.Errorf("%s: init: exit code %d: %s", what, code, out)
	}
	code, out = u.command(q, "", "env", "REWIND_HOME="+filepath.Join(u.base, "home", ".rewind2"), u.program,
		"cat", "@:a")
	if code != 0 || out != "x\n" {
		u.t.Errorf("%s: after init: exit code %d: %s", what, code, out)
	}
}

// TestT24Promise18GitHangs has git hang in what its configuration includes. Each command waits for it once; a daemon
// once for all of them.
func TestT24Promise18GitHangs(t *testing.T) {
	t.Parallel()
	u := newGitUser(t, "loose")
	pipe := filepath.Join(u.base, "home/pipe")
	must(t, syscall.Mkfifo(pipe, 0o644))
	if u.cred != nil {
		must(t, os.Chown(pipe, nobody, nobody))
	}
	real, err := exec.LookPath("git")
	must(t, err)
	bin := filepath.Join(u.base, "home/bin")
	log := filepath.Join(u.base, "home/log")
	write(t, bin, map[string]string{"git": "#!/bin/sh\necho x >>" + log + "\n" + real + ` "$@"` + "\n"})
	must(t, os.Chmod(filepath.Join(bin, "git"), 0o755))
	u.own()
	u.git(u.project, "config", "include.path", pipe)
	env := func(daemon string, args ...string) (int, string) {
		words := []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "REWIND_DAEMON=" + daemon, u.program}
		return u.command(u.project, "", "env", append(words, args...)...)
	}
	count := func() int {
		b, _ := os.ReadFile(log)
		return bytes.Count(b, []byte("\n"))
	}
	for _, args := range [][]string{{"save"}, {"status"}, {"diff"}, {"checkout", "@-"}, {"undo"}} {
		u.edit()
		before := count()
		if code, out := env("off", args...); code != 0 {
			t.Errorf("rewind %q: exit code %d: %s", args, code, out)
		}
		if n := count() - before; n > 1 {
			t.Errorf("rewind %q: git was started %d times", args, n)
		}
	}
	u.edit()
	event := `{"session_id":"s1","hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"t1"}`
	for range 10 { // as above
		u.command(u.project, event, "env", "PATH="+bin+":"+os.Getenv("PATH"), u.program, "hook", "--agent", "claude",
			"--event", "post-tool-use")
		if _, out := env("off", "diff", "--name-only"); !strings.Contains(out, "a\n") {
			break
		}
	}
	if _, out := env("off", "diff", "--name-only"); strings.Contains(out, "a\n") {
		t.Errorf("no hook was taken in: %s", out)
	}
	before := count()
	for range 3 {
		u.edit()
		if code, out := env("", "save"); code != 0 {
			t.Errorf("save: exit code %d: %s", code, out)
		}
		if code, out := env("", "status"); code != 0 ||
			!strings.Contains(out, "configuration cannot be read: git config: no answer") {
			t.Errorf("status: exit code %d: %s", code, out)
		}
	}
	if n := count() - before; n != 1 {
		t.Errorf("with a daemon git was started %d times", n)
	}
	if code, out := env("", "daemon", "stop"); code != 0 {
		t.Errorf("daemon stop: exit code %d: %s", code, out)
	}
}
