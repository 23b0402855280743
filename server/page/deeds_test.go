package page

import (
	"context"
	"errors"
	"testing"
	"time"
)

// noted is a note in memory.
type noted struct{ b []byte }

func (n *noted) Read(string) ([]byte, error) {
	if n.b == nil {
		return nil, errors.New("none")
	}
	return n.b, nil
}
func (n *noted) Write(_ string, b []byte) error { n.b = b; return nil }
func (n *noted) Remove(string)                  {}

// An act is done once: who asks again waits for the answer and gets it, from the next daemon, too. What was not done
// may
// be done; of what a daemon was killed in nobody knows.
func TestDeeds(t *testing.T) {
	n := &noted{}
	daemon := func() *deeds { return &deeds{notes: n, warn: func(err error) { t.Error(err) }} }
	d := daemon()
	id, now := deedID("p", "1", []byte("body")), time.Unix(1, 0)
	if other := deedID("p", "1", []byte("other")); other == id {
		t.Error("other words are the same act")
	}
	if d.begin(id, now) != nil {
		t.Fatal("it was begun before")
	}
	again := d.begin(id, now)
	if again == nil || again.over == nil {
		t.Fatal("it begins twice")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.answered(ctx, again); err == nil {
		t.Error("it is answered before it has ended")
	}
	killed := daemon()
	if cut := killed.begin(id, now); cut == nil || cut.over != nil || cut.Answer != nil {
		t.Errorf("the next daemon takes what was cut short for %+v", cut)
	}
	d.end(id, []byte("done"))
	for _, one := range []*deeds{d, daemon()} {
		known := one.begin(id, now)
		if known == nil || string(known.Answer) != "done" {
			t.Errorf("the answer is not known: %+v", known)
		}
	}
	if answer, err := d.answered(t.Context(), again); err != nil || string(answer) != "done" {
		t.Errorf("%s, %v", answer, err)
	}

	id = deedID("p", "2", nil)
	d.begin(id, now)
	d.end(id, nil)
	if d.begin(id, now) != nil {
		t.Error("what was not done cannot be done")
	}
	d.end(id, nil)
	for i := range 2 * mostDeeds {
		d.begin(deedID("p", string(rune('a'+i)), nil), now)
	}
	if len(d.list) != mostDeeds {
		t.Errorf("%d are remembered", len(d.list))
	}
}
