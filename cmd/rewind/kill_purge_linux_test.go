package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rewind/internal/torture"
)

// holds lists the files of a project's marker and store in which a piece of a secret is.
func holds(t *testing.T, dir, secret string) (found []string) {
	t.Helper()
	must(t, filepath.WalkDir(filepath.Join(dir, ".agent"), func(path string, ent fs.DirEntry, err error) error {
		if err != nil || !ent.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		for i := 0; i+32 <= len(secret) && err == nil; i += 32 + len(secret)/24 {
			if bytes.Contains(b, []byte(secret[i:i+32])) {
				found = append(found, path)
				break
			}
		}
		return err
	}))
	return found
}

// TestKillPurge kills purge before each of its calls that change something. No checkpoint and no other file is ever
// lost, and begun again it leaves no byte of the secret.
func TestKillPurge(t *testing.T) {
	t.Parallel()
	want := 8
	if torture.Full() {
		want = 1000
	}
	secret := noise(77, 6000)
	fixture := filepath.Join(memoryDir(t), "p")
	write(t, fixture, map[string]string{"a": "one\n", "d/s": secret})
	mustHere(t, fixture, "init", "--mode", "project")
	write(t, fixture, map[string]string{"a": "two\n", "d/s": secret + "more"})
	mustHere(t, fixture, "save", "two")
	write(t, fixture, map[string]string{"a": "three\n", "d/s": "clean\n"})
	mustHere(t, fixture, "save", "three")
	before := checkpoints(t, fixture)
	if holds(t, fixture, secret) == nil {
		t.Fatal("the secret is not in the store")
	}
	dir := fixture + "-copy"
	clone(t, fixture, dir)
	_, _, calls := killed(t, dir, 0, "purge", "d/s", "--yes")
	discard(t, dir)

	var k kills
	for i, n := range points(want, calls) {
		dir := fmt.Sprintf("%s-%d", dir, i)
		clone(t, fixture, dir)
		fired, _, _ := killed(t, dir, n, "purge", "d/s", "--yes")
		state := "in the store"
		if holds(t, dir, secret) == nil {
			state = "gone"
		} else if code, _, _ := here(dir, "cat", "@-:d/s"); code == 12 {
			state = "purged, in its files"
		}
		k.add(fired, state)
		mustHere(t, dir, "verify")
		mustHere(t, dir, "purge", "d/s", "--yes")
		if found := holds(t, dir, secret); found != nil {
			t.Errorf("killed at call %d (%s): still in %q", n, state, found)
		}
		if now := checkpoints(t, dir); !slices.Equal(now, before) {
			t.Errorf("killed at call %d: checkpoints %q, were %q", n, now, before)
		}
		for i, text := range []string{"three\n", "two\n", "one\n"} {
			if got := mustHere(t, dir, "cat", before[i]+":a"); got != text {
				t.Errorf("killed at call %d: a is %q, was %q", n, got, text)
			}
		}
		discard(t, dir)
	}
	k.check(t, calls)
}

// TestPromise15Modes: every file and directory that rewind makes in its home and in a project is its user's alone,
// whatever the umask; a program may be run, too.
func TestPromise15Modes(t *testing.T) {
	s := newSomeone(t)
	must(t, os.Chmod(filepath.Join(s.home, ".rewind"), 0o700))
	must(t, os.Chmod(filepath.Join(s.home, ".rewind/system"), 0o700))
	project := filepath.Join(s.home, "p")
	run := func(env string, args ...string) {
		t.Helper()
		cmd := exec.Command("sh", append([]string{"-c", `umask 0; exec "$0" "$@"`, s.program, "-C", project}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+s.home, "REWIND_HOME=", env)
		cmd.Stdin = strings.NewReader(`{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"` + project + `","prompt":"x"}`)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("rewind %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	for mode, env := range map[string]string{"global": "REWIND_DAEMON=", "project": "REWIND_DAEMON=off"} {
		run(env, "init", "--mode", mode)
		run(env, "config", "limits.file_size", "1GiB")
		run(env, "config", "limits.file_size", "1GiB", "--global")
		write(t, s.home, map[string]string{"p/a": mode + env, "p/s": noise(1, 3000) + env})
		run(env, "save", "two")
		run(env, "hook", "prompt", "--agent", "claude")
		run(env, "checkout", "@-")
		run(env, "undo-restore")
		run(env, "tag", mode+env[len(env)-1:])
		run(env, "purge", "s", "--yes")
		run(env, "save", "three")
		seen := 0
		for _, dir := range []string{filepath.Join(s.home, ".rewind"), filepath.Join(project, ".agent/rewind")} {
			must(t, filepath.WalkDir(dir, func(path string, ent fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				info, err := ent.Info()
				if err != nil {
					return err
				}
				want := fs.FileMode(0o600)
				if ent.IsDir() || strings.HasPrefix(path, filepath.Join(s.home, ".rewind/system")) {
					want = 0o700
				}
				if seen++; info.Mode().Perm()&^want != 0 && filepath.Dir(path) != filepath.Join(s.home, ".rewind/system") {
					t.Errorf("%s, %s: %s is %v", mode, env, strings.TrimPrefix(path, s.home), info.Mode())
				}
				return nil
			}))
		}
		if seen < 20 {
			t.Errorf("only %d files", seen)
		}
		if env == "REWIND_DAEMON=" {
			run(env, "daemon", "stop")
		}
		run("REWIND_DAEMON=off", "init", "--remove", "--yes")
	}
}
