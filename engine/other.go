package engine

import (
	"math"
	"slices"

	"rewind/internal/bug"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// mover is the session whose cursor a checkout of target moves: the named one; else the current one where target lies on
// its line; else the one that target belongs to.
func (e *Engine) mover(target *Checkpoint, w Whose) (string, error) {
	if w.Session == "" {
		at, err := e.position()
		if err != nil {
			return "", err
		}
		line, err := e.line(at.Line, target.Seq)
		if err != nil {
			return "", err
		}
		if _, ok := line[target.ID]; !ok && target.Session != Manual && target.Cause.Event != EventSafety {
			return target.Session, nil
		}
	}
	return e.walked(w)
}

// line holds the checkpoints of a session's line that are not older than seq: those before its tip, and before its cursor.
func (e *Engine) line(session string, seq uint64) (map[objstore.ID]*Checkpoint, error) {
	line := map[objstore.ID]*Checkpoint{}
	for _, name := range []refs.Name{refs.Session(session), refs.Cursor(session)} {
		id, err := e.refs.ID(name)
		if err != nil {
			return nil, err
		}
		for !id.IsZero() && line[id] == nil {
			cp, err := e.checkpoint(id)
			if err != nil {
				return nil, err
			}
			if cp.Seq < seq {
				break
			}
			line[id] = cp
			if id = (objstore.ID{}); len(cp.Parents) > 0 {
				id = cp.Parents[0]
			}
		}
	}
	return line, nil
}

// theirs tells of paths whose change they are. A key that ends with a slash stands for all below a directory.
type theirs map[string]string

// of gives the session that changed a path; "": none did.
func (t theirs) of(path string) string {
	if by := t[path]; by != "" {
		return by
	}
	for i := range len(path) {
		if path[i] != '/' {
			continue
		}
		if by := t[path[:i+1]]; by != "" {
			return by
		}
	}
	return t["/"]
}

func (t theirs) add(path, by string) {
	if t[path] == "" {
		t[path] = by
	}
}

// others lists the paths that other sessions than `session` changed after target, with whose change it was: as checkpoints say, and of
// what the capture finds unsaved, those whose calls are running. A change made while calls of several sessions ran is each one's. Steps
// on whose line this session began are its own past, but for what gc merged into them from other lines.
func (e *Engine) others(session string, target *Checkpoint, c *capture) (theirs, error) {
	if err := e.loadSessions(); err != nil {
		return nil, err
	}
	if bug.Is("others-overwritten") {
		return theirs{}, nil
	}
	line, err := e.line(session, target.Seq)
	if err != nil {
		return nil, err
	}
	began := uint64(math.MaxUint64)
	if s := e.sessions[session]; s != nil {
		began = s.Began
	}
	own := e.ownPast(session)
	paths := theirs{}
	running := e.running()
	if i := slices.IndexFunc(running, func(s string) bool { return s != session }); i >= 0 {
		was, err := e.head()
		if err != nil {
			return nil, err
		}
		err = tree.Diff(c.get, was.tree, c.res.Root, func(ch tree.Change) error {
			paths.add(ch.Path, running[i])
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	err = e.refs.Newest(0, func(op *refs.Operation) error {
		if op.Seq <= target.Seq {
			return kv.ErrStop
		}
		if op.Kind != refs.KindCheckpoint {
			return nil
		}
		cp, err := e.checkpoint(op.Checkpoint)
		if err != nil {
			return err
		}
		by := cp.By
		if cp.Seq < began && line[cp.ID] != nil {
			by = cp.Aside
		}
		i := slices.IndexFunc(by, func(s string) bool { return cp.Seq >= own[s] })
		if i < 0 {
			return nil
		}
		for _, path := range cp.Reverted {
			paths.add(path, by[i])
		}
		from, err := e.before(cp)
		if err != nil {
			return err
		}
		return tree.Diff(lenient{e.objs}, from, cp.Tree, func(ch tree.Change) error {
			paths.add(ch.Path, by[i])
			return nil
		})
	})
	return paths, err
}

// ownPast are the sessions whose changes are a session's own, with the operation from which on they are not: itself, for ever, and those that restores made it
// of, up to then. What they had done behind the place where it begins was taken back, or it goes on from there.
func (e *Engine) ownPast(session string) map[string]uint64 {
	own := map[string]uint64{session: math.MaxUint64}
	until := uint64(math.MaxUint64)
	for range maxBases {
		s := e.sessions[session]
		if s == nil || s.Fork == nil || !refs.KindOf(s.Fork.Kind).IsRestore() {
			break
		}
		session, until = s.Fork.Session, min(until, s.Began)
		if _, seen := own[session]; seen {
			break
		}
		own[session] = until
	}
	return own
}
