package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestInstallUninstall: make install sets everything up with one command; make uninstall gives the agents' settings
// back to the byte, takes programs and link away, leaves the checkpoints and says where they are, and leaves everything
// where it cannot take the hooks out.
func TestInstallUninstall(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"make", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("missing tool: " + tool)
		}
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	home, project := filepath.Join(dir, "home"), filepath.Join(dir, "a project")
	const settings = "{\n  // mine\n  \"model\": \"x\"\n}\n"
	write(t, home, map[string]string{
		".claude/settings.json":               settings,
		".local/share/man/man1/rewind-mine.1": "not rewind's\n",
		// Without -trimpath: everything would be compiled once more for this test.
		"go": "#!/bin/bash\nargs=()\nfor a; do [ \"$a\" = -trimpath ] || args+=(\"$a\"); done\nexec go \"${args[@]}\"\n",
	})
	must(t, os.Chmod(filepath.Join(home, "go"), 0o755))
	write(t, project, map[string]string{"a": "a file\n"})
	caches, err := goEnv("GOCACHE", "GOMODCACHE", "GOPATH")
	must(t, err)
	run := func(args ...string) (string, error) {
		t.Helper()
		cmd := exec.Command("make", append([]string{"GO=" + filepath.Join(home, "go"), "VERSION=test"}, args...)...)
		cmd.Dir = "../.."
		cmd.Env = append(append(os.Environ(), caches...), "HOME="+home, "REWIND_HOME=", "CLAUDE_CONFIG_DIR=")
		out, err := cmd.CombinedOutput()
		t.Logf("make %s: %v\n%s", strings.Join(args, " "), err, out)
		return string(out), err
	}
	is := func(path string) bool {
		_, err := os.Lstat(filepath.Join(home, path))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return err == nil
	}
	installed := func(want bool) {
		t.Helper()
		for _, path := range []string{
			".rewind/system/rewind", ".rewind/system/smart-checkpoint", ".local/bin/rewind", ".local/share/man/man1/rewind-list.1",
		} {
			if is(path) != want {
				t.Errorf("%s is there: %v", path, !want)
			}
		}
		if !is(".local/share/man/man1/rewind-mine.1") {
			t.Error("somebody else's page is gone")
		}
	}
	read := func() string {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(home, ".claude/settings.json"))
		must(t, err)
		return string(b)
	}

	if _, err := run("install", "PROJECT="+project); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // a daemon that a failure left behind
		stop := exec.Command(filepath.Join(home, ".rewind/system/rewind"), "daemon", "stop")
		stop.Env = append(os.Environ(), "HOME="+home, "REWIND_HOME=")
		_ = stop.Run()
	})
	installed(true)
	if !strings.Contains(read(), "smart-checkpoint") {
		t.Errorf("no hooks in %s", read())
	}

	broken := strings.Replace(read(), "{", "[", 1)
	whole := read()
	write(t, home, map[string]string{".claude/settings.json": broken})
	if out, err := run("uninstall"); err == nil || !strings.Contains(out, "nothing was removed") {
		t.Errorf("with settings that cannot be read: %v", err)
	}
	installed(true)
	write(t, home, map[string]string{".claude/settings.json": whole})

	out, err := run("uninstall")
	must(t, err)
	installed(false)
	if read() != settings {
		t.Errorf("the settings are %q, they were %q", read(), settings)
	}
	stores, err := filepath.Glob(filepath.Join(home, ".rewind/storage/*/db"))
	must(t, err)
	if len(stores) != 1 {
		t.Errorf("stores left: %q", stores)
	}
	for _, said := range []string{filepath.Join(home, ".rewind"), project} {
		if !strings.Contains(out, said) {
			t.Errorf("it does not say that %s is left", said)
		}
	}

	must(t, os.Symlink("/elsewhere/rewind", filepath.Join(home, ".local/bin/rewind")))
	if out, err := run("uninstall"); err != nil || !strings.Contains(out, "not installed") {
		t.Errorf("a second time: %v", err)
	}
	if !is(".local/bin/rewind") {
		t.Error("somebody else's link is gone")
	}
}

// goEnv is what the go command of who runs the tests says, as variables.
func goEnv(names ...string) ([]string, error) {
	cmd := exec.Command("go", append([]string{"env"}, names...)...)
	cmd.Env = append(os.Environ(), "HOME="+userHome)
	out, err := cmd.Output()
	var env []string
	for i, value := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		if i < len(names) {
			env = append(env, names[i]+"="+value)
		}
	}
	return env, err
}
