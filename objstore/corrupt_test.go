package objstore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"rewind/internal/kv"
	"rewind/objstore/object"
)

// fill puts objects of every codec and gives them with their content.
func fill(t *testing.T, s *Store) map[named][]byte {
	t.Helper()
	s.cut = smallCut
	all := map[named][]byte{}
	tx := s.Begin()
	add := func(k Kind, raw []byte, prev ID) ID {
		id, err := tx.Put(k, raw, prev)
		if err != nil {
			t.Fatal(err)
		}
		all[named{k, id}] = raw
		return id
	}
	rng := rand.New(rand.NewPCG(1, 1))
	text := source100K(t)[:3000]
	for _, k := range []Kind{Blob, Tree} {
		prev, raw := Zero, text
		for range 12 {
			prev = add(k, raw, prev)
			raw = editLine(rng, raw)
		}
		add(k, append(text[:2500:2500], newText()[:400]...), Sum(k, text)) // a compressed delta
		add(k, noise(1, 300), Zero)
	}
	large := noise(2, 6000)
	id := add(Blob, large, Zero)
	large = append([]byte("shifted"), large...)
	add(Blob, large, id)
	if err := tx.Commit(t.Context(), kv.Written); err != nil {
		t.Fatal(err)
	}
	codecs := map[Codec]int{}
	if err := s.Walk(t.Context(), func(_ Kind, _ Key, info Info) error {
		codecs[info.Codec]++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []Codec{
		object.CodecRaw, object.CodecZstd, object.CodecDelta, object.CodecDeltaZstd,
		CodecChunks,
	} {
		if codecs[c] == 0 {
			t.Fatalf("no %s among %v", c, codecs)
		}
	}
	return all
}

// Promise 6: whatever happens to a stored envelope, a read gives the right bytes or an error that names the object.
func TestP6FlippedEnvelopesNeverGiveWrongBytes(t *testing.T) {
	s := newStore(t)
	all := fill(t, s)
	rng := rand.New(rand.NewPCG(2, 2))
	type stand struct {
		named
		env []byte
	}
	var envelopes []stand
	if err := s.Walk(t.Context(), func(k Kind, key Key, _ Info) error {
		id, err := s.IDOf(k, key)
		envelopes = append(envelopes, stand{named{k, id}, stored(t, s, k, id)})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	harmed, fine := 0, 0
	for _, e := range envelopes {
		for i := range 16 {
			bad := bytes.Clone(e.env)
			switch bit := rng.IntN(8 * len(bad)); {
			case i == 0:
				bad = bad[:len(bad)-1]
			case i == 1:
				bad = append(bad, 0)
			case i == 2:
				bad = []byte{}
			case i < 8: // the head
				bit %= 8 * min(len(bad), 12)
				fallthrough
			default:
				bad[bit/8] ^= 1 << (bit % 8)
			}
			write(t, s, e.kind, e.id, bad)
			hit := false
			for o, raw := range all {
				got, err := s.Get(o.kind, o.id)
				var c *CorruptError
				switch {
				case err == nil && bytes.Equal(got, raw):
					fine++
				case err == nil:
					t.Fatalf("flip in %s %s: get %s gave wrong bytes", e.kind, e.id.Short(), o.id.Short())
				case got != nil, !errors.As(err, &c), c.Kind != o.kind, c.Key != o.id.Key(),
					errors.Is(err, ErrNotFound),
					!strings.Contains(err.Error(), o.id.Short()):
					t.Fatalf("flip in %s %s: get %s: %v", e.kind, e.id.Short(), o.id.Short(), err)
				default:
					hit = true
				}
				if o.kind == Blob {
					checkStream(t, s, o.id, raw, err)
				}
			}
			if hit {
				harmed++
			}
			_, _ = s.Stat(e.kind, e.id)
			_, _ = s.Deps(e.kind, e.id.Key())
		}
		write(t, s, e.kind, e.id, e.env)
	}
	for o, raw := range all {
		wantObject(t, s, o.kind, o.id, raw)
	}
	if harmed < 10*len(envelopes) || fine == 0 {
		t.Errorf("%d of %d flips did harm, %d reads were fine", harmed, 16*len(envelopes), fine)
	}
}

// checkStream reads a blob as a stream: it ends in io.EOF where Get succeeds, and before that gives right bytes only.
func checkStream(t *testing.T, s *Store, id ID, raw []byte, getErr error) {
	t.Helper()
	r, err := s.Open(id)
	var got []byte
	if err == nil {
		got, err = io.ReadAll(r)
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if (err == nil) != (getErr == nil) || !bytes.HasPrefix(raw, got) || err == nil && len(got) != len(raw) {
		t.Fatalf("stream of %s: %d of %d bytes, %v; get: %v", id.Short(), len(got), len(raw), err, getErr)
	}
}

func TestMissingPartsAreCorruptionNotAbsence(t *testing.T) {
	s := newStore(t)
	all := fill(t, s)
	for o, raw := range all {
		deps, err := s.Deps(o.kind, o.id.Key())
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range deps {
			id, err := s.IDOf(o.kind, key)
			if err != nil {
				t.Fatal(err)
			}
			env := stored(t, s, o.kind, id)
			write(t, s, o.kind, id, nil)
			if _, err := s.Get(o.kind, o.id); !errors.Is(err, ErrCorrupt) || errors.Is(err, ErrNotFound) {
				t.Errorf("get without %s: %v", id.Short(), err)
			}
			if err := s.Verify(t.Context(), o.kind, o.id); !errors.Is(err, ErrCorrupt) {
				t.Errorf("verify without %s: %v", id.Short(), err)
			}
			write(t, s, o.kind, id, env)
		}
		wantObject(t, s, o.kind, o.id, raw)
		if err := s.Verify(t.Context(), o.kind, o.id); err != nil {
			t.Error(err)
		}
	}
}

// What is damaged is written anew, whole, when it is put again, and whatever is built on it can be read again.
func TestPutHeals(t *testing.T) {
	s := newStore(t)
	all := fill(t, s)
	healed := 0
	for o, raw := range all {
		env := stored(t, s, o.kind, o.id)
		deps, err := s.Deps(o.kind, o.id.Key())
		if err != nil {
			t.Fatal(err)
		}
		write(t, s, o.kind, o.id, env[:len(env)/2])
		if _, err := s.Get(o.kind, o.id); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("damage did not show: %v", err)
		}
		prev := Zero
		for other := range all { // any: also what is built on it
			if other.kind == o.kind && other != o {
				prev = other.id
			}
		}
		put(t, s, o.kind, raw, prev)
		for o, raw := range all {
			wantObject(t, s, o.kind, o.id, raw)
		}
		if info, err := s.Stat(o.kind, o.id); err != nil || info.Codec.IsDelta() {
			t.Errorf("healed as %s: %v", info.Codec, err)
		}
		if len(deps) > 0 {
			healed++
		}
	}
	if healed == 0 {
		t.Error("no delta was healed")
	}
	checkLines(t, s)
}

// Ids that begin with the 8 bytes of a base are tried each; the hash decides.
func TestBasePrefixCollision(t *testing.T) {
	for _, side := range []string{"below", "above", "both"} {
		t.Run(side, func(t *testing.T) {
			s := newStore(t)
			text := source100K(t)[:5000]
			base := put(t, s, Blob, text, Zero)
			second := append([]byte("// two\n"), text...)
			id2 := put(t, s, Blob, second, base)
			third := append([]byte("// three\n"), second...)
			id3 := put(t, s, Blob, third, id2)
			below, above := base, base
			for i := object.BasePrefix; i < len(base); i++ {
				below[i], above[i] = 0, 0xff
			}
			fake := func(id ID) {
				// Sound but for its name, so long as nothing looks at the hash: the delta applies to it.
				e, err := object.EncodeWhole(bytes.ToUpper(text), object.Careful)
				if err != nil {
					t.Fatal(err)
				}
				write(t, s, Blob, id, e)
			}
			if side != "above" {
				fake(below)
			}
			if side != "below" {
				fake(above)
			}
			wantObject(t, s, Blob, base, text)
			wantObject(t, s, Blob, id2, second)
			wantObject(t, s, Blob, id3, third)
			want := 2
			if side == "both" {
				want = 3
			}
			if deps, err := s.Deps(Blob, id2.Key()); err != nil || len(deps) != want {
				t.Errorf("dependencies: %v, %v", deps, err)
			}
			// Nothing is built on a doubtful base.
			fourth := append([]byte("// four\n"), third...)
			id4 := put(t, s, Blob, fourth, id2)
			wantObject(t, s, Blob, id4, fourth)
			// Without the real one there is no reading it.
			write(t, s, Blob, base, []byte{0, 0})
			if _, err := s.Get(Blob, id3); !errors.Is(err, ErrCorrupt) {
				t.Errorf("with the fakes alone: %v", err)
			}
		})
	}
}

// Deltas that name each other, themselves, or too many others, end in an error.
func TestHostileChains(t *testing.T) {
	s := newStore(t)
	delta := func(base ID, index int) []byte {
		e := object.Envelope{Codec: object.CodecDelta, Index: index, Body: []byte{200, 1}} // copy 100 bytes
		copy(e.Prefix[:], base[:])
		return object.Seal(e)
	}
	a, b := ID{0xa}, ID{0xb}
	write(t, s, Tree, a, delta(b, 5))
	write(t, s, Tree, b, delta(a, 5))
	self := ID{0xc}
	write(t, s, Tree, self, delta(self, 7))
	for i := range 40 {
		id := ID{0xd, byte(i)}
		write(t, s, Tree, id, delta(ID{0xd, byte(i + 1)}, 1000-i))
	}
	write(t, s, Tree, ID{0xd, 40},
		object.Seal(object.Envelope{Codec: object.CodecRaw, Length: 100, Body: noise(1, 100)}))
	for _, id := range []ID{a, b, self, {0xd, 0}, {0xd, 25}} {
		if _, err := s.Get(Tree, id); !errors.Is(err, ErrCorrupt) {
			t.Errorf("get %s: %v", id.Short(), err)
		}
		raw := fmt.Appendf(nil, "something of %s", id)
		wantObject(t, s, Tree, put(t, s, Tree, raw, id), raw)
	}
	// Ambiguous at every step: the number of reads is bounded all the same.
	for i := range byte(12) {
		for j := range byte(12) {
			id := ID{0xe, i}
			id[10] = j
			next := ID{0xe, i + 1}
			write(t, s, Tree, id, delta(next, 100-int(i)))
		}
	}
	if _, err := s.Get(Tree, ID{0xe, 0}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("get: %v", err)
	}

	// A chunk that is a list itself, or of another length, or not there.
	inner := Sum(Blob, nil)
	list := func(id ID, size int) []byte {
		list := object.AppendChunks(nil, []object.Chunk{{ID: id, Size: size}})
		return object.Seal(object.Envelope{Codec: CodecChunks, Length: int64(size), Body: list})
	}
	write(t, s, Blob, ID{1}, list(ID{1}, 10))
	write(t, s, Blob, ID{2}, list(ID{1}, 10))
	write(t, s, Blob, inner, []byte{0, 0})
	write(t, s, Blob, ID{3}, list(inner, 1))
	write(t, s, Blob, ID{4}, list(ID{99}, 1))
	for i := range byte(4) {
		if _, err := s.Get(Blob, ID{i + 1}); !errors.Is(err, ErrCorrupt) {
			t.Errorf("list %d: %v", i+1, err)
		}
	}
	// Over MaxObject: only as a stream.
	big := make([]object.Chunk, 17)
	for i := range big {
		big[i] = object.Chunk{ID: ID{77}, Size: object.MaxChunk}
	}
	write(t, s, Blob, ID{5}, object.Seal(
		object.Envelope{Codec: CodecChunks, Length: 17 * object.MaxChunk, Body: object.AppendChunks(nil, big)}))
	if _, err := s.Get(Blob, ID{5}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("get of 68 MiB: %v", err)
	}
	if r, err := s.Open(ID{5}); err != nil || r.Size() != 17*object.MaxChunk {
		t.Errorf("open of 68 MiB: %v", err)
	}
}

func TestForeignKeys(t *testing.T) {
	s := newStore(t)
	put(t, s, Blob, []byte("here"), Zero)
	for _, key := range [][]byte{
		{kv.PrefixObject},
		append([]byte{kv.PrefixObject, 'x'}, make([]byte, 20)...),
		append([]byte{kv.PrefixObject, 'b'},
			make([]byte, 32)...),
	} {
		b := s.db.NewBatch()
		if err := b.Set(key, []byte{0, 0}); err != nil {
			t.Fatal(err)
		}
		if err := b.Commit(t.Context(), kv.Written); err != nil {
			t.Fatal(err)
		}
		var format *FormatError
		if err := s.Walk(t.Context(), func(Kind, Key, Info) error { return nil }); !errors.As(err, &format) {
			t.Errorf("walk over %x: %v", key, err)
		}
		_, swept, err := sweep(t.Context(), s, nothing)
		if !errors.As(err, &format) || swept.Objects > 0 {
			t.Errorf("sweep over %x: %v, %v", key, swept, err)
		}
		b = s.db.NewBatch()
		if err := b.Delete(key); err != nil {
			t.Fatal(err)
		}
		if err := b.Commit(t.Context(), kv.Written); err != nil {
			t.Fatal(err)
		}
	}
}
