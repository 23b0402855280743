package textdiff

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// gitMerge is what 'git merge-file -p' makes of three texts.
func gitMerge(t *testing.T, dir string, base, ours, theirs []byte) (text []byte, conflicts int) {
	t.Helper()
	for name, b := range map[string][]byte{"base": base, "ours": ours, "theirs": theirs} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("git", "merge-file", "-p", "-L", "ours", "-L", "base", "-L", "theirs", "ours", "base", "theirs")
	cmd.Dir, cmd.Env = dir, gitEnv(dir)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() > 127) {
		t.Fatalf("git merge-file: %v", err)
	}
	if exit != nil {
		conflicts = exit.ExitCode()
	}
	return out, conflicts
}

type triple struct{ base, ours, theirs []byte }

// edited is a text with some random edits.
func edited(r *rand.Rand, lines []string, edits int, line func() string) []string {
	lines = append([]string(nil), lines...)
	for range edits {
		at := r.IntN(len(lines) + 1)
		end := min(len(lines), at+r.IntN(5))
		switch r.IntN(4) {
		case 0:
			lines = append(lines[:at:at], append([]string{line(), line()}, lines[at:]...)...)
		case 1:
			lines = append(lines[:at:at], lines[end:]...)
		case 2:
			for i := at; i < end; i++ {
				lines[i] = line()
			}
		case 3:
			block := append([]string(nil), lines[at:end]...)
			lines = append(lines[:at:at], lines[end:]...)
			to := r.IntN(len(lines) + 1)
			lines = append(lines[:to:to], append(block, lines[to:]...)...)
		}
	}
	return lines
}

// randomTriple is a random text and two edits of it: of few kinds of lines, where almost every place is ambiguous, up to many.
func randomTriple(r *rand.Rand) triple {
	kinds := 2 + r.IntN(60)
	end := "\n"
	if r.IntN(4) == 0 {
		end = "\r\n"
	}
	line := func() string { return []string{"", "}", "-- ", "word "}[r.IntN(4)] + fmt.Sprint(r.IntN(kinds)) }
	if r.IntN(3) == 0 {
		line = func() string { return []string{"", "}", "word"}[r.IntN(3)] }
	}
	base := make([]string, r.IntN(60))
	for i := range base {
		base[i] = line()
	}
	join := func(lines []string) []byte {
		text := strings.Join(lines, end)
		if len(lines) > 0 && r.IntN(5) > 0 {
			text += end
		}
		return []byte(text)
	}
	return triple{join(base), join(edited(r, base, r.IntN(5), line)), join(edited(r, base, r.IntN(5), line))}
}

// realTriple is this package's source as two people may have edited it: lines changed, functions added, moved and removed, some of it by
// both in the same way.
func realTriple(r *rand.Rand, source []string) triple {
	fresh := 0
	line := func() string {
		fresh++
		switch r.IntN(4) {
		case 0:
			return source[r.IntN(len(source))]
		case 1:
			return "\t}"
		case 2:
			return ""
		}
		return fmt.Sprintf("\tedited(%d, %d)", fresh, r.IntN(1000))
	}
	start := r.IntN(len(source) / 2)
	base := source[start : start+40+r.IntN(len(source)/2-40)]
	both := edited(r, base, r.IntN(2), line)
	text := func(lines []string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }
	return triple{text(base), text(edited(r, both, 1+r.IntN(6), line)), text(edited(r, both, 1+r.IntN(6), line))}
}

// TestMergeAsGit merges beside 'git merge-file'. Where the two differ, it is since the shortest edit of a text is ambiguous and git's
// search took another one; most counts them, as share of all.
func TestMergeAsGit(t *testing.T) {
	needTool(t, "git")
	var source []string
	for _, name := range []string{"diff.go", "parts.go", "script.go", "merge.go"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		source = append(source, strings.Split(string(b), "\n")...)
	}
	count := 1500
	if testing.Short() {
		count = 200
	}
	for _, c := range []struct {
		name string
		make func(*rand.Rand) triple
		most float64
	}{
		{"random", randomTriple, 0.045},
		{"real", func(r *rand.Rand) triple { return realTriple(r, source) }, 0.012},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(19, 6))
			dir := t.TempDir()
			clean, marked, differ, verdicts := 0, 0, 0, 0
			for i := range count {
				m := c.make(r)
				got := Merge(m.base, m.ours, m.theirs, MergeOptions{Ours: "ours", Theirs: "theirs"})
				want, conflicts := gitMerge(t, dir, m.base, m.ours, m.theirs)
				if conflicts == 0 {
					clean++
				} else {
					marked++
				}
				if got.Kind == Text && bytes.Equal(got.Text, want) && got.Conflicts == conflicts {
					continue
				}
				differ++
				if (got.Conflicts == 0) != (conflicts == 0) {
					verdicts++
				}
				if os.Getenv("SHOW") != "" {
					t.Logf("%d: %d conflicts, git %d\nbase:\n%s\nours:\n%s\ntheirs:\n%s\ngot:\n%s\nwant:\n%s",
						i, got.Conflicts, conflicts, m.base, m.ours, m.theirs, got.Text, want)
				}
			}
			t.Logf("%d clean, %d with conflicts; %d differ from git, %d of them in whether there is a conflict",
				clean, marked, differ, verdicts)
			if clean < count/5 || marked < count/5 {
				t.Errorf("%d clean, %d with conflicts: too few of one kind", clean, marked)
			}
			if float64(differ) > c.most*float64(count) {
				t.Errorf("%d of %d differ from git", differ, count)
			}
		})
	}
}

// TestMergeBound merges the shapes that cost most. The bound is three searches; the rest is room for a loaded machine.
func TestMergeBound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(kinds int) []byte {
		var b bytes.Buffer
		for range maxLines {
			fmt.Fprintf(&b, "%d\n", r.IntN(kinds))
		}
		return b.Bytes()
	}
	long := bytes.Repeat([]byte("a"), MaxBytes-1)
	for _, c := range []struct {
		name               string
		base, ours, theirs []byte
	}{
		{"two kinds of lines", random(2), random(2), random(2)},
		{"few kinds of lines", random(50), random(50), random(50)},
		{"one line", long, append([]byte("x"), long...), append([]byte("y"), long...)},
		{"a line of its own each", random(maxLines), random(maxLines), random(maxLines)},
	} {
		start := time.Now()
		m := Merge(c.base, c.ours, c.theirs, MergeOptions{})
		took := time.Since(start)
		t.Logf("%s: %v, %d conflicts", c.name, took.Round(time.Millisecond), m.Conflicts)
		if m.Kind != Text || m.Conflicts == 0 || took > 20*time.Second {
			t.Errorf("%s: kind %d, %d conflicts, took %v", c.name, m.Kind, m.Conflicts, took)
		}
	}
	if m := Merge(nil, append([]byte("b"), bytes.Repeat([]byte("a"), MaxBytes)...), []byte("c"), MergeOptions{}); m.Kind != TooLarge {
		t.Errorf("over MaxBytes: kind %d", m.Kind)
	}
	if m := Merge([]byte("a"), []byte("b\x00"), []byte("c"), MergeOptions{}); m.Kind != Binary {
		t.Errorf("a NUL: kind %d", m.Kind)
	}
}
