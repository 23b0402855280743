package ignore

import (
	"strings"
	"testing"
)

// What each way of naming a copy leaves of the name.
func TestOriginal(t *testing.T) {
	for name, want := range map[string]string{ // "": it is no copy's name
		"a~": "a", "a.bak": "a", "a.BAK": "a", ".a.swp": "a", "#a#": "a", ".#a": "a", "a.~1~": "a", "a.~12~": "a",
		"a.1~": "a.1", "a~1~": "a~1", "a.~~": "a.~", "a.~x~": "a.~x", ".~1~": ".~1",
		"": "", "~": "", "a": "", "##": "", ".#": "", ".bak": "", ".swp": "", "a.swp": "", "#a": "", "a#": "",
		"a\xff": "",
	} {
		if got, ok := original(name); got != want && ok || ok != (want != "") {
			t.Errorf("%q is a copy of %q, %v; want %q", name, got, ok, want)
		}
	}
	secret := Secrets([]string{".env"})
	for name, want := range map[string]bool{".env.bak.old~": true, ".env.bak.old.orig~": false} {
		if secret(name) != want {
			t.Errorf("%s is secret: %v", name, !want)
		}
	}
}

// Each suffix of a copy, in either case, leaves the name before it.
func TestSuffixesOfCopies(t *testing.T) {
	check := func(name, want string) {
		t.Helper()
		if got, ok := original(name); got != want || ok != (want != "") {
			t.Errorf("%q is a copy of %q, %v; want %q", name, got, ok, want)
		}
	}
	for _, s := range copySuffixes {
		check("ab"+s, "ab")
		check("a"+strings.ToUpper(s), "a")
	}
	for _, s := range hiddenSuffixes {
		check(".ab"+s, "ab")
		check(".a"+strings.ToUpper(s), "a")
	}
	for name, want := range map[string]string{
		"#a": "", "#ab#": "ab", "##": "", "###": "#", ".#": "", ".#a": "a", ".#ab#": "ab#", "a#b#": "", "#.a": "",
		"b.~1~": "b", ".~1~": ".~1", "a.~1": "", "a.~01239~": "a", "ab~1~": "ab~1", "a.~:~": "a.~:", "a.~/~": "a.~/",
		"~1~": "~1", "1~": "1", "~~": "~",
	} {
		check(name, want)
	}
}

// Patterns of directories speak of all that is below, at the depth that they say.
func TestSecretDirectories(t *testing.T) {
	for _, c := range []struct {
		patterns, path string
		want           bool
	}{
		{"p/", "p/x", true},
		{"p/", "a/b/p/c/x", true},
		{"p/", "p", false},
		{"p/", "a/p", false},
		{"/p/", "p/a/x", true},
		{"/p/", "a/p/x", false},
		{"a/p/", "a/p/x", true},
		{"a/p/", "a/p/b/x", true},
		{"a/p/", "b/a/p/x", false},
		{"P/", "p/x", true},
		{"p/ !p/", "p/x", false},
		{"!p/ p/", "p/x", true},
		{"p/ !x", "p/x", true},
		{"/a/x", "a/x", true},
		{"/a/x", "b/a/x", false},
		{"/a/x", "abcd/x", false},
		{"/a/x", "a/bx", false},
		{"x", "x/", false},
		{"*", "a/x", true},
		{"x? !xy", "xz", true},
		{"x? !xy", "xy", false},
	} {
		if got := Secrets(strings.Fields(c.patterns))(c.path); got != c.want {
			t.Errorf("%s: %s is secret: %v", c.patterns, c.path, got)
		}
	}
}

// The classes of POSIX, byte by byte, as git has them.
func TestClasses(t *testing.T) {
	between := func(c byte, ranges string) bool {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= c && c <= ranges[i+1] {
				return true
			}
		}
		return false
	}
	for name, ranges := range map[string]string{
		"alnum": "09AZaz", "alpha": "AZaz", "blank": "  \t\t", "cntrl": "\x00\x1f\x7f\x7f", "digit": "09",
		"graph": "!~", "lower": "az",
		"print": " ~", "space": "\t\n\r\r  ", "upper": "AZ", "xdigit": "09AFaf", "punct": "!/:@[`{~",
	} {
		in := classes[name]
		if in == nil {
			t.Errorf("no class %s", name)
			continue
		}
		for i := range 256 {
			if c := byte(i); in(c) != between(c, ranges) {
				t.Errorf("%#x is in %s: %v", c, name, in(c))
			}
		}
	}
}
