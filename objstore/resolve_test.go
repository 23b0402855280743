package objstore

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"rewind/internal/kv"
	"rewind/objstore/object"
)

func TestResolve(t *testing.T) {
	s := newStore(t)
	val := object.Seal(object.Envelope{Codec: object.CodecRaw})
	var ids []ID
	for i := range 16 {
		id := ID{0xab, 0xcd, byte(i) << 4, 1}
		ids = append(ids, id)
		writeAs(t, s, Tree, id, val)
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
		writeAs(t, s, Tree, id, val)
	}
	writeAs(t, s, Note, ID{0xab, 0xcf}, val)

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
	if _, err := s.Resolve(Tree, "abcd"); !errors.As(err, &ambiguous) ||
		fmt.Sprint(ambiguous.Candidates) != fmt.Sprint(keysOf(ids[:maxCandidates]...)) {
		t.Errorf("abcd: %v", err)
	}
	if _, err := s.Resolve(Tree, "abce1"); !errors.As(err, &ambiguous) ||
		fmt.Sprint(ambiguous.Candidates) != fmt.Sprint(keysOf(lone, near)) {
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

// writeAs puts something under the key of an id that is not its own.
func writeAs(t testing.TB, s *Store, k Kind, id ID, val []byte) {
	t.Helper()
	b := s.db.NewBatch()
	if err := b.Set(appendKey(nil, k, id.Key()), val); err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(t.Context(), kv.Written); err != nil {
		t.Fatal(err)
	}
	s.ids.Put(Object{k, id.Key()}, id)
}

func keysOf(ids ...ID) (keys []Key) {
	for _, id := range ids {
		keys = append(keys, id.Key())
	}
	return keys
}
