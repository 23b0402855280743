package ledger_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/ledger"
	"rewind/engine/model"
	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
)

// The sessions of a told project: two with a file, and one that an agent makes of the first.
const (
	first  = "claude/first"
	second = "claude/second"
	forked = "claude/forked"
)

// put stores a checkpoint.
func put(p *enginetest.Project, cp model.Checkpoint) objstore.ID {
	p.T.Helper()
	cp.Time, cp.Tree = p.Tick, enginetest.TestID("tree")
	tx := p.E.Log.Objs.Begin()
	p.Must(p.E.Log.PutCheckpoint(tx, &cp, cp.Seq))
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
	return cp.ID
}

// wholeTree is a restore of all files.
func wholeTree() refs.Operation {
	return refs.Operation{Kind: refs.KindCheckout, Restore: &refs.Restore{Changed: 1}}
}

// told is a project whose log is short, and has everything that rows are made of. Its rows are stored up to the middle.
type told struct {
	*enginetest.Project
	cut uint64 // changed the first session's file
}

func newTold(t *testing.T) *told {
	t.Helper()
	p := &told{Project: enginetest.NewProject(t)}
	_, err := p.E.Log.Sessions()
	p.Must(err)
	for _, name := range []string{first, second, forked} {
		setSession(p.Project, &model.Session{Name: name, Transcript: "/" + name + ".jsonl", Began: 1, Last: p.Tick})
	}
	step := event(first, 1, hooks.AfterTool)
	step.Kind, step.Checkpoint = refs.KindCheckpoint, put(p.Project, model.Checkpoint{
		Seq: 1, Session: first,
		By: []string{first}, Cause: model.Cause{Event: "after-tool", Turn: 1, Prompt: "x"},
	})
	found := event(first, 1, hooks.AfterTool)
	found.Checkpoint = put(p.Project, model.Checkpoint{Seq: 2, Session: second, By: []string{first, second}})
	commit(p.Project, event(first, 1, hooks.Prompt), step, event(second, 1, hooks.Prompt),
		event(forked, 1, hooks.Prompt), event(first, 1, hooks.Stop), found, event(forked, 1, hooks.Stop))
	p.cut = commit(p.Project, changes(first, 1, 2)...)
	p.know(p.Project)
	all(p.Project, []string{first})
	commit(p.Project, event(first, 1, hooks.Prompt), step, wholeTree(), event(second, 1, hooks.Stop),
		event(forked, 2, hooks.Prompt))
	commit(p.Project, append(changes(first, 2, 1), event(forked, 2, hooks.Stop), event(first, 1, hooks.Stop))...)
	return p
}

// know has a copy of the project know what the second change of the first session's file made again.
func (p *told) know(q *enginetest.Project) {
	q.E.Ledger.VersionsBy(func(_ *model.Session, seq uint64, _ refs.File, _ ledger.Before) *ledger.Version {
		if seq == p.cut {
			return nil
		}
		return &ledger.Version{Turns: 1, From: p.cut}
	})
}

// row is the key and the value of a stored row.
func (p *told) row(session string, index int) (key, val []byte) {
	p.T.Helper()
	keys, vals := stored(p.Project)
	for i, key := range keys {
		if bytes.HasPrefix(key, append([]byte{kv.PrefixLedger, 2}, session+"\x00"...)) {
			if index == 0 {
				return key, vals[i]
			}
			index--
		}
	}
	p.T.Fatalf("%s has no such row", session)
	return nil, nil
}

// eachText is what all rows say.
func eachText(q *enginetest.Project) (text string, err error) {
	err = q.E.Ledger.Each(func(session string, row *ledger.Turn) error {
		text += fmt.Sprintln(session, *row)
		return nil
	})
	return text, err
}

func beforeText(session string) func(q *enginetest.Project) (string, error) {
	return func(q *enginetest.Project) (string, error) {
		list, err := q.E.Ledger.TurnsBefore(session, math.MaxUint64, 2)
		return fmt.Sprint(list), err
	}
}

func checkText(q *enginetest.Project) (string, error) {
	differ, err := q.E.Ledger.Check()
	return fmt.Sprint(differ), err
}

// rewriteText has somebody change the log's past, and asks for rows then.
func rewriteText(q *enginetest.Project) (string, error) {
	b := q.E.Log.DB.NewBatch()
	defer b.Close() //nolint:errcheck // after a commit there is nothing to close
	if err := ledger.Changed(q.E.Log.DB, b); err != nil {
		return "", err
	}
	q.Must(b.Commit(enginetest.Bg, kv.Written))
	q.E.Log.Rewrote()
	return eachText(q)
}

// A read that fails gives no wrong rows, whatever of them is stored: an error, or the right answer, and that when asked
// again.
func TestRowsWhileReadsFail(t *testing.T) {
	t.Parallel()
	p := newTold(t)
	sweep := func(name string, ask func(q *enginetest.Project) (string, error)) {
		t.Helper()
		p.ReadFails(name, math.MaxInt32, func(q *enginetest.Project) (string, error) {
			p.know(q)
			return ask(q)
		})
	}
	// what comes must be what there is
	is := func(want string) func(q *enginetest.Project) (string, error) {
		return func(q *enginetest.Project) (string, error) {
			got, err := eachText(q)
			if err == nil && got != want {
				t.Errorf("%s\nwant %s", got, want)
			}
			return got, err
		}
	}
	sweep("folded on", eachText)
	want, err := eachText(p.Project)
	p.Must(err)
	sweep("stored", is(want))
	sweep("stored, the newest", beforeText(first))

	key, val := p.row(first, 0)
	_, other := p.row(first, 1)
	write(p.Project, key, other)
	changed(p.Project, ledger.Changing)
	sweep("wrong, and who changed the past was killed", is(want))
	changed(p.Project, ledger.Changed)
	write(p.Project, key, other)
	sweep("wrong, check", checkText)
	sweep("the past changes", rewriteText)
	write(p.Project, key, val)

	newest, val := p.row(first, 1)
	write(p.Project, newest, val[:len(val)-1])
	sweep("a broken row, the newest", beforeText(first))
	write(p.Project, newest, val)

	comesFrom(p.Project, forked, first, 2)
	sweep("counted anew", func(q *enginetest.Project) (string, error) {
		text, err := beforeText(forked)(q)
		if err != nil {
			return "", err
		}
		differ, err := checkText(q)
		return text + differ, err
	})
}
