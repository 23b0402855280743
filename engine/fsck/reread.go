package fsck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
	"rewind/tree/snapshot"
)

// reread stores again what the working tree and the session files still hold of what cannot be read. It returns how
// many objects that has brought back. What is there but changed meanwhile is not them: the id of an object is the hash
// of its bytes.
func (r *repair) reread(ctx context.Context, v *verifier, p model.Progress) (int, error) {
	if err := r.paths(ctx, v); err != nil {
		return 0, err
	}
	for o := range v.bad {
		if o.Kind == objstore.Blob || o.Kind == objstore.Tree || o.Kind == objstore.Note {
			if err := r.worktree(ctx, p); err != nil {
				return 0, err
			}
			break
		}
	}
	if err := r.conversations(ctx, v); err != nil {
		return 0, err
	}
	r.e.log.Objs.Forget()
	n := 0
	for o := range v.bad {
		if err := r.e.log.Objs.Verify(ctx, o.Kind, o.Id); err == nil {
			n++
		}
	}
	if n > 0 {
		r.did("%s stored again, from the working tree and the session files", counted(n, "object"))
	}
	return n, ctx.Err()
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// worktree stores all that a checkpoint of the working tree would hold. Every file is read; what is stored and sound is
// not stored again.
func (r *repair) worktree(ctx context.Context, p model.Progress) error {
	e := r.e
	e.log.Lock()
	rules, err := e.worktree.Rules()
	e.log.Unlock()
	if err != nil {
		return err
	}
	root, err := e.log.Root()
	if err != nil {
		return err
	}
	defer root.Close()
	tx := e.log.Objs.Begin()
	src := e.worktree.Source(root, rules)
	src.Get, src.Put = tx, rewriter{tx}
	if p != nil {
		src.Progress = p
	}
	res, err := snapshot.Take(ctx, src)
	if err == nil {
		var note []byte
		if note, err = res.Note(); err == nil && note != nil {
			_, err = tx.Put(objstore.Note, note, objstore.ID{})
		}
	}
	if err != nil {
		tx.Discard()
		return &value.OpError{Op: "repair from", Subject: e.log.Project.Root, Err: err}
	}
	return tx.Commit(ctx, kv.Durable)
}

// rewriter puts everything: what is there may be damaged, which Has does not tell and a put does.
type rewriter struct{ tx *objstore.Tx }

func (a rewriter) Put(k objstore.Kind, raw []byte, prev objstore.ID) (objstore.ID, error) {
	return a.tx.Put(k, raw, prev)
}

func (a rewriter) PutReader(r io.Reader, prev objstore.ID) (objstore.ID, int64, error) {
	return a.tx.PutReader(r, prev)
}

// paths looks for lost files at the paths where trees name them, whatever the rules say of these now.
func (r *repair) paths(ctx context.Context, v *verifier) error {
	root, err := r.e.log.Root()
	if err != nil {
		return err
	}
	defer root.Close()
	tx := r.e.log.Objs.Begin()
	for o, lost := range v.bad {
		if o.Kind != objstore.Blob || lost.path == "" {
			continue
		}
		if err := ctx.Err(); err != nil {
			tx.Discard()
			return err
		}
		if err := putFound(tx, root, lost.path, o.Id); err != nil {
			tx.Discard()
			return err
		}
	}
	return tx.Commit(ctx, kv.Durable)
}

// putFound stores a file, or a link's target, if it is the blob. One that cannot be read is none.
func putFound(tx *objstore.Tx, root worktreefs.Dir, path string, want objstore.ID) error {
	parent, name, err := worktreefs.OpenParent(root, path)
	if err != nil {
		return nil //nolint:nilerr // it is not there
	}
	defer parent.Close()
	if target, err := parent.Readlink(name); err == nil {
		if objstore.Sum(objstore.Blob, []byte(target)) == want {
			_, err = tx.Put(objstore.Blob, []byte(target), objstore.ID{})
		}
		return err
	}
	f, st, err := parent.Open(name)
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	defer f.Close()
	h := objstore.NewHasher()
	if n, err := io.Copy(h, io.NewSectionReader(f, 0, st.Size)); err != nil || n != st.Size || h.Sum() != want {
		return nil //nolint:nilerr // as above
	}
	_, _, err = tx.PutReader(io.NewSectionReader(f, 0, st.Size), objstore.ID{})
	return err
}

// A sessionFile is one of an agent, and the lengths at which it was captured.
type sessionFile struct {
	agent   transcript.Agent
	lengths map[int64]objstore.ID
}

// lostTalks are the session files, by path, that may have what cannot be read of conversations.
type lostTalks struct {
	damage *damage
	files  map[string]*sessionFile
}

// note takes in a file with the length at which it was captured, if that cannot be read.
func (l lostTalks) note(session, path string, id objstore.ID, length int64) {
	if path == "" || length == 0 || !l.damage.conversation(id) {
		return
	}
	agent, _ := model.SplitSession(session)
	if l.files[path] == nil {
		l.files[path] = &sessionFile{agent, map[int64]objstore.ID{}}
	}
	l.files[path].lengths[length] = id
}

// conversations stores again what session files hold of conversations that cannot be read. The blocks of a transcript
// follow from the bytes alone: the file is read once, and stored as it was at each length at which it was captured. It
// is kept if one of these is what was captured.
func (r *repair) conversations(ctx context.Context, v *verifier) error {
	lost := lostTalks{newDamage(v), map[string]*sessionFile{}}
	for o := range v.seen {
		if o.Kind == objstore.Checkpoint {
			cp, err := r.e.log.Checkpoint(o.Id)
			if lost.damage.passing.note(err); err == nil {
				lost.note(cp.Session, cp.Conversation.Path, cp.Conversation.Transcript, cp.Conversation.Length)
			}
		}
	}
	r.e.log.Lock()
	err := r.e.log.LoadSessions()
	for _, s := range r.e.log.EachSession() {
		lost.note(s.Name, s.Cursor.Path, s.Cursor.Transcript, s.Cursor.Length)
	}
	all := maps.Collect(r.e.log.EachSession())
	r.e.log.Unlock()
	if err != nil {
		return err
	}
	err = r.e.log.Refs.Log(func(_ uint64, op *refs.Operation, err error) error {
		if err != nil || op.Transcript.IsZero() || all[op.Session] == nil {
			return ctx.Err()
		}
		raw, err := r.e.log.Objs.Get(objstore.Transcript, op.Transcript)
		if lost.damage.passing.note(err); err == nil {
			if n, err := conversation.DecodeNode(op.Transcript, raw); err == nil {
				lost.note(op.Session, all[op.Session].Cursor.Path, op.Transcript, n.Length)
			}
		}
		return ctx.Err()
	})
	if err = cmp.Or(err, lost.damage.passing.err); err != nil {
		return err
	}
	for path, t := range lost.files {
		if err := r.sessionFile(ctx, path, t); err != nil {
			return err
		}
	}
	return nil
}

func (r *repair) sessionFile(ctx context.Context, path string, t *sessionFile) error {
	f, err := conversation.OpenSession(t.agent, path)
	if err != nil {
		return nil //nolint:nilerr // it is gone
	}
	defer f.Close()
	tx := r.e.log.Objs.Begin()
	found, err := r.lengths(tx, f, t)
	if err != nil || !found {
		tx.Discard()
		if errors.Is(err, conversation.ErrMoving) || errors.Is(err, io.EOF) {
			err = nil
		}
		return err
	}
	return tx.Commit(ctx, kv.Durable)
}

// lengths puts a session file as it was at each length; found: it was so at one of them.
func (r *repair) lengths(tx *objstore.Tx, f *conversation.SessionFile, t *sessionFile) (found bool, err error) {
	var at []int64
	for n := range t.lengths {
		at = append(at, n)
	}
	slices.Sort(at)
	w := &conversation.Writer{Tx: tx}
	base := int64(0)
	if f.Agent == transcript.Codex {
		if base, err = r.e.talks.BaseOf(w, f, f.Info.Size(), conversation.MaxBases); err != nil {
			return false, nil //nolint:nilerr // without its beginning it is not what was captured
		}
	}
	for _, n := range at {
		if n < w.Length || n-base > f.Info.Size() {
			continue
		}
		if err := f.CopyTo(w, w.Length-base, n-base); err != nil {
			return found, err
		}
		id, err := w.Close()
		if err != nil {
			return found, err
		}
		found = found || id == t.lengths[n]
	}
	return found, nil
}
