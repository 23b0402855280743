package gc_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"rewind/engine"
	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/history"
	"rewind/engine/project"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
)

// endedOnce is a context that says once that it is ended, when it was asked often enough: so each answer counts. Asked
// by who passes the answer over, it is not.
type endedOnce struct {
	context.Context
	asked, at int
}

func (c *endedOnce) Err() error {
	pc := make([]uintptr, 1)
	runtime.Callers(2, pc)
	by, _ := runtime.CallersFrames(pc).Next()
	if strings.Contains(by.Function, "/history.") || strings.HasSuffix(by.Function, ".awaitRemovals") {
		return nil
	}
	if c.asked++; c.asked == c.at {
		return context.Canceled
	}
	return nil
}

// TestGCEnded: a gc that is ended at any point says so and has taken nothing that is needed, rows of turns are told
// rightly then, and the next one does the rest.
func TestGCEnded(t *testing.T) {
	t.Parallel()
	p := thinned(t)
	disk := p.FS.Clone(100, 1)
	ended := func(at int, o gc.Options) (asked int) {
		q := p.Copied(disk, nil)
		defer q.Close()
		ctx := &endedOnce{Context: enginetest.Bg, at: at}
		_, err := q.E.Collector.GC(ctx, o)
		if errors.Is(err, context.Canceled) != (at > 0) || err != nil && at == 0 {
			t.Errorf("%+v, ended at %d: %v", o, at, err)
		}
		if at%7 == 1 {
			q.SameTurns("claude/a")
			q.Gc(gc.Options{Keep: 2})
		}
		return ctx.asked
	}
	for _, dry := range []bool{false, true} {
		o := gc.Options{Keep: 2, DryRun: dry}
		asked := ended(0, o)
		if asked < 10 {
			t.Errorf("%+v: it asked %d times", o, asked)
		}
		for at := 1; at <= asked; at++ {
			ended(at, o)
		}
	}
}

// TestFewGo: the operations of steps that go are thinned, whether it is one, the first of the log, or all but the last;
// what is left can be gone to.
func TestFewGo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ steps, keep int }{{2, 1}, {3, 2}, {5, 4}, {4, 2}, {6, 1}} {
		p, cps := saved(t, c.steps)
		r := p.Gc(gc.Options{Keep: c.keep})
		gone := c.steps - c.keep
		thinned := 0
		p.Must(p.E.Log.Refs.Newest(0, func(op *refs.Operation) error {
			if op.Kind == refs.KindThinned {
				thinned++
			}
			return nil
		}))
		if r.Checkpoints != gone || thinned != gone || len(p.Listed()) != c.keep {
			t.Errorf("%+v: %+v, %d are thinned, %d are left", c, r, thinned, len(p.Listed()))
		}
		for i, cp := range cps[gone:] {
			if got := p.Cat(cp, "f"); got != enginetest.Big(fmt.Sprint(gone+i)) {
				t.Errorf("%+v: %d is %q", c, i, got)
			}
		}
	}
}

// TestLongConversationStays: a conversation of several blocks is there to its first byte after a gc.
func TestLongConversationStays(t *testing.T) {
	t.Parallel()
	p, k := enginetest.Begun(t)
	p.Set("gc.grace", "0s")
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 3 {
		text := make([]byte, 40<<10)
		for i := range text {
			text[i] = byte('a' + r.IntN(26))
		}
		k.Take(fmt.Sprint(n, string(text)), p.Edits("f", fmt.Sprint("edit ", n)))
	}
	p.Settle()
	for range 2 {
		p.Gc(gc.Options{Keep: 1})
		p.Reopen()
		if got := string(p.Talk(p.Session(k.Name()))); got != p.Slurp(k.File) {
			t.Errorf("%d bytes are left of %d", len(got), len(p.Slurp(k.File)))
		}
	}
}

