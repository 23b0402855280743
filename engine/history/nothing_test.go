package history_test

import (
	"errors"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/objstore"
)

// TestNothingYet: of a project without a checkpoint all lists are empty, and no name stands for anything.
func TestNothingYet(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	h := p.E.History
	for _, name := range []string{
		"@", "@~1", "@{now}", "turn:1", "before:1", "session:x", "fork:x", "word", "0123456789",
	} {
		if cp, err := h.Resolve(name); !errors.Is(err, model.ErrNotFound) || cp != nil {
			t.Errorf("%s: %v, %v", name, cp, err)
		}
	}
	if got, err := h.Named(model.SessionChoice{Session: model.Manual}, "@~1"); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("named %q, %v", got, err)
	}
	rows, err := h.Rows(enginetest.Bg, history.RowOptions{Past: true, All: true, Limit: 3})
	p.Must(err)
	list, err := h.List(enginetest.Bg, history.ListOptions{All: true, Limit: 3})
	p.Must(err)
	if len(rows.Rows)+len(list.Checkpoints) > 0 || rows.More || list.More {
		t.Errorf("%+v, %+v", rows, list)
	}
	for what, ask := range map[string]func() (int, error){
		"tags":     func() (int, error) { l, err := h.Tags(enginetest.Bg); return len(l), err },
		"names":    func() (int, error) { l, err := h.Names(enginetest.Bg); return len(l), err },
		"touched":  func() (int, error) { l, err := h.Touched(enginetest.Bg, 9, 9); return len(l), err },
		"tips":     func() (int, error) { l, err := h.Tips(); return len(l), err },
		"ends":     func() (int, error) { l, err := h.ForkEnds(enginetest.Bg); return len(l), err },
		"points":   func() (int, error) { l, err := h.ForkPoints(enginetest.Bg); return len(l), err },
		"branches": func() (int, error) { l, err := h.LocalBranches(enginetest.Bg); return len(l), err },
		"sessions": func() (int, error) { l, _, err := h.SessionList(enginetest.Bg, true, 0); return len(l), err },
		"restores": func() (int, error) {
			l, err := h.Operations(enginetest.Bg, 0, history.Restoring)
			return len(l), err
		},
		"the graph": func() (int, error) { l, err := h.Graph(enginetest.Bg, rows.Rows); return len(l), err },
		"density": func() (int, error) {
			d, err := h.Density(enginetest.Bg, 9)
			return len(d.Spans), err
		},
	} {
		if n, err := ask(); n != 0 || err != nil {
			t.Errorf("%s: %d, %v", what, n, err)
		}
	}
	if id, err := h.NewestOf(model.Manual); err != nil || id != (objstore.ID{}) {
		t.Errorf("the newest is %s, %v", id, err)
	}
}
