package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/gofrs/flock"
	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
)

type scriptCommand = func(ts *testscript.TestScript, neg bool, args []string)

// scriptCommands are the commands of the scripts in testdata besides testscript's own.
func scriptCommands() map[string]scriptCommand {
	return map[string]scriptCommand{
		"exitcode":   cmdExitcode,
		"claude":     cmdClaude,
		"stdout2env": cmdStdout2env,
		"tree":       cmdTree,
		"cmptree":    cmdCmptree,
		"mtimes":     cmdMtimes,
		"corrupt":    cmdCorrupt,
		"gitstate":   cmdGitstate,
		"ttyrun":     cmdTTYRun,
		"asuser":     cmdAsUser,
		"holdstore":  cmdHoldStore,
		"smallfs":    cmdSmallFS,
		"readonlyfs": cmdReadOnlyFS,
		"zstd":       cmdZstd,
		"jsonerror":  cmdJSONError,
		"alone":      cmdAlone,
		"play":       cmdPlay,
		"running":    cmdRunning,
		"plant":      cmdPlant,
		"maketoken":  cmdMakeToken,
		"waitstatus": cmdWaitStatus,
		"programs":   cmdPrograms,
		"registered": cmdRegistered,
		"mcp":        cmdMCP,
		"sqlite":     cmdSQLite,
		"holdfile":   cmdHoldFile,
	}
}

// want fails a script whose use of a command is wrong.
func want(ts *testscript.TestScript, neg, ok bool, usage string) {
	if neg || !ok {
		ts.Fatalf("usage: %s", usage)
	}
}

// run runs a program; what it wrote is there for stdout and stderr, and its exit code is returned (128 and the signal
// for one that was killed).
func run(ts *testscript.TestScript, name string, args ...string) int {
	err := ts.Exec(name, args...)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			return 128 + int(ws.Signal())
		}
		return exit.ExitCode()
	}
	ts.Fatalf("%s: %v", name, err)
	return -1
}

// cmdExitcode: exitcode N program args... runs a program that must exit with exactly N.
func cmdExitcode(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) >= 2, "exitcode N program [args...]")
	code, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := run(ts, args[1], args[2:]...); got != code {
		ts.Fatalf("%s exited with %d, want %d", strings.Join(args[1:], " "), got, code)
	}
}

// cmdStdout2env: stdout2env NAME [regexp] keeps the first word of the last output, or the first group of the regexp.
func cmdStdout2env(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 1 || len(args) == 2, "stdout2env NAME [regexp]")
	out := ts.ReadFile("stdout")
	if len(args) == 2 {
		m := regexp.MustCompile("(?m)" + args[1]).FindStringSubmatch(out)
		if len(m) < 2 {
			ts.Fatalf("stdout2env: %q does not match\n%s", args[1], out)
		}
		out = m[1]
	}
	words := strings.Fields(out)
	if len(words) == 0 {
		ts.Fatalf("stdout2env: no output")
	}
	ts.Setenv(args[0], words[0])
}

// cmdTree: tree DIR FILE writes the listing of a directory.
func cmdTree(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 2, "tree DIR FILE")
	list, err := listing(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(list), 0o644))
}

// cmdCmptree: cmptree A B compares two trees, each a directory or a listing that tree wrote.
func cmdCmptree(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] cmptree A B")
	}
	var lists [2]string
	for i, a := range args {
		path := ts.MkAbs(a)
		fi, err := os.Stat(path)
		ts.Check(err)
		if fi.IsDir() {
			lists[i], err = listing(path)
			ts.Check(err)
		} else {
			lists[i] = ts.ReadFile(a)
		}
	}
	switch d := difference(lists[0], lists[1]); {
	case d != "" && !neg:
		ts.Fatalf("%s and %s differ:\n%s", args[0], args[1], d)
	case d == "" && neg:
		ts.Fatalf("%s and %s are equal", args[0], args[1])
	}
}

// cmdMtimes: mtimes FILE path... writes modification time and inode of each path; cmp compares two such files.
func cmdMtimes(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) >= 2, "mtimes FILE path...")
	var b strings.Builder
	for _, a := range args[1:] {
		fi, err := os.Lstat(ts.MkAbs(a))
		ts.Check(err)
		fmt.Fprintf(&b, "%s %d %d\n", a, fi.ModTime().UnixNano(), fi.Sys().(*syscall.Stat_t).Ino)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o644))
}

// cmdCorrupt: corrupt GLOB OFFSET flips a bit of every file that matches; "mid" is the middle of the file.
func cmdCorrupt(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 2, "corrupt GLOB {OFFSET | mid}")
	files, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(files) == 0 {
		ts.Fatalf("corrupt: nothing matches %s", args[0])
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		ts.Check(err)
		at := len(b) / 2
		if args[1] != "mid" {
			at, err = strconv.Atoi(args[1])
			ts.Check(err)
		}
		if at >= len(b) {
			ts.Fatalf("corrupt: %s has only %d bytes", f, len(b))
		}
		b[at] ^= 1
		ts.Check(os.WriteFile(f, b, 0o600))
	}
}

