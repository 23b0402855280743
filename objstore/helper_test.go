package objstore

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rewind/internal/kv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tb is what *testing.T, *testing.B and *rapid.T share.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

func openDB(t testing.TB, dir string) *kv.DB {
	t.Helper()
	db, err := kv.Open(t.Context(), dir, kv.Options{LockWait: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func newStore(t testing.TB) *Store {
	t.Helper()
	db := openDB(t, filepath.Join(t.TempDir(), "store"))
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return New(db)
}

// smallCut makes chunked blobs of some kilobytes.
var smallCut = cut{threshold: 4 << 10, min: 256, normal: 1 << 10, max: 2 << 10}

// write puts val where an object lies, behind the store's back; nil: takes it away. The store forgets what it knew of
// it.
func write(t testing.TB, s *Store, k Kind, id ID, val []byte) {
	t.Helper()
	defer s.ids.Clear()
	b := s.db.NewBatch()
	key := appendKey(nil, k, id.Key())
	err := b.Set(key, val)
	if val == nil {
		err = b.Delete(key)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(t.Context(), kv.Written); err != nil {
		t.Fatal(err)
	}
	s.contents.Clear()
}

func stored(t testing.TB, s *Store, k Kind, id ID) []byte {
	t.Helper()
	n, err := nodeOf(s, k, nameOf(id))
	if err != nil {
		t.Fatal(err)
	}
	return n.env
}

// A named object is one with its whole id.
type named struct {
	kind Kind
	id   ID
}

func (n named) object() Object { return Object{n.kind, n.id.Key()} }

// put puts and commits.
func put(t testing.TB, s *Store, k Kind, raw []byte, prev ID) ID {
	t.Helper()
	tx := s.Begin()
	defer tx.Discard()
	id, err := tx.Put(k, raw, prev)
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context(), kv.Written); err != nil {
		t.Fatal(err)
	}
	return id
}

// wantObject looks at what is on the disk, unless g is a transaction.
func wantObject(t tb, g Getter, k Kind, id ID, want []byte) {
	t.Helper()
	if s, ok := g.(*Store); ok {
		s.contents.Clear()
	}
	got, err := g.Get(k, id)
	if err != nil {
		t.Fatalf("get %s %s: %v", k, id.Short(), err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("get %s %s: %d wrong bytes", k, id.Short(), len(got))
	}
}

// checkLines holds every stored delta to the invariants of a line.
func checkLines(t tb, s *Store) (deltas int) {
	t.Helper()
	type found struct {
		Object
		info Info
	}
	var all []found
	index := map[Object]int{}
	if err := s.Walk(context.Background(), func(k Kind, key Key, info Info) error {
		all = append(all, found{Object{k, key}, info})
		index[Object{k, key}] = info.Index
		return info.Damage
	}); err != nil {
		t.Fatalf("walk: %v", err)
	}
	for _, f := range all {
		if !f.info.Codec.IsDelta() {
			if f.info.Index != 0 || !f.info.Base.IsZero() {
				t.Errorf("%s is no delta but has index %d, base %s", f.Key.Short(), f.info.Index, f.info.Base.Short())
			}
			continue
		}
		deltas++
		at, ok := index[Object{f.Kind, f.info.Base}]
		if !ok || at != 0 && at != chainBase(f.info.Index) {
			t.Errorf("%s at %d has its base at %d (there: %v)", f.Key.Short(), f.info.Index, at, ok)
		}
		depth := 0
		for o := f.Object; index[o] > 0; depth++ {
			deps, err := s.Deps(o.Kind, o.Key)
			if err != nil || len(deps) != 1 {
				t.Fatalf("dependencies of %s: %v, %v", o.Key.Short(), deps, err)
			}
			o.Key = deps[0]
		}
		if depth > digitSum(f.info.Index) {
			t.Errorf("%s at %d is %d deltas deep", f.Key.Short(), f.info.Index, depth)
		}
	}
	return deltas
}

// digitSum adds up the digits of a place in base 8: the most deltas that lead there.
func digitSum(k int) (sum int) {
	for ; k > 0; k /= 8 {
		sum += k % 8
	}
	return sum
}

func noise(seed uint64, n int) []byte {
	var key [32]byte
	key[0], key[1], key[2] = byte(seed), byte(seed>>8), byte(seed>>16)
	b := make([]byte, n)
	_, _ = rand.NewChaCha8(key).Read(b)
	return b
}

// source100K is 100 KiB of Go: this package, and what of it is needed again.
func source100K(t testing.TB) []byte {
	t.Helper()
	_, self, _, _ := runtime.Caller(0)
	names, err := filepath.Glob(filepath.Join(filepath.Dir(self), "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	var src []byte
	for i := 0; len(src) < 100<<10; i++ {
		src = append(src, mustRead(t, names[i%len(names)])...)
	}
	return src[:100<<10]
}

// editLine replaces a random line.
func editLine(rng *rand.Rand, raw []byte) []byte {
	lines := bytes.SplitAfter(raw, []byte("\n"))
	lines[rng.IntN(len(lines))] = fmt.Appendf(nil, "\tif err := s.step%d(ctx, %d); err != nil {\n", rng.IntN(1000), rng.IntN(30))
	return bytes.Join(lines, nil)
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustRead(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// sweep collects all but what live names, which must be closed: with whatever it depends on. would: what was foretold.
func sweep(ctx context.Context, s *Store, live func(Kind, Key) bool) (would, swept Swept, err error) {
	c, err := s.Collect()
	if err != nil {
		return would, swept, err
	}
	defer c.End()
	pause := func(ctx context.Context) error { return ctx.Err() }
	if err := c.List(ctx, pause); err != nil {
		return would, swept, err
	}
	for i := range c.items {
		if it := &c.items[i]; live(it.kind, it.key) {
			if _, err := c.mark(int32(i)); err != nil {
				return would, swept, err
			}
		}
	}
	would, _ = c.Dead()
	if err := c.StartSweep(); err != nil {
		return would, swept, err
	}
	swept, err = c.Sweep(ctx, pause)
	return would, swept, err
}

func nothing(Kind, Key) bool { return false }

// kinds are all kinds, ascending by byte.
var kinds = []Kind{Blob, Checkpoint, Note, Transcript, Tree}
