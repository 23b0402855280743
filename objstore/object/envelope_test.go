package object

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"
)

func packed(t testing.TB, raw []byte) []byte {
	t.Helper()
	b, at, err := compress(nil, raw, Careful)
	if err != nil {
		t.Fatal(err)
	}
	return b[at:]
}

func TestEnvelopeRoundTrip(t *testing.T) {
	text := bytes.Repeat([]byte("the same again, "), 100)
	for name, e := range goodEnvelopes(t) {
		val := appendEnvelope(nil, e)
		got, err := Decode(Blob, val)
		if err != nil || !bytes.Equal(appendEnvelope(nil, got), val) {
			t.Errorf("%s: %v", name, err)
		}
		if !e.Codec.IsDelta() && e.Codec != CodecChunks {
			raw, err := got.Whole(nil)
			if err != nil || int64(len(raw)) != e.Length {
				t.Errorf("%s: %d bytes, %v", name, len(raw), err)
			}
		}
		if _, err := Decode(Tree, val); (err != nil) != (e.Codec == CodecChunks) {
			t.Errorf("%s as a tree: %v", name, err)
		}
		for cutAt := range val {
			if _, err := Decode(Blob, val[:cutAt]); err == nil {
				t.Errorf("%s: decodes when cut to %d of %d bytes", name, cutAt, len(val))
			}
		}
		if _, err := Decode(Blob, append(bytes.Clone(val), 0)); err == nil {
			t.Errorf("%s: decodes with a trailing byte", name)
		}
	}
	if raw, err := decompress(nil, packed(t, text), int64(len(text))); err != nil || !bytes.Equal(raw, text) {
		t.Errorf("decompress: %v", err)
	}
}

func goodEnvelopes(t testing.TB) map[string]Envelope {
	text := bytes.Repeat([]byte("the same again, "), 100)
	prefix := [BasePrefix]byte{1, 2, 3, 4, 5}
	delta := binary.AppendUvarint(nil, 1000<<1)
	long := append(bytes.Clone(delta), 200, 1)
	long = append(long, bytes.Repeat([]byte("x"), 100)...)
	list := []Chunk{{ID{1}, 5 << 10}, {ID{2}, MaxChunk}, {ID{1}, 1}}
	return map[string]Envelope{
		"raw":        {Codec: CodecRaw, Length: 3, Body: []byte("abc")},
		"empty":      {Codec: CodecRaw},
		"zstd":       {Codec: CodecZstd, Length: int64(len(text)), Body: packed(t, text)},
		"delta":      {Codec: CodecDelta, Length: 1000, Prefix: prefix, Index: 1, Body: delta},
		"last delta": {Codec: CodecDelta, Length: 1000, Prefix: prefix, Index: MaxIndex, Body: delta},
		"delta zstd": {
			Codec: CodecDeltaZstd, Length: 1100, Prefix: prefix, Index: 300,
			Body: append([]byte{byte(len(long))}, packed(t, long)...),
		},
		"chunks": {Codec: CodecChunks, Length: 5<<10 + MaxChunk + 1, Body: AppendChunks(nil, list)},
	}
}

// envelopeCrashers are refused, whatever the kind.
func envelopeCrashers(t testing.TB) map[string][]byte {
	uv := binary.AppendUvarint
	text := bytes.Repeat([]byte("the same again, "), 100)
	blocks := packed(t, text)
	with := func(e Envelope, change func(e *Envelope)) []byte {
		change(&e)
		return appendEnvelope(nil, e)
	}
	good := goodEnvelopes(t)
	var dots []byte
	for range 100 {
		dots = append(dots, 2, '.')
	}
	return map[string][]byte{
		"nothing":          {},
		"codec only":       {0},
		"unknown codec":    {7, 0},
		"codec 2":          {2, 4, 1, 2, 3, 4, 5, 6, 7, 8, 1, 8, 'a', 'b', 'c', 'd'}, // of no release, as is 3
		"codec 3":          {3, 4, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 'a'},
		"codec 255":        {255, 0},
		"padded length":    {0, 0x80, 0x00},
		"length too short": {0, 1, 'a', 'b'},
		"length too long":  {0, 3, 'a', 'b'},
		"huge length":      uv([]byte{0}, math.MaxUint64),
		"over MaxObject":   uv([]byte{1}, MaxObject+1),
		"zstd of nothing":  {1, 0},
		"no blocks":        {1, 3},
		"not blocks":       {1, 3, 'a', 'b', 'c'},
		"reserved block":   {1, 3, 1 | 3<<1, 0, 0},
		"block cut off":    {1, 3, 1 | 2<<3, 0, 0, 'a'},
		"no last block":    {1, 1, 1 << 3, 0, 0, 'a'},
		"blocks of two frames": with(good["zstd"], func(e *Envelope) {
			e.Body = append(bytes.Clone(blocks), blocks...)
			e.Length *= 2
		}),
		"skippable frame behind": with(good["zstd"], func(e *Envelope) {
			e.Body = append(bytes.Clone(blocks), 0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0)
		}),
		"checksum": with(good["zstd"],
			func(e *Envelope) { e.Body = append(bytes.Clone(blocks), 1, 2, 3, 4) }),
		"whole frame": with(good["zstd"],
			func(e *Envelope) { e.Body = append(appendHeader(nil, e.Length), blocks...) }),
		"delta zstd of nothing": with(good["delta zstd"],
			func(e *Envelope) { e.Body = append([]byte{0}, e.Body[1:]...) }),
		"delta zstd of a padded length": with(good["delta zstd"], func(e *Envelope) {
			e.Body = append([]byte{e.Body[0] | 0x80, 0}, e.Body[1:]...)
		}),
		"index 0":               with(good["delta"], func(e *Envelope) { e.Index = 0 }),
		"index over the last":   with(good["delta"], func(e *Envelope) { e.Index = MaxIndex + 1 }),
		"no base":               {5, 1, 2, 3},
		"delta no shorter":      with(good["delta"], func(e *Envelope) { e.Body = []byte{0, 6, 'a', 'b', 'c'} }),
		"delta over MaxObject":  with(good["delta"], func(e *Envelope) { e.Body = uv(nil, (MaxObject+1)<<1) }),
		"delta not canonical":   with(good["delta"], func(e *Envelope) { e.Body = append([]byte{0}, dots...) }),
		"delta zstd no shorter": with(good["delta zstd"], func(e *Envelope) { e.Length = 10 }),
		"bomb": with(good["delta zstd"],
			func(e *Envelope) { e.Body = append(uv(nil, 1<<40), blocks...) }),
	}
}

