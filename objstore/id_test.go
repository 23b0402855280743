package objstore

import (
	"errors"
	"fmt"
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
	if len(Kinds()) != len(words) {
		t.Fatalf("%d kinds", len(Kinds()))
	}
	for i, k := range Kinds() {
		if words[k] != k.String() || !k.known() || i > 0 && Kinds()[i-1] >= k {
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

func TestResolve(t *testing.T) {
	s := newStore(t)
	val := appendEnvelope(nil, envelope{codec: CodecRaw})
	var ids []ID
	for i := range 16 {
		id := ID{0xab, 0xcd, byte(i) << 4, 1}
		ids = append(ids, id)
		writeLong(t, s, Tree, id, val)
	}
	lone := ID{0xab, 0xce, 0x12, 0x34, 0x56, 0x78}
	near := lone
	near[5] = 0x79
	far := ID{0xff, 0xff, 0xff}
	edge := far
	for i := range edge {
		edge[i] = 0xff
	}
	for _, id := range []ID{near, lone, far, edge, {0, 0, 1}} {
		writeLong(t, s, Tree, id, val)
	}
	writeLong(t, s, Note, ID{0xab, 0xcf}, val)

	for prefix, want := range map[string]ID{
		"abcd0": ids[0], "ABCDF": ids[15], "abcd30": ids[3], lone.String(): lone, "abce12345678": lone, "abce12345679": near,
		"ffffff0": far, "fffffff": edge, strings.Repeat("f", 64): edge, "0000": {0, 0, 1},
	} {
		if got, err := s.Resolve(Tree, prefix); got != want || err != nil {
			t.Errorf("%s: %s, %v", prefix, got.Short(), err)
		}
	}
	for _, prefix := range []string{"abcf", "abcd11", "abce123456781", "fffe", strings.Repeat("1", 64), "abcf0000"} {
		if _, err := s.Resolve(Tree, prefix); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", prefix, err)
		}
	}
	for _, prefix := range []string{"", "abc", "xyzw", "abcd ", strings.Repeat("0", 65), "ab\x00d", "é12"} {
		if _, err := s.Resolve(Tree, prefix); !errors.Is(err, ErrBadID) {
			t.Errorf("%q: %v", prefix, err)
		}
	}
	var ambiguous *AmbiguousError
	if _, err := s.Resolve(Tree, "abcd"); !errors.As(err, &ambiguous) || fmt.Sprint(ambiguous.Candidates) != fmt.Sprint(keysOf(ids[:MaxCandidates]...)) {
		t.Errorf("abcd: %v", err)
	}
	if _, err := s.Resolve(Tree, "abce1"); !errors.As(err, &ambiguous) || fmt.Sprint(ambiguous.Candidates) != fmt.Sprint(keysOf(lone, near)) {
		t.Errorf("abce1: %v", err)
	}

	for id, want := range map[ID]int{lone: 12, near: 12, ids[0]: 7, edge: 7, far: 7, {}: 7, {0xab, 0xce, 0x12, 0x34, 0x56, 0x7f}: 12} {
		if n, err := s.UniqueLen(Tree, id); n != want || err != nil {
			t.Errorf("%s: %d digits, want %d (%v)", id.Short(), n, want, err)
		}
		short, err := s.ShortID(Tree, id)
		if err != nil || short != id.String()[:want] {
			t.Errorf("%s: %s, %v", id.Short(), short, err)
		}
	}
}
