package gc_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/torture"
	"rewind/objstore"
	"rewind/objstore/objtest"
	"rewind/tree"
)

// left is what a store has: its checkpoints and the keys of its objects. How many steps a checkpoint stands for is left
// out: a gc that goes on from one that was stopped counts those anew that had not gone yet.
func left(p *enginetest.Project) (string, error) {
	var b strings.Builder
	list, err := p.E.History.List(enginetest.Bg, history.ListOptions{All: true})
	if err != nil {
		return "", err
	}
	for _, l := range list.Checkpoints {
		fmt.Fprintln(&b, l.ID.Short(), l.By, l.Counts)
	}
	for _, k := range objtest.Kinds() {
		err := p.E.Log.Objs.Keys(enginetest.Bg, k, func(key objstore.Key, _ objstore.Info) error {
			fmt.Fprintln(&b, k, key.Short())
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// thinned is a project of which gc takes much: steps and conversations of three sessions, with what a tag, a fork and a
// restore that merged keep of them.
func thinned(t *testing.T) *enginetest.Project {
	t.Helper()
	text := func(first, last string) string { return first + strings.Repeat("\nbetween", 8) + "\n" + last + "\n" }
	p, k := enginetest.TwoTurns(t)
	p.Set("gc.grace", "0s")
	p.Write("g", text("1", "1"))
	p.Save("before")
	a, b := atWork(p)
	a.Run("0", func() { p.Write("own", enginetest.Big("0")) })
	target := p.Get(a.Run("1", func() { p.Write("own", enginetest.Big("1")) }))
	a.Run("2", func() { p.Write("g", text("a's", "1")) })
	b.Run("3", func() { p.Write("g", text("a's", "b's")) })
	p.Checkout(target.ID.String(), restore.Options{Merge: true, Session: model.SessionChoice{Session: "a"}})
	p.Fork("turn:1@"+k.Name(), restore.Options{})
	for i := range 4 {
		h := a.Run(fmt.Sprint("a", i), func() { p.Write(fmt.Sprint("d/", i), enginetest.Big(fmt.Sprint(i))) })
		if i == 1 {
			p.Tagged("t", h)
		}
		b.Run(fmt.Sprint("b", i), func() { p.Write("f", enginetest.Big(fmt.Sprint("b", i))) })
		k.Take(fmt.Sprint("more ", i), nil)
	}
	p.Settle()
	return p
}

// TestGCWhileReadsFail: a gc of which a read of the store fails takes what it is to take, or fails and has taken
// nothing that is needed; the next one does the rest.
func TestGCWhileReadsFail(t *testing.T) {
	p := thinned(t)
	p.ReadFails("gc", torture.Points(40, 2000), func(q *enginetest.Project) (string, error) {
		_, err := q.E.Collector.GC(enginetest.Bg, gc.Options{Keep: 2})
		if err != nil {
			q.Sound()
			return "", err
		}
		return left(q)
	})
}

// few is a small project of saves with a tag, notes on them and an unfinished restore, of which gc takes much.
func few(t *testing.T) *enginetest.Project {
	t.Helper()
	p, cps := saved(t, 6)
	p.Write("d/g", enginetest.Big("g"))
	last := p.Save("last")
	p.Gc(gc.Options{Keep: 6})
	_, err := p.E.History.Tag(enginetest.Bg, "t", cps[2].ID.String(), false)
	p.Must(err)
	j := journalOf([4]objstore.ID{cps[4].ID, last.ID, last.ID, cps[4].ID})
	ent, err := tree.Lookup(p.E.Log.Objs, last.Tree, "d/g")
	p.Must(err)
	j.Steps = []tree.Change{{Path: "d/g", Old: &ent}}
	j.Moved = &model.Session{Name: "claude/a", Agent: "claude", ID: "a"}
	setJournal(p, j)
	return p
}

// TestSmallGCWhileReadsFail: the same of each read of a small store.
func TestSmallGCWhileReadsFail(t *testing.T) {
	p := few(t)
	for _, dry := range []bool{false, true} {
		p.ReadFails(fmt.Sprint("dry ", dry), 250, func(q *enginetest.Project) (string, error) {
			r, err := q.E.Collector.GC(enginetest.Bg, gc.Options{Keep: 2, DryRun: dry})
			if err == nil && !dry {
				return left(q)
			}
			if err == nil {
				return fmt.Sprint(r.Kept, r.Young, r.Checkpoints, r.Safety, r.Objects, r.Bytes), nil
			}
			c, open := q.E.Log.Objs.Collect() // that one is over
			if open == nil {
				c.End()
			}
			return "", errors.Join(err, open)
		})
	}
}

// TestDryRunWhileReadsFail: what a gc would take is told rightly, or not at all.
func TestDryRunWhileReadsFail(t *testing.T) {
	p := thinned(t)
	p.ReadFails("a dry run", 60, func(q *enginetest.Project) (string, error) {
		r, err := q.E.Collector.GC(enginetest.Bg, gc.Options{Keep: 2, DryRun: true})
		if err != nil {
			return "", err
		}
		return fmt.Sprint(r.Kept, r.Young, r.Checkpoints, r.Safety, r.Objects, r.Bytes), nil
	})
}
