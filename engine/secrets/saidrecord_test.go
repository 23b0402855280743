package secrets

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rewind/internal/kv"
	"rewind/internal/leaks"
	"rewind/internal/record/recordtest"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/transcript/passage"
)

var sampleID = objstore.Sum(objstore.Blob, []byte("t"))

func sampleSaidLook() *saidLook {
	return &saidLook{
		Rules: "v", Session: "a/b", Transcript: sampleID, At: 9, Records: 2, Life: 1, More: 3,
		Flags: []saidFlag{
			{
				Rule: "r", Part: "reply", Record: 2, Offset: 3, From: 4, To: 5, Turn: 6, Operation: 7, Life: 1,
				In: sampleID,
			},
		},
	}
}

// The bytes on disk, docs/format.md#flag.
func TestSaidLookGolden(t *testing.T) {
	id := sampleID
	flag := "\x01\x01r\x02\x05reply\x03\x01\x02\x04\x01\x03\x05\x01\x04\x06\x01\x05\x07\x01\x06\x08\x01\x07\x09\x01\x01\x0a\x20" +
		string(id[:])
	want := "\x01\x01v\x02\x03a/b\x03\x20" + string(id[:]) + "\x04\x01\x09\x05\x01\x02\x06\x01\x01\x07" +
		string([]byte{byte(len(flag) + 1), byte(len(flag))}) + flag + "\x08\x01\x03"
	if got := sampleSaidLook().encode(); string(got) != want {
		t.Errorf("got  %x\nwant %x", got, want)
	}
	recordtest.Documented(t, sampleSaidLook().encode(), "Flag", 2)
	recordtest.Documented(t, []byte(flag), "Flag", 3)
}

func FuzzSaidLook(f *testing.F) {
	f.Add(sampleSaidLook().encode())
	f.Add((&saidLook{Session: "a"}).encode())
	f.Fuzz(func(t *testing.T, raw []byte) {
		l, err := decodeSaidLook(raw)
		if err != nil {
			if !errors.Is(err, kv.ErrCorrupt) {
				t.Fatalf("error %v", err)
			}
			return
		}
		if !bytes.Equal(l.encode(), raw) {
			t.Fatalf("encodes to %x, was %x", l.encode(), raw)
		}
	})
}

// TestSaidFlagRange: a finding begins in its record, and ends behind where it begins.
func TestSaidFlagRange(t *testing.T) {
	for at, want := range map[[3]int64]bool{
		{0, 0, 0}: true, {3, 3, 3}: true, {3, 4, 5}: true, {3, 2, 5}: false, {3, 4, 3}: false, {-1, 0, 0}: false,
	} {
		l := sampleSaidLook()
		l.Flags[0].Offset, l.Flags[0].From, l.Flags[0].To = at[0], at[1], at[2]
		if _, err := decodeSaidLook(l.encode()); (err == nil) != want {
			t.Errorf("%v: %v", at, err)
		}
	}
}

// TestReword: the words of a flag are replaced; how far was looked, and what cannot be read, is made anew.
func TestReword(t *testing.T) {
	flag := LeakFlag{Paths: []string{"a"}, Findings: []value.Finding{{Rule: "r", Line: 1}}}
	key := LeakKey(sampleID.Key())
	is, err := DecodeLeakFlag(Reword(key, flag.Encode(), strings.ToUpper))
	if err != nil || !slices.Equal(is.Paths, []string{"A"}) {
		t.Errorf("%+v, %v", is, err)
	}
	for what, tt := range map[string]struct{ key, val []byte }{
		"a mark":           {LeakMarkKey, (&LeakCursor{Path: "a"}).Encode()},
		"a mark of a flag": {LeakMarkKey, flag.Encode()},
		"said":             {saidKey("a/b"), flag.Encode()},
		"garbage":          {key, []byte("garbage")},
	} {
		if got := Reword(tt.key, tt.val, strings.ToUpper); got != nil {
			t.Errorf("%s: %q", what, got)
		}
	}
}

