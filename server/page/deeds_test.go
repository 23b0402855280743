package page

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
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

// An act is done once: who asks again waits for the answer and gets it; the next daemon knows that it was done, and
// nothing of what the answer says is in its notes. What was not done may be done; of what a daemon was killed in nobody
// knows.
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
	if cut := killed.begin(id, now); cut == nil || cut.over != nil || cut.Done {
		t.Errorf("the next daemon takes what was cut short for %+v", cut)
	}
	d.end(id, []byte("a secret"))
	if known := d.begin(id, now); known == nil || string(known.answer) != "a secret" {
		t.Errorf("the answer is not known: %+v", known)
	}
	if known := daemon().begin(id, now); known == nil || !known.Done || known.answer != nil {
		t.Errorf("the next daemon does not know that it was done: %+v", known)
	}
	for _, as := range []string{"a secret", base64.StdEncoding.EncodeToString([]byte("a secret"))} {
		if strings.Contains(string(n.b), as) {
			t.Errorf("the notes have what was answered: %s", n.b)
		}
	}
	if answer, err := d.answered(t.Context(), again); err != nil || string(answer) != "a secret" {
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
