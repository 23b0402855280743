package fsck

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
)

// RepairFiles makes the store of a project that does not open, or whose tables are damaged, one that opens: see
// kv.Repair. Nobody may have it open.
func RepairFiles(
	ctx context.Context, p *project.Project, o project.Options, progress model.Progress,
) (*kv.Repaired, error) {
	now := o.Now
	if now == nil {
		now = time.Now
	}
	r, err := project.ReadProjectRecord(p.Store)
	done, err := kv.Repair(ctx, p.Store, o.StoreOptions(), kv.RepairOptions{
		Ours: err == nil && r.ID == p.ID, Now: now(),
		Operation: func(seq uint64, val []byte) []byte { return refs.LostValue(seq, val, now().UnixMilli()) },
		Purged:    objstore.IsPurged,
		Progress: func(keys int, bytes int64) {
			if progress != nil {
				progress(keys, bytes)
			}
		},
	})
	if err != nil {
		return nil, &value.OpError{Op: "repair store", Subject: p.Store, Err: err}
	}
	return done, nil
}

// errFilesDamaged is returned by Repair for a store that RepairFiles has to come before.
var errFilesDamaged = fmt.Errorf("repair: the database's files are %w", kv.ErrCorrupt)

// needsFiles reports whether an error, or one of the faults that Verify found, is of the kind that RepairFiles is for.
func needsFiles(err error) bool {
	var own *kv.CorruptError
	return errors.As(err, &own) && own.File != ""
}

// RepairResult is what Repair did.
type RepairResult struct {
	Files      *kv.Repaired // what RepairFiles did; nil: there was no need
	Done       []string     // what was put right, a line each
	Quarantine string       // the directory with what was replaced; "": nothing was
	Left       *Faults      // what is there now
	Operation  *refs.Operation
}

// Repair repairs what Verify finds, in a store that opens. It reads objects again from the working tree and the session
// files, and sets refs by the log. Operations and conversations whose objects are lost say so afterwards. Objects that
// were not found are marked as lost. Nothing is removed but what cannot be read, of which the quarantine has the bytes.
// It is refused while a checkout is half done that can go on. Events go on meanwhile.
func (ck *Checker) Repair(ctx context.Context, files *kv.Repaired, p model.Progress) (*RepairResult, error) {
	if err := ck.log.Damage(); err != nil {
		return nil, err
	}
	r := &repair{e: ck, out: &RepairResult{Files: files, Left: &Faults{}}}
	if files != nil {
		r.out.Quarantine = files.Quarantine
	}
	if err := r.passes(ctx, p); err != nil {
		return nil, errors.Join(err, r.save(ctx, p)) // what was changed already stays so
	}
	return r.out, r.save(ctx, p)
}

// passes repairs until there is nothing more that can be.
func (r *repair) passes(ctx context.Context, p model.Progress) error {
	for pass := range maxPasses {
		v, err := r.verify(ctx, p)
		if err != nil {
			return err
		}
		r.out.Left = v.out
		if pass > 0 && len(v.out.Faults) == 0 {
			break
		}
		if err := r.pass(ctx, v, pass == 0, p); err != nil || !r.again {
			return err
		}
	}
	return nil
}

// save takes a checkpoint of the working tree where nothing that is known of it can be read: from then on it can.
func (r *repair) save(ctx context.Context, p model.Progress) error {
	if !r.blind {
		return nil
	}
	s, err := r.e.worktree.Save(ctx, "", "after a repair", p)
	if err == nil {
		r.did("checkpoint %s holds the working tree as it is", s.Checkpoint.ID.Short())
	}
	return err
}

// maxPasses is how often what a repair has put right is looked at again: an operation that is made again names objects
// that nothing named before.
const maxPasses = 5

// pass repairs what was found.
func (r *repair) pass(ctx context.Context, v *verifier, first bool, p model.Progress) error {
	if first {
		if r.out.Files == nil && slices.ContainsFunc(v.out.Faults, needsFiles) {
			return errFilesDamaged
		}
		if err := r.canBegin(v); err != nil {
			return err
		}
	}
	if len(v.bad) > 0 {
		if v.passing.err != nil { // it does not know all that is bad
			return v.passing.err
		}
		n, err := r.reread(ctx, v, p)
		if err == nil && n > 0 {
			v, err = r.verify(ctx, p)
		}
		if err == nil {
			err = v.passing.err
		}
		if err != nil {
			return err
		}
	}
	var err error
	r.again, err = r.commit(ctx, v, first)
	return err
}

// repair is one run.
type repair struct {
	e   *Checker
	out *RepairResult
	was []byte // a journal that cannot be read

	again bool // something was changed
	blind bool // nothing is known of the state that the worktree was left in
}

func (r *repair) did(format string, args ...any) {
	r.out.Done = append(r.out.Done, fmt.Sprintf(format, args...))
}

func (r *repair) verify(ctx context.Context, p model.Progress) (*verifier, error) {
	v := r.e.newVerifier(true, p, nil)
	return v, v.run(ctx)
}

// canBegin refuses while a checkout is half done: to finish it, or to take it back, is the remedy, as long as it can
// be.
func (r *repair) canBegin(v *verifier) error {
	r.e.log.Lock()
	defer r.e.log.Unlock()
	j, err := r.e.log.ReadJournal()
	if errors.Is(err, kv.ErrCorrupt) {
		return r.e.log.DB.View(model.JournalKey, func(val []byte) error { r.was = slices.Clone(val); return nil })
	}
	if err != nil || j == nil || r.ended(j) {
		return err
	}
	d := newDamage(v)
	for _, id := range []objstore.ID{j.Target, j.Safety} {
		if d.checkpoint(id) != nil {
			return nil
		}
	}
	return &model.HalfDoneError{Target: j.Target}
}

// keep puts bytes that nothing can be made of into the quarantine.
func (r *repair) keep(name string, raw []byte) error {
	place := r.e.log.Now().UTC().Format("20060102T150405Z") + "-keys"
	if r.out.Quarantine != "" {
		place = filepath.Base(r.out.Quarantine)
	}
	dir, err := r.e.log.DB.PutAside(place, name, raw)
	if err != nil {
		return fmt.Errorf("repair: %w", err)
	}
	r.out.Quarantine = dir
	return nil
}
