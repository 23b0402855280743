package objstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"rewind/internal/kv"
	"rewind/objstore/object"
)

// A Tx collects objects, and the batch that names them, for one commit. Put, PutReader, Get and Has are safe for
// concurrent use; Batch, Commit and Discard belong to one goroutine, and Commit comes after every Put has returned.
// A transaction that is not committed must be discarded; doing both is harmless.
type Tx struct {
	s         *Store
	batch     *kv.Batch // nil until asked for
	exclusive exclusive // what follows while nobody else writes

	changes changes // to objects that are there

	spilling sync.Mutex // held while objects go to the store ahead of the commit; taken before mu
	spills   int        // under spilling, as is
	unhold   func()     // nil before the first

	mu      sync.Mutex
	pending map[Object]entry
	leaving map[Object]entry // on the way to the store: still read from here
	spilled map[Object]ID    // in the store already
	size    int              // of pending, bytes
	own     int              // of objects that are kept beside their envelopes, bytes
	done    bool
	err     error // of a spill: final
}

// An Object names one by its key, across kinds.
type Object struct {
	Kind Kind
	Key  Key
}

// Begin opens a transaction. It waits while objects are swept.
func (s *Store) Begin() *Tx {
	s.gate.RLock()
	return &Tx{s: s, pending: map[Object]entry{}, exclusive: s.exclusive()}
}

// Batch is what Commit commits together with the objects, for refs, operations and the like. It is Commit's from then
// on.
func (t *Tx) Batch() *kv.Batch {
	if t.batch == nil {
		t.batch = t.s.db.NewBatch()
		if t.isDone() {
			_ = t.batch.Close() // every use of it says so
		}
	}
	return t.batch
}

func (t *Tx) isDone() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.done
}

// find gives an object that is not in the store yet.
func (t *Tx) find(o Object) (entry, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e, ok := t.pending[o]; ok {
		return e, true
	}
	e, ok := t.leaving[o]
	return e, ok
}

// view implements source.
func (t *Tx) view(k Kind, as name, fn func(node) error) error {
	if e, ok := t.find(Object{k, as.key}); ok {
		if as.id.IsZero() {
			as.id = e.id
		}
		return fn(node{name: as, env: e.env, base: e.base})
	}
	return t.s.view(k, as, fn)
}

// bases implements source.
func (t *Tx) bases(k Kind, n node, e object.Envelope) ([]node, error) {
	if n.base.IsZero() {
		return t.s.bases(k, n, e)
	}
	b, err := nodeOf(t, k, name{key: n.base})
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, nil // the object is damaged, not absent
	case err != nil:
		return nil, err
	}
	return []node{b}, nil
}

// Get gives an object of the transaction or the store: see Getter.
func (t *Tx) Get(k Kind, id ID) ([]byte, error) {
	raw, err := get(t, k, id)
	if _, mine := t.find(Object{k, id.Key()}); err == nil && !mine {
		t.s.keep(k, id, raw)
	}
	return raw, wrap("get", k, id.Key(), err)
}

// Has tells whether an object is in the transaction or the store. What was rewritten is not: who asks puts it again, as
// it is.
func (t *Tx) Has(k Kind, id ID) (bool, error) {
	if _, there, sure := t.knows(Object{k, id.Key()}); sure {
		return there, nil
	}
	if _, other := t.s.rewritten(Object{k, id.Key()}); other {
		return false, nil
	}
	return t.s.Has(k, id)
}

// Put implements Putter. An object over MaxObject is ErrTooLarge, unless it is a blob; what was purged is a *GoneError.
func (t *Tx) Put(k Kind, raw []byte, prev ID) (ID, error) {
	if err := k.Check(); err != nil {
		return Zero, fmt.Errorf("put: %w", err)
	}
	if k == Blob && len(raw) > t.s.cut.threshold {
		id, _, err := t.PutReader(bytes.NewReader(raw), prev)
		return id, err
	}
	if len(raw) > MaxObject {
		return Zero, fmt.Errorf("put %s of %d bytes: %w", k, len(raw), ErrTooLarge)
	}
	id := Sum(k, raw)
	return id, wrap("put", k, id.Key(), t.put(k, id, raw, prev))
}

