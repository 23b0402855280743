package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"rewind/internal/built"
)

// oddShell is a first client that leaves much behind: limits, priority, umask, signals, descriptors, a directory, an
// environment.
const oddShell = `ulimit -S -f 8; ulimit -S -n 64; ulimit -S -t 60; umask 777; trap '' HUP INT PIPE TERM CHLD; cd "$ODD"; exec 7<. 8>&1
export LC_ALL=de_DE LANG=de_DE TMPDIR=/nowhere GIT_DIR=/nowhere GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor \
  GIT_CONFIG_VALUE_0=/evil GIT_CONFIG_PARAMETERS="'a.b=c'" GOGC=1 GOMEMLIMIT=1 GODEBUG=netdns=cgo LD_PRELOAD=/evil.so \
  ANTHROPIC_API_KEY=secret SSH_AUTH_SOCK=/x PATH=.:bin:/opt/odd
exec /usr/bin/nice -n 19 /usr/bin/ionice -c 3 /usr/bin/taskset -c "$CPU" "$PROGRAM" -C "$PROJECT" "$@" </dev/null`

// startOddly runs a command from such a shell, as a user.
func (h *daemonHome) startOddly(program string, uid int, args ...string) (string, error) {
	cmd := exec.Command("/bin/sh", append([]string{"-c", oddShell, "sh"}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+h.home, "REWIND_HOME=", "REWIND_DAEMON=", "REWIND_IDLE=2m", "ODD="+h.home,
		"PROGRAM="+program, "PROJECT="+h.project,
		"CPU="+strings.FieldsFunc(line(h.t, "/proc/self/status", "Cpus_allowed_list:"),
			func(r rune) bool { return r == ',' || r == '-' })[0],
		"TZ=UTC", "XDG_CONFIG_HOME="+h.home)
	as(cmd, uid)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// as has a command run as a user; 0: as who runs the test.
func as(cmd *exec.Cmd, uid int) {
	if uid != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
}

// TestDaemonTakesNothingFromItsFirstClient: whoever starts the daemon, it is the same for all who come after.
func TestDaemonTakesNothingFromItsFirstClient(t *testing.T) {
	t.Parallel()
	for _, uid := range []int{0, nobody} {
		t.Run(strconv.Itoa(uid), func(t *testing.T) {
			if uid != 0 && os.Geteuid() != 0 {
				t.Skip("needs root: other users")
			}
			program := programFor(t)
			h := newDaemonHome(t)
			if uid != 0 {
				must(t, chownAll(h.home, uid))
				t.Cleanup(func() { // before discard
					stop := h.command(program, "daemon", "stop")
					as(stop, uid)
					_ = stop.Run()
				})
			}
			out, err := h.startOddly(program, uid, "init")
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			run := func(args ...string) string {
				cmd := h.command(program, args...)
				as(cmd, uid)
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("rewind %s: %v\n%s", strings.Join(args, " "), err, out)
				}
				return string(out)
			}
			pid := strconv.Itoa(daemonPID(t, run("daemon", "status", "--json")))
			checkDetached(t, h, pid, uid)
			// A file that is larger than the first client could have written, and the modes that it would have taken
			// away.
			must(t, os.WriteFile(filepath.Join(h.project, "large"), make([]byte, 1<<20), 0o644))
			run("save", "large")
			if uid != 0 && os.Geteuid() == 0 {
				if out := run("status", "-v"); !strings.Contains(out, "limits      it runs with nice 19") {
					t.Errorf("status does not say that it cannot take back its priority:\n%s", out)
				}
			}
			must(t,
				filepath.WalkDir(filepath.Join(h.home, ".rewind"), func(path string, d os.DirEntry, err error) error {
					if err != nil {
						return err
					}
					fi, err := d.Info()
					want := os.FileMode(0o600)
					if d.IsDir() {
						want = 0o700
					}
					if err == nil && fi.Mode().Perm() != want {
						t.Errorf("%s: mode %o", path, fi.Mode().Perm())
					}
					return err
				}))
		})
	}
}

func checkDetached(t *testing.T, h *daemonHome, pid string, uid int) {
	t.Helper()
	proc := func(name string) string {
		b, err := os.ReadFile(filepath.Join("/proc", pid, name))
		must(t, err)
		return string(b)
	}
	for _, want := range []string{"Max file size             unlimited", "Max cpu time              unlimited"} {
		if limits := proc("limits"); !strings.Contains(limits, want) {
			t.Errorf("limits: no %q:\n%s", want, limits)
		}
	}
	if strings.Contains(proc("limits"), "Max open files            64 ") {
		t.Errorf("limits:\n%s", proc("limits"))
	}
	if !strings.Contains(proc("status"), "Umask:\t0077\n") {
		t.Errorf("status:\n%s", proc("status"))
	}
	if cwd, err := os.Readlink(filepath.Join("/proc", pid, "cwd")); err != nil || cwd != "/" {
		t.Errorf("directory %q, %v", cwd, err)
	}
	fds, err := os.ReadDir(filepath.Join("/proc", pid, "fd"))
	must(t, err)
	for _, fd := range fds {
		if to, _ := os.Readlink(filepath.Join("/proc", pid, "fd", fd.Name())); to == h.home ||
			strings.HasPrefix(to, "pipe:") {
			t.Errorf("descriptor %s is %s", fd.Name(), to)
		}
	}
	var names []string
	for kv := range strings.SplitSeq(strings.TrimSuffix(proc("environ"), "\x00"), "\x00") {
		name, value, _ := strings.Cut(kv, "=")
		names = append(names, name)
		if name == "PATH" && value != "/opt/odd:/usr/local/bin:/usr/bin:/bin" {
			t.Errorf("PATH=%s", value)
		}
	}
	for _, name := range names {
		if !slices.Contains([]string{
			"HOME", "PATH", "USER", "LOGNAME", "TZ", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL",
			"GIT_CONFIG_NOSYSTEM",
		}, name) && !strings.HasPrefix(name, "REWIND_") {
			t.Errorf("environment has %s", name)
		}
	}
	if !slices.Contains(names, "PATH") || !slices.Contains(names, "HOME") ||
		!slices.Contains(names, "XDG_CONFIG_HOME") {
		t.Errorf("environment: %q", names)
	}
	if got, want := line(t, filepath.Join("/proc", pid, "status"), "Cpus_allowed_list:"), line(t, "/proc/self/status",
		"Cpus_allowed_list:"); got != want {
		t.Errorf("processors %s, want %s", got, want)
	}
	if out, err := exec.Command("ionice", "-p", pid).CombinedOutput(); err != nil ||
		strings.Contains(string(out), "idle") {
		t.Errorf("I/O class %s, %v", out, err)
	}
	if stat := strings.Fields(proc("stat")); uid == 0 && os.Geteuid() == 0 && stat[18] != "0" {
		t.Errorf("nice %s", stat[18])
	}
}

// TestDaemonFileSizeThatCannotBeRaised: under a hard limit of the size of files no daemon serves others, and status
// says why. The next client's does.
func TestDaemonFileSizeThatCannotBeRaised(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root: other users")
	}
	program := programFor(t)
	h := newDaemonHome(t)
	must(t, chownAll(h.home, nobody))
	run := func(limit string, args ...string) string {
		cmd := h.command("/bin/sh")
		cmd.Args = append([]string{"/bin/sh", "-c", limit + `exec "$0" "$@"`, program, "-C", h.project}, args...)
		as(cmd, nobody)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("rewind %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	t.Cleanup(func() { run("", "daemon", "stop") })
	run("ulimit -f 4000; ", "init")
	out := run("ulimit -f 4000; ", "status", "-v")
	for _, want := range []string{
		"daemon      cannot run",
		"limits      files can have at most 2048000 bytes (ulimit -f)",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q:\n%s", want, out)
		}
	}
	if out := run("", "status", "-v"); !strings.Contains(out, "daemon      process ") ||
		strings.Contains(out, "limits") {
		t.Errorf("after a client without the limit:\n%s", out)
	}
	if out := run("ulimit -f 4000; ", "status", "-v"); !strings.Contains(out, "daemon      process ") ||
		strings.Contains(out, "limits") {
		t.Errorf("its daemon serves the limited one:\n%s", out)
	}
}

// line is the rest of a line in a file of /proc.
func line(t *testing.T, path, name string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	_, rest, _ := strings.Cut(string(b), name)
	rest, _, _ = strings.Cut(rest, "\n")
	return strings.TrimSpace(rest)
}

// programFor is the real program at a place from which every user can run it.
func programFor(t *testing.T) string {
	t.Helper()
	program, err := realProgram()
	must(t, err)
	dir, err := built.Short()
	must(t, err, os.Chmod(dir, 0o755))
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	for _, name := range []string{"rewind", "rewindd"} {
		b, err := os.ReadFile(filepath.Join(filepath.Dir(program), name))
		path := filepath.Join(dir, name)
		must(t, err, os.WriteFile(path, b, 0o755), os.Chmod(path, 0o755))
	}
	return filepath.Join(dir, "rewind")
}

func chownAll(dir string, uid int) error {
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, uid)
	})
}

func daemonPID(t *testing.T, text string) int {
	t.Helper()
	var v daemonJSON
	must(t, json.Unmarshal([]byte(text), &v))
	if !v.Daemon.Running {
		t.Fatal("no daemon runs: " + text)
	}
	return v.Daemon.PID
}
