package objstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
	"rewind/internal/torture"
)

func init() { torture.Draws(34, 100) }

// TestStoreAgainstMap drives a store and a Go map with the same calls: what was committed comes back, also after
// reopening; what was swept is gone; what was discarded is gone or harmless.
func TestStoreAgainstMap(t *testing.T) {
	total := 0
	rapid.Check(t, func(rt *rapid.T) {
		m := &machine{t: rt, fs: kvtest.NewCrashFS(), known: map[named][]byte{}, committed: map[named]bool{}, put: map[named]bool{}}
		m.open()
		defer m.close()
		rt.Repeat(map[string]func(*rapid.T){
			"":           m.check,
			"put":        m.doPut,
			"put more":   m.doPut,
			"put again":  m.doPut,
			"put reader": m.doPutReader,
			"get":        m.doGet,
			"commit":     m.doCommit,
			"discard":    m.doDiscard,
			"reopen":     m.doReopen,
			"sweep":      m.doSweep,
			"resolve":    m.doResolve,
		})
		checkLines(rt, m.s)
		total += m.deltas
	})
	if total < torture.Points(10, 50) {
		t.Errorf("only %d deltas were made", total)
	}
}

type machine struct {
	t         *rapid.T
	fs        kv.FS
	deltas    int // put
	db        *kv.DB
	s         *Store
	tx        *Tx
	known     map[named][]byte // whatever was ever put, by name
	order     []named          // the same, by time
	committed map[named]bool   // must be there
	put       map[named]bool   // in tx
}

func (m *machine) open() {
	db, err := kv.Open(context.Background(), "/store", kv.Options{FS: m.fs})
	if err != nil {
		m.t.Fatalf("open: %v", err)
	}
	m.db, m.s = db, New(db)
	m.s.cut, m.s.spillBytes = smallCut, rapid.SampledFrom([]int{spillBytes, 5000, 1}).Draw(m.t, "spill")
	m.tx = m.s.Begin()
	m.put = map[named]bool{}
}

func (m *machine) close() {
	m.tx.Discard()
	if err := m.db.Close(); err != nil {
		m.t.Fatalf("close: %v", err)
	}
}

func (m *machine) draw(t *rapid.T) (o named, ok bool) {
	if len(m.order) == 0 {
		return o, false
	}
	// Mostly of the newest, so that lines get long.
	back := rapid.IntRange(0, min(len(m.order)-1, 8)).Draw(t, "which")
	if rapid.IntRange(0, 9).Draw(t, "any") == 0 {
		back = rapid.IntRange(0, len(m.order)-1).Draw(t, "which of all")
	}
	return m.order[len(m.order)-1-back], true
}

func (m *machine) content(t *rapid.T) (k Kind, raw []byte, prev ID) {
	if o, ok := m.draw(t); ok && rapid.SampledFrom([]bool{true, true, true, false}).Draw(t, "edit") {
		raw := bytes.Clone(m.known[o])
		at := rapid.IntRange(0, len(raw)).Draw(t, "at")
		raw = append(append(raw[:at:at], fmt.Sprintf("<%d>", rapid.IntRange(0, 99).Draw(t, "what"))...), raw[at:]...)
		return o.kind, raw, o.id
	}
	k = rapid.SampledFrom(kinds).Draw(t, "kind")
	n := rapid.SampledFrom([]int{1500, 4000, 9000, 100, 1, 0}).Draw(t, "size")
	return k, noise(rapid.Uint64Range(0, 50).Draw(t, "seed"), n), ID{}
}

func (m *machine) keep(o named, raw []byte) {
	if _, ok := m.known[o]; !ok {
		m.known[o] = raw
		m.order = append(m.order, o)
	}
	m.put[o] = true
	if e, ok := m.tx.find(o.object()); ok && e.index > 0 {
		m.deltas++
	}
}

func (m *machine) doPut(t *rapid.T) {
	k, raw, prev := m.content(t)
	id, err := m.tx.Put(k, raw, prev)
	if err != nil || id != Sum(k, raw) {
		t.Fatalf("put: %s, %v", id, err)
	}
	m.keep(named{k, id}, raw)
}

func (m *machine) doPutReader(t *rapid.T) {
	_, raw, prev := m.content(t)
	id, n, err := m.tx.PutReader(bytes.NewReader(raw), prev)
	if err != nil || id != Sum(Blob, raw) || n != int64(len(raw)) {
		t.Fatalf("put: %s, %v", id, err)
	}
	m.keep(named{Blob, id}, raw)
}

