package conversation

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"rewind/engine/model"
	"rewind/objstore"
	"rewind/transcript"
)

// getter fails.
type getter struct {
	objstore.Getter
	err error
}

func (g getter) Get(objstore.Kind, objstore.ID) ([]byte, error) { return nil, g.err }

// TestLookFails: what could not be read for the moment is no reason to tell the origin without it; what is damaged is.
func TestLookFails(t *testing.T) {
	for _, c := range []struct {
		err    error
		passes bool
	}{
		{&transcript.Error{Name: "x", Cause: fmt.Errorf("read: %w", syscall.EMFILE)}, true},
		{syscall.ENOMEM, true},
		{ErrLater, false},
		{objstore.ErrCorrupt, false},
		{objstore.ErrNotFound, false},
		{objstore.ErrPurged, false},
		{&transcript.Error{Name: "x", Cause: errors.New("unexpected end of JSON input")}, false},
	} {
		if model.MayPass(c.err) != c.passes {
			t.Errorf("%v: passes %v", c.err, !c.passes)
		}
		if errors.Is(c.err, ErrLater) {
			continue
		}
		p := &model.Session{Name: "claude/p", Agent: transcript.Claude, ID: "p"}
		p.Cursor.Transcript = objstore.ID{1}
		k := kin{list: []*model.Session{p}}
		r := newTracer(getter{err: c.err}, maxOrigin)
		_, _, err := k.nearest(r, &model.Session{Name: "claude/s", Agent: transcript.Claude}, &transcript.Trace{}, "")
		if (err != nil) != c.passes {
			t.Errorf("%v: the nearest is told with %v", c.err, err)
		}
	}
}

// TestLookIsRepeated: a look that failed is repeated after a while, each time after twice as long, at once when all are
// asked for, and by another process, which does not know that the session was looked at.
func TestLookIsRepeated(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	p := &points{
		of: map[string]*model.Points{}, learnt: map[string]*model.Points{"a": {}}, again: map[string]bool{"a": true},
	}
	p.fail("a", now)
	if kept, stored := p.learnt["a"]; kept != nil || !stored || p.again["a"] {
		t.Errorf("behind a look that failed: %+v", p)
	}
	if next := p.failed["a"].next; !next.Equal(now.Add(2 * time.Second)) {
		t.Errorf("it is repeated %v later", next.Sub(now))
	}
	p.fail("a", now)
	if next := p.failed["a"].next; !next.Equal(now.Add(4 * time.Second)) {
		t.Errorf("the second time it is repeated %v later", next.Sub(now))
	}
	for range 40 {
		p.fail("a", now)
	}
	if d := p.failed["a"].next.Sub(now); d <= 0 || d > 2*time.Hour {
		t.Errorf("at last it is repeated %v later", d)
	}
	p.retry()
	if !p.again["a"] || len(p.failed) > 0 {
		t.Errorf("when all are asked for: %+v", p)
	}
	p.fail("a", now)
	p.settle("a", false)
	if len(p.failed) > 0 || p.again["a"] {
		t.Errorf("behind a look that told: %+v", p)
	}
}
