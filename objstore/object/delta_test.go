package object

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// recode writes the instructions of a delta as an encoder would.
func recode(delta []byte, sourceLen int) ([]byte, error) {
	r := deltaReader{rest: delta, sourceLen: sourceLen}
	var w deltaWriter
	for {
		in, more, err := r.next()
		if err != nil {
			return nil, err
		}
		if !more {
			w.flush()
			return w.out, nil
		}
		if in.data != nil {
			w.put(in.data)
		} else {
			w.copy(in.off, in.n)
		}
	}
}

// apply is applyDelta to a source that is there as a whole.
func apply(dst, source, delta []byte, length int64) ([]byte, error) {
	switch n, _, err := deltaLength(delta, len(source), length); {
	case err != nil:
		return nil, err
	case n != length:
		return nil, errDeltaLength
	}
	return patch(dst, source, delta, length)
}

func checkRoundTrip(t tb, base, target []byte) []byte {
	t.Helper()
	delta := buildDelta(nil, base, len(base), target)
	got, err := apply(nil, base, delta, int64(len(target)))
	if err != nil || !bytes.Equal(got, target) {
		t.Fatalf("%d to %d bytes: %d bytes back, %v", len(base), len(target), len(got), err)
	}
	again, err := recode(delta, len(base))
	if err != nil || !bytes.Equal(again, delta) {
		t.Fatalf("%d to %d bytes: not canonical: %v", len(base), len(target), err)
	}
	return delta
}

// edited draws a base and a version of it: pieces kept, moved, doubled, dropped, changed and new.
func edited(t *rapid.T) (base, target []byte) {
	alphabet := rapid.SampledFrom([]int{1, 2, 4, 256}).Draw(t, "alphabet")
	text := func(label string, n int) []byte {
		b := noise(rapid.Uint64Max(1<<20).Draw(t, label), n)
		for i := range b {
			b[i] = byte(int(b[i]) % alphabet)
		}
		return b
	}
	base = text("base", rapid.IntRange(0, 3000).Draw(t, "size"))
	target = bytes.Clone(base)
	for range rapid.IntRange(0, 6).Draw(t, "edits") {
		at := rapid.IntRange(0, len(target)).Draw(t, "at")
		n := rapid.IntRange(0, min(200, len(target)-at)).Draw(t, "n")
		tail := bytes.Clone(target[at+n:])
		switch rapid.IntRange(0, 3).Draw(t, "edit") {
		case 0: // replace
			target = append(append(target[:at], text("new", n)...), tail...)
		case 1: // delete
			target = append(target[:at], tail...)
		case 2: // insert
			target = append(append(target[:at], text("new", rapid.IntRange(1, 100).Draw(t, "len"))...), tail...)
		case 3: // move to the front
			moved := bytes.Clone(target[at : at+n])
			target = append(append(moved, target[:at]...), tail...)
		}
	}
	return base, target
}

func TestDeltaOfEditsComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, target := edited(t)
		checkRoundTrip(t, base, target)
	})
}

func TestDeltaSizes(t *testing.T) {
	base := noise(1, 100<<10)
	changed := bytes.Clone(base)
	copy(changed[50_000:], "0123456789")
	inserted := append(append(bytes.Clone(base[:50_000]), "0123456789"...), base[50_000:]...)
	moved := append(append(append(bytes.Clone(base[:10_000]), base[20_000:60_000]...), base[10_000:20_000]...), base[60_000:]...)
	twoEnds := bytes.Clone(base)
	twoEnds[0] ^= 1
	twoEnds[len(twoEnds)-1] ^= 1
	for _, c := range []struct {
		name         string
		base, target []byte
		max          int
	}{
		{"the same", base, base, 4},
		{"empty target", base, nil, 0},
		{"empty base", nil, base[:100], 103},
		{"both empty", nil, nil, 0},
		{"ten bytes changed", base, changed, 4 + 11 + 4},
		{"ten bytes inserted", base, inserted, 4 + 11 + 4},
		{"cut off", base, base[:70_000], 4},
		{"grown", base[:70_000], base, 32_400 + 7},
		{"front gone", base, base[70_000:], 6},
		{"moved", base, moved, 4 * 7},
		{"both ends changed", base, twoEnds, 12},
		{"nothing in common", base, noise(2, 1000), 1003},
		{"zeros to more zeros", make([]byte, 1000), make([]byte, 5000), 40},
		{"large", noise(3, 9<<20), append([]byte("x"), noise(3, 9<<20)...), 10},
	} {
		delta := checkRoundTrip(t, c.base, c.target)
		if len(delta) > c.max {
			t.Errorf("%s: %d bytes, at most %d expected", c.name, len(delta), c.max)
		}
	}
}

