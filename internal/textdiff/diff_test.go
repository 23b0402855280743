package textdiff

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rewind/internal/torture"
)

func init() { torture.Draws(34, 100) }

// applyHunks is the meaning of hunks, written without looking at how they are
// made: it checks every old line and every position.
func applyHunks(old []byte, hunks []Hunk) ([]byte, error) {
	lines := splitLines(old)
	var out []byte
	next, made := 0, 0 // old lines taken, new lines made
	for n, h := range hunks {
		oldAt, newAt := h.OldStart-1, h.NewStart-1
		if h.OldLines == 0 {
			oldAt = h.OldStart
		}
		if h.NewLines == 0 {
			newAt = h.NewStart
		}
		if oldAt < next || oldAt > len(lines) {
			return nil, fmt.Errorf("hunk %d: starts at %d, taken %d of %d", n, oldAt, next, len(lines))
		}
		for ; next < oldAt; next++ {
			out = append(out, lines[next]...)
			made++
		}
		if made != newAt {
			return nil, fmt.Errorf("hunk %d: new start %d, made %d", n, newAt, made)
		}
		o, w := 0, 0
		for _, l := range h.Lines {
			text := bytes.Clone(l.Text)
			if !l.NoEOL {
				text = append(text, '\n')
			}
			if l.Op != '+' {
				if next >= len(lines) || !bytes.Equal(lines[next], text) {
					return nil, fmt.Errorf("hunk %d: old line %d is not %q", n, next, text)
				}
				next, o = next+1, o+1
			}
			if l.Op != '-' {
				out = append(out, text...)
				made, w = made+1, w+1
			}
		}
		if o != h.OldLines || w != h.NewLines {
			return nil, fmt.Errorf("hunk %d: %d/%d lines, header says %d/%d", n, o, w, h.OldLines, h.NewLines)
		}
	}
	for ; next < len(lines); next++ {
		out = append(out, lines[next]...)
	}
	return out, nil
}

// genText draws a text of few different lines, so that matches are ambiguous.
func genText(t *rapid.T, label string) []byte {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{
		"", "a", "b", "\tc", "  }", "}", "x\r", "end", "\xff\xfe", "long line of words",
	}), 0, 30).Draw(t, label)
	text := strings.Join(lines, "\n")
	if rapid.Bool().Draw(t, label+"EOL") {
		text += "\n"
	}
	return []byte(text)
}

func TestHunksGiveNewText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, new := genText(t, "old"), genText(t, "new")
		context := rapid.IntRange(0, 5).Draw(t, "context")
		r := Diff(old, new, context)
		if r.Kind != Text {
			t.Fatalf("kind %d", r.Kind)
		}
		got, err := applyHunks(old, r.Hunks)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, new) {
			t.Fatalf("applied: %q, want %q", got, new)
		}
		if bytes.Equal(old, new) != (len(r.Hunks) == 0) {
			t.Fatalf("%d hunks for equal=%v", len(r.Hunks), bytes.Equal(old, new))
		}
	})
}

// lcs is the length of the longest common subsequence, by the plain table.
func lcs(a, b [][]byte) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diag := 0
		for j, y := range b {
			up := row[j+1]
			if bytes.Equal(x, y) {
				row[j+1] = diag + 1
			} else {
				row[j+1] = max(up, row[j])
			}
			diag = up
		}
	}
	return row[len(b)]
}

func TestScriptIsMinimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, new := genText(t, "old"), genText(t, "new")
		added, removed := Stat(Diff(old, new, 0).Hunks)
		a, b := splitLines(old), splitLines(new)
		common := lcs(a, b)
		if added != len(b)-common || removed != len(a)-common {
			t.Fatalf("+%d -%d, minimal +%d -%d", added, removed, len(b)-common, len(a)-common)
		}
	})
}

// TestContextJoinsHunks holds the rule of git: hunks join when at most twice the
// context lies between two changes.
func TestContextJoinsHunks(t *testing.T) {
	for gap := 1; gap <= 8; gap++ {
		var old, new []string
		old, new = append(old, "x"), append(new, "y")
		for i := range gap {
			l := fmt.Sprint("line", i)
			old, new = append(old, l), append(new, l)
		}
		old, new = append(old, "x"), append(new, "y")
		got := len(Diff(text(old), text(new), 3).Hunks)
		want := 1
		if gap > 6 {
			want = 2
		}
		if got != want {
			t.Errorf("%d lines between: %d hunks, want %d", gap, got, want)
		}
	}
}

func text(lines []string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }

func TestKinds(t *testing.T) {
	nulAt := func(n int) []byte { return append(bytes.Repeat([]byte("a"), n), 0) }
	for _, c := range []struct {
		name     string
		old, new []byte
		want     Kind
	}{
		{"text", []byte("a\n"), []byte("b\n"), Text},
		{"nil", nil, nil, Text},
		{"NUL in the probe", nulAt(binaryProbe - 1), nil, Binary},
		{"NUL behind the probe", nulAt(binaryProbe), nil, Text},
		{"NUL on the new side", nil, []byte{0}, Binary},
		{"MaxBytes", nil, bytes.Repeat([]byte("a"), MaxBytes), Text},
		{"over MaxBytes", nil, bytes.Repeat([]byte("a"), MaxBytes+1), TooLarge},
		{"MaxLines", nil, bytes.Repeat([]byte("\n"), maxLines), Text},
		{"over MaxLines", bytes.Repeat([]byte("\n"), maxLines+1), nil, TooLarge},
	} {
		r := Diff(c.old, c.new, 3)
		if r.Kind != c.want {
			t.Errorf("%s: kind %d, want %d", c.name, r.Kind, c.want)
		}
		if r.Kind != Text && r.Hunks != nil {
			t.Errorf("%s: hunks beside kind %d", c.name, r.Kind)
		}
	}
}

