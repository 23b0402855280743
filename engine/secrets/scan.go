package secrets

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/internal/kv"
	"rewind/internal/leaks"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

const (
	// leakSave is how often what was found out is written down; a kill repeats as much.
	leakSave = 2 * time.Second
	// leakSlice is for how long contents are looked at without looking whether an event waits, and before a rest as
	// long as the work.
	leakSlice = 2 * time.Millisecond
	// maxLooked is how many contents are remembered to have been looked at, for those that come back.
	maxLooked = 1 << 12
)

// leakState is what a process knows of the contents that it looks at.
type leakState struct {
	Mu      sync.Mutex // held by who looks; guards what follows
	Scanner *leaks.Scanner
	scanned map[scannedAt]bool
	stamps  map[string]leakStamp // files of skipped paths, as they were judged last
	Flagged atomic.Pointer[Flagged]
	said    atomic.Pointer[[]*saidLook]
}

// scanner gives the rules; the lock is held.
func (s *leakState) scanner() (*leaks.Scanner, error) {
	if s.Scanner == nil {
		rules, err := leaks.New()
		if err != nil {
			return nil, err
		}
		s.Scanner = rules
	}
	return s.Scanner, nil
}

// scannedAt is a content at a path, which decides too.
type scannedAt struct {
	key  objstore.Key
	path string
}

// leakScan is one look at the contents that came since the last.
type leakScan struct {
	e        *Leaks
	throttle bool // nobody waits: it rests as long as it works
	cursor   LeakCursor
	changed  map[objstore.Key]*LeakFlag // not written yet; nil: taken away
	moved    bool                       // the cursor is not that of the store
	saved    time.Time
	from     time.Time
	allow    func(path string) bool

	said        *saidScan
	saidDone    uint64               // conversations of all operations up to this one were looked at
	saidMoved   bool                 // that is not in the store
	changedSaid map[string]*saidLook // not written yet
}

// ScanForSecrets looks at the contents that were stored since it did so last, each once, and flags what looks like a
// secret. It ends with
// ctx, and what it found out
// until then stays; another look that is under way is not waited for. rest: nobody waits for it, so it takes half a
// processor at most.
func (k *Leaks) ScanForSecrets(ctx context.Context, rest bool) error {
	if k.log.Config.SecretsMode() == project.SecretsOff || k.log.DB.Damage() != nil || !k.Scan.Mu.TryLock() {
		return nil
	}
	defer k.Scan.Mu.Unlock()
	l := &leakScan{
		e: k, throttle: rest, changed: map[objstore.Key]*LeakFlag{}, changedSaid: map[string]*saidLook{},
		allow: k.log.Config.SecretsAllowed(), saved: time.Now(),
		from: time.Now(),
	}
	var err error
	if l.cursor, err = k.ReadLeakCursor(); err != nil {
		return fmt.Errorf("look for secrets: %w", err)
	}
	if l.saidDone, err = k.readSaidMark(); err != nil {
		return fmt.Errorf("look for secrets: %w", err)
	}
	if err = l.run(ctx); err == nil {
		err = l.runSaid(ctx)
	}
	if err == nil && k.log.Config.SecretsMode() == project.SecretsSkip {
		err = l.freed(ctx)
	}
	err = errors.Join(err, l.save(context.WithoutCancel(ctx)))
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("look for secrets: %w", err)
	}
	return nil
}

// DropRules gives the rules back until contents are looked at again.
func (k *Leaks) DropRules() {
	if k.Scan.Mu.TryLock() {
		k.Scan.Scanner = nil
		k.Scan.Mu.Unlock()
	}
}

