package objstore

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"testing"

	"rewind/internal/kv"
	"rewind/internal/record/recordtest"
	"rewind/objstore/object"
)

// TestGoneGolden holds the format of markers to the byte.
func TestGoneGolden(t *testing.T) {
	id := Sum(Blob, []byte("rewind"))
	golden(t, "gone-key", appendTombstoneKey(nil, Object{Blob, id.Key()}))
	golden(t, "gone-purged", encodeTombstone(Tombstone{
		Reason: Purged, Operation: 300, Time: 1_800_000_000_000, Text: "config/api.py", Chunked: 9 << 20,
	}))
	golden(t, "gone-rewritten", encodeTombstone(Tombstone{
		Reason: Rewritten, Operation: 300, Time: 1_800_000_000_000, id: id, now: Sum(Blob, []byte("now")),
	}))
	every := Tombstone{Rewritten, 300, 1_800_000_000_000, "config/api.py", 9 << 20, id, id} // no reason has all fields
	recordtest.Documented(t, encodeTombstone(every), "Tombstone", 0)
	golden(t, "gone-lost", encodeTombstone(Tombstone{Reason: Lost, Operation: 7, Time: 1_800_000_000_000}))
}

func TestGoneDecodesStrictly(t *testing.T) {
	for name, val := range map[string]string{
		"empty":                 "",
		"no reason":             "\x02\x01\x07",
		"unknown reason":        "\x01\x01x",
		"reason of two":         "\x01\x02pp",
		"unknown field":         "\x01\x01p\x08\x01\x01",
		"purged, of an id":      "\x01\x01p\x06\x20" + string(bytes.Repeat([]byte("a"), 32)),
		"rewritten, of no id":   "\x01\x01r",
		"rewritten, to nothing": "\x01\x01r\x06\x20" + string(bytes.Repeat([]byte("a"), 32)),
		"descending":            "\x02\x01\x07\x01\x01p",
		"trailing":              "\x01\x01p\x00",
		"zero operation":        "\x01\x01p\x02\x01\x00",
		"lost, of chunks":       "\x01\x01l\x05\x01\x09",
		"time beyond 63 bits":   "\x01\x01p\x03\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		"text over its length":  "\x01\x01p\x04\x81\x08" + string(bytes.Repeat([]byte("a"), maxTombstoneText+1)),
		"a length not minimal":  "\x01\x81\x00p",
		"a number not minimal":  "\x01\x01p\x02\x02\x87\x00",
		"a field that is empty": "\x01\x01p\x04\x00",
	} {
		if g, err := decodeTombstone([]byte(val)); err == nil {
			t.Errorf("%s: %+v", name, g)
		}
	}
}

func FuzzGone(f *testing.F) {
	f.Add(encodeTombstone(Tombstone{Reason: Purged, Operation: 300, Time: 1_800_000_000_000, Text: "config/api.py", Chunked: 1 << 40}))
	f.Add(encodeTombstone(Tombstone{Reason: Lost}))
	f.Add(encodeTombstone(Tombstone{Reason: Rewritten, id: Sum(Blob, nil), now: Sum(Blob, nil)}))
	f.Fuzz(func(t *testing.T, val []byte) {
		g, err := decodeTombstone(val)
		if err == nil && !bytes.Equal(encodeTombstone(g), val) {
			t.Errorf("%x: %+v gives %x", val, g, encodeTombstone(g))
		}
	})
}