// mayBeBase reports whether nothing is known that keeps an object from being the base of a delta.
func (s *Store) mayBeBase(o Object) bool {
	if c := s.coll.Load(); c != nil && !c.stays(o) {
		return false
	}
	_, other := s.rewritten(o)
	return !other // its bytes may change once more
}

func (t *Tx) put(k Kind, id ID, raw []byte, prev ID) error {
	o := Object{k, id.Key()}
	if err := t.refused(o); err != nil {
		return err
	}
	have, there, sure := t.knows(o)
	if there {
		return collides(have, id)
	}
	if !sure {
		switch st, err := t.s.present(k, id, nil); {
		case err != nil:
			return err
		case st == sound:
			return nil
		case st == damaged:
			prev = Zero
		}
	}
	if !t.s.mayBeBase(Object{k, prev.Key()}) {
		prev = Zero
	}
	e, err := encode(t, k, id, raw, prev)
	if err != nil {
		return err
	}
	if c := t.s.coll.Load(); c != nil && e.index > 0 {
		c.built(k, e.base)
	}
	if len(raw) > 0 && len(raw) <= recentObject && t.owns(len(raw)) {
		e.raw = append(make([]byte, 0, len(raw)), raw...)
	}
	return t.insert(o, e)
}

// owns reports whether n bytes more may be kept of what is put.
func (t *Tx) owns(n int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.own+n > ownBytes {
		return false
	}
	t.own += n
	return true
}

// insert takes an entry in, and makes room when there is too much: what is there goes to the store beside the puts that
// follow, which wait when there is too much again before it has arrived.
func (t *Tx) insert(o Object, e entry) error {
	full, err := t.add(o, e)
	if err != nil || !full {
		return err
	}
	t.spilling.Lock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.size < t.s.spillBytes || t.done || t.err != nil { // another goroutine was here
		t.spilling.Unlock()
		return t.err
	}
	t.leaving, t.pending, t.size = t.pending, map[Object]entry{}, 0
	t.hold()
	go t.spill()
	return nil
}

// spill writes t.leaving and gives spilling back, which its caller took. An error of it shows at the next put, or the
// commit.
func (t *Tx) spill() {
	defer t.spilling.Unlock()
	err := t.s.spill(t)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.keepSpilled()
	}
	t.leaving = nil
	if t.err == nil {
		t.err = err
	}
}

func (t *Tx) add(o Object, e entry) (full bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.done:
		return false, errDone
	case t.err != nil:
		return false, t.err
	}
	if have, ok := t.holds(o); ok { // another goroutine was faster
		return false, collides(have, e.id)
	}
	t.pending[o] = e
	t.size += e.size()
	return t.size >= t.s.spillBytes, nil
}

// hold keeps the store from rewriting what is spilled, up to maxHeld times. Under spilling.
func (t *Tx) hold() {
	switch t.spills++; t.spills {
	case 1:
		t.unhold = t.s.db.Hold()
	case maxHeld + 1:
		t.unhold()
	}
}

// spill writes t.leaving, which nothing names yet.
func (s *Store) spill(t *Tx) error {
	s.write.Lock()
	defer s.write.Unlock()
	ready, err := s.settle(t, t.leaving)
	if err != nil {
		return err
	}
	t.mu.Lock()
	s.wrote(ready)
	t.exclusive.mine++
	t.mu.Unlock()
	return s.ingest(context.Background(), ready)
}

