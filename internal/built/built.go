// Package built has the real programs for tests that run them. One run of all tests builds them once, and says where
// they are by a variable.
package built

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// EnvPrograms names the directory of programs that the whole run uses. Without it each package builds its own.
const EnvPrograms = "REWIND_TEST_PROGRAMS"

// atStart is the environment before a test gives itself another home: the go command has its caches there.
var atStart = os.Environ()

// Programs gives a directory with rewind, rewindd and smart-checkpoint and nothing else. Where the run has none they
// are built into the directory into, which is made.
func Programs(into string) (string, error) {
	if dir := os.Getenv(EnvPrograms); dir != "" {
		return dir, nil
	}
	return into, build(into, "", "rewind", "rewindd", "smart-checkpoint")
}

// Version builds rewind and rewindd with a version into a directory, which is made.
func Version(into, version string) error { return build(into, version, "rewind", "rewindd") }

// Another copies rewind and rewindd from a directory, built with one version, into another directory as of a version of
// the same length. It replaces the characters in the files; to build them would link them anew.
func Another(from, version, into, other string) error {
	if len(version) != len(other) {
		return fmt.Errorf("version %s in place of %s: not as long", other, version)
	}
	if err := os.MkdirAll(into, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"rewind", "rewindd"} {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		b = bytes.ReplaceAll(b, []byte(version), []byte(other))
		if err := os.WriteFile(filepath.Join(into, name), b, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// build builds commands as a release has them, without what only a debugger reads, and with the flags of the tests' own
// packages: what they have compiled is not compiled again.
func build(into, version string, commands ...string) error {
	if err := os.MkdirAll(into, 0o755); err != nil {
		return err
	}
	args := []string{"build", "-buildvcs=false", "-ldflags", "-s -w -X main.release=" + version, "-o", into + string(filepath.Separator)}
	_, file, _, _ := runtime.Caller(0)
	module := filepath.Join(filepath.Dir(file), "..", "..")
	for _, c := range commands {
		args = append(args, "./cmd/"+c)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = module, append(atStart[:len(atStart):len(atStart)], "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// shortest is how long the path of a temporary directory may be when sockets are made below it, in bytes.
const shortest = 24

// Short makes a temporary directory whose path leaves room for the name of a socket. The caller removes it.
func Short() (string, error) {
	dir := os.TempDir()
	if len(dir) > shortest {
		dir = "/tmp"
	}
	return os.MkdirTemp(dir, "rw")
}
