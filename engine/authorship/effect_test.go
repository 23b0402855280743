package authorship_test

import (
	"slices"
	"strings"
	"testing"

	"rewind/engine/authorship"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// behind is the work that is to be taken back, step by step: each path of the session with its content before and
// after. What a step has of others is left out, and so are steps with nothing else.
func (s *story) behind(session string, target *model.Checkpoint, now files) []string {
	s.T.Helper()
	return s.behindFor(authorship.Going{Session: session, Way: authorship.ByStep}, target, now)
}

func (s *story) behindFor(g authorship.Going, target *model.Checkpoint, now files) (list []string) {
	s.T.Helper()
	steps, _, err := s.authors.Behind(g, target, s.found(now))
	s.Must(err)
	content := func(ent *tree.Entry) string {
		if ent == nil {
			return "-"
		}
		raw, err := s.E.Log.Objs.Get(objstore.Blob, ent.ID)
		s.Must(err)
		return string(raw)
	}
	for _, step := range steps {
		var paths []string
		s.Must(tree.Diff(s.E.Log.Objs, step.From, step.To, func(ch tree.Change) error {
			its, err := step.Wrote(ch)
			if its {
				paths = append(paths, ch.Path+" "+content(ch.Old)+content(ch.New))
			}
			return err
		}))
		if len(paths) == 0 {
			continue
		}
		if step.Checkpoint == nil {
			paths = append(paths, "by a restore")
		}
		list = append(list, strings.Join(paths, ", "))
	}
	return list
}

// TestBehindSteps: of the steps since the target, what the session wrote alone; of a person what nobody wrote.
func TestBehindSteps(t *testing.T) {
	s := newStory(t)
	s.event(me)
	target := s.step(me, files{"f": "1"}, me)
	s.step(me, files{"f": "2"}, me)
	s.step(busy, files{"f": "2", "g": "1"}, busy)
	s.step(busy, files{"f": "2", "g": "1", "h": "1"}, busy, me)
	s.step(model.Manual, files{"f": "2", "g": "1", "h": "1", "m": "1"})
	s.step(me, files{"f": "2", "g": "1", "h": "1", "m": "1", "n": "1"})
	s.step(lane, files{"f": "3", "g": "1", "h": "1", "m": "1", "n": "1"}, lane)
	owned := []model.Owned{{By: []string{busy}, Paths: []string{"o"}}}
	now := files{"f": "3", "g": "1", "h": "1", "m": "1", "n": "1", "o": "1", "p": "1"}
	last := s.put(model.Checkpoint{Session: me, By: []string{me}, Owned: owned}, now)
	enginetest.Equal(t, "a session's", s.behind(me, target, now), []string{"f 12", "f 23", "p -1"})
	enginetest.Equal(t, "its lane's", s.behind(lane, target, now), []string{"f 12", "f 23", "p -1"})
	enginetest.Equal(t, "theirs", s.behind(busy, target, now), []string{"g -1", "o -1"})
	enginetest.Equal(t, "a person's", s.behind(model.Manual, target, now), []string{"m -1"})
	enginetest.Equal(t, "since the last", s.behind(me, last, now), nil)
}

// TestBehindRestores: what a restore of the session set is a change as any other; what it kept is none.
func TestBehindRestores(t *testing.T) {
	all := files{"f": "3", "g": "2"}
	whole := func(*story, *refs.Restore) {}
	type row struct {
		kind         refs.Kind
		by           string
		set          func(*story, *refs.Restore)
		now          files
		first, third []string // behind the first step, and the third
	}
	safety := func(s *story, r *refs.Restore) {
		limit("f")(s, r)
		cause := model.Cause{Event: model.EventSafety}
		cp := s.put(model.Checkpoint{Session: me, Cause: cause}, files{"f": "1", "g": "1"})
		r.Target = cp.ID
	}
	kept := func(s *story, r *refs.Restore) {
		limit("f", "g")(s, r)
		r.Kept = 1
	}
	steps := []string{"f 12", "g 12", "f 23"}
	then := func(restored string) ([]string, []string) {
		return append(slices.Clone(steps), restored), []string{restored}
	}
	both, bothThird := then("f 31, g 21, by a restore")
	one, oneThird := then("f 31, by a restore")
	none, some := files{"f": "1", "g": "1"}, files{"f": "1", "g": "2"}
	for what, tt := range map[string]row{
		"none":                   {refs.KindTag, me, talkOnly, all, steps, nil},
		"of all":                 {refs.KindCheckout, me, whole, none, both, bothThird},
		"undone":                 {refs.KindUndo, me, whole, none, both, bothThird},
		"a colleague's":          {refs.KindCheckout, rest, whole, none, steps, nil},
		"a person's":             {refs.KindCheckout, model.Manual, whole, none, steps, nil},
		"of one path":            {refs.KindCheckout, me, limit("f"), some, one, oneThird},
		"one path undone":        {refs.KindUndo, me, limit("f"), some, one, oneThird},
		"an undo-restore of one": {refs.KindUndoRestore, me, limit("f"), some, one, oneThird},
		"to unsaved work":        {refs.KindCheckout, me, safety, some, one, oneThird},
		"of two, one kept":       {refs.KindCheckout, me, kept, some, one, oneThird},
		"with one kept": {refs.KindCheckout, me, func(s *story, r *refs.Restore) {
			r.Result = s.tree(some)
		}, some, one, oneThird},
	} {
		s := newStory(t)
		s.event(me)
		first := s.step(me, files{"f": "1", "g": "1"}, me)
		s.step(me, files{"f": "2", "g": "1"}, me)
		s.step(me, files{"f": "2", "g": "2"}, me)
		third := s.step(me, all, me)
		r := refs.Restore{Target: first.ID}
		tt.set(s, &r)
		s.restore(tt.kind, tt.by, all, r)
		if tt.kind == refs.KindTag {
			s.E.Log.ForgetHead()
		}
		for what2, c := range map[*model.Checkpoint][]string{first: tt.first, third: tt.third} {
			if got := s.behind(me, what2, tt.now); strings.Join(got, "; ") != strings.Join(c, "; ") {
				t.Errorf("%s, behind operation %d: %q, want %q", what, what2.Seq, got, c)
			}
		}
	}
}

// TestBehindOfAPerson: a person's restore of a path is work of the person's session, and of no agent's.
func TestBehindOfAPerson(t *testing.T) {
	s := newStory(t)
	s.event(me)
	first := s.step(model.Manual, files{"f": "1"})
	target := s.step(model.Manual, files{"f": "2"})
	r := refs.Restore{Target: first.ID}
	limit("f")(s, &r)
	s.restore(refs.KindUndo, model.Manual, files{"f": "2"}, r)
	enginetest.Equal(t, "a person's", s.behind(model.Manual, target, files{"f": "1"}), []string{"f 21, by a restore"})
	enginetest.Equal(t, "an agent's", s.behind(me, target, files{"f": "1"}), nil)
}

// TestBehindUnsaved: what a restore found unsaved and left is one change, and what it set is where the next one begins,
// though the head has neither.
func TestBehindUnsaved(t *testing.T) {
	g := authorship.Going{Session: me}
	for what, tt := range map[string]struct {
		paths func(*story, *refs.Restore)
		now   files
		want  string
	}{
		"left as it was":         {limit("g"), files{"f": "3", "g": "1"}, "f 23; g 21"},
		"left, changed since":    {limit("g"), files{"f": "4", "g": "1"}, "f 23; g 21; f 34"},
		"left, what was set too": {limit("g"), files{"f": "3", "g": "4"}, "f 23; g 21; g 14"},
		"set":                    {limit("f"), files{"f": "1", "g": "2"}, "f 23; f 31"},
		"set, changed since":     {limit("f"), files{"f": "4", "g": "2"}, "f 23; f 31; f 14"},
		"set, made anew":         {limit("f"), files{"f": "3", "g": "2"}, "f 23; f 31; f 13"},
		"set, as at the head":    {limit("f"), files{"f": "2", "g": "2"}, "f 23; f 31; f 12"},
	} {
		s := newStory(t)
		s.event(me)
		first := s.step(me, files{"f": "1", "g": "1"}, me)
		second := s.step(me, files{"f": "2", "g": "2"}, me)
		r := refs.Restore{Target: first.ID}
		tt.paths(s, &r)
		s.restore(refs.KindCheckout, me, files{"f": "3", "g": "2"}, r)
		changes := func() string {
			return strings.ReplaceAll(strings.Join(s.behindFor(g, second, tt.now), "; "), ", by a restore", "")
		}
		if got := changes(); got != tt.want {
			t.Errorf("%s: %s, want %s", what, got, tt.want)
		}
		s.step(model.Manual, tt.now)
		if got := changes(); got != tt.want {
			t.Errorf("%s, saved since: %s, want %s", what, got, tt.want)
		}
	}
}