// Commit writes the objects and the batch: all of it or, but for objects that nothing names, nothing. With an error
// that is not kv.ErrPoisoned nothing was committed. The transaction is done in any case.
func (t *Tx) Commit(ctx context.Context, du kv.Durability) error {
	t.mu.Lock()
	if t.done {
		t.mu.Unlock()
		return fmt.Errorf("commit: %w", errDone)
	}
	t.done = true
	t.mu.Unlock()
	t.spilling.Lock() // waits for a spill under way
	defer t.spilling.Unlock()
	defer t.end()
	if t.err != nil {
		return fmt.Errorf("commit: %w", t.err)
	}
	if err := t.s.commit(ctx, t, du); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

func (s *Store) commit(ctx context.Context, t *Tx, du kv.Durability) error {
	s.write.Lock()
	defer s.write.Unlock()
	ready, err := s.settle(t, t.pending)
	if err != nil {
		return err
	}
	size := 0
	for _, r := range ready {
		size += r.size()
	}
	if len(ready) > 0 {
		s.wrote(ready)
	}
	written := ready
	if size > inlineBytes {
		if err := s.ingest(ctx, ready); err != nil {
			return err
		}
		ready = nil
	}
	nothing := len(ready) == 0 && t.batch == nil
	if nothing && du == kv.Written && !t.changes.changing() {
		return nil
	}
	b := t.batch
	if b == nil {
		b = s.db.NewBatch()
		defer b.Close()
	}
	for _, r := range ready {
		if err := b.Set(appendKey(nil, r.Kind, r.Key), r.env); err != nil {
			return err
		}
	}
	if err := t.changes.addTo(b); err != nil {
		return err
	}
	if err := b.Commit(ctx, du); err != nil {
		return err
	}
	t.changes.apply(s)
	s.rememberAll(written)
	return nil
}

// rememberAll keeps what was written at hand, and what deltas among it have as bases.
func (s *Store) rememberAll(written []readied) {
	for _, r := range written {
		s.ids.Put(r.Object, r.id)
		s.remember(r.Object, r.id, r.raw)
		if !r.base.IsZero() {
			base, _ := s.ids.Get(Object{r.Kind, r.base})
			s.knownBases.Put(r.Object, name{r.base, base})
		}
	}
}

// Discard gives the transaction up. Objects that were spilled stay until they are swept.
func (t *Tx) Discard() {
	t.mu.Lock()
	done := t.done
	t.done = true
	t.mu.Unlock()
	if done {
		return
	}
	t.spilling.Lock()
	defer t.spilling.Unlock()
	t.end()
}

func (t *Tx) end() {
	if t.batch != nil {
		_ = t.batch.Close()
	}
	if t.unhold != nil {
		t.unhold()
	}
	t.mu.Lock()
	t.pending, t.leaving, t.spilled, t.size = nil, nil, nil, 0
	t.mu.Unlock()
	if t.changes.alone {
		t.s.gate.Unlock()
	} else {
		t.s.gate.RUnlock()
	}
}

// A readied entry is one that nobody else has written.
type readied struct {
	Object
	entry
}

// settle gives what of m is to be written, ascending by key. The caller holds s.write until it has written, so the
// findings stay true. An object that another transaction has written meanwhile is left out; this keeps deltas from
// forming a cycle. A delta whose base then has another index is stored whole.
func (s *Store) settle(t *Tx, m map[Object]entry) ([]readied, error) {
	ready := make([]readied, 0, len(m))
	for o, e := range m {
		ready = append(ready, readied{o, e})
	}
	if s.writes.Load() == t.exclusive.begun+t.exclusive.mine {
		slices.SortFunc(ready, byKey)
		return ready, nil
	}
	slices.SortFunc(ready, func(a, b readied) int { return a.index - b.index }) // bases before what is built on them
	index := make(map[Object]int, len(m))                                       // of those kept
	kept := ready[:0]
	for _, r := range ready {
		if Codec(r.env[0]) != CodecChunks { // a list may be written again: it is nobody's base
			switch st, err := s.present(r.Kind, r.id, nil); {
			case err != nil:
				return nil, err
			case st == sound:
				continue
			}
		}
		if r.index > 0 {
			at, ok := index[Object{r.Kind, r.base}]
			if !ok {
				var err error
				if at, err = s.indexOf(r.Kind, r.base); err != nil {
					return nil, err
				}
			}
			if at != 0 && at != chainBase(r.index) {
				raw, err := get(t, r.Kind, r.id)
				if err != nil {
					return nil, err
				}
				id := r.id
				env, err := object.EncodeWhole(raw, object.Careful)
				if err != nil {
					return nil, err
				}
				r.entry = entry{id: id, env: env}
			}
		}
		index[r.Object] = r.index
		kept = append(kept, r)
	}
	slices.SortFunc(kept, byKey)
	return kept, nil
}

func byKey(a, b readied) int {
	if a.Kind != b.Kind {
		return int(a.Kind) - int(b.Kind)
	}
	return bytes.Compare(a.id[:], b.id[:])
}

func (s *Store) ingest(ctx context.Context, ready []readied) error {
	key := make([]byte, 0, keyLen)
	return s.db.Ingest(ctx, len(ready), func(i int) ([]byte, []byte) {
		key = appendKey(key[:0], ready[i].Kind, ready[i].Key)
		return key, ready[i].env
	})
}
