package history_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/value"
)

// TestFamily: what is told of a session of three turns, a fork of its first turn that was gone on with, and one of its
// second that was not.
func TestFamily(t *testing.T) {
	p, first := enginetest.Begun(t)
	for _, text := range []string{"one", "two", "three"} {
		first.Take(text, p.Edits("f", text))
	}
	of := restore.Options{Session: model.SessionChoice{Session: first.Name()}}
	kid := p.Opened(p.Fork("turn:1", of).Fork)
	kid.Take("other", p.Edits("g", "1"))
	unused := p.Fork("turn:2", of).Fork
	h := p.E.History
	called := strings.NewReplacer(first.Name(), "first", kid.Name(), "kid", unused.Session, "unused")

	for name, want := range map[string]string{
		"session:" + first.ID: "first", "fork:" + kid.ID: "kid", kid.ID: "kid", "one": "first", "none": "",
		"-": "first",
	} {
		release := p.E.Log.Hold()
		got, err := h.BranchNamed(name)
		release()
		if called.Replace(got) != want || (err == nil) != (want != "") {
			t.Errorf("branch %s: %s, %v; want %s", name, called.Replace(got), err, want)
		}
	}
	l, err := h.ForkPoint(enginetest.Bg, "fork:"+kid.ID)
	p.Must(err)
	end, err := h.Resolve("turn:1@" + first.Name())
	p.Must(err)
	if l.Session != first.Name() || l.Child != kid.Name() || l.Turn != 1 || l.Both != 1 || l.Depth != 1 ||
		l.Checkpoint != end.ID.String() || l.How != value.FoundMade || l.NoCode != "" {
		t.Errorf("%+v", l)
	}
	for name, want := range map[string]error{
		"turn:1": nil, "fork:" + kid.ID + "~1": nil, "fork:none": model.ErrNotFound,
	} {
		if l, err := h.ForkPoint(enginetest.Bg, name); !errors.Is(err, want) || l != nil {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
	}
	if _, err := h.Resolve("fork:" + first.ID); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("what is no fork: %v", err)
	}
	points, err := h.ForkPoints(enginetest.Bg)
	p.Must(err)
	var got []string
	for _, l := range points {
		got = append(got, fmt.Sprintf("%s of %s at %d", called.Replace(l.Child), called.Replace(l.Session), l.Both))
	}
	slices.Sort(got)
	enginetest.Equal(t, "fork points", got, []string{"kid of first at 1", "unused of first at 2"})
	forks, err := h.Forks(enginetest.Bg, p.Env(), "")
	p.Must(err)
	got = nil
	for _, f := range forks {
		got = append(got, fmt.Sprintf("%s +%d", called.Replace(f.Name), f.Own))
	}
	slices.Sort(got)
	enginetest.Equal(t, "forks", got, []string{"kid +1", "unused +0"})

	for name, known := range map[string]bool{
		"fork:" + kid.ID: true, "session:" + kid.ID: true, "turn:1": true, "turn:1@" + kid.ID: true,
		"turn:1@none": false,
		"@{now}":      true, first.ID: true, "one": true, "fork:none": false, "none": false, end.ID.String(): true,
	} {
		if root, is := h.Whereabouts(name); root != "" || is != known {
			t.Errorf("%s is in %q, known %v", name, root, is)
		}
	}
	var none *model.NoConversationError
	if _, err := h.Turns(
		enginetest.Bg,
		model.SessionChoice{Session: model.Manual},
		0,
	); !errors.As(err, &none) ||
		none.None ||
		none.Instead != kid.ID[:8] {
		t.Errorf("turns of a person: %q of %q, %q, %q: %v", none.Instead, kid.ID, unused.Session, first.ID, err)
	}

	tree, err := h.FamilyTree(enginetest.Bg, "", false, nil)
	p.Must(err)
	got = nil
	for _, b := range tree.Branches {
		line := fmt.Sprintf("%s below %q %d", called.Replace(b.Branch), called.Replace(b.Parent), b.Depth)
		for word, is := range map[string]bool{" current": b.Current, " rewound": b.Rewound} {
			if is {
				line += word
			}
		}
		got = append(got, line)
	}
	enginetest.Equal(
		t,
		"tree",
		got,
		[]string{`first below "" 0`, `kid below "first" 1 current`, `unused below "first" 1`},
	)
	if called.Replace(tree.Current) != "kid" || called.Replace(tree.Of) != "kid" || tree.Others != 0 {
		t.Errorf("the tree of %s, at %s, beside %d", tree.Of, tree.Current, tree.Others)
	}

	for name, want := range map[string]string{
		"turn:2@" + first.Name():   "one, done, done: one, two, done, done: two",
		"before:2@" + first.Name(): "one, done, done: one",
		"turn:2@" + kid.Name():     "one, done, done: one, other, done, done: other",
	} {
		list, why, err := h.Messages(enginetest.Bg, name, 9)
		p.Must(err)
		var said []string
		for _, m := range list {
			if m.Text != "" {
				said = append(said, m.Text)
			}
		}
		if got := strings.Join(said, ", "); got != want || why != "" {
			t.Errorf("%s: %s, %q; want %s", name, got, why, want)
		}
	}
	if list, why, err := h.Messages(
		enginetest.Bg,
		"turn:0@"+first.Name(),
		3,
	); err != nil || len(list) > 0 ||
		why == "" {
		t.Errorf("before the first turn: %+v, %q, %v", list, why, err)
	}
	page, err := h.Page(enginetest.Bg, of.Session, "", history.Place{}, 2)
	p.Must(err)
	if page.Session != first.Name() || page.Turns != 3 || page.Why != "" || len(page.Messages) != 2 ||
		page.Messages[1].Text != "done: three" {
		t.Errorf("%+v", page)
	}
	if _, err := h.Page(
		enginetest.Bg,
		of.Session,
		"",
		history.Place{Generation: page.Generation + 1},
		2,
	); !errors.Is(
		err,
		history.ErrReplaced,
	) {
		t.Errorf("another generation: %v", err)
	}

	for _, tt := range []struct {
		session string
		at      uint64
		want    string
	}{
		{first.Name(), 3, ""},
		{kid.Name(), 2, "first after 1: 2 3; "},
		{unused.Session, 2, "first after 2: 3; "},
	} {
		f, err := h.Future(enginetest.Bg, model.SessionChoice{Session: tt.session})
		p.Must(err)
		got := ""
		for _, a := range f.Lines {
			got += fmt.Sprintf("%s after %d:", called.Replace(a.Session), a.After)
			for _, turn := range a.Turns {
				got += fmt.Sprint(" ", turn.Number)
			}
			got += "; "
		}
		if f.At != tt.at || got != tt.want {
			t.Errorf("%s at %d: %s", called.Replace(tt.session), f.At, got)
		}
	}
}
