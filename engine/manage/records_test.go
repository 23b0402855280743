package manage_test

import (
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/manage"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
)

// TestPrunableByItself: a fork stays when nobody asks, where somebody has gone back in it or its agent's title is not
// that of the original.
func TestPrunableByItself(t *testing.T) {
	p, k, _ := family(t)
	itself := func() []string {
		got, err := manager(p).Prunable(enginetest.Bg, manage.Prune{Unused: true, Itself: true}, p.Env())
		p.Must(err)
		return got
	}
	c := p.Fork("turn:2", restore.Options{Session: model.SessionChoice{Session: k.Name()}}).Session
	enginetest.Equal(t, "as it was made", itself(), []string{c})
	title, err := p.E.History.TitleOf(p.E.Log.Session(k.Name()))
	p.Must(err)
	made := p.E.Log.Session(c).Fork.Kind
	for name, want := range map[string][]string{title + " (branch)": {c}, "named": nil} {
		done(p, refs.KindRename, name, c)
		p.E.Log.Session(c).Fork.Kind = model.ByAgent
		enginetest.Equal(t, "made by an agent, called "+name, itself(), want)
		p.E.Log.Session(c).Fork.Kind = made
		_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
		p.Must(err)
	}
	enginetest.Equal(t, "as it was made, again", itself(), []string{c})
	o := restore.Options{CodeOnly: true}
	o.Session.Session = c
	p.Checkout("turn:1", o)
	k.Take("four", nil)
	enginetest.Equal(t, "somebody went back in it", itself(), nil)
}

// TestRecords: the records of sessions after an operation on them.
func TestRecords(t *testing.T) {
	p, k, forks := family(t)
	a := forks[0].Session
	said := p.E.Log.Session(a).Fork.Transcript
	if said.IsZero() || p.E.Log.Session(k.Name()).Cursor.Length == 0 {
		t.Fatalf("%+v, %+v", p.E.Log.Session(a).Fork, p.E.Log.Session(k.Name()).Cursor)
	}
	back := []refs.File{{Path: forks[0].Path, To: said}}
	for what, tt := range map[string]struct {
		m      value.Managed
		files  []refs.File
		title  string
		kept   bool // what is known of its conversation
		origin objstore.ID
	}{
		"archived": {value.Managed{Session: a, Now: value.Archived}, nil, "[Fork @1] fork 0", true, said},
		"renamed":  {value.Managed{Session: a, WasTitle: "x", Title: "y"}, nil, "y", true, said},
		"deleted":  {value.Managed{Session: a, Now: value.Deleted}, nil, "[Fork @1] fork 0", false, said},
		"brought back": {
			value.Managed{Session: a, Was: value.Deleted}, back, "[Fork @1] fork 0", true, said,
		},
		"brought back without its file": {
			value.Managed{Session: a, Was: value.Deleted}, nil, "[Fork @1] fork 0", true, objstore.Zero,
		},
		"brought back with another": {
			value.Managed{Session: a, Was: value.Deleted},
			[]refs.File{{Path: k.File, To: said}},
			"[Fork @1] fork 0", true,
			objstore.Zero,
		},
		"deleted twice": {
			value.Managed{Session: a, Was: value.Deleted, Now: value.Deleted}, nil, "[Fork @1] fork 0", true, said,
		},
	} {
		release := p.E.Log.Hold()
		p.E.Log.Session(a).Cursor.Length = 9
		list, err := manager(p).Records([]value.Managed{{Session: "claude/none"}, tt.m}, tt.files)
		release()
		p.Must(err)
		if len(list) != 1 {
			t.Fatalf("%s: %+v", what, list)
		}
		s := list[0]
		if s == p.E.Log.Session(a) || s.Standing != tt.m.Now || s.Title != tt.title || s.Fork.Transcript != tt.origin {
			t.Errorf("%s: %+v, of %+v", what, s, s.Fork)
		}
		if (s.Cursor.Length == 9) != tt.kept || s.Cursor.Path != p.E.Log.Session(a).Cursor.Path {
			t.Errorf("%s: %+v", what, s.Cursor)
		}
		if p.E.Log.Session(a).Fork.Transcript != said {
			t.Errorf("%s: the record has changed", what)
		}
	}
}
