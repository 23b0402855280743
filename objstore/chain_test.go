package objstore

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"rewind/internal/kv"
	"rewind/objstore/object"
)

func TestLineBase(t *testing.T) {
	for k := 1; k <= object.MaxIndex; k++ {
		depth := 0
		for i := k; i > 0; i = chainBase(i) {
			depth++
		}
		if depth != digitSum(k) || depth > object.MaxDepth {
			t.Errorf("index %d is %d deltas deep", k, depth)
		}
		// The base of k is on the way from k-1 to the start of the line.
		steps := 0
		for i := k - 1; i != chainBase(k); i = chainBase(i) {
			if steps++; i == 0 {
				t.Fatalf("base of %d is not met from %d", k, k-1)
			}
		}
		zeros := 0
		for i := k; i%8 == 0; i /= 8 {
			zeros++
		}
		if steps != 7*zeros {
			t.Errorf("base of %d is met after %d steps", k, steps)
		}
	}
}

// heads is a source of envelopes without bodies.
type heads map[Key]node

func (heads) rewritten(Object) (Tombstone, bool) { return Tombstone{}, false }

func (heads) known(Kind, name) ([]byte, ID) { return nil, Zero }

func (h heads) view(_ Kind, n name, fn func(node) error) error { return fn(h[n.key]) }

func (h heads) uniqueBase(_ Kind, n node, _ object.Envelope) (node, int, error) {
	return h[n.base], 1, nil
}

func (h heads) learn(Kind, Key, name) {}

func (h heads) bases(_ Kind, n node, _ object.Envelope) ([]node, error) {
	return []node{h[n.base]}, nil
}

// Places of a line in which versions are stored whole after the fact, at any time: the next place is found from each,
// its base stands where it belongs or at 0, and no version is deeper than the digits of its place allow.
func TestNextAfterHealing(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	healed := 0
	for range 40 {
		s := heads{}
		nth := func(i int) name { return nameOf(ID{byte(i), byte(i >> 8), 1}) }
		put := func(i int, p position) {
			e := object.Envelope{Codec: object.CodecRaw}
			if p.index > 0 {
				e = object.Envelope{Codec: object.CodecDelta, Index: p.index}
				copy(e.Prefix[:], p.base.key[:])
			}
			s[nth(i).key] = node{name: nth(i), env: object.Seal(e), base: p.base.key}
		}
		index := func(key Key) int {
			e, err := object.DecodeHead(s[key].env)
			if err != nil {
				t.Fatal(err)
			}
			return e.Index
		}
		put(0, position{})
		share := rng.IntN(50)
		for i := 1; i <= object.MaxIndex+1; i++ {
			prev := index(nth(i - 1).key)
			p, ok := nextPosition(s, Tree, nth(i-1))
			if !ok {
				if prev != object.MaxIndex {
					t.Fatalf("line ends at %d", prev)
				}
				put(i, position{})
				continue
			}
			at := index(p.base.key)
			if p.index != prev+1 || at != 0 && at != chainBase(p.index) {
				t.Fatalf("%d follows %d, on %d", p.index, prev, at)
			}
			put(i, p)
			if rng.IntN(1000) < share {
				put(rng.IntN(i+1), position{})
				healed++
			}
		}
		for id := range s {
			depth := 0
			for to := id; index(to) > 0; to = s[to].base {
				depth++
			}
			if depth > digitSum(index(id)) {
				t.Fatalf("index %d is %d deltas deep", index(id), depth)
			}
		}
	}
	if healed == 0 {
		t.Error("nothing was healed")
	}
}

// A line of more than object.MaxIndex versions: places, depths, the new line, and that every version comes back.
func TestLine(t *testing.T) {
	s := newStore(t)
	rng := rand.New(rand.NewPCG(1, 1))
	raw := source100K(t)[:64<<10]
	var prev ID
	var ids []ID
	var versions [][]byte
	tx := s.Begin()
	for i := range object.MaxIndex + 4 {
		raw = append(raw[:len(raw):len(raw)], byte('a'+rng.IntN(26)))
		raw[rng.IntN(len(raw))] = '!'
		id, err := tx.Put(Tree, raw, prev)
		if err != nil {
			t.Fatal(err)
		}
		prev, ids, versions = id, append(ids, id), append(versions, raw)
		if i%100 == 50 {
			if err := tx.Commit(t.Context(), kv.Written); err != nil {
				t.Fatal(err)
			}
			tx = s.Begin()
		}
		raw = append([]byte(nil), raw...)
	}
	if err := tx.Commit(t.Context(), kv.Written); err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		wantObject(t, s, Tree, id, versions[i])
		info, err := s.Stat(Tree, id)
		if err != nil {
			t.Fatal(err)
		}
		if want := i % (object.MaxIndex + 1); info.Index != want || info.Codec.IsDelta() != (want > 0) {
			t.Fatalf("version %d: %s at %d, want %d", i, info.Codec, info.Index, want)
		}
		if info.Index > 0 && info.Base != ids[i-info.Index+chainBase(info.Index)].Key() {
			t.Fatalf("version %d: wrong base", i)
		}
	}
	if n := checkLines(t, s); n != object.MaxIndex+2 {
		t.Errorf("%d deltas", n)
	}
}

