package relay

import (
	"net/url"
	"testing"
)

func TestEscape(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"/home/u/a-b_c.d~", "/home/u/a-b_c.d~"},
		{"a b%\r\n\x00\xff", "a%20b%25%0D%0A%00%FF"},
		{"ü", "%C3%BC"},
	} {
		if got := Escape(c.text); got != c.want {
			t.Errorf("%q: %q", c.text, got)
		}
	}
	for _, s := range []string{"%", "%4", "%4g", "%c3", "%41", "%2F", "a b", "a+b", "\x00", "ü", "%%20"} {
		if got, err := Unescape(s); err == nil {
			t.Errorf("%q is taken: %q", s, got)
		}
	}
}

func FuzzEscape(f *testing.F) {
	f.Add("a b%41\x00")
	f.Add("%C3%BC")
	f.Fuzz(func(t *testing.T, s string) {
		if got, err := Unescape(Escape(s)); err != nil || got != s {
			t.Fatalf("%q, %v", got, err)
		}
		if got, err := url.PathUnescape(Escape(s)); err != nil || got != s {
			t.Fatalf("net/url: %q, %v", got, err)
		}
		if text, err := Unescape(s); err == nil && Escape(text) != s {
			t.Fatalf("%q decodes, and encodes as %q", s, Escape(text))
		}
	})
}