// expunge commits markers.
func expunge(t *testing.T, s *Store, g Tombstone, ids ...ID) {
	t.Helper()
	tx := s.BeginAlone()
	defer tx.Discard()
	for _, id := range ids {
		if err := tx.Expunge(Blob, id.Key(), g); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(t.Context(), kv.Durable); err != nil {
		t.Fatal(err)
	}
}

func wantGone(t *testing.T, s *Store, id ID, reason error) {
	t.Helper()
	var g *GoneError
	_, err := s.Get(Blob, id)
	if !errors.Is(err, reason) || !errors.Is(err, ErrNotFound) || !errors.As(err, &g) ||
		g.Key != id.Key() || g.Operation != 7 || g.Time == 0 {
		t.Errorf("get: %v", err)
	}
	if _, err := s.Open(id); !errors.Is(err, reason) {
		t.Errorf("open: %v", err)
	}
	if err := s.Verify(t.Context(), Blob, id); !errors.Is(err, reason) {
		t.Errorf("verify: %v", err)
	}
	if _, err := s.Stat(Blob, id); !errors.Is(err, reason) {
		t.Errorf("stat: %v", err)
	}
	if ok, err := s.Has(Blob, id); ok || err != nil {
		t.Errorf("has: %v, %v", ok, err)
	}
}

// TestGone: what was purged is not there and is refused, in this process and the next, whole or in chunks; what was
// lost heals.
func TestGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	db := openDB(t, dir)
	s := New(db)
	s.cut = smallCut
	small, big := []byte("hunter2"), noise(5, 6000)
	ids := []ID{put(t, s, Blob, small, Zero), put(t, s, Blob, big, Zero)}
	wantObject(t, s, Blob, ids[0], small) // it is in memory now
	n, err := nodeOf(s, Blob, nameOf(ids[1]))
	if err != nil {
		t.Fatal(err)
	}
	if e, err := object.DecodeHead(n.env); err != nil || e.Codec != CodecChunks {
		t.Fatalf("%+v, %v", e, err)
	}
	g := Tombstone{Reason: Purged, Operation: 7, Text: "secret.txt"}
	expunge(t, s, g, ids[0])
	g.Chunked = int64(len(big))
	expunge(t, s, g, ids[1])
	lost := put(t, s, Blob, []byte("lost"), Zero)
	expunge(t, s, Tombstone{Reason: Lost, Operation: 7}, lost, ids[0]) // purged it stays

	for range 2 {
		for i, raw := range [][]byte{small, big} {
			wantGone(t, s, ids[i], ErrPurged)
			tx := s.Begin()
			if _, err := tx.Put(Blob, raw, Zero); !errors.Is(err, ErrPurged) {
				t.Errorf("put: %v", err)
			}
			if _, _, err := tx.PutReader(bytes.NewReader(raw), Zero); !errors.Is(err, ErrPurged) {
				t.Errorf("put: %v", err)
			}
			tx.Discard()
		}
		wantGone(t, s, lost, ErrLost)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		db = openDB(t, dir)
		s = New(db)
		s.cut = smallCut
	}

	put(t, s, Blob, []byte("lost"), Zero)
	wantObject(t, s, Blob, lost, []byte("lost"))
	for range 2 {
		if _, ok, err := s.Tombstone(Blob, lost.Key()); ok || err != nil {
			t.Errorf("healed, and has a marker: %v, %v", ok, err)
		}
		s = New(db)
	}
	count := 0
	if err := s.WalkTombstones(func(k Kind, key Key, g Tombstone, err error) error {
		count++
		if k != Blob || g.Reason != Purged || g.Text != "secret.txt" {
			t.Errorf("%s %s: %+v", k, key, g)
		}
		return err
	}); err != nil || count != 2 {
		t.Errorf("%d markers, %v", count, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestGoneBeforeChunks: of a large blob that was purged, no chunk is put again where its reader can be asked for the id
// first.
func TestGoneBeforeChunks(t *testing.T) {
	s := newStore(t)
	s.cut = smallCut
	big := noise(5, 6000)
	id := put(t, s, Blob, big, Zero)
	expunge(t, s, Tombstone{Reason: Purged, Chunked: int64(len(big))}, id)
	tx := s.Begin()
	defer tx.Discard()
	asked := 0
	sum := func(raw []byte) func() (ID, error) {
		return func() (ID, error) { asked++; return Sum(Blob, raw), nil }
	}
	if err := tx.Purged(6000, sum(big)); !errors.Is(err, ErrPurged) || asked != 1 {
		t.Errorf("%v, asked %d times", err, asked)
	}
	if err := tx.Purged(6000, sum(noise(6, 6000))); err != nil || asked != 2 {
		t.Errorf("another of the same size: %v, asked %d times", err, asked)
	}
	if err := tx.Purged(6001, sum(nil)); err != nil || asked != 2 {
		t.Errorf("of another size: %v, asked %d times", err, asked)
	}
}

// TestExpungeNeedsToBeAlone: no transaction may rely on what goes.
func TestExpungeNeedsToBeAlone(t *testing.T) {
	s := newStore(t)
	id := put(t, s, Blob, []byte("a"), Zero)
	tx := s.Begin()
	if err := tx.Expunge(Blob, id.Key(), Tombstone{Reason: Purged}); !errors.Is(err, ErrOpenTx) {
		t.Errorf("expunge: %v", err)
	}
	if err := tx.Unbase(Blob, id.Key()); !errors.Is(err, ErrOpenTx) {
		t.Errorf("unbase: %v", err)
	}
	began := make(chan *Tx)
	go func() { began <- s.BeginAlone() }()
	select {
	case <-began:
		t.Error("two are open")
	default:
	}
	tx.Discard()
	alone := <-began
	if _, err := s.Collect(); !errors.Is(err, ErrOpenTx) {
		t.Errorf("collect: %v", err)
	}
	if _, err := alone.Put(Blob, []byte("b"), Zero); err != nil {
		t.Error(err)
	}
	if err := alone.Drop(Blob, Sum(Blob, []byte("b")).Key()); err == nil {
		t.Error("dropped what the transaction puts")
	}
	if err := alone.Commit(t.Context(), kv.Written); err != nil {
		t.Error(err)
	}
	s.Begin().Discard()
}

// TestUnbase: a version goes, and those built on it stay.
func TestUnbase(t *testing.T) {
	s := newStore(t)
	var ids []ID
	var raws [][]byte
	raw, prev := bytes.Repeat([]byte("some line of text\n"), 40), Zero
	for n := range 20 {
		raw = append(bytes.Clone(raw), []byte{byte('a' + n), '\n'}...)
		prev = put(t, s, Blob, raw, prev)
		ids, raws = append(ids, prev), append(raws, raw)
	}
	for _, out := range []int{0, 8, 3} {
		tx := s.BeginAlone()
		err := s.Walk(t.Context(), func(k Kind, key Key, info Info) error {
			if info.Codec.IsDelta() && info.Base == ids[out].Key() {
				return tx.Unbase(k, key)
			}
			return info.Damage
		})
		if err == nil {
			err = tx.Expunge(Blob, ids[out].Key(), Tombstone{Reason: Purged, Operation: 7})
		}
		if err == nil {
			err = tx.Commit(t.Context(), kv.Durable)
		}
		if err != nil {
			t.Fatal(err)
		}
		wantGone(t, s, ids[out], ErrPurged)
		raws[out] = nil
		for i, raw := range raws {
			if raw != nil {
				wantObject(t, s, Blob, ids[i], raw)
				if err := s.Verify(context.Background(), Blob, ids[i]); err != nil {
					t.Error(err)
				}
			}
		}
	}
	standing(t, s) // nothing is damaged
}

// goneSamples are the markers of the released store.
func goneSamples() map[ID]Tombstone {
	return map[ID]Tombstone{
		Sum(Blob, []byte("purged")): {Reason: Purged, Operation: 7, Time: 1_800_000_000_000, Text: "a/secret.txt"},
		Sum(Blob, []byte("lost")):   {Reason: Lost, Operation: 8, Time: 1_800_000_000_001},
	}
}

// TestT19ReleasedMarkers: a released store keeps its markers.
func TestT19ReleasedMarkers(t *testing.T) {
	db, _ := openReleased(t)
	s := New(db)
	for id, want := range goneSamples() {
		if g, ok, err := s.Tombstone(Blob, id.Key()); g != want || !ok || err != nil {
			t.Errorf("%+v, %v, %v", g, ok, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestRewrite: an object has other bytes under its id, in every way in which it is read, until its own are put again.
// What was built on it is
// as before.
func TestRewrite(t *testing.T) {
	s := newStore(t)
	ctx := context.Background()
	text := func(v int) []byte {
		return append(bytes.Repeat([]byte("a line of a tree\n"), 100), byte('0'+v))
	}
	var ids []ID
	for v := range 4 {
		tx := s.Begin()
		prev := Zero
		if v > 0 {
			prev = ids[v-1]
		}
		id, err := tx.Put(Tree, text(v), prev)
		if err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(ctx, kv.Written); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	now := []byte("other bytes")
	other := s.Begin()
	if err := other.Rewrite(Tree, ids[0], now, Tombstone{}); !errors.Is(err, ErrOpenTx) {
		t.Errorf("beside others: %v", err)
	}
	other.Discard()
	tx := s.BeginAlone()
	for _, id := range ids[1:] {
		if err := tx.Unbase(Tree, id.Key()); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Rewrite(Tree, ids[0], now, Tombstone{Operation: 9}); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(ctx, kv.Durable); err != nil {
		t.Fatal(err)
	}
	check := func(s *Store, want []byte) {
		t.Helper()
		for v, id := range ids {
			is := text(v)
			if v == 0 {
				is = want
			}
			got, err := s.Get(Tree, id)
			if err != nil || !bytes.Equal(got, is) {
				t.Errorf("version %d: %q, %v", v, got, err)
			}
			if of, err := s.IDOf(Tree, id.Key()); err != nil || of != id {
				t.Errorf("version %d is %s, %v", v, of.Short(), err)
			}
			if err := s.Verify(ctx, Tree, id); err != nil {
				t.Errorf("version %d: %v", v, err)
			}
			if got, err := s.Memo(Tree).Get(id); err != nil || !bytes.Equal(got, is) {
				t.Errorf("version %d by a memo: %q, %v", v, got, err)
			}
		}
	}
	check(s, now)
	check(New(s.db), now)
	// It is nobody's base, and is there for who asks the store, not for who would put it.
	tx = s.Begin()
	id, err := tx.Put(Tree, text(5), ids[0])
	if err != nil {
		t.Fatal(err)
	}
	has, err := tx.Has(Tree, ids[0])
	if err != nil || has {
		t.Errorf("a transaction has it: %v", err)
	}
	if err := tx.Commit(ctx, kv.Written); err != nil {
		t.Fatal(err)
	}
	if info, err := s.Stat(Tree, id); err != nil || info.Index != 0 {
		t.Errorf("built on it: %+v, %v", info, err)
	}
	if has, err := s.Has(Tree, ids[0]); err != nil || !has {
		t.Errorf("the store has it not: %v", err)
	}
	// Other bytes than it was given are damage.
	if err := kvSet(s, appendKey(nil, Tree, ids[0].Key()), mustEncode(t, []byte("wrong bytes"))); err != nil {
		t.Fatal(err)
	}
	if _, err := New(s.db).Get(Tree, ids[0]); !errors.Is(err, ErrCorrupt) {
		t.Errorf("wrong bytes: %v", err)
	}
	// Its own bytes heal it.
	tx = s.Begin()
	if _, err := tx.Put(Tree, text(0), Zero); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(ctx, kv.Written); err != nil {
		t.Fatal(err)
	}
	check(s, text(0))
	check(New(s.db), text(0))
	if _, ok, err := s.Tombstone(Tree, ids[0].Key()); ok || err != nil {
		t.Errorf("it has its tombstone still: %v", err)
	}
}

func kvSet(s *Store, key, val []byte) error {
	b := s.db.NewBatch()
	defer b.Close()
	if err := b.Set(key, val); err != nil {
		return err
	}
	return b.Commit(context.Background(), kv.Written)
}

func mustEncode(t *testing.T, raw []byte) []byte {
	t.Helper()
	env, err := object.EncodeWhole(raw, object.Careful)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// TestGoneIs: what is gone is not found, and is what its reason says, and nothing else.
func TestGoneIs(t *testing.T) {
	for reason, want := range map[Reason][3]bool{
		Purged: {true, true, false}, Lost: {true, false, true}, Rewritten: {true, false, false},
	} {
		err := error(&GoneError{Blob, Key{}, Tombstone{Reason: reason}})
		got := [3]bool{errors.Is(err, ErrNotFound), errors.Is(err, ErrPurged), errors.Is(err, ErrLost)}
		if got != want || errors.Is(err, ErrCorrupt) {
			t.Errorf("%c: %v, want %v", reason, got, want)
		}
	}
	key := Sum(Blob, []byte("x")).Key()
	corrupt := &CorruptError{Blob, key, errDeep}
	for _, tt := range []struct {
		k    Kind
		key  Key
		same bool
	}{{Blob, key, true}, {Tree, key, false}, {Blob, Key{}, false}} {
		if got := wrap("read", tt.k, tt.key, corrupt) == error(corrupt); got != tt.same {
			t.Errorf("%s %s: named again %v", tt.k, tt.key.Short(), !got)
		}
	}
}
