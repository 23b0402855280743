package ignore

import "testing"

// What each way of naming a copy leaves of the name.
func TestOriginal(t *testing.T) {
	for name, want := range map[string]string{ // "": it is no copy's name
		"a~": "a", "a.bak": "a", "a.BAK": "a", ".a.swp": "a", "#a#": "a", ".#a": "a", "a.~1~": "a", "a.~12~": "a",
		"a.1~": "a.1", "a~1~": "a~1", "a.~~": "a.~", "a.~x~": "a.~x", ".~1~": ".~1",
		"": "", "~": "", "a": "", "##": "", ".#": "", ".bak": "", ".swp": "", "a.swp": "", "#a": "", "a#": "",
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