// TestGivesBackWithoutThinning: what nothing leads to goes, and its room is given back, also where no checkpoint goes.
func TestGivesBackWithoutThinning(t *testing.T) {
	t.Parallel()
	p, _ := saved(t, 2)
	r := rand.New(rand.NewPCG(3, 4))
	tx := p.E.Log.Objs.Begin()
	for range 4 {
		raw := make([]byte, 256<<10)
		for i := range raw {
			raw[i] = byte(r.IntN(256))
		}
		_, err := tx.Put(objstore.Blob, raw, objstore.ID{})
		p.Must(err)
	}
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
	p.Reopen()
	got := p.Gc(gc.Options{})
	if got.Checkpoints != 0 || got.Objects < 4 || got.DiskAfter > got.DiskBefore-1<<20 {
		t.Errorf("%+v", got)
	}
}

// TestGCOfWhatMayOnlyBeRead: of a store that may only be read, also to be salvaged, nothing goes, and who asks is told
// why.
func TestGCOfWhatMayOnlyBeRead(t *testing.T) {
	t.Parallel()
	p, cps := saved(t, 4)
	p.Close()
	for name, o := range map[string]project.Options{
		"only read": {KV: kv.Options{FS: p.FS, ReadOnly: true}},
		"salvage":   {KV: kv.Options{FS: p.FS}, Salvage: true},
	} {
		q := *p
		var err error
		q.E, err = engine.Open(enginetest.Bg, p.Home, p.Root, o)
		p.Must(err)
		before := objects(&q)
		if _, err = q.E.Collector.GC(enginetest.Bg, gc.Options{Keep: 1}); !errors.Is(err, kv.ErrReadOnly) {
			t.Errorf("%s: %v", name, err)
		}
		for i, cp := range cps {
			if got := q.Cat(cp, "f"); got != enginetest.Big(fmt.Sprint(i)) || objects(&q) != before {
				t.Errorf("%s: %d is %q; %d objects of %d", name, i, got, objects(&q), before)
			}
		}
		q.Close()
	}
	var err error
	p.E, err = engine.Open(enginetest.Bg, p.Home, p.Root, p.Options())
	p.Must(err)
}

// TestGCStoppedBeforeItSweeps: who waits for a writer before what is not reached is taken away can be stopped, too.
func TestGCStoppedBeforeItSweeps(t *testing.T) {
	t.Parallel()
	p, dir, _, _ := garbage(t)
	var tx *objstore.Tx
	ctx, cancel := context.WithCancel(enginetest.Bg)
	defer cancel()
	_, err := p.E.Collector.GC(waits{ctx, cancel}, gc.Options{Keep: 1, Progress: func(int, int64) {
		if tx == nil {
			tx = p.E.Log.Objs.Begin()
		}
	}})
	if !errors.Is(err, context.Canceled) || tx == nil {
		t.Fatalf("stopped: %v", err)
	}
	tx.Discard()
	if err := p.E.Log.Objs.Verify(enginetest.Bg, objstore.Tree, dir); err != nil {
		t.Errorf("an object is gone: %v", err)
	}
	if p.Gc(gc.Options{Keep: 1}); len(p.Listed()) != 1 {
		t.Errorf("%d are left", len(p.Listed()))
	}
}

// TestMergedWhileReadsFail: how many steps a step stands for is told rightly by a gc of which a read fails and that
// does not fail.
func TestMergedWhileReadsFail(t *testing.T) {
	t.Parallel()
	p, _ := saved(t, 6)
	p.Gc(gc.Options{Keep: 2})
	for i := range 3 {
		p.Write("f", enginetest.Big(fmt.Sprint("more ", i)))
		p.Save("")
	}
	disk := p.FS.Clone(100, 1)
	var want string
	for fail := range 60 {
		reads, asked := 0, false
		q := p.Copied(disk, func() error {
			if asked {
				reads++
			}
			if asked && reads == fail {
				return errors.New("a read that fails")
			}
			return nil
		})
		asked = true
		_, err := q.E.Collector.GC(enginetest.Bg, gc.Options{Keep: 1})
		asked = false
		if fail == 0 {
			p.Must(err)
		}
		if err == nil {
			got := merged(q.Listed())
			if fail == 0 {
				want = got
			}
			if got != want {
				t.Errorf("read %d of %d fails: %s, want %s", fail, reads, got, want)
			}
		}
		q.Close()
	}
}

// merged is how many steps each of a list stands for.
func merged(list []history.Listed) (text string) {
	for _, l := range list {
		text += fmt.Sprintln(l.ID.Short(), l.Merged, l.Counts)
	}
	return text
}
