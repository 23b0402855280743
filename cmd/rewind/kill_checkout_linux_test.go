package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"rewind/internal/term"
	"rewind/internal/torture"
)

// TestKillCheckoutT10 kills checkout before each of its calls that change something. What must hold afterwards: nothing
// happened, or all, or every change is refused with exit code 20 until checkout --continue reaches the target exactly,
// or --abort the state before.
func TestKillCheckoutT10(t *testing.T) {
	t.Parallel()
	fixture := filepath.Join(memoryDir(t), "p")
	checkoutFixture(t, fixture)
	m := torture.Begin(t)
	killRestore(t, m, m.Points, fixture, "checkout", "@-")
}

// TestKillRevertT10 is TestKillCheckoutT10 for what makes contents that no checkpoint has: a revert, a pick, and a
// checkout that merges.
func TestKillRevertT10(t *testing.T) {
	t.Parallel()
	m := torture.Begin(t)
	for _, c := range []struct {
		name  string
		there func(t *testing.T, dir string) // from a state of the project to that in which it is killed
		args  []string
		share int
	}{
		{"revert", func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"merged": "A\n2\nC\n", "clash": "3\n", "unsaved": "stays\n"})
		}, []string{"revert", "@", "--theirs"}, 2},
		{"pick", func(t *testing.T, dir string) {
			mustHere(t, dir, "tag", "two")
			mustHere(t, dir, "checkout", "@-")
			write(t, dir, map[string]string{"merged": "A\n2\n3\n", "clash": "3\n", "unsaved": "stays\n"})
		}, []string{"pick", "two", "--theirs"}, 1},
		{"merge", func(t *testing.T, dir string) {
			edit := func(agent, id, file, text string) {
				payload := fmt.Sprintf(`"session_id":%q,"cwd":%q`, id, dir)
				call := payload + fmt.Sprintf(`,"tool_name":"Write","tool_use_id":%q,"tool_input":{"file_path":%q}`, file+id,
					filepath.Join(dir, file))
				hookHere(t, dir, agent, "prompt", `{"hook_event_name":"UserPromptSubmit","prompt":"go",`+payload+"}")
				hookHere(t, dir, agent, "pre-tool-use", `{"hook_event_name":"PreToolUse",`+call+"}")
				write(t, dir, map[string]string{file: text})
				hookHere(t, dir, agent, "post-tool-use", `{"hook_event_name":"PostToolUse",`+call+"}")
				hookHere(t, dir, agent, "stop", `{"hook_event_name":"Stop",`+payload+"}")
			}
			edit("claude", "aaaa0001", "merged", "A\n2\nC\n")
			edit("claude", "aaaa0001", "merged", "A\n2\nagain\n")
			edit("codex", "bbbb0001", "merged", "B\n2\nagain\n")
			edit("claude", "aaaa0001", "new/c", "c\n")
			write(t, dir, map[string]string{"unsaved": "stays\n"})
		}, []string{"checkout", "turn:1@aaaa0001", "--code-only", "--merge"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fixture := filepath.Join(memoryDir(t), "p")
			write(t, fixture, map[string]string{
				"merged": "1\n2\n3\n", "edit": "one\n", "gone/a": "a\n", "clash": "1\n",
				"mode.sh": "m\n",
			})
			mustHere(t, fixture, "init", "--mode", "project")
			write(t, fixture, map[string]string{"merged": "1\n2\nC\n", "edit": "two\n", "new/b": "b\n", "clash": "2\n"})
			must(t, os.RemoveAll(filepath.Join(fixture, "gone")), os.Chmod(filepath.Join(fixture, "mode.sh"), 0o755))
			mustHere(t, fixture, "save", "two")
			c.there(t, fixture)
			killRestore(t, m, m.Points*c.share/4, fixture, c.args...)
		})
	}
}

// hookHere sends an agent's event, as its hook does.
func hookHere(t *testing.T, dir, agent, event, payload string) {
	t.Helper()
	s, _, stderr := term.Test(payload, false)
	if code := execute(context.Background(), []string{"-C", dir, "hook", "--agent", agent, "--event", event}, s); code != 0 {
		t.Fatalf("hook %s: exit code %d\n%s", event, code, stderr)
	}
}

// killRestore kills a restore of a project before so many of its calls that change something.
func killRestore(t *testing.T, m *torture.Run, points int, fixture string, args ...string) {
	t.Helper()
	before, err := listing(fixture)
	must(t, err)

	scratch := fixture + "-copy"
	clone(t, fixture, scratch)
	_, _, calls := killed(t, scratch, 0, args...)
	after, err := listing(scratch)
	must(t, err)
	discard(t, scratch)
	if before == after {
		t.Fatal("nothing was changed")
	}

	var k kills
	kill := func(n int, asked bool) {
		dir := fmt.Sprintf("%s-%d", scratch, n)
		clone(t, fixture, dir)
		fired, _, _ := killed(t, dir, n, args...)
		if state := afterCheckout(t, dir, n, before, after); fired || asked {
			k.add(fired, state)
		}
		if fired {
			m.Fired(1)
		}
		discard(t, dir)
	}
	for _, n := range torture.Spread(points, calls, m.Seed) {
		kill(n, true)
		m.Point()
	}
	// Few calls lie between the journal and the end, and a run may have fewer than the one in which they were counted.
	for n := calls; n > 0 && k.states["half done"] == 0; n-- {
		kill(n, false)
	}
	k.check(t, calls)
	if k.states["half done"] == 0 {
		t.Error("no point left it half done")
	}
}

