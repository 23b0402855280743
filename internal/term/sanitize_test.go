package term

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestSanitize(t *testing.T) {
	for _, c := range []struct{ name, in, line, text string }{
		{"empty", "", "", ""},
		{"plain", "plain text ~ \\ \"", "plain text ~ \\ \"", "plain text ~ \\ \""},
		{"letters", "naïve 漢字 Ελλάδα عربي हिन्दी", "naïve 漢字 Ελλάδα عربي हिन्दी", "naïve 漢字 Ελλάδα عربي हिन्दी"},
		{"no-break and wide space", "a\u00a0b\u3000c", "a\u00a0b\u3000c", "a\u00a0b\u3000c"},
		{"lines", "a\nb\tc\r\nd\re", `a\nb\tc\r\nd\re`, "a\nb\tc\nd\\re"},
		{"colour", "\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`, `\x1b[31mred\x1b[0m`},
		{"title of the window", "\x1b]0;x\a", `\x1b]0;x\x07`, `\x1b]0;x\x07`},
		{"clipboard", "\x1b]52;c;ZXZpbA==\x1b\\", `\x1b]52;c;ZXZpbA==\x1b\`, `\x1b]52;c;ZXZpbA==\x1b\`},
		{"backspace, delete, NUL", "a\bb\x7fc\x00", `a\x08b\x7fc\x00`, `a\x08b\x7fc\x00`},
		{"C1", "a\u009b31mb\u0085", `a\u009b31mb\u0085`, `a\u009b31mb\u0085`},
		{
			"bidi", "x\u202ecod.exe\u202c \u2066a\u2069 \u061c\u200e\u200f", `x\u202ecod.exe\u202c \u2066a\u2069 \u061c\u200e\u200f`,
			`x\u202ecod.exe\u202c \u2066a\u2069 \u061c\u200e\u200f`,
		},
		{
			"zero width", "a\u200bb\u200cc\u2060d\ufeffe\u00adf", `a\u200bb\u200cc\u2060d\ufeffe\u00adf`,
			`a\u200bb\u200cc\u2060d\ufeffe\u00adf`,
		},
		{"separators", "a\u2028b\u2029", `a\u2028b\u2029`, `a\u2028b\u2029`},
		{"fillers", "\u3164\u115f\uffa0\u034f", `\u3164\u115f\uffa0\u034f`, `\u3164\u115f\uffa0\u034f`},
		{"tags", "a\U000e0041\U000e0100", `a\U000e0041\U000e0100`, `a\U000e0041\U000e0100`},
		{"private use", "\ue000\U0010ffff", `\ue000\U0010ffff`, `\ue000\U0010ffff`},
		{"not UTF-8", "a\xffb\xc3", `a\xffb\xc3`, `a\xffb\xc3`},
		{"encoded surrogate", "\xed\xa0\x80", `\xed\xa0\x80`, `\xed\xa0\x80`},
		{"overlong", "\xc0\xaf", `\xc0\xaf`, `\xc0\xaf`},
		{"replacement character", "\ufffd", "\ufffd", "\ufffd"},
		{"emoji of several", "👨‍👩‍👧 ❤️ 1️⃣", "👨‍👩‍👧 ❤️ 1️⃣", "👨‍👩‍👧 ❤️ 1️⃣"},
		{"joiner without emoji", "a\u200db 👨\u200d", `a\u200db 👨\u200d`, `a\u200db 👨\u200d`},
		{"selector without symbol", "a\ufe0fb", `a\ufe0fb`, `a\ufe0fb`},
	} {
		if got := Sanitize(c.in); got != c.line {
			t.Errorf("%s: one line %q, want %q", c.name, got, c.line)
		}
		if got := SanitizeText(c.in); got != c.text {
			t.Errorf("%s: text %q, want %q", c.name, got, c.text)
		}
	}
}

// hostile draws strings rich in what has to be escaped.
func hostile() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"a", "B ", "\n", "\r\n", "\t", "\x1b[2J", "\x9b", "\xc2\x9b", "\u202e", "\u200d", "\ufe0f", "👩", "漢",
			"e\u0301", `\`, `"`, "\xff", "\x00", "\x7f", "\U000e0020", "/", ".git",
		}),
		rapid.String(),
		rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOfN(rapid.Byte(), 0, 6).Draw(t, "bytes")) }),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), "")
	})
}

// unsafe finds a rune that a terminal would act on or hide. It is written apart
// from the code under test.
func unsafe(s, allowed string) (rune, bool) {
	for _, r := range s {
		switch {
		case strings.ContainsRune(allowed, r):
		case r < ' ', 0x7f <= r && r <= 0x9f, 0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069,
			r == 0x200b, r == 0x200c, r == 0x200e, r == 0x200f, r == 0x061c, r == 0x2028, r == 0x2029,
			0x2060 <= r && r <= 0x2064, r == 0xfeff, r == 0xad, 0xe0000 <= r && r <= 0xe0fff:
			return r, true
		}
	}
	return 0, false
}

func TestSanitizedTextIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := hostile().Draw(t, "in")
		for name, c := range map[string]struct{ out, allowed string }{
			"Sanitize":     {Sanitize(in), ""},
			"SanitizeText": {SanitizeText(in), "\n\t"},
			"Quote":        {Quote(in), ""},
		} {
			if !utf8.ValidString(c.out) {
				t.Fatalf("%s(%q): not UTF-8: %q", name, in, c.out)
			}
			if r, bad := unsafe(c.out, c.allowed); bad {
				t.Fatalf("%s(%q): holds %U", name, in, r)
			}
		}
		if once := Sanitize(in); Sanitize(once) != once {
			t.Fatalf("sanitised twice: %q", Sanitize(once))
		}
	})
}

func FuzzSanitize(f *testing.F) {
	f.Add("\x1b[31m\u202e👨‍👩‍👧\xff")
	f.Fuzz(func(t *testing.T, in string) {
		for _, out := range []string{Sanitize(in), Quote(in), Truncate(Sanitize(in), 7)} {
			if r, bad := unsafe(out, ""); bad || !utf8.ValidString(out) {
				t.Fatalf("%q gives %q with %U", in, out, r)
			}
		}
		back, err := unquote(Quote(in))
		if err != nil || back != in {
			t.Fatalf("%q quoted %q is read as %q, %v", in, Quote(in), back, err)
		}
	})
}
