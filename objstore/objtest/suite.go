package objtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"rewind/objstore"
)

// A Subject is what the suite examines.
type Subject interface {
	objstore.Getter
	objstore.Putter
	PutReader(r io.Reader, prev objstore.ID) (objstore.ID, int64, error)
	Has(k objstore.Kind, id objstore.ID) (bool, error)
}

// Kinds are all kinds, ascending by byte.
func Kinds() []objstore.Kind {
	return []objstore.Kind{objstore.Blob, objstore.Checkpoint, objstore.Note, objstore.Transcript, objstore.Tree}
}

// Run holds implementations to the contract of objstore.Getter and objstore.Putter. open gives an empty one.
func Run(t *testing.T, open func(t *testing.T) Subject) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, s Subject)
	}{
		{"every kind and size comes back", roundTrip},
		{"absence is ErrNotFound", absence},
		{"an unknown kind is refused", unknownKind},
		{"the caller owns what it got", ownership},
		{"what was put may change afterwards", putOwnership},
		{"kinds do not mix", kindsApart},
		{"a base is only a hint", hints},
		{"a line of edits comes back", line},
		{"a stream is the same blob", stream},
		{"an error of the stream is given", streamError},
		{"concurrent puts and gets", concurrent},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

func mustPut(t *testing.T, s Subject, k objstore.Kind, raw []byte, prev objstore.ID) objstore.ID {
	t.Helper()
	id, err := s.Put(k, raw, prev)
	if err != nil {
		t.Fatalf("put %s of %d bytes: %v", k, len(raw), err)
	}
	if want := objstore.Sum(k, raw); id != want {
		t.Fatalf("put %s of %d bytes: id %s, want %s", k, len(raw), id, want)
	}
	return id
}

func mustGet(t *testing.T, s Subject, k objstore.Kind, id objstore.ID, want []byte) {
	t.Helper()
	got, err := s.Get(k, id)
	if err != nil {
		t.Fatalf("get %s %s: %v", k, id.Short(), err)
	}
	if got == nil || !bytes.Equal(got, want) {
		t.Fatalf("get %s %s: %d bytes (nil: %v), want %d", k, id.Short(), len(got), got == nil, len(want))
	}
}

func noise(seed uint64, n int) []byte {
	var key [32]byte
	key[0], key[1] = byte(seed), byte(seed>>8)
	b := make([]byte, n)
	_, _ = rand.NewChaCha8(key).Read(b)
	return b
}

func roundTrip(t *testing.T, s Subject) {
	for _, k := range Kinds() {
		for _, raw := range [][]byte{
			{},
			{0},
			[]byte("x"), bytes.Repeat([]byte("abc"), 10_000), noise(1, 1), noise(2, 95), noise(3, 70_000),
			make([]byte, 1<<20),
		} {
			id := mustPut(t, s, k, raw, objstore.Zero)
			mustGet(t, s, k, id, raw)
			mustPut(t, s, k, raw, objstore.Zero)
			if ok, err := s.Has(k, id); !ok || err != nil {
				t.Fatalf("has %s: %v, %v", id.Short(), ok, err)
			}
		}
	}
}

func absence(t *testing.T, s Subject) {
	id := mustPut(t, s, objstore.Blob, []byte("here"), objstore.Zero)
	id[31] ^= 1
	for _, k := range Kinds() {
		// one of the same key is there
		if raw, err := s.Get(k, id); !errors.Is(err, objstore.ErrNotFound) || raw != nil {
			t.Errorf("get %s %s: %v, %v", k, id.Short(), raw, err)
		}
		other := id
		other[0] ^= 1
		for _, id := range []objstore.ID{objstore.Zero, other} {
			if raw, err := s.Get(k, id); !errors.Is(err, objstore.ErrNotFound) || raw != nil {
				t.Errorf("get %s %s: %v, %v", k, id.Short(), raw, err)
			}
			if ok, err := s.Has(k, id); ok || err != nil {
				t.Errorf("has %s %s: %v, %v", k, id.Short(), ok, err)
			}
		}
	}
}

func unknownKind(t *testing.T, s Subject) {
	var format *objstore.FormatError
	if _, err := s.Put('x', []byte("a"), objstore.Zero); !errors.As(err, &format) {
		t.Errorf("put: %v", err)
	}
	if _, err := s.Get(0, objstore.Zero); !errors.As(err, &format) {
		t.Errorf("get: %v", err)
	}
}

func ownership(t *testing.T, s Subject) {
	raw := []byte("the store keeps its own")
	id := mustPut(t, s, objstore.Blob, raw, objstore.Zero)
	got, err := s.Get(objstore.Blob, id)
	if err != nil {
		t.Fatal(err)
	}
	clear(got)
	mustGet(t, s, objstore.Blob, id, raw)
}

func putOwnership(t *testing.T, s Subject) {
	for _, raw := range [][]byte{noise(4, 500), bytes.Repeat([]byte("line\n"), 500)} {
		want := bytes.Clone(raw)
		id := mustPut(t, s, objstore.Tree, raw, objstore.Zero)
		clear(raw)
		mustGet(t, s, objstore.Tree, id, want)
	}
}

func kindsApart(t *testing.T, s Subject) {
	raw := []byte("same bytes")
	seen := map[objstore.ID]bool{}
	for _, k := range Kinds() {
		id := objstore.Sum(k, raw)
		if ok, err := s.Has(k, id); ok || err != nil {
			t.Fatalf("%s there before it was put: %v", k, err)
		}
		mustPut(t, s, k, raw, objstore.Zero)
		for _, other := range Kinds() {
			if _, err := s.Get(other, id); other != k && !errors.Is(err, objstore.ErrNotFound) {
				t.Errorf("id of a %s read as a %s: %v", k, other, err)
			}
		}
		seen[id] = true
	}
	if len(seen) != len(Kinds()) {
		t.Errorf("%d ids for %d kinds", len(seen), len(Kinds()))
	}
}

func hints(t *testing.T, s Subject) {
	a, b := bytes.Repeat([]byte("first version\n"), 300), bytes.Repeat([]byte("second version\n"), 300)
	absent := objstore.Sum(objstore.Blob, []byte("nowhere"))
	idA := mustPut(t, s, objstore.Blob, a, absent)
	idB := mustPut(t, s, objstore.Blob, b, idA)
	mustPut(t, s, objstore.Blob, a, idB) // back again: there already
	mustPut(t, s, objstore.Blob, a, idA) // itself
	tree := mustPut(t, s, objstore.Tree, b, idB)
	fresh := append(bytes.Clone(a), 'x')
	idFresh := mustPut(t, s, objstore.Blob, fresh, objstore.Sum(objstore.Blob, fresh)) // itself, before it is there
	mustGet(t, s, objstore.Blob, idA, a)
	mustGet(t, s, objstore.Blob, idB, b)
	mustGet(t, s, objstore.Tree, tree, b)
	mustGet(t, s, objstore.Blob, idFresh, fresh)
}

func line(t *testing.T, s Subject) {
	rng := rand.New(rand.NewPCG(1, 2))
	var lines [][]byte
	for i := range 200 {
		lines = append(lines, fmt.Appendf(nil, "line %d has the number %d\n", i, rng.IntN(1_000_000)))
	}
	var prev objstore.ID
	var ids []objstore.ID
	var versions [][]byte
	for i := range 150 {
		lines[rng.IntN(len(lines))] = fmt.Appendf(nil, "edit %d\n", i)
		raw := bytes.Join(lines, nil)
		prev = mustPut(t, s, objstore.Blob, raw, prev)
		ids, versions = append(ids, prev), append(versions, raw)
	}
	for i := range ids {
		mustGet(t, s, objstore.Blob, ids[i], versions[i])
	}
}

func stream(t *testing.T, s Subject) {
	for _, n := range []int{0, 1, 100_000, objstore.ChunkThreshold, objstore.ChunkThreshold + 1, objstore.ChunkThreshold + 5<<20} {
		raw := noise(uint64(n), n)
		id, size, err := s.PutReader(bytes.NewReader(raw), objstore.Zero)
		if err != nil || size != int64(n) || id != objstore.Sum(objstore.Blob, raw) {
			t.Fatalf("%d bytes: id %s, size %d, %v", n, id.Short(), size, err)
		}
		mustGet(t, s, objstore.Blob, id, raw)
		mustPut(t, s, objstore.Blob, raw, objstore.Zero)
	}
}

var errStream = errors.New("stream broke")

func streamError(t *testing.T, s Subject) {
	for _, n := range []int{0, 10, objstore.ChunkThreshold + 3<<20} {
		r := io.MultiReader(bytes.NewReader(noise(9, n)), broken{})
		if _, _, err := s.PutReader(r, objstore.Zero); !errors.Is(err, errStream) {
			t.Errorf("after %d bytes: %v", n, err)
		}
		if ok, err := s.Has(objstore.Blob, objstore.Sum(objstore.Blob, noise(9, n))); ok || err != nil {
			t.Errorf("after %d bytes: there is a blob of what was read: %v", n, err)
		}
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errStream }

func concurrent(t *testing.T, s Subject) {
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			var prev objstore.ID
			for i := range 60 {
				raw := fmt.Appendf(bytes.Repeat([]byte("shared by all\n"), 100), "%d", i)
				if g%2 == 1 {
					raw = fmt.Appendf(raw, " of %d", g)
				}
				id, err := s.Put(objstore.Blob, raw, prev)
				if err != nil {
					t.Errorf("put: %v", err)
					return
				}
				if got, err := s.Get(objstore.Blob, id); err != nil || !bytes.Equal(got, raw) {
					t.Errorf("get: %d bytes, %v", len(got), err)
					return
				}
				prev = id
			}
		})
	}
	wg.Wait()
}