func (l *leakScan) run(ctx context.Context) error {
	for {
		from := l.cursor.Done
		ops, last, err := l.next(from, func(op *refs.Operation) bool {
			return op.Kind == refs.KindCheckpoint || op.Kind == refs.KindSafety
		})
		if err != nil || last == from {
			return err
		}
		for _, op := range ops {
			if err := l.operation(ctx, op); err != nil {
				return err
			}
		}
		if l.cursor.Done < last {
			// Operations without a checkpoint are passed over again, rather than written down each time.
			l.cursor.Done, l.cursor.Path = last, ""
		}
		l.moved = l.moved || last-from >= OpsAtOnce
	}
}

// OpsAtOnce is how many operations are read before their contents are.
var OpsAtOnce uint64 = 1024

// next gives those of the next operations behind one that are wanted, and the newest operation among those that were
// looked through.
func (l *leakScan) next(
	behind uint64, want func(*refs.Operation) bool,
) (ops []*refs.Operation, last uint64, err error) {
	last = behind
	n := uint64(0)
	rg := kv.Range{Prefix: []byte{kv.PrefixOperation}, From: kv.OperationKey(behind + 1)}
	err = l.e.log.DB.Scan(rg, func(key, raw []byte) error {
		if n++; n > OpsAtOnce {
			return kv.ErrStop
		}
		if len(key) != 9 {
			return nil
		}
		last = binary.BigEndian.Uint64(key[1:])
		if op, err := refs.DecodeOperation(last, raw); err == nil && want(op) {
			ops = append(ops, op)
		}
		return nil // what is damaged is verify's to say
	})
	return ops, last, err
}

// operation looks at what a checkpoint has and the step before it had not.
func (l *leakScan) operation(ctx context.Context, op *refs.Operation) error {
	cp, err := l.e.log.Checkpoint(op.Checkpoint)
	if model.IsUnreadable(err) {
		return nil
	}
	if err != nil {
		return err
	}
	from := l.cursor.Tree
	if _, err := tree.List(l.e.log.Objs, from); !from.IsZero() && model.IsUnreadable(err) {
		from = objstore.ID{} // gc has it: all is looked at
	}
	resumed := l.cursor.Path
	err = tree.Diff(l.e.log.Objs, from, cp.Tree, func(ch tree.Change) error {
		noFile := ch.New == nil || ch.New.Type != tree.TypeFile
		if noFile || ch.Old != nil && ch.Old.ID == ch.New.ID {
			return nil
		}
		if resumed != "" && tree.ComparePaths(ch.Path, resumed) <= 0 {
			return nil
		}
		if err := l.content(ctx, cp, ch.Path, ch.New); err != nil {
			return err
		}
		l.cursor.Path, l.moved = ch.Path, true
		return l.pause(ctx)
	})
	if err != nil && !model.IsUnreadable(err) {
		return err
	}
	l.cursor.Done, l.cursor.Path, l.moved = op.Seq, "", true
	if op.Kind == refs.KindCheckpoint {
		l.cursor.Tree = cp.Tree
	}
	return nil
}

// content looks at one content, unless that was done.
func (l *leakScan) content(ctx context.Context, cp *model.Checkpoint, path string, ent *tree.Entry) error {
	if ent.Size == 0 || ent.Size > leaks.MaxSize || l.allow(path) {
		return nil
	}
	key := ent.ID.Key()
	was, err := l.flag(key)
	if err != nil {
		return err
	}
	if was == nil && l.e.Scan.scanned[scannedAt{key, path}] {
		return nil
	}
	raw, err := l.e.log.Objs.Get(objstore.Blob, ent.ID)
	if model.IsUnreadable(err) {
		return nil
	}
	if err != nil {
		return err
	}
	list, err := l.find(ctx, path, raw)
	if err != nil {
		return err
	}
	switch {
	case len(list) > 0:
		l.found(key, path, cp.ID, list)
	case was != nil && slices.Equal(was.Paths, []string{path}): // by rules that there were
		l.changed[key] = nil
	case was == nil:
		l.looked(scannedAt{key, path})
	}
	return nil
}