func (m *machine) doGet(t *rapid.T) {
	o, ok := m.draw(t)
	if !ok {
		t.Skip("nothing yet")
	}
	raw, err := m.tx.Get(o.kind, o.id)
	has, hasErr := m.tx.Has(o.kind, o.id)
	if hasErr != nil {
		t.Fatalf("has: %v", hasErr)
	}
	switch must := m.put[o] || m.committed[o]; {
	case err == nil && bytes.Equal(raw, m.known[o]) && has:
	case !must && errors.Is(err, ErrNotFound) && !has:
	case !must && errors.Is(err, ErrCorrupt) && has: // its base was swept
	default:
		t.Fatalf("get %s, committed %v, in tx %v: %d bytes, has %v, %v", o.id.Short(), m.committed[o], m.put[o], len(raw), has, err)
	}
}

func (m *machine) doCommit(t *rapid.T) {
	du := rapid.SampledFrom([]kv.Durability{kv.Written, kv.Written, kv.Durable}).Draw(t, "durability")
	if err := m.tx.Commit(context.Background(), du); err != nil {
		t.Fatalf("commit: %v", err)
	}
	maps.Copy(m.committed, m.put)
	m.begin()
}

func (m *machine) doDiscard(*rapid.T) {
	m.tx.Discard()
	m.begin()
}

func (m *machine) begin() { m.tx, m.put = m.s.Begin(), map[named]bool{} }

func (m *machine) doReopen(t *rapid.T) {
	m.t = t
	m.close()
	m.open()
}

func (m *machine) doSweep(t *rapid.T) {
	if _, err := m.s.Collect(); !errors.Is(err, ErrOpenTx) {
		t.Fatalf("collection beside a transaction: %v", err)
	}
	m.tx.Discard()
	defer m.begin()
	roots, live := map[named]bool{}, map[Object]bool{}
	for _, o := range m.order {
		if m.committed[o] && rapid.IntRange(0, 3).Draw(t, "live") > 0 {
			roots[o], live[o.object()] = true, true
		}
	}
	for todo := slices.Collect(maps.Keys(live)); len(todo) > 0; {
		o := todo[0]
		todo = todo[1:]
		deps, err := m.s.Deps(o.Kind, o.Key)
		if err != nil {
			t.Fatalf("dependencies of %s: %v", o.Key.Short(), err)
		}
		for _, key := range deps {
			if d := (Object{o.Kind, key}); !live[d] {
				live[d] = true
				todo = append(todo, d)
			}
		}
	}
	isLive := func(k Kind, key Key) bool { return live[Object{k, key}] }
	would, swept, err := sweep(context.Background(), m.s, isLive)
	if err != nil || swept != would {
		t.Fatalf("sweep: %v, foretold %v, %v", swept, would, err)
	}
	left := 0
	if err := m.s.Walk(context.Background(), func(k Kind, key Key, _ Info) error {
		left++
		if !isLive(k, key) {
			return fmt.Errorf("%s %s is still there", k, key.Short())
		}
		id, err := m.s.IDOf(k, key)
		if err != nil {
			return err
		}
		return m.s.Verify(context.Background(), k, id)
	}); err != nil || left != len(live) {
		t.Fatalf("after the sweep: %d of %d objects: %v", left, len(live), err)
	}
	m.committed = roots
}

func (m *machine) doResolve(t *rapid.T) {
	o, ok := m.draw(t)
	if !ok || !m.committed[o] {
		t.Skip("nothing committed")
	}
	short, err := m.s.ShortID(o.kind, o.id)
	if err != nil || len(short) < minShort {
		t.Fatalf("short id: %q, %v", short, err)
	}
	if id, err := m.s.Resolve(o.kind, short); id != o.id || err != nil {
		t.Fatalf("resolve %s: %s, %v", short, id, err)
	}
}

func (m *machine) check(t *rapid.T) {
	for o := range m.committed {
		if has, err := m.s.Has(o.kind, o.id); !has || err != nil {
			t.Fatalf("%s %s is gone: %v", o.kind, o.id.Short(), err)
		}
	}
	if len(m.order) > 0 {
		o := m.order[len(m.order)-1]
		if m.committed[o] {
			wantObject(t, m.s, o.kind, o.id, m.known[o])
		}
	}
}

// TestKeys: all of a kind, ascending, until an error.
func TestKeys(t *testing.T) {
	s := newStore(t)
	for i := range 5 {
		put(t, s, Blob, fmt.Append(nil, i), Zero)
	}
	put(t, s, Note, []byte("other"), Zero)
	var keys []Key
	err := s.Keys(t.Context(), Blob, func(k Key, _ Info) error {
		keys = append(keys, k)
		return nil
	})
	ascending := slices.IsSortedFunc(keys, func(a, b Key) int { return bytes.Compare(a[:], b[:]) })
	if err != nil || len(keys) != 5 || !ascending {
		t.Errorf("%v, %v", keys, err)
	}
	stop, n := errors.New("stop"), 0
	if err := s.Keys(t.Context(), Blob, func(Key, Info) error { n++; return stop }); !errors.Is(err, stop) || n != 1 {
		t.Errorf("stopped: %v after %d", err, n)
	}
}
