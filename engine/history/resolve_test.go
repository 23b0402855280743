package history_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/objstore"
)

// A store of an older version may have a tag that looks like an id: it hides no checkpoint, and can be taken away.
func TestPromise19TagLikeAnId(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("a", "one")
	one := p.Save("one")
	p.Write("a", "two")
	two := p.Save("two")
	like := one.ID.String()[:7]
	if _, err := p.E.History.Tag(enginetest.Bg, like, "@", false); !errors.Is(err, model.ErrUsage) {
		t.Fatalf("tag %s: %v", like, err)
	}
	p.Must(p.E.History.MoveTag(enginetest.Bg, like, objstore.Zero, two.ID))
	cp, err := p.E.History.Resolve(like)
	if err != nil || cp.ID != one.ID {
		t.Fatalf("%s is %v, %v; want the checkpoint whose id begins so", like, cp, err)
	}
	if said := strings.Join(p.E.Project().Notices, "\n"); !strings.Contains(said, "a tag of that name is on "+two.ID.Short()) {
		t.Errorf("said %q", said)
	}
	p.Must(p.E.History.MoveTag(enginetest.Bg, "deadbeef", objstore.Zero, two.ID)) // where no id begins so it is still a tag
	if cp, err := p.E.History.Resolve("deadbeef"); err != nil || cp.ID != two.ID {
		t.Errorf("deadbeef: %v", err)
	}
	tags, err := p.E.History.Tags(enginetest.Bg)
	if err != nil || len(tags) != 2 {
		t.Errorf("%d tags, %v", len(tags), err)
	}
	p.Must(p.E.History.Untag(enginetest.Bg, like))
	p.Must(p.E.History.Untag(enginetest.Bg, "deadbeef"))
}

// Digits that are too few are told which ids begin so, and are never plainly not found.
func TestPromise19TooShort(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	var ids []string
	for i := range 120 { // more begin with a digit than are named
		p.Write("a", fmt.Sprint(i))
		ids = append(ids, p.Save("").ID.String())
	}
	for digit := range 16 {
		name, begin := fmt.Sprintf("%x", digit), 0
		for _, id := range ids {
			if strings.HasPrefix(id, name) {
				begin++
			}
		}
		_, err := p.E.History.Resolve(strings.ToUpper(name))
		var short *model.TooShortError
		if !errors.As(err, &short) || !errors.Is(err, model.ErrNotFound) {
			t.Fatalf("%s: %v", name, err)
		}
		if len(short.Begin) != min(begin, 5) || short.More != (begin > 5) {
			t.Errorf("%s: %d begin so: %v", name, begin, err)
		}
		for _, id := range short.Begin {
			if cp, err := p.E.History.Resolve(id); err != nil || !strings.HasPrefix(cp.ID.String(), name) {
				t.Errorf("%s: %s: %v", name, id, err)
			}
		}
	}
}