// find asks the rules.
func (l *leakScan) find(ctx context.Context, path string, raw []byte) ([]value.Finding, error) {
	if !leaks.Text(raw) {
		return nil, nil
	}
	s, err := l.e.Scan.scanner()
	if err != nil {
		return nil, err
	}
	return s.Find(ctx, path, raw)
}

// looked remembers a content in which nothing was found.
func (l *leakScan) looked(at scannedAt) {
	if l.e.Scan.scanned == nil || len(l.e.Scan.scanned) >= maxLooked {
		l.e.Scan.scanned = map[scannedAt]bool{}
	}
	l.e.Scan.scanned[at] = true
}

// flag is the flag of a content as it will be; nil: it has none.
func (l *leakScan) flag(key objstore.Key) (*LeakFlag, error) {
	if f, ok := l.changed[key]; ok {
		return f, nil
	}
	all, err := l.e.leakFlags()
	if err != nil {
		return nil, err
	}
	return all.flags[key], nil
}

// found flags a content at a path.
func (l *leakScan) found(key objstore.Key, path string, cp objstore.ID, list []value.Finding) {
	now := LeakFlag{Paths: []string{path}, Checkpoint: cp, Findings: list}
	if was, _ := l.flag(key); was != nil {
		now.Checkpoint = was.Checkpoint
		now.Paths, now.Free = slices.Clone(was.Paths), slices.DeleteFunc(slices.Clone(was.Free), func(p string) bool { return p == path })
		if i, ok := slices.BinarySearch(now.Paths, path); !ok && len(now.Paths) < MaxFlagPaths {
			now.Paths = slices.Insert(now.Paths, i, path)
		}
	}
	l.changed[key] = &now
}

// pause is called after each content: it writes down what was found out, and stands back while events are taken in.
func (l *leakScan) pause(ctx context.Context) error {
	now := time.Now()
	if now.Sub(l.saved) >= leakSave {
		if err := l.save(ctx); err != nil {
			return err
		}
	}
	if worked := now.Sub(l.from); worked >= leakSlice {
		if l.throttle {
			select {
			case <-time.After(worked):
			case <-ctx.Done():
			}
		}
		l.e.log.StandBack()
		l.from = time.Now()
	}
	return ctx.Err()
}

// save writes down what was found out, in one batch.
func (l *leakScan) save(ctx context.Context) error {
	l.saved = time.Now()
	if !l.moved && !l.saidMoved && len(l.changed)+len(l.changedSaid) == 0 {
		return nil
	}
	b := l.e.log.DB.NewBatch()
	defer b.Close() //nolint:errcheck // after a commit there is nothing to close
	for key, f := range l.changed {
		var err error
		if f == nil {
			err = b.Delete(LeakKey(key))
		} else {
			err = b.Set(LeakKey(key), f.Encode())
		}
		if err != nil {
			return err
		}
	}
	if err := b.Set(LeakMarkKey, l.cursor.Encode()); err != nil {
		return err
	}
	if err := l.saveSaid(b); err != nil {
		return err
	}
	if err := b.Commit(ctx, kv.Written); err != nil {
		return err
	}
	if len(l.changed) > 0 {
		if err := l.e.Reflag(l.changed); err != nil {
			return err
		}
		l.changed = map[objstore.Key]*LeakFlag{}
	}
	if len(l.changedSaid) > 0 {
		l.e.Scan.said.Store(nil)
	}
	clear(l.changedSaid)
	l.moved, l.saidMoved = false, false
	return nil
}

// saveSaid puts the looks at conversations that have gone on into a batch, and how far the log was looked through.
func (l *leakScan) saveSaid(b *kv.Batch) error {
	for _, look := range l.changedSaid {
		if err := b.Set(saidKey(look.Session), look.encode()); err != nil {
			return err
		}
	}
	if l.said == nil {
		return nil
	}
	m := LeakCursor{Rules: leaks.Version(), Done: l.saidDone}
	return b.Set(saidMarkKey, m.Encode())
}
