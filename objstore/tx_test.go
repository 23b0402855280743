package objstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
)

func TestPromise02CommitIsOneBatch(t *testing.T) {
	s := newStore(t)
	tx := s.Begin()
	defer tx.Discard()
	id, err := tx.Put(Blob, []byte("content"), Zero)
	if err != nil {
		t.Fatal(err)
	}
	ref := []byte{kv.PrefixRef, 'x'}
	if err := tx.Batch().Set(ref, id[:]); err != nil {
		t.Fatal(err)
	}
	if ok, err := s.Has(Blob, id); ok || err != nil {
		t.Errorf("seen before the commit: %v", err)
	}
	if ok, err := tx.Has(Blob, id); !ok || err != nil {
		t.Errorf("not seen by the transaction: %v", err)
	}
	wantObject(t, tx, Blob, id, []byte("content"))
	if err := tx.Commit(t.Context(), kv.Durable); err != nil {
		t.Fatal(err)
	}
	wantObject(t, s, Blob, id, []byte("content"))
	if ok, err := s.db.Has(ref); !ok || err != nil {
		t.Errorf("ref: %v, %v", ok, err)
	}

	if _, err := tx.Put(Blob, []byte("late"), Zero); !errors.Is(err, errDone) {
		t.Errorf("put: %v", err)
	}
	if err := tx.Commit(t.Context(), kv.Written); !errors.Is(err, errDone) {
		t.Errorf("commit: %v", err)
	}
	if err := tx.Batch().Set(ref, nil); err == nil {
		t.Error("the batch of a done transaction takes changes")
	}
	tx.Discard() // harmless

	gone := s.Begin()
	lost, err := gone.Put(Blob, []byte("discarded"), Zero)
	if err != nil {
		t.Fatal(err)
	}
	gone.Discard()
	gone.Discard()
	if ok, err := s.Has(Blob, lost); ok || err != nil {
		t.Errorf("discarded and there: %v", err)
	}
	if _, _, err := sweep(t.Context(), s, func(Kind, Key) bool { return true }); err != nil {
		t.Errorf("a transaction is still open: %v", err)
	}
}

func TestPutSizes(t *testing.T) {
	s := newStore(t)
	tx := s.Begin()
	defer tx.Discard()
	if _, err := tx.Put(Tree, make([]byte, MaxObject+1), Zero); !errors.Is(err, ErrTooLarge) {
		t.Errorf("tree over the limit: %v", err)
	}
	n := MaxObject
	if underRace {
		n = MaxObject / 16
	}
	largest := noise(1, n)
	id, err := tx.Put(Tree, largest, Zero)
	if err != nil {
		t.Fatalf("largest tree: %v", err)
	}
	if err := tx.Commit(t.Context(), kv.Written); err != nil {
		t.Fatal(err)
	}
	wantObject(t, s, Tree, id, largest)
}

// More than spillBytes goes to the store before the commit, and can be read all the while.
func TestSpill(t *testing.T) {
	s := newStore(t)
	s.spillBytes = 100 << 10
	tx := s.Begin()
	defer tx.Discard()
	var ids []ID
	const n = 105
	for i := range n {
		id, err := tx.Put(Blob, noise(uint64(i), 5000), Zero)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
		if tx.size >= s.spillBytes+6000 {
			t.Fatalf("%d bytes are pending", tx.size)
		}
	}
	early := 0
	for i, id := range ids {
		wantObject(t, tx, Blob, id, noise(uint64(i), 5000))
		if ok, err := s.Has(Blob, id); err != nil {
			t.Fatal(err)
		} else if ok {
			early++
		}
	}
	if early < 80 || early == n {
		t.Errorf("%d of %d objects in the store before the commit", early, n)
	}
	if err := tx.Commit(t.Context(), kv.Written); err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		wantObject(t, s, Blob, id, noise(uint64(i), 5000))
	}
}