// The choice of base, measured: 1,000 one-line edits of a file of 100 KiB, each version a delta with its key, where one
// is taken off the lowest digit in base 8, 4 or 2.
func TestLineBaseIsGoodEnough(t *testing.T) {
	if underRace {
		return // no concurrency in it
	}
	start := source100K(t)
	perVersion := func(base func(int) int) int {
		rng := rand.New(rand.NewPCG(3, 3))
		versions, total := [][]byte{start}, 0
		for k := 1; k <= 1000; k++ {
			versions = append(versions, editLine(rng, versions[k-1]))
			b := base(k)
			source := object.DeltaSource(slices.Clip(versions[b]), ID{1})
			env, delta, err := object.EncodeDelta(source, versions[k], ID{1}.Key(), k)
			if err != nil {
				t.Fatal(err)
			}
			if !delta {
				t.Fatalf("version %d is stored whole", k)
			}
			total += keyLen + len(env)
		}
		return total / 1000
	}
	eight := perVersion(chainBase)
	four := perVersion(func(k int) int { return k - 1<<(bits.TrailingZeros(uint(k))&^1) })
	two := perVersion(func(k int) int { return k & (k - 1) })
	t.Logf("bytes a version: base 8 %d, base 4 %d, base 2 %d", eight, four, two)
	if eight*100 > four*95 || four*100 > two*95 {
		t.Errorf("base 8 saves too little: %d bytes, base 4 %d, base 2 %d", eight, four, two)
	}
	if eight > 125 {
		t.Errorf("%d bytes a version", eight)
	}
}

// newText is in no source.
func newText() (raw []byte) {
	for i := range 200 {
		raw = fmt.Appendf(raw, "%x.%d,", i*i*i, i)
	}
	return raw
}

// What ends a line, or keeps one from being gone on with.
func TestWholeWhereADeltaDoesNotPay(t *testing.T) {
	s := newStore(t)
	text := source100K(t)
	first := put(t, s, Blob, text, Zero)
	codec := func(raw []byte, prev ID) Codec {
		id := put(t, s, Blob, raw, prev)
		wantObject(t, s, Blob, id, raw)
		info, err := s.Stat(Blob, id)
		if err != nil {
			t.Fatal(err)
		}
		return info.Codec
	}
	record := append(noise(7, 100), "manual: save"...)
	put(t, s, Blob, record, Zero)
	small := append([]byte("package x\n"), text...)
	half := append(append([]byte{}, text[:50_000]...), noise(5, 30_000)...)
	for _, c := range []struct {
		name string
		raw  []byte
		prev ID
		want Codec
	}{
		{"a small edit", small, first, object.CodecDelta},
		{"an edit worth compressing", append(append([]byte{}, text[50_000:51_000]...), text...), first, object.CodecDelta},
		{"new text", append(append([]byte{}, text[:99_000]...), newText()...), first, object.CodecDeltaZstd},
		{"most is new", half, first, object.CodecZstd},
		{"another file", noise(6, 5000), first, object.CodecRaw},
		{"most of a small one", append(noise(8, 80), record[80:]...), Sum(Blob, record), object.CodecDelta},
		{"nearly all of a small one", append(noise(8, 104), record[104:]...), Sum(Blob, record), object.CodecRaw},
		{"tiny", []byte("tiny"), first, object.CodecRaw},
		{"empty", nil, first, object.CodecRaw},
		{"prev is absent", append([]byte("1"), text...), ID{1}, object.CodecZstd},
	} {
		if got := codec(c.raw, c.prev); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}

	env := stored(t, s, Blob, first)
	write(t, s, Blob, first, env[:len(env)-1])
	if got := codec(append([]byte("2"), text...), first); got != object.CodecZstd {
		t.Errorf("damaged base: %s", got)
	}
	if got := codec(append([]byte("3"), text...), Sum(Blob, small)); got != object.CodecZstd {
		t.Errorf("base of prev damaged: %s", got)
	}
	write(t, s, Blob, first, []byte{99})
	if got := codec(append([]byte("4"), text...), first); got != object.CodecZstd {
		t.Errorf("unknown codec: %s", got)
	}
	// A base whose bytes changed without its form: the hash tells.
	wrong, err := object.EncodeWhole(append([]byte("X"), text[1:]...), object.Careful)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, Blob, first, wrong)
	if got := codec(append([]byte("5"), text...), first); got != object.CodecZstd {
		t.Errorf("wrong bytes: %s", got)
	}
}