func TestEnvelopeCrashers(t *testing.T) {
	for name, val := range envelopeCrashers(t) {
		for _, k := range kinds {
			if _, err := Decode(k, val); err == nil {
				t.Errorf("%s decodes", name)
			} else if strings.HasPrefix(err.Error(), "objstore") {
				t.Errorf("%s: wrapped early: %v", name, err)
			}
		}
	}
}

// Blocks may be well formed and still not give what the envelope says.
func TestDecompressIsBounded(t *testing.T) {
	for size := range 3 { // a run of size+1 bytes, where 2 are due
		blocks := []byte{byte((size+1)<<3 | 1<<1 | 1), 0, 0, 'a'}
		raw, err := decompress(nil, blocks, 2)
		if (err == nil) != (size == 1) || err == nil && string(raw) != "aa" {
			t.Errorf("run of %d: %q, %v", size+1, raw, err)
		}
	}
	text := bytes.Repeat([]byte("the same again, "), 100)
	for _, size := range []int64{0, 1, 1599, 1601, MaxObject} {
		if raw, err := decompress(nil, packed(t, text), size); err == nil {
			t.Errorf("1600 bytes as %d: %d bytes", size, len(raw))
		}
	}
	// forms of the header
	for _, size := range []int{1, 255, 256, 257, 65535, 65536, 65536 + 255, 65536 + 256, 1 << 20} {
		raw := noise(1, size)
		if got, err := decompress(nil, packed(t, raw), int64(size)); err != nil || !bytes.Equal(got, raw) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	large := noise(1, 20<<20) // longer than any window
	copy(large[12<<20:], large[:8<<20])
	if raw, err := decompress(nil, packed(t, large), int64(len(large))); err != nil || !bytes.Equal(raw, large) {
		t.Errorf("large: %v", err)
	}
}

func FuzzEnvelope(f *testing.F) {
	for _, e := range goodEnvelopes(f) {
		f.Add(appendEnvelope(nil, e))
	}
	for _, val := range envelopeCrashers(f) {
		f.Add(val)
	}
	base := noise(1, 2000)
	f.Fuzz(func(t *testing.T, val []byte) {
		for _, k := range []Kind{Blob, Tree} {
			e, err := Decode(k, val)
			if err != nil {
				continue
			}
			if again := appendEnvelope(nil, e); !bytes.Equal(again, val) {
				t.Fatalf("malleable: %x and %x", val, again)
			}
			if e.Length > 1<<24 {
				continue
			}
			var raw []byte
			switch {
			case e.Codec.IsDelta():
				from := bytes.Clone(base)
				raw, err = e.Apply(nil, &Base{k, &from, Zero})
			case e.Codec != CodecChunks:
				raw, err = e.Whole(nil)
			default:
				continue
			}
			if err == nil && int64(len(raw)) != e.Length {
				t.Fatalf("%d bytes, want %d", len(raw), e.Length)
			}
		}
	})
}

// What is compressed in little time is read like the rest, and is not much longer.
func TestCompressLevels(t *testing.T) {
	for _, raw := range [][]byte{
		{1},
		bytes.Repeat([]byte("a line that is there often\n"), 9000), []byte(strings.Repeat("func", 60)),
		noise(1, 3000), make([]byte,
			100<<10),
	} {
		size := map[Level]int{}
		for _, at := range []Level{Quick, Careful} {
			b, blocks, err := compress([]byte("before"), raw, at)
			if err != nil {
				t.Fatal(err)
			}
			got, err := decompress(nil, b[blocks:], int64(len(raw)))
			if err != nil || !bytes.Equal(got, raw) {
				t.Errorf("level %d, %d bytes: %v", at, len(raw), err)
			}
			size[at] = len(b) - blocks
		}
		if size[Quick] > 16+size[Careful]*5/4 {
			t.Errorf("%d bytes: %d and %d compressed", len(raw), size[Quick], size[Careful])
		}
	}
}
