package objstore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/iotest"

	"rewind/internal/kv"
	"rewind/objstore/object"
)

// chunksFor gives the chunk ids of a blob.
func chunksFor(t *testing.T, s *Store, id ID) []Key {
	t.Helper()
	deps, err := s.Deps(Blob, id.Key())
	if err != nil {
		t.Fatal(err)
	}
	return deps
}

func TestChunkedBlob(t *testing.T) {
	s := newStore(t)
	text := source100K(t)
	var raw []byte
	rng := rand.New(rand.NewPCG(1, 1))
	for len(raw) < 20<<20 {
		raw = fmt.Appendf(raw, "%d %d\n", rng.Uint64(), rng.Uint64())
		raw = append(raw, text[rng.IntN(90_000):][:2000]...)
	}
	store := func(raw []byte, prev ID) (ID, int64) {
		before := int64(0)
		sum := func() (total int64) {
			if err := s.Walk(t.Context(), func(_ Kind, _ Key, info Info) error {
				total += info.Stored + int64(keyLen)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			return total
		}
		before = sum()
		tx := s.Begin()
		defer tx.Discard()
		id, n, err := tx.PutReader(bytes.NewReader(raw), prev)
		if err != nil || n != int64(len(raw)) || id != Sum(Blob, raw) {
			t.Fatalf("put: %s, %d bytes, %v", id, n, err)
		}
		if err := tx.Commit(t.Context(), kv.Written); err != nil {
			t.Fatal(err)
		}
		return id, sum() - before
	}
	first, whole := store(raw, Zero)
	info, err := s.Stat(Blob, first)
	chunks := chunksFor(t, s, first)
	if err != nil || info.Codec != CodecChunks || info.Size != int64(len(raw)) || len(chunks) < 6 || len(chunks) > 50 {
		t.Fatalf("%+v, %d chunks, %v", info, len(chunks), err)
	}
	wantObject(t, s, Blob, first, raw)

	edited := bytes.Clone(raw)
	copy(edited[11<<20:], "one line edited")
	second, grown := store(edited, first)
	wantObject(t, s, Blob, second, edited)
	differ := 0
	for i, id := range chunksFor(t, s, second) {
		if id != chunks[i] {
			differ++
		}
	}
	t.Logf("20 MiB: %d bytes stored, %d chunks; one edit: %d bytes, %d chunks", whole, len(chunks), grown, differ)
	if differ != 1 || grown > 3000 {
		t.Errorf("an edit changed %d chunks and cost %d bytes", differ, grown)
	}
	if _, again := store(edited, first); again != 0 {
		t.Errorf("the same again cost %d bytes", again)
	}
	inserted := append(append(append([]byte{}, edited[:5<<20]...), "some more"...), edited[5<<20:]...)
	third, grown := store(inserted, second)
	wantObject(t, s, Blob, third, inserted)
	if grown > 3000 {
		t.Errorf("an insertion cost %d bytes", grown)
	}

	// Shrunk below the threshold, and grown over it.
	small := raw[:ChunkThreshold-5]
	id, _ := store(small, third)
	wantObject(t, s, Blob, id, small)
	id, grown = store(raw[:ChunkThreshold+100], id)
	wantObject(t, s, Blob, id, raw[:ChunkThreshold+100])
	if grown > 3000 {
		t.Errorf("growing over the threshold cost %d bytes", grown)
	}
}

func TestReaderGivesOnlyVerifiedBytes(t *testing.T) {
	s := newStore(t)
	s.cut = smallCut
	raw := noise(1, 20_000)
	id := put(t, s, Blob, raw, Zero)
	r, err := s.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := iotest.TestReader(r, raw); err != nil {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("read after close: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}

	// Every chunk sound, the list wrong: the end is an error, not io.EOF.
	env := stored(t, s, Blob, id)
	e, err := object.Decode(Blob, env)
	if err != nil {
		t.Fatal(err)
	}
	list, err := object.DecodeChunks(e.Body, e.Length)
	if err != nil {
		t.Fatal(err)
	}
	list[1], list[2] = list[2], list[1]
	e.Body = object.AppendChunks(nil, list)
	write(t, s, Blob, id, object.Seal(e))
	if r, err = s.Open(id); err != nil {
		t.Fatal(err)
	}
	var c *CorruptError
	if got, err := io.ReadAll(r); !errors.As(err, &c) || c.Key != id.Key() || int64(len(got)) != r.Size() {
		t.Errorf("swapped chunks: %d bytes, %v", len(got), err)
	}
	_ = r.Close()
	if err := s.Verify(t.Context(), Blob, id); !errors.As(err, &c) {
		t.Errorf("verify: %v", err)
	}
	// Put again, the list is written anew.
	put(t, s, Blob, raw, Zero)
	wantObject(t, s, Blob, id, raw)

	for _, n := range []int{0, 1, 4000} {
		id := put(t, s, Blob, noise(2, n), Zero)
		r, err := s.Open(id)
		if err != nil || r.Size() != int64(n) {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if err := iotest.TestReader(r, noise(2, n)); err != nil {
			t.Errorf("%d bytes: %v", n, err)
		}
		_ = r.Close()
	}
	if _, err := s.Open(ID{1}); !errors.Is(err, ErrNotFound) {
		t.Errorf("open: %v", err)
	}
}

func TestPutReaderTakesAnyReader(t *testing.T) {
	s := newStore(t)
	s.cut = smallCut
	for _, n := range []int{0, 1, smallCut.threshold, smallCut.threshold + 1, 30_000} {
		raw := noise(3, n)
		for name, r := range map[string]io.Reader{
			"one byte": iotest.OneByteReader(bytes.NewReader(raw)), "half": iotest.HalfReader(bytes.NewReader(raw)),
			"data and error": iotest.DataErrReader(bytes.NewReader(raw)),
		} {
			tx := s.Begin()
			if id, size, err := tx.PutReader(r, Zero); err != nil || size != int64(n) || id != Sum(Blob, raw) {
				t.Errorf("%s, %d bytes: %d, %v", name, n, size, err)
			}
			tx.Discard()
		}
	}
	tx := s.Begin()
	defer tx.Discard()
	if _, _, err := tx.PutReader(stuck{}, Zero); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("stuck reader: %v", err)
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// A stream far longer than what may be in memory.
func TestPutReaderMemoryIsBounded(t *testing.T) {
	size, bound := 256<<20, int64(160<<20)
	if underRace {
		size = 48 << 20
	}
	s := newStore(t)
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before := m.HeapInuse
	grew := func(g *generator) int64 { return int64(g.peak) - int64(before) }
	g := &generator{left: size, every: 8 << 20, source: rand.NewChaCha8([32]byte{})}
	tx := s.Begin()
	defer tx.Discard()
	id, n, err := tx.PutReader(g, Zero)
	if err != nil || n != int64(size) {
		t.Fatalf("%d bytes: %v", n, err)
	}
	if err := tx.Commit(t.Context(), kv.Written); err != nil {
		t.Fatal(err)
	}
	t.Logf("put: %d MiB at most", grew(g)>>20)
	if g.samples < size>>23-2 {
		t.Fatalf("%d samples", g.samples)
	}
	if grew(g) > bound {
		t.Errorf("put: heap grew by %d MiB", grew(g)>>20)
	}
	runtime.GC() // what writing left behind is not reading's
	r, err := s.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	back := &generator{left: size, every: 8 << 20, source: rand.NewChaCha8([32]byte{})}
	buf, want := make([]byte, 1<<20), make([]byte, 1<<20)
	for {
		n, err := io.ReadFull(r, buf)
		if _, werr := io.ReadFull(back, want[:n]); werr != nil && n > 0 {
			t.Fatal(werr)
		}
		if !bytes.Equal(buf[:n], want[:n]) {
			t.Fatal("wrong bytes")
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("read: %d MiB at most", grew(back)>>20)
	if back.left != 0 || grew(back) > bound {
		t.Errorf("read: %d bytes missing, heap grew by %d MiB", back.left, grew(back)>>20)
	}
}

// A generator gives random bytes, half of them zero, and looks at the heap now and then.
type generator struct {
	left, every, since int
	source             *rand.ChaCha8
	peak               uint64
	samples            int
}

func (g *generator) Read(p []byte) (int, error) {
	if g.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), (g.left-1)%(1<<20)+1) // up to the next MiB
	_, _ = g.source.Read(p[:n])
	if (g.left-1)/(1<<20)%2 == 0 {
		clear(p[:n])
	}
	g.left -= n
	if g.since += n; g.since >= g.every {
		g.since = 0
		runtime.GC() // what is held counts, not what the collector has not come to
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		g.peak = max(g.peak, m.HeapInuse)
		g.samples++
	}
	return n, nil
}

// slowReader gives nothing so many times before each byte.
type slowReader struct{ nothing, left int }

func (r *slowReader) Read(p []byte) (int, error) {
	if r.left--; r.left >= 0 {
		return 0, nil
	}
	r.left = r.nothing
	p[0] = 'x'
	return 1, nil
}

// TestReadUpTo: a reader may give nothing for a while, and not for ever.
func TestReadUpTo(t *testing.T) {
	for nothing, want := range map[int]error{0: nil, 99: nil, 100: io.ErrNoProgress} {
		got, err := readUpTo(nil, &slowReader{nothing, nothing}, 3)
		if !errors.Is(err, want) || err == nil && string(got) != "xxx" {
			t.Errorf("%d times nothing: %q, %v", nothing, got, err)
		}
	}
}