// A spill that fails is final, and says so until the end.
func TestSpillFails(t *testing.T) {
	fs := kvtest.NewFaultFS(kvtest.NewCrashFS())
	db, err := kv.Open(t.Context(), "/store", kv.Options{FS: fs, Fatal: func(error) {}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := New(db)
	s.spillBytes = 10 << 10
	fs.Set(&kvtest.Fault{Kind: kvtest.Write, N: 1, Err: syscall.ENOSPC, Sticky: true})
	tx := s.Begin()
	defer tx.Discard()
	var first error
	for i := range 10 {
		_, err := tx.Put(Blob, noise(uint64(i), 5000), Zero)
		if first == nil {
			first = err
		} else if err == nil {
			t.Error("put succeeds after a failed spill")
		}
	}
	if first == nil {
		t.Error("no put failed")
	}
	fs.AssertFired(t)
	if err := tx.Commit(t.Context(), kv.Written); err == nil {
		t.Error("commit succeeds")
	}
}

// A power cut after a durable commit loses nothing; one at any time leaves objects that read right or are absent.
func TestP1PowerCut(t *testing.T) {
	for _, percent := range []int{0, 50, 100} {
		for seed := range uint64(4) {
			fs := kvtest.NewCrashFS()
			db, err := kv.Open(t.Context(), "/store", kv.Options{FS: fs})
			if err != nil {
				t.Fatal(err)
			}
			s := New(db)
			s.spillBytes = 64 << 10
			commit := func(du kv.Durability, from int) map[ID][]byte {
				all := map[ID][]byte{}
				tx := s.Begin()
				defer tx.Discard()
				var prev ID
				for i := range 30 {
					raw := append(noise(uint64(from+i/10), 4000), byte(i))
					id, err := tx.Put(Blob, raw, prev)
					if err != nil {
						t.Fatal(err)
					}
					all[id], prev = raw, id
				}
				if err := tx.Commit(t.Context(), du); err != nil {
					t.Fatal(err)
				}
				return all
			}
			durable := commit(kv.Durable, int(seed)*100)
			perhaps := commit(kv.Written, int(seed)*100+50)
			cut := fs.Clone(percent, seed)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			db, err = kv.Open(t.Context(), "/store", kv.Options{FS: cut})
			if err != nil {
				t.Fatalf("%d %%, seed %d: %v", percent, seed, err)
			}
			after := New(db)
			for id, raw := range durable {
				wantObject(t, after, Blob, id, raw)
			}
			for id, raw := range perhaps {
				if got, err := after.Get(Blob, id); !errors.Is(err, ErrNotFound) && !bytes.Equal(got, raw) {
					t.Errorf("%d %%, seed %d: %v", percent, seed, err)
				}
			}
			checkLines(t, after)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A durable commit of nothing makes durable what was written before. One removal is a change.
func TestCommitOfLittle(t *testing.T) {
	fs := kvtest.NewCrashFS()
	db, err := kv.Open(t.Context(), "/store", kv.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	s := New(db)
	id, gone := put(t, s, Blob, []byte("kept"), Zero), put(t, s, Blob, []byte("gone"), Zero)
	tx := s.BeginAlone()
	if err := errors.Join(tx.Drop(Blob, gone.Key()), tx.Commit(t.Context(), kv.Written)); err != nil {
		t.Fatal(err)
	}
	if err := s.Begin().Commit(t.Context(), kv.Durable); err != nil {
		t.Fatal(err)
	}
	cut := fs.Clone(0, 1)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = kv.Open(t.Context(), "/store", kv.Options{FS: cut}); err != nil {
		t.Fatal(err)
	}
	after := New(db)
	wantObject(t, after, Blob, id, []byte("kept"))
	if _, err := after.Get(Blob, gone); !errors.Is(err, ErrNotFound) {
		t.Errorf("dropped: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// Transactions that put the same few objects on top of each other, in every order, spilling here and there: no cycle,
// and every base where it belongs.
func TestRacingTransactionsFormNoCycle(t *testing.T) {
	met := 0
	rapid.Check(t, func(t *rapid.T) {
		db, err := kv.Open(context.Background(), "/store", kv.Options{FS: kvtest.NewCrashFS()})
		if err != nil {
			t.Fatalf("open: %v", err)
		}
		defer db.Close()
		s := New(db)
		text := noise(1, 2000)
		content := func(i int) []byte { return append(bytes.Clone(text), byte(i)) }
		ids := make([]ID, 6)
		for i := range ids {
			ids[i] = Sum(Blob, content(i))
		}
		txs := []*Tx{s.Begin(), s.Begin(), s.Begin()}
		committed := map[int]bool{}
		inTx := make([]map[int]bool, len(txs))
		for range rapid.IntRange(5, 40).Draw(t, "steps") {
			n := rapid.IntRange(0, len(txs)-1).Draw(t, "tx")
			if inTx[n] == nil {
				inTx[n] = map[int]bool{}
			}
			s.spillBytes = rapid.SampledFrom([]int{spillBytes, spillBytes, spillBytes, 1}).Draw(t, "spill")
			if rapid.IntRange(0, 9).Draw(t, "commit") == 9 {
				if err := txs[n].Commit(context.Background(), kv.Written); err != nil {
					t.Fatalf("commit: %v", err)
				}
				for i := range inTx[n] {
					committed[i] = true
				}
				txs[n], inTx[n] = s.Begin(), nil
				continue
			}
			i := rapid.IntRange(0, len(ids)-1).Draw(t, "object")
			prev := ids[rapid.IntRange(0, len(ids)-1).Draw(t, "prev")]
			if _, err := txs[n].Put(Blob, content(i), prev); err != nil {
				t.Fatalf("put: %v", err)
			}
			inTx[n][i] = true
		}
		for n, tx := range txs {
			if err := tx.Commit(context.Background(), kv.Written); err != nil {
				t.Fatalf("commit: %v", err)
			}
			for i := range inTx[n] {
				committed[i] = true
			}
		}
		for i := range committed {
			wantObject(t, s, Blob, ids[i], content(i))
		}
		met += checkLines(t, s)
	})
	if met == 0 {
		t.Error("no delta was made")
	}
}

// The two cases of settle, made by hand.
func TestSettle(t *testing.T) {
	s := newStore(t)
	text := noise(1, 2000)
	version := func(i int) []byte { return append(bytes.Clone(text), byte(i)) }
	mustPut := func(tx *Tx, i int, prev ID) ID {
		id, err := tx.Put(Blob, version(i), prev)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	commit := func(tx *Tx) {
		if err := tx.Commit(t.Context(), kv.Written); err != nil {
			t.Fatal(err)
		}
	}
	one, two := s.Begin(), s.Begin()
	a := mustPut(one, 0, Zero)
	b := mustPut(one, 1, a) // b on a
	if mustPut(two, 1, Zero) != b || mustPut(two, 0, b) != a {
		t.Fatal("ids differ")
	}
	third := mustPut(two, 2, b) // in two: b 0, a 1 on b, third 1 on b
	fourth := mustPut(two, 3, third)
	commit(one) // a 0, b 1: two's third would stand on b at 1
	commit(two)
	for i, id := range []ID{a, b, third, fourth} {
		wantObject(t, s, Blob, id, version(i))
	}
	for id, want := range map[ID]int{a: 0, b: 1, third: 0, fourth: 2} {
		if info, err := s.Stat(Blob, id); err != nil || info.Index != want {
			t.Errorf("%s at %d, want %d: %v", id.Short(), info.Index, want, err)
		}
	}
	checkLines(t, s)
	five := s.Begin()
	after := fourth
	for i := 4; i <= 9; i++ { // to place 8, from which a walk meets third, whole after the fact
		after = mustPut(five, i, after)
	}
	commit(five)
	if info, err := s.Stat(Blob, after); err != nil || info.Index != 8 || info.Base != third.Key() {
		t.Errorf("%s at %d on %s: %v", after.Short(), info.Index, info.Base.Short(), err)
	}
	wantObject(t, s, Blob, after, version(9))
	checkLines(t, s)
}

func TestConcurrentPuts(t *testing.T) {
	s := newStore(t)
	s.spillBytes, s.cut = 50<<10, smallCut
	text := source100K(t)
	for range 3 {
		tx := s.Begin()
		var wg sync.WaitGroup
		var mu sync.Mutex
		all := map[ID][]byte{}
		for g := range 8 {
			wg.Go(func() {
				var prev ID
				for i := range 40 {
					raw := append(fmt.Appendf(nil, "%d of %d\n", i, g%4), text[i*100:i*100+3000]...)
					var id ID
					var err error
					if i%8 == 7 {
						raw = noise(uint64(i+g/2), 6000)
						id, _, err = tx.PutReader(bytes.NewReader(raw), prev)
					} else {
						id, err = tx.Put(Blob, raw, prev)
					}
					if err != nil {
						t.Error(err)
						return
					}
					if got, err := tx.Get(Blob, id); err != nil || !bytes.Equal(got, raw) {
						t.Errorf("get: %v", err)
						return
					}
					prev = id
					mu.Lock()
					all[id] = raw
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if err := tx.Commit(t.Context(), kv.Written); err != nil {
			t.Fatal(err)
		}
		for id, raw := range all {
			wantObject(t, s, Blob, id, raw)
		}
	}
	checkLines(t, s)
}

// A collection begins and condemns beside no open transaction; its sweep goes on beside them.
func TestSweepAndTransactionsExclude(t *testing.T) {
	s := newStore(t)
	dead := put(t, s, Blob, []byte("dead"), Zero)
	live := put(t, s, Blob, []byte("live"), Zero)
	again := put(t, s, Blob, []byte("again"), Zero)
	tx := s.Begin()
	if _, err := s.Collect(); !errors.Is(err, ErrOpenTx) {
		t.Errorf("collect: %v", err)
	}
	tx.Discard()

	c, err := s.Collect()
	if err != nil {
		t.Fatal(err)
	}
	pause := func(ctx context.Context) error { return ctx.Err() }
	if err := c.List(t.Context(), pause); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Mark(Blob, live); err != nil {
		t.Fatal(err)
	}
	tx = s.Begin()
	if err := c.StartSweep(); !errors.Is(err, ErrOpenTx) {
		t.Errorf("condemn: %v", err)
	}
	tx.Discard()
	if err := c.StartSweep(); err != nil {
		t.Fatal(err)
	}
	if would, _ := c.Dead(); would != (Swept{2, 6 + 7}) {
		t.Errorf("foretold %v", would)
	}
	put(t, s, Blob, []byte("again"), Zero)
	ctx, cancel := context.WithCancel(t.Context())
	c.batch = 1
	_, err = c.Sweep(ctx, func(ctx context.Context) error {
		cancel()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if swept, err := c.Sweep(t.Context(), pause); err != nil || swept.Objects > 1 {
		t.Errorf("sweep: %v, %v", swept, err)
	}
	c.End()
	wantObject(t, s, Blob, live, []byte("live"))
	wantObject(t, s, Blob, again, []byte("again"))
	if _, err := s.Get(Blob, dead); !errors.Is(err, ErrNotFound) {
		t.Errorf("swept, and there: %v", err)
	}
	put(t, s, Blob, []byte("dead"), Zero)
	wantObject(t, s, Blob, dead, []byte("dead"))
}

// More objects than a page holds.
func TestWalkAndSweepPages(t *testing.T) {
	s := newStore(t)
	tx := s.Begin()
	const n = 2*pageObjects + 7
	want := map[Object]bool{}
	for i := range n {
		k := kinds[i%4]
		id, err := tx.Put(k, fmt.Appendf(nil, "object %d", i), Zero)
		if err != nil {
			t.Fatal(err)
		}
		want[Object{k, id.Key()}] = i%3 == 0
	}
	if err := tx.Commit(t.Context(), kv.Written); err != nil {
		t.Fatal(err)
	}
	count := func() (seen int) {
		var last []byte
		if err := s.Walk(t.Context(), func(k Kind, as Key, info Info) error {
			key := appendKey(nil, k, as)
			if bytes.Compare(last, key) >= 0 || info.Size < 8 || info.Stored != info.Size+2 || info.Damage != nil {
				t.Errorf("%s %s: %+v", k, as.Short(), info)
			}
			last = key
			if _, ok := want[Object{k, as}]; ok {
				seen++
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return seen
	}
	if got := count(); got != n {
		t.Errorf("walk: %d of %d", got, n)
	}
	_, swept, err := sweep(t.Context(), s, func(k Kind, key Key) bool { return want[Object{k, key}] })
	if err != nil || swept.Objects != n-(n+2)/3 || count() != (n+2)/3 {
		t.Errorf("sweep: %v, %v; %d left", swept, err, count())
	}
	stop := errors.New("stop")
	if err := s.Walk(t.Context(), func(Kind, Key, Info) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("walk: %v", err)
	}
}
