package textdiff

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// naively is a text with some of its hunks' changes, worked out line by line: the changes of the hunks that are left
// out are turned back.
func naively(old []byte, hunks []Hunk, take []bool) []byte {
	var out []byte
	lines, next := splitLines(old), 0
	for n, h := range hunks {
		at := h.OldStart
		if h.OldLines > 0 {
			at--
		}
		for ; next < at; next++ {
			out = append(out, lines[next]...)
		}
		for _, l := range h.Lines {
			text := bytes.Clone(l.Text)
			if !l.NoEOL {
				text = append(text, '\n')
			}
			if l.Op == ' ' || l.Op == '+' && take[n] || l.Op == '-' && !take[n] {
				out = append(out, text...)
			}
			if l.Op != '+' {
				next++
			}
		}
	}
	return append(out, bytes.Join(lines[next:], nil)...)
}

// TestSomeHunks: any choice of hunks gives what the changes chosen give, all the new text and none the old one, in
// whatever pieces.
func TestSomeHunks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		old, new := genText(t, "old"), genText(t, "new")
		context := rapid.IntRange(0, 4).Draw(t, "context")
		hunks := Diff(old, new, context).Hunks
		take := make([]bool, len(hunks))
		var chosen []Hunk
		all := true
		for i, h := range hunks {
			if take[i] = rapid.Bool().Draw(t, "take"); !take[i] {
				all = false
				continue
			}
			if rapid.Bool().Draw(t, "split") {
				chosen = append(chosen, h.Split()...)
				continue
			}
			chosen = append(chosen, h)
		}
		got, err := Apply(old, chosen)
		if err != nil {
			t.Fatalf("%v\n%q\n%q", err, old, new)
		}
		if want := naively(old, hunks, take); !bytes.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
		if all && !bytes.Equal(got, new) || len(chosen) == 0 && !bytes.Equal(got, old) {
			t.Fatalf("all %v: got %q of %q and %q", all, got, old, new)
		}
	})
}

// TestSomePieces: pieces are whole hunks, each has one change, and any choice of them is what a comparison without
// context gives.
func TestSomePieces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		old, new := genText(t, "old"), genText(t, "new")
		single := Diff(old, new, 0).Hunks
		var pieces, chosen []Hunk
		for _, h := range Diff(old, new, 3).Hunks {
			pieces = append(pieces, h.Split()...)
		}
		if len(pieces) != len(single) {
			t.Fatalf("%d pieces of %d changes", len(pieces), len(single))
		}
		take := make([]bool, len(pieces))
		for i, p := range pieces {
			if again := p.Split(); len(again) != 1 || again[0].Header() != p.Header() {
				t.Fatalf("%s is split into %d", p.Header(), len(again))
			}
			if take[i] = rapid.Bool().Draw(t, "take"); take[i] {
				chosen = append(chosen, p)
			}
		}
		got, err := Apply(old, chosen)
		if err != nil {
			t.Fatal(err)
		}
		if want := naively(old, single, take); !bytes.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

// TestEditedUnchanged: a hunk's text read again is the hunk, bytes that are no text included.
func TestEditedUnchanged(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		for _, h := range Diff(genText(t, "old"), genText(t, "new"), 3).Hunks {
			got, err := h.Edited(h.Text())
			if err != nil || !bytes.Equal(got.Text(), h.Text()) {
				t.Fatalf("%v: %q became %q", err, h.Text(), got.Text())
			}
		}
	})
}

func TestEdited(t *testing.T) {
	t.Parallel()
	old, new := []byte("a\nb\n\nc"), []byte("a\nX\nY\n\nc\n")
	hunks := Diff(old, new, 3).Hunks
	if len(hunks) != 1 {
		t.Fatal(hunks)
	}
	for _, c := range []struct{ name, text, want, err string }{
		{"an added line less", " a\n-b\n+X\n \n-c\n\\ No newline at end of file\n+c\n", "a\nX\n\nc\n", ""},
		{"an added line more", "@@ whatever @@\n# told\n a\n-b\n+X\n+Z\n+Y\n \n-c\n\\ No\n+c\n", "a\nX\nZ\nY\n\nc\n", ""},
		{"a line stays", " a\n b\n+X\n \n c\n\\ No\n", "a\nb\nX\n\nc", ""},
		{"the blank taken", " a\n-b\n\n c\n\\ No\n", "a\n\nc", ""},
		{"nothing is left", "# all\n", "", ErrNoHunk.Error()},
		{"another line goes", " a\n-q\n \n c\n\\ No\n", "", "the lines that stay or go are not those of the file"},
		{"a line is missing", " a\n \n c\n\\ No\n", "", "the lines that stay or go are not those of the file"},
		{"no sign", " a\nb\n", "", `"b" begins with none of ' ', '-' and '+'`},
		{"no end within", " a\n-b\n+X\n\\ No\n \n c\n\\ No\n", "", "only the last line of a file can have no end"},
		{"a line behind the end", " a\n b\n \n c\n\\ No\n+d\n", "", "only the last line of a file can have no end"},
	} {
		h, err := hunks[0].Edited([]byte(c.text))
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got, err := Apply(old, []Hunk{h}); err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}

// TestApplyRefuses: hunks of another text are refused and not bent.
func TestApplyRefuses(t *testing.T) {
	t.Parallel()
	hunks := Diff([]byte("a\nb\nc\nd\n"), []byte("A\nb\nc\nD\n"), 0).Hunks
	for _, c := range []struct {
		old   string
		hunks []Hunk
	}{
		{"x\nb\nc\nd\n", hunks},
		{"a\n", hunks},
		{"", hunks},
		{"a\nb\nc\nd", hunks},
		{"a\nb\nc\nd\n", []Hunk{hunks[1], hunks[0]}},
		{"a\nb\nc\nd\n", []Hunk{hunks[0], hunks[0]}},
		{"a", []Hunk{{OldStart: 1, NewStart: 2, NewLines: 1, Lines: []Line{{Op: '+', Text: []byte("b")}}}}},
		{"a\n", []Hunk{{OldStart: 0, NewStart: 1, NewLines: 1, Lines: []Line{{Op: '+', Text: []byte("b"), NoEOL: true}}}}},
		{"a\n", []Hunk{{OldStart: -1, OldLines: 1, Lines: []Line{{Op: '-', Text: []byte("a")}}}}},
	} {
		if got, err := Apply([]byte(c.old), c.hunks); err == nil {
			t.Errorf("%q: %q", c.old, got)
		}
	}
}