// cmdGitstate: gitstate save FILE DIR keeps every byte of a repository's own directory and what git status says;
// gitstate cmp FILE DIR compares.
func cmdGitstate(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 3 && (args[0] == "save" || args[0] == "cmp"), "gitstate {save | cmp} FILE DIR")
	dir := ts.MkAbs(args[2])
	state, err := listingOf(filepath.Join(dir, ".git"), nil)
	ts.Check(err)
	git := exec.Command("git", "-C", dir, "stash", "list", "--format=%gd %H")
	git.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "GIT_CONFIG_GLOBAL=/dev/null")
	stash, err := git.Output()
	ts.Check(err)
	state += "\nstash\n" + string(stash)
	if args[0] == "save" {
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(state), 0o644))
		return
	}
	if d := difference(ts.ReadFile(args[1]), state); d != "" {
		ts.Fatalf("the repository of %s has changed:\n%s", args[2], d)
	}
}

// cmdTTYRun: ttyrun program args... runs a program with a terminal for its streams; a script that uses it skips where
// util-linux' script is missing.
func cmdTTYRun(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) >= 1, "ttyrun program [args...]")
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
	}
	if code := run(ts, "script", "-qec", "stty cols 100 2>/dev/null; "+strings.Join(words, " "), os.DevNull); code != 0 {
		ts.Fatalf("%s exited with %d", strings.Join(args, " "), code)
	}
}

// nobody is the user and the group that root becomes where permissions must count.
const nobody = 65534

// cmdAsUser: asuser N program args... is exitcode as a user who is not root. Root gives the script's directory away
// first, what is below it included.
func cmdAsUser(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) >= 2, "asuser N program [args...]")
	if os.Getuid() != 0 {
		cmdExitcode(ts, false, args)
		return
	}
	work := ts.Getenv("WORK")
	ts.Check(filepath.WalkDir(work, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	}))
	program, err := exec.LookPath("rewind")
	ts.Check(err)
	for _, dir := range []string{filepath.Dir(work), filepath.Dir(program), filepath.Dir(filepath.Dir(program))} {
		ts.Check(os.Chmod(dir, 0o755))
	}
	id := strconv.Itoa(nobody)
	cmdExitcode(ts, false, append([]string{args[0], "setpriv", "--reuid", id, "--regid", id, "--clear-groups", "--"}, args[1:]...))
}

// cmdHoldStore: holdstore DIR keeps the lock of a store until the script ends.
func cmdHoldStore(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 1, "holdstore DIR")
	l := flock.New(filepath.Join(ts.MkAbs(args[0]), "lock"))
	ok, err := l.TryLock()
	ts.Check(err)
	if !ok {
		ts.Fatalf("holdstore: %s is held already", args[0])
	}
	ts.Defer(func() { _ = l.Close() })
}

// cmdSmallFS: smallfs DIR SIZE mounts a file system of a size in memory; for root.
func cmdSmallFS(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 2, "smallfs DIR SIZE")
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+args[1], "none", dir).CombinedOutput(); err != nil {
		ts.Fatalf("smallfs: %v\n%s", err, out)
	}
	ts.Defer(func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			ts.Logf("smallfs: %v\n%s", err, out)
		}
	})
}

// cmdZstd: zstd FILE compresses a file as Codex does: FILE.zst takes its place.
func cmdZstd(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 1, "zstd FILE")
	path := ts.MkAbs(args[0])
	b, err := os.ReadFile(path)
	ts.Check(err)
	w, err := zstd.NewWriter(nil)
	ts.Check(err)
	ts.Check(os.WriteFile(path+".zst", w.EncodeAll(b, nil), 0o600))
	ts.Check(os.Remove(path))
}

// cmdReadOnlyFS: readonlyfs DIR [off] makes a directory a file system that cannot be written, and ends that; for root.
func cmdReadOnlyFS(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 1 || len(args) == 2 && args[1] == "off", "readonlyfs DIR [off]")
	dir := ts.MkAbs(args[0])
	mount := func(name string, args ...string) error {
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%s: %w: %s", name, err, out)
		}
		return err
	}
	if len(args) == 2 {
		ts.Check(mount("umount", "-l", dir))
		return
	}
	ts.Check(mount("mount", "--bind", dir, dir))
	ts.Defer(func() { _ = mount("umount", "-l", dir) })
	ts.Check(mount("mount", "-o", "remount,bind,ro", dir))
}

// cmdJSONError: jsonerror CODE WORD checks that the last standard error is one JSON error of that code with a message.
func cmdJSONError(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 2, "jsonerror CODE WORD")
	var v struct {
		Error *struct {
			Code          int
			Word, Message string
			Hint          *string
		}
	}
	text := ts.ReadFile("stderr")
	ts.Check(json.Unmarshal([]byte(text), &v)) // refuses anything besides the one object
	if v.Error == nil || strconv.Itoa(v.Error.Code) != args[0] || v.Error.Word != args[1] || v.Error.Message == "" {
		ts.Fatalf("jsonerror: want %s %s, got\n%s", args[0], args[1], text)
	}
}

// cmdAlone: alone has the commands of the script use no daemon: one that damages the store, kills a command at a system
// call, or is another user.
func cmdAlone(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 0, "alone")
	ts.Setenv("REWIND_DAEMON", "off")
}