// TestManyDistinctLines crosses the surrogates and 65,536: the numbers at which
// interning to runes goes wrong when done naively.
func TestManyDistinctLines(t *testing.T) {
	const n = 90_000
	var old, new bytes.Buffer
	for i := range n {
		fmt.Fprintf(&old, "%d\n", i)
		if i%1000 != 7 {
			fmt.Fprintf(&new, "%d\n", i)
		}
		if i%1000 == 500 {
			fmt.Fprintf(&new, "%d\n", (i+n/2)%n) // a line that exists elsewhere
		}
	}
	r := Diff(old.Bytes(), new.Bytes(), 3)
	got, err := applyHunks(old.Bytes(), r.Hunks)
	if err != nil || !bytes.Equal(got, new.Bytes()) {
		t.Fatalf("applied text differs: %v", err)
	}
	if added, removed := Stat(r.Hunks); added != 90 || removed != 90 {
		t.Errorf("+%d -%d, want +90 -90", added, removed)
	}
}

// TestTimeBound feeds the shapes that cost most. The bound of the search is a
// second; the rest is room for a loaded machine.
func TestTimeBound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(lines, kinds int) []byte {
		var b bytes.Buffer
		for range lines {
			fmt.Fprintf(&b, "%d\n", r.IntN(kinds))
		}
		return b.Bytes()
	}
	blank := bytes.Repeat([]byte("\n"), maxLines/2)
	for _, c := range []struct {
		name     string
		old, new []byte
	}{
		{"two kinds of lines", random(maxLines, 2), random(maxLines, 2)},
		{"few kinds of lines", random(maxLines, 50), random(maxLines, 50)},
		{"a line of its own each", random(maxLines, maxLines), random(maxLines, maxLines)},
		{"repetitive", []byte("a\n" + strings.Repeat("a\n\n", 49_000) + "b\n"), []byte("b\n" + strings.Repeat("\na\n", 45_000) + "a\n")},
		{"blank", []byte("a\n" + string(blank) + "b\n" + string(blank[:len(blank)-9])), []byte("b\n" + string(blank) + "a\n")},
		{"blank runs", []byte("a\n" + string(blank) + "a\nb\n"), []byte("b\n" + string(blank[:len(blank)/2]) + "b\na\n")},
	} {
		start := time.Now()
		res := Diff(c.old, c.new, 3)
		took := time.Since(start)
		got, err := applyHunks(c.old, res.Hunks)
		if err != nil || !bytes.Equal(got, c.new) {
			t.Errorf("%s: applied text differs: %v", c.name, err)
		}
		t.Logf("%s: %v", c.name, took.Round(time.Millisecond))
		if took > 15*time.Second {
			t.Errorf("%s: took %v", c.name, took)
		}
	}
}

func TestSlide(t *testing.T) {
	old := "func a() {\n\tx()\n}\n\nfunc c() {\n\tx()\n}\n"
	new := "func a() {\n\tx()\n}\n\nfunc b() {\n\tx()\n}\n\nfunc c() {\n\tx()\n}\n"
	const insert = "@@ -2,6 +2,10 @@\n \tx()\n }\n \n+func b() {\n+\tx()\n+}\n+\n func c() {\n \tx()\n }\n"
	for _, c := range []struct{ name, old, new, want string }{
		{"insert", old, new, insert},
		{"delete", new, old, strings.NewReplacer("-2,6 +2,10", "-2,10 +2,6", "\n+", "\n-").Replace(insert)},
		{"replacement stays", "b\nk\n", "k\nz\nk\n", "@@ -1,2 +1,3 @@\n-b\n+k\n+z\n k\n"},
		{"append", "a {\n}\n", "a {\n}\n\nb {\n}\n", "@@ -1,2 +1,5 @@\n a {\n }\n+\n+b {\n+}\n"},
	} {
		var b bytes.Buffer
		if err := Unified(&b, Header{"o"}, Header{"n"}, Diff([]byte(c.old), []byte(c.new), 3).Hunks); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimPrefix(b.String(), "--- o\n+++ n\n"); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", c.name, got, c.want)
		}
	}
}

func FuzzDiff(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("a\nc\nd"), 3)
	f.Add([]byte(""), []byte("\n"), 0)
	f.Add([]byte("a\x00"), []byte("\xff\r\n"), 1)
	f.Fuzz(func(t *testing.T, old, new []byte, context int) {
		r := Diff(old, new, context)
		if r.Kind != Text {
			return
		}
		got, err := applyHunks(old, r.Hunks)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, new) {
			t.Fatalf("applied: %q, want %q", got, new)
		}
	})
}
