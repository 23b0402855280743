package gitinfo

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sandbox keeps the user's and the system's configuration out, and gives an empty home.
func sandbox(t *testing.T) (home string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("missing tool: git")
	}
	home = t.TempDir()
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); strings.HasPrefix(name, "GIT_") {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	return home
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return gitIn(t, dir, "", args...)
}

func gitIn(t *testing.T, dir, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{
		"-c", "user.name=n", "-c", "user.email=e", "-c", "protocol.file.allow=always", "-c",
		"init.defaultBranch=main",
	}, args...)...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %q: %v: %s", args, err, stderr.String())
	}
	return string(out)
}

// mayFail runs git for its effect, where it exits with an error by design.
func mayFail(dir string, args ...string) {
	cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e", "-c", "core.editor=true"}, args...)...)
	cmd.Dir = dir
	_ = cmd.Run()
}

func put(t *testing.T, path, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

// newRepo makes a repository with two commits.
func newRepo(t *testing.T, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "r")
	git(t, filepath.Dir(dir), append([]string{"init", "-q", dir}, args...)...)
	for i := range 2 {
		put(t, filepath.Join(dir, "a/file"), fmt.Sprintln(i))
		git(t, dir, "add", ".")
		git(t, dir, "commit", "-q", "-m", fmt.Sprint(i))
	}
	return dir
}

func open(t *testing.T, dir string) *Repo {
	t.Helper()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// untouched fails the test when anything in the git directory changes until it ends: bytes, times, names.
func untouched(t *testing.T, gitDir string) {
	t.Helper()
	look := func() string {
		var b strings.Builder
		err := filepath.Walk(gitDir, func(p string, st os.FileInfo, err error) error {
			if err != nil {
				return err
			}
			var data []byte
			if st.Mode().IsRegular() {
				if data, err = os.ReadFile(p); err != nil {
					return err
				}
			}
			fmt.Fprintf(&b, "%s %v %d %x\n", p, st.Mode(), st.ModTime().UnixNano(), data)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	before := look()
	t.Cleanup(func() {
		after := strings.Split(look(), "\n")
		for _, l := range strings.Split(before, "\n") {
			if !slices.Contains(after, l) {
				t.Errorf("changed in %s: %.200s", gitDir, l)
			}
		}
		if len(after) != strings.Count(before, "\n")+1 {
			t.Errorf("%s has other files than before", gitDir)
		}
	})
}

// withoutGit hides the git program.
func withoutGit(t *testing.T) {
	t.Helper()
	t.Setenv("PATH", t.TempDir())
}

// fakeGit puts a script in git's place, which notes its call.
func fakeGit(t *testing.T, script string) (calls func() string) {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	put(t, filepath.Join(dir, "git"), "#!/bin/sh\necho \"$@\" >>"+log+"\n"+script)
	if err := os.Chmod(filepath.Join(dir, "git"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return func() string {
		data, _ := os.ReadFile(log)
		return string(data)
	}
}
