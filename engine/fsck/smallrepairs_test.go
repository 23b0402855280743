package fsck_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/fsck"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/kv"
	"rewind/internal/torture"
	"rewind/objstore"
	"rewind/refs"
)

// stands is what a repair has left, as text: what it says is lost, the log, where names are, what is known of sessions.
func stands(q *enginetest.Project, r *fsck.RepairResult) (string, error) {
	left := *r.Left
	left.Checked = 0 // what is stored again in passing counts, too
	text, err := told(&left, idle(q))
	if err != nil {
		return "", err
	}
	all, err := q.E.Log.Refs.List("")
	if err != nil {
		return "", err
	}
	for _, ref := range all {
		text += fmt.Sprintln(ref.Name, ref.ID.Short(), ref.Seq)
	}
	err = q.E.Log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Kind != refs.KindRepair {
			text += fmt.Sprintln(op.Seq, op.Kind, op.Checkpoint.Short(), op.Transcript.Short())
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return text, q.E.Log.DB.Scan(kv.Range{Prefix: []byte{kv.PrefixSession}}, func(k, raw []byte) error {
		text += fmt.Sprintf("%q %x\n", k, raw)
		return nil
	})
}

// hurts are small projects with something to repair.
func hurts(t *testing.T) map[string]*enginetest.Project {
	t.Helper()
	all := map[string]*enginetest.Project{}
	p, k := enginetest.Begun(t)
	p.Write("moved", noise(1))
	k.Take("one", p.Edits("f", "1"))
	p.Settle()
	said := p.Session(k.Name()).Cursor.Transcript
	cp := p.Save("one")
	_, err := p.E.History.Tag(enginetest.Bg, "t", cp.ID.String(), false)
	p.Must(err)
	p.Must(os.Rename(p.Path("moved"), p.Path("elsewhere")))
	drop(p, blobOf(p, cp, "moved"), model.Object{Kind: objstore.Transcript, Id: said})
	all["there still"] = p

	p = enginetest.NewProject(t)
	p.Write("f", "1")
	p.Write("lost", noise(1))
	one := p.Save("one")
	p.Write("f", "2")
	p.Remove("lost")
	two := p.Save("two")
	p.Checkout("@-", restore.Options{})
	_, err = p.E.History.Tag(enginetest.Bg, "t", two.ID.String(), false)
	p.Must(err)
	drop(p, blobOf(p, one, "lost"))
	repair(p)
	p.Remove("lost")
	p.Write("back", noise(1))
	damage(p, func(b *kv.Batch) error {
		return errors.Join(b.Set([]byte("r"+string(refs.Tag("t"))), []byte("x")),
			b.Set(model.JournalKey, []byte("x")), b.Set(model.SessionKey("claude/x"), []byte("x")))
	})
	all["comes back"] = p

	p = enginetest.NewProject(t)
	p.Write("f", "1")
	p.Write("d/lost", noise(1))
	one = p.Save("one")
	p.Write("d/lost", "2")
	p.Save("two")
	p.Write("d/lost", noise(3))
	three := p.Save("three")
	p.Write("f", "on")
	dir := blobOf(p, three, "d")
	dir.Kind = objstore.Tree
	damage(p, func(b *kv.Batch) error { return b.Set(kv.OperationKey(2), []byte("x")) })
	drop(p, blobOf(p, one, "d/lost"), dir, model.Object{Kind: objstore.Checkpoint, Id: one.ID})
	p.Remove("d/lost")
	all["lost"] = p
	all["said at many times"] = saidOften(t)
	return all
}

// saidOften lost every state of a conversation that its session file still has.
func saidOften(t *testing.T) *enginetest.Project {
	t.Helper()
	p, k := enginetest.Begun(t)
	k.Take("one", p.Edits("f", "1"))
	k.Take("two", nil)
	p.Settle()
	said := []model.Object{{Kind: objstore.Transcript, Id: p.Session(k.Name()).Cursor.Transcript}}
	p.Must(p.E.Log.Refs.Newest(0, func(op *refs.Operation) error {
		node := model.Object{Kind: objstore.Transcript, Id: op.Transcript}
		if op.Transcript.IsZero() || slices.Contains(said[1:], node) {
			return nil
		}
		raw, err := p.E.Log.Objs.Get(objstore.Transcript, op.Transcript)
		p.Must(err)
		n, err := conversation.DecodeNode(op.Transcript, raw)
		p.Must(err)
		said = append(said, node, model.Object{Kind: objstore.Blob, Id: n.Tail})
		return nil
	}))
	drop(p, said...)
	return p
}

// TestSmallRepairsWhileReadsFail: whichever read of a repair fails, the repair does the same, or fails and is done by
// the next one.
func TestSmallRepairsWhileReadsFail(t *testing.T) {
	now := time.Now()
	for name, p := range hurts(t) {
		p.E.Log.Now = func() time.Time { return now } // so that what is saved is the same
		p.ReadFails(name, torture.Points(90, 1000), func(q *enginetest.Project) (string, error) {
			r, err := q.E.Checker.Repair(enginetest.Bg, nil, nil)
			if err != nil && r != nil { // it is done, and the step behind it was not taken: a person takes it
				_, err = q.E.Worktree.Save(enginetest.Bg, "", "after a repair", nil)
			}
			if err != nil {
				return "", errors.Join(err, idle(q))
			}
			return stands(q, r)
		})
	}
}
