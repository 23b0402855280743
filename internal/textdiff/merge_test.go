package textdiff

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rewind/internal/torture"
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

// randomTriple is a random text and two edits of it: of few kinds of lines, where almost every place is ambiguous, up
// to many.
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

// realTriple is this package's source as two people may have edited it: lines changed, functions added, moved and
// removed, some of it by both in the same way.
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

// gitChanges are the changes between two texts as git's comparison, with the defaults of its merge, has them.
func gitChanges(t *testing.T, dir string, a, b [][]byte) (list []change) {
	t.Helper()
	for name, lines := range map[string][][]byte{"a": a, "b": b} {
		if err := os.WriteFile(filepath.Join(dir, name), bytes.Join(lines, nil), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// with context, for without any git first cuts off how both texts end
	cmd := exec.Command("git", "diff", "--no-index", "--no-color", "--no-ext-diff", "--text", "-U1", "--no-indent-heuristic",
		"--diff-algorithm=myers", "a", "b")
	cmd.Dir, cmd.Env = dir, gitEnv(dir)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() > 1) {
		t.Fatalf("git diff: %v", err)
	}
	i, j, in := 0, 0, false
	var c *change
	for _, line := range strings.SplitAfter(string(out), "\n") {
		switch {
		case strings.HasPrefix(line, "@@ "):
			var at [4]int
			for k, r := range strings.Fields(line)[1:3] {
				from, n, several := strings.Cut(r[1:], ",")
				at[2*k], _ = strconv.Atoi(from)
				at[2*k+1] = 1
				if several {
					at[2*k+1], _ = strconv.Atoi(n)
				}
				if at[2*k+1] > 0 { // else it is the line before
					at[2*k]--
				}
			}
			i, j, in, c = at[0], at[2], true, nil
		case !in || line == "" || line[0] == '\\':
		case line[0] == ' ':
			i, j, c = i+1, j+1, nil
		default:
			if c == nil {
				list = append(list, change{oldAt: i, newAt: j})
				c = &list[len(list)-1]
			}
			if line[0] == '-' {
				c.oldLen, i = c.oldLen+1, i+1
			} else {
				c.newLen, j = c.newLen+1, j+1
			}
		}
	}
	return list
}

// changed is how many lines a list of changes removes and adds.
func changed(list []change) (n int) {
	for _, c := range list {
		n += c.oldLen + c.newLen
	}
	return n
}

// The classes of docs/merge.md, by which a merge may differ from git's. In each it is a comparison of two texts that
// differs: with git's comparisons ours makes the same bytes and as many conflicts, which is how a merge is known to be
// of one.
const (
	anotherEdit   = "another shortest edit"      // a side is compared with base; both edits have as many lines
	longerEdit    = "git's edit is longer"       // a side is compared with base; git has left off its search for a shortest one
	withinAnother = "another edit in a conflict" // the two sides of a conflict are compared
	unexplained   = "none"
)

// classOf says why a merge differs from git's.
func classOf(t *testing.T, dir string, m triple, want []byte, conflicts int) string {
	t.Helper()
	sides, class := 0, withinAnother
	as := merger{
		base: splitLines(m.base), ours: splitLines(m.ours), theirs: splitLines(m.theirs),
		options: MergeOptions{Ours: "ours", Theirs: "theirs"}, began: time.Now(),
	}
	as.changes = func(a, b [][]byte) []change {
		git, own := gitChanges(t, dir, a, b), changesOf(a, b)
		if sides++; sides <= 2 && !slices.Equal(git, own) {
			switch {
			case changed(git) < changed(own):
				t.Errorf("git's edit has %d lines, ours %d", changed(git), changed(own))
			case changed(git) > changed(own):
				class = longerEdit
			case class != longerEdit:
				class = anotherEdit
			}
		}
		return git
	}
	if got := as.merge(); !bytes.Equal(got.Text, want) || got.Conflicts != conflicts {
		return unexplained
	}
	return class
}

// TestMergeAsGit merges beside 'git merge-file'. Where the two differ, it is in one of the known ways (classOf); most
// bounds how often, as share of all.
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
	count := 300 // two processes of git each
	if torture.Full() {
		count = 1500
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
			clean, marked, differ, verdicts, classes := 0, 0, 0, 0, map[string]int{}
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
				class := classOf(t, dir, m, want, conflicts)
				if classes[class]++; class == unexplained {
					t.Errorf("%d: it differs from git's in none of the known ways", i)
				}
				if os.Getenv("SHOW") != "" || class == unexplained {
					t.Logf("%d: %d conflicts, git %d\nbase:\n%s\nours:\n%s\ntheirs:\n%s\ngot:\n%s\nwant:\n%s",
						i, got.Conflicts, conflicts, m.base, m.ours, m.theirs, got.Text, want)
				}
			}
			t.Logf("%d clean, %d with conflicts; %d differ from git, %d of them in whether there is a conflict: %v",
				clean, marked, differ, verdicts, classes)
			if clean < count/5 || marked < count/5 {
				t.Errorf("%d clean, %d with conflicts: too few of one kind", clean, marked)
			}
			if float64(differ) > c.most*float64(count)+3 { // of few, a few more can differ by chance
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