// TestSaidKept: what a record says again is one finding, as it was told first; of very many the first are kept. What
// the agent writes beside a turn goes where the turn says it itself, and is not told behind that.
func TestSaidKept(t *testing.T) {
	r := &saidRecord{s: &saidScan{told: map[uint64]int{}}, look: &saidLook{Session: "a/b"}}
	for _, f := range []saidFlag{
		{Rule: "r", Part: "reply", Record: 1, Turn: 1, Operation: 1},
		{
			Rule: "r", Part: "reply", Record: 1, Turn: 2,
			Operation: 2, From: 9,
		},
		{Rule: "s", Part: "reply", Record: 1},
		{Rule: "r", Part: "prompt", Record: 1},
		{
			Rule: "r", Part: "reply",
			Record: 2,
		},
	} {
		r.keep(f)
	}
	if f := r.look.Flags; len(f) != 4 || f[0].Turn != 1 || f[0].Operation != 1 || f[0].From != 9 {
		t.Errorf("%+v", f)
	}
	for i := range 130 {
		r.keep(saidFlag{Rule: "t", Part: "reply", Record: i})
	}
	if len(r.look.Flags) != 128 || r.look.More != 6 {
		t.Errorf("%d are kept, and %d are not", len(r.look.Flags), r.look.More)
	}

	// What is of the record, but not beside the turn, stays.
	r.look.Flags = []saidFlag{{Rule: "r", Part: "thinking", Record: 1}}
	for _, tt := range []struct {
		secret, rule, part string
		record             int
		turn               uint64
	}{
		{"x", "r", string(passage.Other), 1, 1},
		{"y", "r", string(passage.Other), 2, 1},
		{
			"y", "s",
			string(passage.Other), 1, 1,
		},
		{"x", "r", "reply", 3, 1},               // the first goes
		{"x", "r", "reply", 4, 1},               // an echo
		{"x", "r", string(passage.Other), 5, 1}, // behind it
		{"x", "r", "reply", 6, 2},               // another turn
	} {
		r.found(leaks.Match{Secret: tt.secret}, saidFlag{
			Rule: tt.rule, Part: tt.part, Record: tt.record,
			Turn: tt.turn,
		})
	}
	var got []string
	for _, f := range r.look.Flags {
		got = append(got, fmt.Sprint(f.Rule, f.Record))
	}
	if got := strings.Join(got, " "); got != "r1 r2 s1 r3 r6" {
		t.Errorf("%s", got)
	}
}

// A look begins at the first byte or behind it, and a finding ends not before it begins, in its record.
func TestSaidLookBounds(t *testing.T) {
	for _, c := range []struct {
		at, offset, from, to int64
		right                bool
	}{
		{0, 0, 0, 0, true},
		{1, 3, 3, 3, true},
		{1, 3, 4, 5, true},
		{-1, 3, 4, 5, false},
		{1, 3, 2, 5, false},
		{1, 3, 4, 3, false},
		{1, -1, 4, 5, false},
	} {
		l := sampleSaidLook()
		l.At, l.Flags[0].Offset, l.Flags[0].From, l.Flags[0].To = c.at, c.offset, c.from, c.to
		if _, err := decodeSaidLook(l.encode()); (err == nil) != c.right {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestRemembered: what a look remembers of contents and of conversations, so that it is not looked at or told again, is
// forgotten before it is too much.
func TestRemembered(t *testing.T) {
	l := &leakScan{e: New(nil, &State{})}
	r := &saidRecord{s: &saidScan{told: map[uint64]int{}}, look: &saidLook{Session: "a/b"}}
	for i := range maxLooked + 1 {
		l.looked(scannedAt{path: fmt.Sprint(i)})
		r.found(leaks.Match{Secret: fmt.Sprint(i)}, saidFlag{Rule: "r", Part: "reply", Record: i})
		if i < maxLooked && len(l.e.Scan.scanned) != i+1 {
			t.Fatalf("of %d contents %d are remembered", i+1, len(l.e.Scan.scanned))
		}
		if len(r.s.told) > maxLooked+1 {
			t.Fatalf("%d hashes are remembered", len(r.s.told))
		}
	}
	if n := len(l.e.Scan.scanned); n != 1 {
		t.Errorf("%d contents are remembered", n)
	}
}