// A record of some fields, most of them changed, one of them now the id of the base: what stays is copied, be it short,
// and so is the id.
func TestDeltaOfRecord(t *testing.T) {
	record := func(id []byte, n byte) []byte {
		b := append([]byte{1, 2, n, n, 2, 6, n, n, n, 0x9f, 0x34, 3, 6}, "manual\x04 "...)
		b = append(b, noise(uint64(n), 32)...)
		b = append(append(b, 6, 33, 32), id...)
		return append(append(b, "\x07\x04save\x0b\x01\x25\x0c\x03"...), n, n, 13, 1)
	}
	for skew := range 16 { // the id stands at any place
		base := append(make([]byte, skew), record(noise(1, 32), 1)...)
		id := ID(noise(2, 32))
		target := append(make([]byte, skew), record(id[:], 2)...)
		source := DeltaSource(bytes.Clone(base), id)
		delta := buildDelta(nil, source, len(base), target)
		for _, known := range []ID{id, {}} { // without the id, it is hashed
			bare := bytes.Clone(base)
			got, err := applyDelta(nil, &Base{Tree, &bare, known}, delta, int64(len(target)))
			if err != nil || known == id && !bytes.Equal(got, target) || known != id && !bytes.Contains(got, idOf(base)) {
				t.Fatalf("skew %d: %x, %v", skew, got, err)
			}
		}
		if len(delta) > 68 || bytes.Contains(delta, id[:8]) {
			t.Errorf("skew %d: %d bytes: %x", skew, len(delta), delta)
		}
	}
}

func idOf(tree []byte) []byte {
	id := Sum(Tree, tree)
	return id[:]
}

// deltaCrashers are deltas that decoders get wrong: every one is refused for a base of 100 bytes and any result.
func deltaCrashers() map[string][]byte {
	uv := binary.AppendUvarint
	return map[string][]byte{
		"nothing announced":        {0},
		"announced twice":          {0, 0, 2, 'a'},
		"a copy was announced":     {0, 3, 2},
		"announced in the middle":  {4, 2, 'a', 0, 2, 'b'},
		"empty copy":               {1, 0},
		"empty insert":             {4, 0},
		"empty copy that is kept":  {4, 2, 'a', 0},
		"truncated insert":         {0, 10, 'a'},
		"truncated varint":         {0x80},
		"padded varint":            {0x82, 0x00},
		"varint of eleven bytes":   append(bytes.Repeat([]byte{0xff}, 10), 1),
		"copy without offset":      {3},
		"offset 0 at first":        {3, 0},
		"padded offset":            {3, 0x82, 0x00},
		"copy that goes on":        {2, 3, 0},
		"offset that is kept":      {2, 2, 'a', 3, 2},
		"copy before the base":     {3, 1},
		"copy past the base":       uv(nil, 101<<1),
		"kept copy past the base":  uv([]byte{200, 1, 2, 'a'}, 2),
		"copy from past the base":  uv(uv(nil, 3), zigzag(101)),
		"empty tail of the base":   uv(uv(nil, 3), zigzag(100)),
		"huge copy":                uv(nil, math.MaxUint64-1),
		"huge insert":              uv([]byte{0}, math.MaxUint64-1),
		"huge offset":              uv(uv(nil, 3), math.MaxUint64-1),
		"huge negative offset":     uv(uv(nil, 3), math.MaxUint64),
		"offset that wraps around": uv(uv([]byte{100}, 3), zigzag(math.MaxInt64)),
	}
}

func TestDeltaCrashers(t *testing.T) {
	base := noise(1, 100)
	for name, delta := range deltaCrashers() {
		for n := range int64(300) {
			if got, err := apply(nil, base, delta, n); err == nil || got != nil {
				t.Errorf("%s: %d bytes", name, len(got))
			}
		}
		if _, err := recode(delta, len(base)); err == nil {
			t.Errorf("%s: decoded", name)
		}
	}
	good := buildDelta(nil, base, len(base), base[:50])
	for _, n := range []int64{49, 51, 0, math.MaxInt64} {
		if _, err := applyDelta(nil, &Base{Blob, &base, Zero}, good, n); !errors.Is(err, errDeltaLength) {
			t.Errorf("length %d: %v", n, err)
		}
	}
}

func TestApplyDeltaAllocatesOnlyTheResult(t *testing.T) {
	base := noise(1, 50_000)
	target := append([]byte("new"), base...)
	delta := buildDelta(nil, base, len(base), target)
	room := make([]byte, 0, len(target))
	if n := testing.AllocsPerRun(20, func() {
		if _, err := applyDelta(room, &Base{Blob, &base, Zero}, delta, int64(len(target))); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzDelta(f *testing.F) {
	base := noise(1, 100)
	f.Add(base, buildDelta(nil, base, len(base), append(base[40:], base[:50]...)))
	for _, delta := range deltaCrashers() {
		f.Add(base, delta)
	}
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		checkRoundTrip(t, base, delta)
		length, _, err := deltaLength(delta, len(base), 1<<24)
		if err != nil {
			if _, err := apply(nil, base, delta, length); err == nil {
				t.Fatal("applied what does not decode")
			}
			return
		}
		got, err := apply(nil, base, delta, length)
		if err != nil || int64(len(got)) != length {
			t.Fatalf("%d bytes, want %d: %v", len(got), length, err)
		}
		if again, err := recode(delta, len(base)); err != nil || !bytes.Equal(again, delta) {
			t.Fatalf("malleable: %x and %x (%v)", delta, again, err)
		}
	})
}
