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
	full := encodeTombstone(Tombstone{Purged, 300, 1_800_000_000_000, "config/api.py", 9 << 20})
	golden(t, "gone-purged", full)
	recordtest.Documented(t, full, "Tombstone", 0)
	golden(t, "gone-lost", encodeTombstone(Tombstone{Reason: Lost, Operation: 7, Time: 1_800_000_000_000}))
}

func TestGoneDecodesStrictly(t *testing.T) {
	for name, val := range map[string]string{
		"empty":                 "",
		"no reason":             "\x02\x01\x07",
		"unknown reason":        "\x01\x01x",
		"reason of two":         "\x01\x02pp",
		"unknown field":         "\x01\x01p\x06\x01\x01",
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

// TestGone: what was purged is not there and is refused, in this process and the next, whole or in chunks; what was lost heals.
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

// TestGoneBeforeChunks: of a large blob that was purged, no chunk is put again where its reader can be asked for the id first.
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
