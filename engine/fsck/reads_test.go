package fsck_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/fsck"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
)

// told is what a check found, as text. A fault that is an error of the disk is one of the check.
func told(f *fsck.Faults, err error) (string, error) {
	if err != nil {
		return "", err
	}
	var list []string
	for _, one := range f.Faults {
		if errors.Is(one, syscall.EIO) {
			return "", one
		}
		list = append(list, one.Error())
	}
	slices.Sort(list)
	return fmt.Sprintln(f.Checked, strings.Join(list, "\n"), f.Lost, f.LostOps, f.Affected), nil
}

// whole is a project with a bit of everything.
func whole(t *testing.T) *enginetest.Project {
	t.Helper()
	p, k := enginetest.TwoTurns(t)
	p.Write("d/e/f", enginetest.Big("deep"))
	two := p.Save("two")
	p.Checkout("@-", restore.Options{})
	p.Write("g", enginetest.Big("1"))
	p.Save("three")
	_, err := p.E.History.Tag(enginetest.Bg, "t", two.ID.String(), false)
	p.Must(err)
	p.Fork("turn:1@"+k.Name(), restore.Options{})
	p.Back("turn:1@"+k.Name(), restore.Options{InPlace: true})
	k.Take("three", p.Edits("f", "3"))
	p.Settle()
	return p
}

// broken is one of which things are lost: the content of a file, a directory, an operation, a block of a conversation.
func broken(t *testing.T) *enginetest.Project {
	t.Helper()
	p, k := enginetest.TwoTurns(t)
	p.Write("lost", noise(1))
	p.Write("d/e", noise(2))
	one := p.Save("one")
	p.Write("lost", noise(3))
	p.Write("d/e", noise(4))
	two := p.Save("two")
	lost := blobOf(p, one, "lost")
	said := p.Session(k.Name()).Cursor.Transcript
	dir := blobOf(p, one, "d")
	dir.Kind = objstore.Tree
	p.Must(os.Remove(k.File))
	drop(p, lost, dir, model.Object{Kind: objstore.Transcript, Id: said})
	damage(p, func(b *kv.Batch) error { return b.Set(kv.OperationKey(two.Seq-1), []byte("x")) })
	return p
}

// few is a small project with a conversation, a restore and a tag.
func few(t *testing.T) *enginetest.Project {
	t.Helper()
	p, k := enginetest.Begun(t)
	k.Take("one", p.Edits("d/g", "1"))
	p.Settle()
	cp := p.Save("one")
	_, err := p.E.History.Tag(enginetest.Bg, "t", cp.ID.String(), false)
	p.Must(err)
	p.Checkout("@-", restore.Options{})
	_, err = p.E.Ledger.Turns(k.Name())
	p.Must(err)
	return p
}

// lacks is a small project that lacks a file's content, a directory, a checkpoint and an operation.
func lacks(t *testing.T) *enginetest.Project {
	t.Helper()
	p := enginetest.NewProject(t)
	var cps []*model.Checkpoint
	for i := range 4 {
		p.Write("d/lost", noise(int64(i)))
		cps = append(cps, p.Save(fmt.Sprint(i)))
	}
	dir := blobOf(p, cps[3], "d")
	dir.Kind = objstore.Tree
	damage(p, func(b *kv.Batch) error { return b.Set(kv.OperationKey(2), []byte("x")) })
	drop(p, dir, blobOf(p, cps[1], "d/lost"), model.Object{Kind: objstore.Checkpoint, Id: cps[2].ID})
	return p
}

// TestVerifyWhileReadsFail: a check of a store of which a read fails finds what is wrong and no more, or tells of that
// read.
func TestVerifyWhileReadsFail(t *testing.T) {
	for name, c := range map[string]struct {
		p    *enginetest.Project
		most int
	}{"whole": {whole(t), 40}, "broken": {broken(t), 40}, "few": {few(t), 200}, "lacks": {lacks(t), 200}} {
		for _, full := range []bool{false, true} {
			c.p.ReadFails(fmt.Sprint(name, ", full ", full), c.most, func(q *enginetest.Project) (string, error) {
				return told(q.E.Checker.Verify(enginetest.Bg, full, nil, nil))
			})
		}
	}
}

// TestRepairWhileReadsFail: a repair during which a read fails puts right what is wrong, or fails and leaves it to the
// next one. What is only not read for the moment is not lost.
func TestRepairWhileReadsFail(t *testing.T) {
	for name, p := range map[string]*enginetest.Project{"whole": whole(t), "broken": broken(t)} {
		p.ReadFails(name, 40, func(q *enginetest.Project) (string, error) {
			if _, err := q.E.Checker.Repair(enginetest.Bg, nil, nil); err != nil {
				return "", err
			}
			f, err := q.E.Checker.Verify(enginetest.Bg, true, nil, nil)
			text, err := told(f, err)
			if err != nil {
				return "", err
			}
			err = q.E.Log.Refs.Newest(0, func(op *refs.Operation) error {
				if op.Kind != refs.KindRepair {
					text += fmt.Sprintln(op.Seq, op.Kind, op.Checkpoint.Short(), op.Transcript.Short())
				}
				return nil
			})
			return text, err
		})
	}
}

// idle is an error if a transaction was left open: gc would wait for it for ever.
func idle(q *enginetest.Project) error {
	c, err := q.E.Log.Objs.Collect()
	if err == nil {
		c.End()
	}
	return err
}

// TestFailedRepairIsOver: a repair that a read makes fail leaves nothing open.
func TestFailedRepairIsOver(t *testing.T) {
	p := few(t)
	p.Write("moved", noise(1))
	moved := blobOf(p, p.Save("moved"), "moved")
	said := p.Session("claude/" + enginetest.ClaudeID(1)).Cursor.Transcript
	p.Must(os.Rename(p.Path("moved"), p.Path("elsewhere")))
	drop(p, moved, model.Object{Kind: objstore.Transcript, Id: said})
	p.ReadFails("repair", 100, func(q *enginetest.Project) (string, error) {
		_, err := q.E.Checker.Repair(enginetest.Bg, nil, nil)
		return fmt.Sprint(idle(q)), err
	})
}
