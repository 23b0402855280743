package history

import (
	"math"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/objstore"
)

// A branch tells what of the family of the current session lies on its line: its own turns, and those of the sessions
// that it was forked from up to there. For one goroutine.
type branch struct {
	h     *History
	upTo  map[string]uint64 // by session, the last turn that is on the line
	last  map[string]uint64 // by session, the last checkpoint that is, by its operation; absent: not known
	roots map[string]string // by session, the one that its family begins with
	root  string            // of the current session
}

// branch is the current session's.
func (h *History) branch() (*branch, error) {
	at, err := h.sessions.Position()
	if err != nil {
		return nil, err
	}
	b := &branch{h: h, upTo: map[string]uint64{}, last: map[string]uint64{}, roots: map[string]string{}}
	session, n := at.Session, uint64(math.MaxUint64)
	for range conversation.MaxForks {
		b.upTo[session] = n
		l, err := h.lineage(session)
		if err != nil {
			return nil, err
		}
		if l == nil {
			break
		}
		whole := l.Both >= 0 && uint64(l.Both) <= n // all that both have is on the line
		session, n = l.Session, l.UpTo(n)
		if id, err := objstore.ParseID(l.Checkpoint); whole && err == nil {
			if cp, err := h.log.Checkpoint(id); err == nil && cp.Session == session {
				b.last[session] = cp.Seq
			}
		}
	}
	b.root, err = b.rootOf(at.Session)
	return b, err
}

// OtherLine gives what says of checkpoints whether they are of the current session's family and not on its line, as
// List does. For one goroutine.
func (h *History) OtherLine() (func(*model.Checkpoint) (bool, error), error) {
	b, err := h.branch()
	if err != nil {
		return nil, err
	}
	return func(cp *model.Checkpoint) (bool, error) { return b.off(cp.Session, cp.Cause.Turn, cp.Seq) }, nil
}

// off reports whether a turn of a session, or a checkpoint in it (seq is its operation, else 0), is of the current
// session's family and not on its line.
func (b *branch) off(session string, turn, seq uint64) (bool, error) {
	if upTo, on := b.upTo[session]; on {
		if last := b.last[session]; seq > 0 && last > 0 {
			return seq > last, nil
		}
		return turn > upTo, nil
	}
	root, err := b.rootOf(session)
	return root == b.root, err
}

func (b *branch) rootOf(session string) (string, error) {
	if root, known := b.roots[session]; known {
		return root, nil
	}
	root := session
	for range conversation.MaxForks {
		l, err := b.h.lineage(root)
		if err != nil {
			return "", err
		}
		if l == nil {
			break
		}
		root = l.Session
	}
	b.roots[session] = root
	return root, nil
}
