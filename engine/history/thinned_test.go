package history_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/internal/kv"
)

// TestThinned: a checkpoint that gc has removed is not found by its id, and a time that means it is that of the one
// before it, which is said; of a time before it nothing is said. One whose operation cannot be read is found.
func TestThinned(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	now := time.Now().Add(-3 * time.Hour).Truncate(time.Second)
	p.E.Log.Now = func() time.Time { return now }
	var cps []*model.Checkpoint
	for i := range 6 {
		p.Write("f", fmt.Sprint(i))
		cps = append(cps, p.Save(fmt.Sprint(i)))
		now = now.Add(time.Minute)
	}
	_, err := p.E.History.Tag(enginetest.Bg, "kept", cps[1].ID.String(), false)
	p.Must(err)
	now = time.Now()
	p.Set("gc.grace", "10m")
	p.Collect(gc.Options{Keep: 2})
	if p.Has(cps[2]) || !p.Has(cps[1]) || !p.Has(cps[4]) {
		for i := range cps {
			t.Log(i, p.Has(cps[i]))
		}
		t.Fatal("gc has removed others")
	}
	for i := 1; i <= 5; i++ {
		p.E.Log.Project.Notices = nil
		at := cps[i].Time.Add(30 * time.Second).UTC().Format(time.RFC3339)
		cp, err := p.E.History.Resolve("@{" + at + "}")
		p.Must(err)
		want := cps[i]
		if !p.Has(want) {
			want = cps[1]
		}
		if gone := !p.Has(cps[i]); cp.ID != want.ID || gone != (len(p.E.Log.Project.Notices) > 0) {
			t.Errorf("behind save %d: %q, %q", i, cp.Cause.Message, p.E.Log.Project.Notices)
		}
		_, err = p.E.History.Resolve(cps[i].ID.String())
		if errors.Is(err, model.ErrNotFound) == p.Has(cps[i]) {
			t.Errorf("save %d by its id: %v", i, err)
		}
		if err != nil && !strings.Contains(err.Error(), "gc has removed it") {
			t.Errorf("save %d is gone: %v", i, err)
		}
	}
	b := p.E.Log.DB.NewBatch()
	p.Must(b.Set(kv.OperationKey(cps[4].Seq), []byte("garbage")))
	p.Must(b.Commit(enginetest.Bg, kv.Written))
	p.Must(b.Close())
	forget(p)
	if cp, err := p.E.History.Resolve(cps[4].ID.String()); err != nil || cp.ID != cps[4].ID {
		t.Errorf("whose operation cannot be read: %v", err)
	}
}

// thinnedTurns is a session of six turns, of which gc has removed the first four; the last took git's repository away.
func thinnedTurns(t *testing.T) (*enginetest.Project, *enginetest.Talker) {
	t.Helper()
	p, k := enginetest.Begun(t)
	gitOf(p)("init", "-q", "-b", "main")
	now := time.Now().Add(-72 * time.Hour).Truncate(time.Second)
	p.E.Log.Now = func() time.Time { return now }
	for n := range 6 {
		k.Take(fmt.Sprint("turn ", n+1), func() {
			p.Edits("f", fmt.Sprint(n+1))()
			if n == 5 {
				p.Must(os.RemoveAll(p.Path(".git")))
			}
		})
		now = now.Add(time.Minute)
	}
	now = time.Now()
	p.Set("gc.grace", "10m")
	p.Settle()
	p.Collect(gc.Options{Keep: 2})
	return p, k
}

// thinnedAbout is thinnedTurns, and what can be asked of it.
func thinnedAbout(t *testing.T) (*enginetest.Project, about) {
	t.Helper()
	p, k := thinnedTurns(t)
	of := about{
		names: turnsOf(k.Name(), 6), shown: []string{"turn:6@" + k.Name()}, sessions: []string{k.Name()},
	}
	newest := p.Listed()[0]
	ago := newest.Time.Add(-2 * time.Minute).UTC().Format(time.RFC3339)
	of.names = append(of.names, newest.ID.String(), newest.ID.String()[:2], "@~2", "@{"+ago+"}", "0123456789")
	return p, of
}

// TestThinnedTurn: of a turn whose code gc has removed it is said where it is named. The session's list has the turn
// without code, and a list of rows has it not.
func TestThinnedTurn(t *testing.T) {
	t.Parallel()
	p, k := thinnedTurns(t)
	h := p.E.History
	l, err := h.Turns(enginetest.Bg, model.SessionChoice{Session: k.Name()}, 0)
	p.Must(err)
	for i := range 6 {
		turn, gone := &l.Turns[i], i < 4
		cp, err := h.Resolve(fmt.Sprint("turn:", i+1))
		if errors.Is(err, model.ErrNotFound) != gone || gone && !strings.Contains(err.Error(), "gc has removed it") {
			t.Errorf("turn %d: %v", i+1, err)
		}
		said := turn.Summary == fmt.Sprint("turn ", i+1) && !turn.Gone
		if is := turn.Checkpoint == "" && turn.Checkpoints == 0; is != gone || !said {
			t.Errorf("turn %d: %+v", i+1, turn)
		}
		if !gone && (cp.ID.String() != turn.Checkpoint || p.Cat(cp, "f")[:1] != fmt.Sprint(i+1)) {
			t.Errorf("turn %d is %q", i+1, cp.Cause.Prompt)
		}
	}
	res, err := h.Rows(enginetest.Bg, history.RowOptions{Past: true})
	p.Must(err)
	var rows []uint64
	for i := range res.Rows {
		rows = append(rows, res.Rows[i].Turn)
	}
	enginetest.Equal(t, "turns of rows", rows, []uint64{6, 5, 0})
}
