package object

import (
	"errors"
	"strings"
	"testing"
)

// The vectors are BLAKE3's own: byte i of the input is i mod 251. b3sum prints the same.
func TestBlobIDIsPlainBLAKE3(t *testing.T) {
	for _, v := range []struct {
		n    int
		want string
	}{
		{0, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"},
		{1, "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213"},
		{1024, "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7"},
		{1025, "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444"},
		{31744, "62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47"},
		{102400, "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085"},
	} {
		raw := make([]byte, v.n)
		for i := range raw {
			raw[i] = byte(i % 251)
		}
		if got := Sum(Blob, raw).String(); got != v.want {
			t.Errorf("%d bytes: %s, want %s", v.n, got, v.want)
		}
	}
}

func TestKinds(t *testing.T) {
	words := map[Kind]string{'b': "blob", 't': "tree", 'c': "checkpoint", 'n': "note", 's': "transcript"}
	if len(kinds) != len(words) {
		t.Fatalf("%d kinds", len(kinds))
	}
	for i, k := range kinds {
		if words[k] != k.String() || !k.known() || i > 0 && kinds[i-1] >= k {
			t.Errorf("kind %q: %s", byte(k), k)
		}
	}
	if Kind('x').known() || Kind(0).known() {
		t.Error("unknown kinds are known")
	}
}

func TestParseID(t *testing.T) {
	id := Sum(Blob, nil)
	if got, err := ParseID(id.String()); got != id || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if got, want := id.Short(), id.String()[:12]; got != want {
		t.Errorf("short: %s, want %s", got, want)
	}
	text, err := id.MarshalText()
	var back ID
	if err != nil || back.UnmarshalText(text) != nil || back != id {
		t.Errorf("%s: %v, %s", text, err, back)
	}
	for _, bad := range []string{
		"", "af13", id.String() + "0", id.String()[1:], strings.ToUpper(id.String()), "0x" + id.String()[2:],
		strings.Repeat("g", 64), strings.Repeat("é", 32), strings.Repeat("\x00", 64), " " + id.String()[1:],
	} {
		back = id
		if _, err := ParseID(bad); !errors.Is(err, ErrBadID) {
			t.Errorf("%q: %v", bad, err)
		}
		if err := back.UnmarshalText([]byte(bad)); !errors.Is(err, ErrBadID) || back != id {
			t.Errorf("%q: %v, %s", bad, err, back)
		}
	}
	if !Zero.IsZero() || id.IsZero() {
		t.Error("IsZero")
	}
}

// TestDigits: the digits of ids and keys are those that are printed.
func TestDigits(t *testing.T) {
	id := Sum(Blob, []byte("digits"))
	for i, c := range id.String() {
		if got := "0123456789abcdef"[id.Digit(i)]; got != byte(c) {
			t.Errorf("digit %d is %c, want %c", i, got, c)
		}
	}
	for i, c := range id.Key().String() {
		if got := "0123456789abcdef"[id.Key().Digit(i)]; got != byte(c) {
			t.Errorf("digit %d of the key is %c, want %c", i, got, c)
		}
	}
}
