package refs

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"rewind/internal/kv"
	"rewind/internal/record"
	"rewind/internal/value"
	"rewind/objstore"
)

// Refs are the names and the operation log of one store. Safe for concurrent use.
type Refs struct {
	db   *kv.DB
	mu   sync.Mutex // held from compare to set
	held nameCache
}

// New returns the refs of a store.
func New(db *kv.DB) *Refs { return &Refs{db: db, held: newNameCache()} }

// Ref is where a name points, and the operation that moved it there.
type Ref struct {
	Name Name
	ID   objstore.ID
	Seq  uint64
}

func key(n Name) []byte { return append([]byte{kv.PrefixRef}, n...) }

func encodeRef(id objstore.ID, seq uint64) []byte {
	return binary.AppendUvarint(append([]byte(nil), id[:]...), seq)
}

// decodeRef reads a ref's value: id(32) || sequence (minimal uvarint, >= 1).
func decodeRef(n Name, raw []byte) (Ref, error) {
	r := Ref{Name: n}
	if len(raw) > len(r.ID) {
		copy(r.ID[:], raw)
		tail := raw[len(r.ID):]
		seq, k := binary.Uvarint(tail)
		read := k == len(tail) && (k == 1 || tail[k-1] != 0)
		if read && seq > 0 && !r.ID.IsZero() {
			r.Seq = seq
			return r, nil
		}
	}
	return Ref{}, &value.OpError{Op: "ref", Subject: string(n), Err: ErrCorrupt}
}

// get returns the ref of that name, or ErrNotFound.
func (r *Refs) get(n Name) (Ref, error) {
	ref, moves, ok := r.held.get(n)
	var err error
	if !ok {
		err = r.db.View(key(n), func(v []byte) (err error) {
			ref, err = decodeRef(n, v)
			return err
		})
		if err == nil || errors.Is(err, kv.ErrNotFound) {
			r.held.read(n, ref, moves)
		}
	}
	if errors.Is(err, kv.ErrNotFound) || err == nil && ref.ID.IsZero() {
		return Ref{}, &value.OpError{Op: "get", Subject: string(n), Err: ErrNotFound}
	}
	return ref, err
}

// ID is Get for callers to whom an absent name is a zero id.
func (r *Refs) ID(n Name) (objstore.ID, error) {
	ref, err := r.get(n)
	if errors.Is(err, ErrNotFound) {
		return objstore.ID{}, nil
	}
	return ref.ID, err
}

// List returns the refs whose names begin with prefix, by name.
func (r *Refs) List(prefix string) ([]Ref, error) {
	var refs []Ref
	err := r.db.Scan(kv.Range{Prefix: key(Name(prefix))}, func(k, v []byte) error {
		ref, err := decodeRef(Name(k[1:]), v)
		refs = append(refs, ref)
		return err
	})
	return refs, err
}

// Tx is what an operation is committed with: objects already put, and room for more keys.
type Tx interface {
	Batch() *kv.Batch
	Commit(ctx context.Context, du kv.Durability) error
}

// Update moves a name from Old to New; a zero Old means it must be absent, a zero New deletes it.
type Update struct {
	Name     Name
	Old, New objstore.ID
}

// Commit appends operations in a row and moves names, in one batch with whatever tx holds. prepare is called with the
// first operation's sequence, under the lock that makes compare and set one act; it may put objects into tx. That
// operation moves the names. When a name is not at its Old, the error is a *conflictError and nothing is written.
func (r *Refs) Commit(ctx context.Context, tx Tx, du kv.Durability,
	prepare func(seq uint64) ([]Operation, []Update, error),
) ([]Operation, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seq := r.db.LastSeq() + 1
	ops, updates, err := prepare(seq)
	if err != nil {
		return nil, err
	}
	b := tx.Batch()
	for _, u := range updates {
		if err := r.set(b, u, seq); err != nil {
			return nil, err
		}
	}
	for i := range ops {
		ops[i].Seq = seq + uint64(i)
		if err := b.Set(kv.OperationKey(ops[i].Seq), ops[i].Encode()); err != nil {
			return nil, err
		}
	}
	r.held.forget(updates)
	if err := tx.Commit(ctx, du); err != nil {
		return nil, err
	}
	r.held.moved(updates, seq)
	return ops, nil
}

func (r *Refs) set(b *kv.Batch, u Update, seq uint64) error {
	if err := u.Name.Check(); err != nil {
		return err
	}
	have, err := r.ID(u.Name)
	if err != nil {
		return err
	}
	if have != u.Old {
		return &conflictError{name: u.Name, want: u.Old, have: have}
	}
	if u.New.IsZero() {
		return b.Delete(key(u.Name))
	}
	return b.Set(key(u.Name), encodeRef(u.New, seq))
}

// Rewrite adds operations to b in the place of those that have their sequences already. It is gc's, which takes out of
// old ones what they name; the log keeps its numbers and its order.
func Rewrite(b *kv.Batch, ops []Operation) error {
	for i := range ops {
		if err := b.Set(kv.OperationKey(ops[i].Seq), ops[i].Encode()); err != nil {
			return err
		}
	}
	return nil
}

// Operation returns operation seq, or ErrNotFound.
func (r *Refs) Operation(seq uint64) (*Operation, error) {
	var op *Operation
	err := r.db.View(kv.OperationKey(seq), func(v []byte) (err error) {
		op, err = DecodeOperation(seq, v)
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, fmt.Errorf("operation %d: %w", seq, ErrNotFound)
	}
	return op, err
}

// Newest calls fn for the operations from `from` (0: the newest) down to the oldest, until fn returns kv.ErrStop.
func (r *Refs) Newest(from uint64, fn func(*Operation) error) error {
	return r.each(from, true, nil, fn)
}

// SkipTo returns what the function given to Newest or Since returns to go on with operation seq. If there is none of
// that number, it goes on with the next one in that direction.
func SkipTo(seq uint64) error { return kv.SkipTo(kv.OperationKey(seq)) }

// NewestOf is Newest for the operations that wanted says by their sequence, time, kind and session: more is not there
// yet. The others cost a tenth; of them nothing else is looked at, so that a damaged one may be passed over.
func (r *Refs) NewestOf(from uint64, wanted func(*Operation) bool, fn func(*Operation) error) error {
	return r.each(from, true, wanted, fn)
}

// Since calls fn for the operations from `from` (0: the oldest) up to the newest, until fn returns kv.ErrStop.
func (r *Refs) Since(from uint64, fn func(*Operation) error) error {
	return r.each(from, false, nil, fn)
}

func (r *Refs) each(from uint64, down bool, wanted func(*Operation) bool, fn func(*Operation) error) error {
	rg := kv.Range{Prefix: []byte{kv.PrefixOperation}, Reverse: down}
	if from > 0 {
		rg.From = kv.OperationKey(from)
	}
	known := record.Words{}
	var head Operation
	return r.db.Scan(rg, func(k, v []byte) error {
		if len(k) != 9 {
			return fmt.Errorf("operation key %x: %w", k, ErrCorrupt)
		}
		seq := binary.BigEndian.Uint64(k[1:])
		if wanted != nil {
			head = Operation{Seq: seq}
			if err := head.decodeHead(v, known); err == nil && !wanted(&head) {
				return nil
			}
		}
		op, err := decodeOperation(seq, v, known)
		if err != nil {
			return err
		}
		return fn(op)
	})
}