// checkoutFixture makes a project whose checkout of @- changes everything that a checkout can: contents, modes, types,
// symlinks, directories, odd names, unsaved changes, with files in between that stay.
func checkoutFixture(t *testing.T, dir string) {
	t.Helper()
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, dir, map[string]string{
		".gitignore": "*.log\n", "same": "same\n", "edit": "one\n", "gone": "gone\n", "mode.sh": "#!/bin/sh\n",
		"big":   noise(1, 300<<10),
		"dir/a": "a\n", "dir/deep/b": "b\n", "was-file": "f\n", "was-dir/x": "x\n", "was-dir/y/z": "z\n",
		"odd\nname\xff": "odd\n",
		"private":       "p\n",
	})
	must(
		t, os.Symlink("edit", at("link")), os.Symlink("nowhere", at("dangling")), os.Mkdir(at("empty"), 0o755),
		os.Chmod(at("private"), 0o600), os.Mkdir(at("ro"), 0o755),
	)
	write(t, dir, map[string]string{"ro/file": "r\n"})
	must(t, os.Chmod(at("ro"), 0o555), os.Chmod(at("mode.sh"), 0o4755))
	mustHere(t, dir, "init", "--mode", "project")

	write(t, dir, map[string]string{
		"edit": "two\n", "big": noise(1, 300<<10) + "tail", "dir/new/c": "c\n",
		"odd\nname\xff": "other\n",
	})
	must(
		t, os.Remove(at("gone")), os.Chmod(at("mode.sh"), 0o644), os.RemoveAll(at("dir/deep")),
		os.Remove(at("was-file")),
		os.RemoveAll(at("was-dir")),
		os.Remove(at("link")), os.Symlink("same", at("link")), os.Remove(at("dangling")), os.Remove(at("empty")),
		os.Chmod(at("private"),
			0o640),
	)
	write(t, dir, map[string]string{
		"was-file/inside": "i\n", "was-dir": "now a file\n", "dangling": "now a file\n", "added/1": "1\n",
		"added/2": "2\n",
	})
	must(t, os.Chmod(at("ro"), 0o755), os.Remove(at("ro/file")))
	mustHere(t, dir, "save", "two")

	write(t, dir, map[string]string{
		"edit": "unsaved\n", "untracked/new": "stays\n", "x.log": "ignored\n",
		"dir/y.log": "ignored\n",
	})
}

// afterCheckout checks a project whose checkout was killed and says how it was found.
func afterCheckout(t *testing.T, dir string, n int, before, after string) string {
	t.Helper()
	now, err := listing(dir)
	must(t, err)
	if !halfDone(t, dir) {
		mustHere(t, dir, "verify")
		switch now {
		case before:
			mustHere(t, dir, "save")
			return "untouched"
		case after:
			mustHere(t, dir, "undo-restore")
			same(t, dir, n, "undo-restore", before)
			return "finished"
		}
		t.Errorf("killed at call %d: neither before nor after, and not half done:\n%s", n, difference(before, now))
		return "wrong"
	}
	for _, change := range [][]string{{"save"}, {"checkout", "@"}, {"undo"}, {"redo"}, {"undo-restore"}} {
		if code, out, errs := here(dir, change...); code != 20 {
			t.Errorf("killed at call %d: %v exits with %d while half done, want 20\n%s%s", n, change, code, out, errs)
		}
	}
	if again, err := listing(dir); err != nil || again != now {
		t.Errorf("killed at call %d: looking at a half done checkout changed it (%v):\n%s", n, err,
			difference(now, again))
	}
	twin := dir + "-twin"
	clone(t, dir, twin)
	mustHere(t, dir, "checkout", "--continue")
	same(t, dir, n, "--continue", after)
	mustHere(t, twin, "checkout", "--abort")
	same(t, twin, n, "--abort", before)
	for _, d := range []string{dir, twin} {
		mustHere(t, d, "verify")
		mustHere(t, d, "save")
		if _, err := os.Lstat(filepath.Join(d, ".agent/rewind/stage")); err == nil {
			if left, err := listing(filepath.Join(d, ".agent/rewind/stage")); err != nil || left != "" {
				t.Errorf("killed at call %d: the stage is not empty (%v):\n%s", n, err, left)
			}
		}
	}
	discard(t, twin)
	return "half done"
}

// same compares a project with a listing.
func same(t *testing.T, dir string, n int, what, want string) {
	t.Helper()
	got, err := listing(dir)
	must(t, err)
	if got != want {
		t.Errorf("killed at call %d: after %s the tree differs (-want +got):\n%s", n, what, difference(want, got))
	}
}
