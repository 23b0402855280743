package textdiff

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// mark shows spans as brackets.
func mark(line string, spans []Span) string {
	var b bytes.Buffer
	at := 0
	for _, s := range spans {
		b.WriteString(line[at:s.Start] + "[" + line[s.Start:s.End] + "]")
		at = s.End
	}
	return b.String() + line[at:]
}

func TestWords(t *testing.T) {
	for _, c := range []struct{ name, old, new, wantOld, wantNew string }{
		{"one word", "return old, nil", "return new, nil", "return [old], nil", "return [new], nil"},
		{"a word is not split", "foobar := 1 + x", "foobaz := 1 + x", "[foobar] := 1 + x", "[foobaz] := 1 + x"},
		{"added argument", "f(a, b)", "f(a, x, b)", "f(a, b)", "f(a, [x, ]b)"},
		{"joined over a blank", "one two three four", "one 2 3 four", "one [two three] four", "one [2 3] four"},
		{"indentation", "  return x", "    return x", "[  ]return x", "[    ]return x"},
		{"equal", "same", "same", "same", "same"},
		{"nothing in common", "alpha beta", "gamma delta", "alpha beta", "gamma delta"},
		{"not ASCII", "naïve café x", "naïve cafés x", "naïve [café] x", "naïve [cafés] x"},
		{"not UTF-8", "abc \xff def", "abc \xfe def", "abc [\xff] def", "abc [\xfe] def"},
	} {
		o, n := words([]byte(c.old), []byte(c.new))
		if got := mark(c.old, o); got != c.wantOld {
			t.Errorf("%s: old %q, want %q", c.name, got, c.wantOld)
		}
		if got := mark(c.new, n); got != c.wantNew {
			t.Errorf("%s: new %q, want %q", c.name, got, c.wantNew)
		}
	}
	long := bytes.Repeat([]byte("a "), maxWordLine)
	if o, n := words(long, append(long, 'b')); o != nil || n != nil {
		t.Error("spans in lines over the limit")
	}
}

// TestWordSpansAreOrdered: spans ascend, do not touch, and what lies outside of
// them is the same on both sides but for the blanks that they were joined over.
func TestWordSpansAreOrdered(t *testing.T) {
	gen := rapid.StringMatching(`[ab .\t(é]{0,20}`)
	rapid.Check(t, func(t *rapid.T) {
		old, new := gen.Draw(t, "old"), gen.Draw(t, "new")
		o, n := words([]byte(old), []byte(new))
		rest := func(line string, spans []Span) string {
			var b bytes.Buffer
			at := 0
			for i, s := range spans {
				if s.Start >= s.End || s.End > len(line) || i > 0 && s.Start <= at {
					t.Fatalf("%q: spans %v", line, spans)
				}
				b.WriteString(line[at:s.Start])
				at = s.End
			}
			b.WriteString(line[at:])
			return noBlanks(b.String())
		}
		if o == nil && n == nil {
			return
		}
		if a, b := rest(old, o), rest(new, n); a != b {
			t.Fatalf("outside of spans: %q and %q", a, b)
		}
	})
}

func noBlanks(s string) string {
	return string(bytes.ReplaceAll(bytes.ReplaceAll([]byte(s), []byte(" "), nil), []byte("\t"), nil))
}

func TestHunkSpans(t *testing.T) {
	r := Diff([]byte("k\nf(a)\nf(b)\nk\nold\nk\n"), []byte("k\nf(x)\nf(y)\nk\nnew one\nnew two\nk\n"), 3)
	if len(r.Hunks) != 1 {
		t.Fatalf("%d hunks", len(r.Hunks))
	}
	h := r.Hunks[0]
	spans := h.Spans()
	if len(spans) != len(h.Lines) {
		t.Fatalf("%d spans for %d lines", len(spans), len(h.Lines))
	}
	var got []string
	for i, l := range h.Lines {
		got = append(got, string(l.Op)+mark(string(l.Text), spans[i]))
	}
	want := []string{" k", "-f([a])", "-f([b])", "+f([x])", "+f([y])", " k", "-old", "+new one", "+new two", " k"}
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d: %q, want %q", i, got[i], want[i])
		}
	}
}
