package authorship

import (
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/kv"
	"rewind/refs"
	"rewind/tree"
)

// foundBy is what a colleague's restore found at a path that nobody has changed since.
type foundBy struct {
	seq   uint64 // of the restore
	by    string
	was   *tree.Entry // the entry that it found; nil: none
	takes bool        // it took back what its own session had made
}

// maxGiveBack bounds how many operations giveBack reads.
const maxGiveBack = 1 << 14

// giveBack removes paths from stay: those that a colleague's restore took from this session's own work or from a
// person's, if target has them. That restore went to another branch, or was exact, and now the person comes back. set
// has those restores by path. What a restore took of its own session's work stays away, also with what a person had
// changed in it, and so does all that it laid out for an agent in the middle of a turn.
func (j *Judge) giveBack(stay Theirs, set map[string]foundBy, target *model.Checkpoint) error {
	newest, err := j.mayReturn(set, target)
	if err != nil || len(set) == 0 {
		return err
	}
	last := func(path string, seq uint64, authors []string) {
		l, asked := set[path]
		if !asked || seq >= l.seq {
			return
		}
		delete(set, path)
		if j.tookOf(l.by, authors, seq) {
			delete(stay, path)
		}
	}
	looked := 0
	return j.e.log.Refs.Newest(newest-1, func(op *refs.Operation) error {
		looked++
		if len(set) == 0 || op.Seq < j.began || looked > maxGiveBack {
			return kv.ErrStop
		}
		if op.Kind != refs.KindCheckpoint { // restores only bring back what checkpoints have
			return nil
		}
		cp, err := j.e.log.Checkpoint(op.Checkpoint)
		if err != nil {
			return err
		}
		from, err := j.e.log.Before(cp)
		if err != nil {
			return err
		}
		of := cp.AuthorsOf()
		return tree.Diff(oplog.Lenient{Store: j.e.log.Objs}, from, cp.Tree, func(ch tree.Change) error {
			last(ch.Path, cp.Seq, of(ch.Path))
			return nil
		})
	})
}

// mayReturn leaves in a set of restores those that found what target has, and that did not take back what another
// family's session had made. newest is the newest of them.
func (j *Judge) mayReturn(set map[string]foundBy, target *model.Checkpoint) (newest uint64, err error) {
	wanted := oplog.NewLookups(oplog.Lenient{Store: j.e.log.Objs}, target.Tree)
	for path, l := range set {
		is, err := wanted.Find(path)
		if err != nil {
			return 0, err
		}
		its := l.takes && j.e.sessions.Family(l.by) != j.family
		if !tree.Same(is, l.was) || its || j.inTurn(l.by) {
			delete(set, path)
			continue
		}
		newest = max(newest, l.seq)
	}
	return newest, nil
}

// tookOf reports whether a restore of the session by took away something that comes back with this session; authors had
// made the last change before it. For a restore of its family that is every change that is no colleague's. For another
// restore it is what this session alone had changed, and what a person had.
func (j *Judge) tookOf(by string, authors []string, seq uint64) bool {
	if j.e.sessions.Family(by) == j.family {
		return j.judge(authors, seq).stays == ""
	}
	for _, name := range authors {
		if !j.isOwn(name, seq) {
			return false
		}
	}
	return true
}

// isOwn reports whether a change by a session at an operation is this session's own.
func (j *Judge) isOwn(by string, seq uint64) bool { return seq < j.own[j.e.wholeSession(by)] }

// inTurn reports whether a session's agent is in the middle of a turn or a call; each is looked at once.
func (j *Judge) inTurn(session string) bool {
	is, known := j.turning[session]
	if s := j.e.log.Session(session); !known && s != nil {
		is = j.e.sessions.InTurn(s)
		j.turning[session] = is
	}
	return is
}
