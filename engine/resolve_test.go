package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"rewind/objstore"
)

// A store of an older version may have a tag that looks like an id: it hides no checkpoint, and can be taken away.
func TestPromise19TagLikeAnId(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write("a", "one")
	one := p.save("one")
	p.write("a", "two")
	two := p.save("two")
	like := one.ID.String()[:7]
	if _, err := p.e.Tag(bg, like, "@", false); !errors.Is(err, ErrUsage) {
		t.Fatalf("tag %s: %v", like, err)
	}
	p.must(p.e.moveTag(bg, like, objstore.Zero, two.ID))
	cp, err := p.e.Resolve(like)
	if err != nil || cp.ID != one.ID {
		t.Fatalf("%s is %v, %v; want the checkpoint whose id begins so", like, cp, err)
	}
	if said := strings.Join(p.e.Project().Notices, "\n"); !strings.Contains(said, "a tag of that name is on "+two.ID.Short()) {
		t.Errorf("said %q", said)
	}
	p.must(p.e.moveTag(bg, "deadbeef", objstore.Zero, two.ID)) // where no id begins so it is still a tag
	if cp, err := p.e.Resolve("deadbeef"); err != nil || cp.ID != two.ID {
		t.Errorf("deadbeef: %v", err)
	}
	tags, err := p.e.Tags(bg)
	if err != nil || len(tags) != 2 {
		t.Errorf("%d tags, %v", len(tags), err)
	}
	p.must(p.e.Untag(bg, like))
	p.must(p.e.Untag(bg, "deadbeef"))
}

// Digits that are too few are told which ids begin so, and are never plainly not found.
func TestPromise19TooShort(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	var ids []string
	for i := range 20 {
		p.write("a", fmt.Sprint(i))
		ids = append(ids, p.save("").ID.String())
	}
	for digit := range 16 {
		name, begin := fmt.Sprintf("%x", digit), 0
		for _, id := range ids {
			if strings.HasPrefix(id, name) {
				begin++
			}
		}
		_, err := p.e.Resolve(strings.ToUpper(name))
		var short *TooShortError
		if !errors.As(err, &short) || !errors.Is(err, ErrNotFound) {
			t.Fatalf("%s: %v", name, err)
		}
		if len(short.Begin) != min(begin, maxBegin) || short.More != (begin > maxBegin) {
			t.Errorf("%s: %d begin so: %v", name, begin, err)
		}
		for _, id := range short.Begin {
			if cp, err := p.e.Resolve(id); err != nil || !strings.HasPrefix(cp.ID.String(), name) {
				t.Errorf("%s: %s: %v", name, id, err)
			}
		}
	}
}
