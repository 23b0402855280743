package authorship_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"rewind/engine/authorship"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/hooks"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// others are the paths that colleagues changed, each with who did; a + says that the session may have, too.
func (s *story) others(session string, target *model.Checkpoint, now files, back bool) string {
	s.T.Helper()
	return s.othersFor(authorship.Going{Session: session, Way: authorship.ByStep}, target, now, back)
}

func (s *story) othersFor(g authorship.Going, target *model.Checkpoint, now files, back bool) string {
	s.T.Helper()
	since, err := s.authors.Others(g, target, s.found(now), back)
	s.Must(err)
	paths, both := since.Stay, since.Shared
	var list []string
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		line := path + " " + strings.TrimPrefix(paths[path], "claude/")
		if both[path] {
			line += "+"
		}
		list = append(list, line)
	}
	for path := range both {
		if paths.Of(path) == "" {
			s.T.Fatalf("%s is of both, and of nobody", path)
		}
	}
	return strings.Join(list, ", ")
}

func (s *story) wantOthers(what, session string, target *model.Checkpoint, now files, want string) {
	s.T.Helper()
	for _, back := range []bool{false, true} {
		if got := s.others(session, target, now, back); got != want {
			s.T.Fatalf("%s, back %v: %s, want %s", what, back, got, want)
		}
	}
}

// TestOthersSteps: what colleagues changed in steps after the target, by the authors of each path.
func TestOthersSteps(t *testing.T) {
	s := newStory(t)
	s.event(me)
	s.step(busy, files{"old": "1"}, busy)
	target := s.step(me, files{"old": "1", "f": "1"}, me)
	s.step(me, files{"old": "1", "f": "2"}, me)
	s.step(busy, files{"old": "1", "f": "2", "g": "1", "twice": "1"}, busy)
	s.step(rest, files{"old": "1", "f": "2", "g": "1", "twice": "2"}, rest)
	s.step(me, files{"old": "1", "f": "2", "g": "2", "twice": "2", "both": "1"}, me, rest)
	owned := []model.Owned{{By: []string{busy}, Paths: []string{"his"}}, {By: []string{me}, Paths: []string{"mine"}}}
	now := files{"old": "1", "f": "2", "g": "2", "twice": "2", "both": "1", "his": "1", "mine": "1", "whose": "1"}
	s.put(model.Checkpoint{Session: me, By: []string{rest}, Owned: owned}, now)
	s.step(model.Manual, files{"by hand": "1"})
	s.wantOthers("a session", me, target, now, "both rest+, g rest+, his busy, twice rest, whose rest")
	s.wantOthers("its lane", lane, target, now, "both rest+, g rest+, his busy, twice rest, whose rest")
	s.wantOthers("a colleague", rest, target, now, "both me+, f me, g me+, his busy, mine me, twice busy")
	last := s.step(me, files{"end": "1"}, me)
	s.wantOthers("since the last", me, last, now, "")
}

// TestOthersReverted: what gc merged into a step counts for its authors, though nothing is left of it.
func TestOthersReverted(t *testing.T) {
	s := newStory(t)
	s.event(me)
	target := s.step(me, files{"f": "1"}, me)
	cp := s.step(busy, files{"f": "1", "g": "1"}, busy)
	squash := model.Squash{Parent: target.ID, Base: target.Tree, By: []string{busy}, Reverted: []string{"d/", "r"}}
	s.commit(func(tx *objstore.Tx, _ uint64) (refs.Operation, []refs.Update) {
		s.Must(tx.Batch().Set(model.SquashKey(cp.ID), squash.Encode()))
		return refs.Operation{Kind: refs.KindTag}, nil
	})
	s.E.Log.KnowSquashes()
	s.wantOthers("merged", me, target, files{"f": "1", "g": "1"}, "d/ busy, g busy, r busy")
}

// TestOthersUnsaved: what is not captured yet is a colleague's who has a call that can have done it.
func TestOthersUnsaved(t *testing.T) {
	s := newStory(t)
	s.event(me)
	target := s.step(me, files{"f": "1"}, me)
	now := files{"f": "1", "a": "1", "b": "1"}
	edit := model.Call{ID: "e", Class: hooks.Editor, Paths: []string{"a"}}
	shell := model.Call{ID: "s", Class: hooks.Changer}
	for what, tt := range map[string]struct {
		mine, theirs []model.Call
		want         string
	}{
		"no calls":    {nil, nil, ""},
		"its own":     {[]model.Call{shell}, nil, ""},
		"theirs":      {nil, []model.Call{shell}, "a busy, b busy"},
		"both":        {[]model.Call{shell}, []model.Call{shell}, "a busy+, b busy+"},
		"an edit":     {[]model.Call{shell}, []model.Call{edit}, "a busy"},
		"edited here": {[]model.Call{edit}, []model.Call{shell}, "b busy"},
	} {
		s.E.Log.Session(me).Calls, s.E.Log.Session(busy).Calls = tt.mine, tt.theirs
		s.wantOthers(what, me, target, now, tt.want)
	}
}

// TestOthersBegan: of a target on which a session began, what was changed before it began does not count.
func TestOthersBegan(t *testing.T) {
	for what, tt := range map[string]struct {
		stands string // the cursor that the first event made: on the target, or on another
		later  int    // operations before that event
		forked bool
		early  bool // it was heard of before the target was made
		want   string
	}{
		"it began there":      {"target", 0, false, false, "after rest"},
		"a little later":      {"target", 10, false, false, "after rest"},
		"long before":         {"target", 100, false, false, "after rest, before rest"},
		"it began elsewhere":  {"", 0, false, false, "after rest, before rest"},
		"a fork begins there": {"target", 0, true, false, "after rest, before rest"},
		"it was there before": {"target", 0, false, true, "after rest, before rest"},
	} {
		s := newStory(t)
		s.E.Log.Session(rest).Busy = true
		s.step(rest, files{"f": "0"}, rest)
		target := s.step(rest, files{"f": "1"}, rest)
		s.step(rest, files{"f": "1", "before": "1"}, rest)
		s.step(rest, files{"f": "1"}, rest)
		r := s.session(me, model.Session{})
		if tt.early {
			r.Began = target.Seq
		}
		if tt.forked {
			r.Fork = fork(busy, "fork")
		}
		for range tt.later {
			s.event(me)
		}
		on := target.ID
		if tt.stands == "" {
			on = enginetest.TestID("another")
		}
		s.event(me, refs.Update{Name: refs.Cursor(me), New: on})
		s.step(rest, files{"f": "1", "after": "1"}, rest)
		s.wantOthers(what, me, target, files{"f": "1", "after": "1"}, tt.want)
	}
}

// TestOthersRestores: what a colleague's restore set is its own; what it kept, or did not touch, is not.
func TestOthersRestores(t *testing.T) {
	all := files{"f": "2", "g": "2", "d": "2"}
	for what, tt := range map[string]struct {
		by   string
		kind refs.Kind
		set  func(*story, *refs.Restore)
		now  files
		want string
	}{
		"of all":      {rest, refs.KindCheckout, nil, files{"f": "1", "g": "1"}, "d rest, f rest, g rest"},
		"its own":     {me, refs.KindCheckout, nil, files{"f": "1", "g": "1"}, ""},
		"a person's":  {model.Manual, refs.KindCheckout, nil, files{"f": "1", "g": "1"}, ""},
		"talk only":   {rest, refs.KindCheckout, talkOnly, all, ""},
		"no restore":  {rest, refs.KindTag, nil, all, ""},
		"of one path": {rest, refs.KindCheckout, limit("f"), files{"f": "1", "g": "2", "d": "2"}, "f rest"},
		"of a kept": {rest, refs.KindCheckout, func(s *story, r *refs.Restore) {
			limit("f", "g")(s, r)
			r.Kept = 1
		}, files{"f": "1", "g": "2", "d": "2"}, "f rest"},
		"changed since": {
			rest, refs.KindCheckout, limit("f", "g"), files{"f": "1", "g": "3", "d": "2"}, "f rest, g rest",
		},
		"with a result": {rest, refs.KindCheckout, func(s *story, r *refs.Restore) {
			r.Result = s.tree(files{"f": "1", "g": "2", "d": "2"})
		}, files{"f": "1", "g": "2", "d": "2"}, "f rest"},
	} {
		s := newStory(t)
		s.event(me)
		first := s.step(model.Manual, files{"f": "1", "g": "1"})
		target := s.step(me, all, me)
		r := refs.Restore{Target: first.ID}
		if tt.set != nil {
			tt.set(s, &r)
		}
		s.restore(tt.kind, tt.by, all, r)
		if got := s.others(me, target, tt.now, false); got != tt.want {
			t.Errorf("%s: %q, want %q", what, got, tt.want)
		}
	}
}

// TestOthersTakenBack: what a restore set and an undo-restore set back is none's change.
func TestOthersTakenBack(t *testing.T) {
	all, old := files{"f": "2", "g": "2", "d": "2"}, files{"f": "1", "g": "1"}
	begun := func(r refs.Restore) (s *story, first, target *model.Checkpoint, op uint64, back refs.Restore) {
		s = newStory(t)
		s.event(me)
		first = s.step(model.Manual, old)
		target = s.step(me, all, me)
		r.Target = first.ID
		op, safety := s.restore(refs.KindCheckout, rest, all, r)
		return s, first, target, op, refs.Restore{Target: safety.ID, Undoes: op, Scope: r.Scope}
	}
	s, _, target, _, back := begun(refs.Restore{})
	s.restore(refs.KindUndoRestore, rest, old, back)
	s.wantOthers("set back", me, target, all, "")

	s, first, target, _, back := begun(refs.Restore{})
	op, _ := s.restore(refs.KindUndoRestore, rest, old, back)
	s.restore(refs.KindUndoRestore, rest, all, refs.Restore{Target: first.ID, Undoes: op})
	if got := s.others(me, target, old, false); got != "d rest, f rest, g rest" {
		t.Errorf("and brought again: %q", got)
	}

	s, _, _, _, back = begun(refs.Restore{})
	between := s.step(me, files{"f": "1", "g": "1", "h": "1"}, me)
	s.restore(refs.KindUndoRestore, rest, files{"f": "1", "g": "1", "h": "1"}, back)
	if got := s.others(me, between, all, false); got != "d rest, f rest, g rest, h rest" {
		t.Errorf("since between the two: %q", got)
	}

	s, _, target, _, back = begun(refs.Restore{})
	s.step(busy, files{"f": "3", "g": "1"}, busy)
	back.Result = s.tree(files{"f": "3", "g": "2", "d": "2"})
	s.restore(refs.KindUndoRestore, rest, files{"f": "3", "g": "1"}, back)
	s.wantOthers("but for what was changed since", me, target, files{"f": "3", "g": "2", "d": "2"}, "f busy")

	s, _, target, _, back = begun(refs.Restore{Scope: refs.Scope{Paths: refs.PathSet{"f"}}})
	s.restore(refs.KindUndoRestore, rest, files{"f": "1", "g": "2", "d": "2"}, back)
	s.wantOthers("of one path", me, target, all, "")

	s, _, target, _, back = begun(refs.Restore{Scope: refs.Scope{Paths: refs.PathSet{"f"}}})
	s.step(busy, files{"f": "1", "g": "2", "d": "2"})
	s.restore(refs.KindUndoRestore, rest, files{"f": "1", "g": "2", "d": "2"}, back)
	s.wantOthers("of one path, that a step has found", me, target, all, "")
}

// TestOthersFound: what a restore of some paths has set is its session's change, whoever has found it there since; what
// is otherwise by then is of who has changed it.
func TestOthersFound(t *testing.T) {
	all := files{"f": "2", "g": "2"}
	for what, tt := range map[string]struct {
		steps []files
		yours string
	}{
		"unsaved":              {nil, ""},
		"by a step":            {[]files{{"f": "1", "g": "2"}}, ""},
		"by a step, made anew": {[]files{{"f": "1", "g": "2"}, {"f": "3", "g": "2"}, {"f": "1", "g": "2"}}, "f"},
		"otherwise":            {[]files{{"f": "3", "g": "3"}}, "f g"},
	} {
		s := newStory(t)
		s.event(me)
		first := s.step(me, files{"f": "1", "g": "1"}, me)
		target := s.step(me, all, me)
		r := refs.Restore{Target: first.ID}
		limit("f")(s, &r)
		s.restore(refs.KindCheckout, rest, all, r)
		now := files{"f": "1", "g": "2"}
		for _, now = range tt.steps {
			s.step(model.Manual, now)
		}
		since, err := s.authors.Others(authorship.Going{Session: me}, target, s.found(now), false)
		s.Must(err)
		if by := since.Stay.Of("f"); by != rest {
			t.Errorf("found %s: %q has set f", what, by)
		}
		if got := strings.Join(slices.Sorted(maps.Keys(since.Went)), " "); got != tt.yours {
			t.Errorf("found %s: %q are a person's, want %q", what, got, tt.yours)
		}
	}
}

// TestSameTakenBack: steps are the same for a session also where it went back over what others did between them, and
// forward again.
func TestSameTakenBack(t *testing.T) {
	s := newStory(t)
	s.event(me)
	older := s.step(me, files{"f": "1"}, me)
	s.step(busy, files{"f": "2"}, busy)
	op, safety := s.restore(refs.KindCheckout, me, files{"f": "2"}, refs.Restore{Target: older.ID})
	same := func(what string, newer *model.Checkpoint, want bool) {
		t.Helper()
		if is, err := s.judge(me).Stretch(newer).Same(older); err != nil || is != want {
			t.Errorf("%s: %v, %v, want %v", what, is, err, want)
		}
	}
	same("gone back", s.step(me, files{"f": "3"}, me), false)
	s.step(model.Manual, files{"f": "1"})
	s.restore(refs.KindUndoRestore, me, files{"f": "1"}, refs.Restore{Target: safety.ID, Undoes: op})
	same("and forward", s.step(busy, files{"f": "2", "g": "2"}, busy), false)

	s = newStory(t)
	s.event(me)
	older = s.step(me, files{"f": "1"}, me)
	s.step(busy, files{"f": "2"}, busy)
	op, safety = s.restore(refs.KindCheckout, me, files{"f": "2"}, refs.Restore{Target: older.ID})
	s.restore(refs.KindUndoRestore, me, files{"f": "1"}, refs.Restore{Target: safety.ID, Undoes: op})
	same("with nothing of its own between", s.step(busy, files{"f": "2", "g": "2"}, busy), true)
}

func talkOnly(_ *story, r *refs.Restore) { r.ContextOnly = true }

// limit has a restore set some paths only.
func limit(paths ...string) func(*story, *refs.Restore) {
	return func(_ *story, r *refs.Restore) { r.Paths = paths }
}

// TestGiveBack: what a colleague's restore took of the session's own work, and of yours, is given back when it comes
// back; what it took of others, and what an agent in a turn laid out, is not.
func TestGiveBack(t *testing.T) {
	mine := files{"f": "2", "g": "2"}
	for what, tt := range map[string]struct {
		by      string
		authors []string // of what was replaced
		kept    string   // with what is given back
	}{
		"own work":   {rest, []string{me}, ""},
		"its lane's": {rest, []string{lane}, ""},
		"of both":    {rest, []string{me, rest}, "f rest, g rest"},
		"by hand":    {rest, nil, ""},
		"in a turn":  {busy, []string{me}, "f busy, g busy"},
	} {
		s := newStory(t)
		s.event(me)
		first := s.step(model.Manual, files{"f": "1", "g": "1"})
		s.step(me, mine, tt.authors...)
		target := s.step(me, mine, me)
		at := files{"f": "1", "g": "1"}
		s.restore(refs.KindCheckout, tt.by, mine, refs.Restore{Target: first.ID})
		without := s.others(me, target, at, false)
		name := strings.TrimPrefix(tt.by, "claude/")
		if want := fmt.Sprintf("f %s, g %s", name, name); without != want {
			t.Errorf("%s: %q, want %q", what, without, want)
		}
		if got := s.others(me, target, at, true); got != tt.kept {
			t.Errorf("%s, given back: %q, want %q", what, got, tt.kept)
		}
	}
}

// TestGiveBackOlder: what the session wrote behind a restore says nothing of what that restore took.
func TestGiveBackOlder(t *testing.T) {
	s := newStory(t)
	s.event(me)
	first := s.step(model.Manual, files{"f": "1", "g": "1"})
	s.step(rest, files{"f": "2", "g": "1"}, rest)
	target := s.step(me, files{"f": "2", "g": "2"}, me)
	only := func(path string) refs.Restore {
		return refs.Restore{Target: first.ID, Scope: refs.Scope{Paths: refs.PathSet{path}}}
	}
	s.restore(refs.KindCheckout, rest, files{"f": "2", "g": "2"}, only("f"))
	for _, f := range []string{"1", "3", "1"} {
		s.step(me, files{"f": f, "g": "2"}, me)
	}
	s.restore(refs.KindCheckout, rest, files{"f": "1", "g": "2"}, only("g"))
	now := files{"f": "1", "g": "1"}
	if got := s.others(me, target, now, false); got != "f rest, g rest" {
		t.Error(got)
	}
	if got := s.others(me, target, now, true); got != "f rest" {
		t.Errorf("given back: %s", got)
	}
}

// TestWrote: the steps of a session and its lanes, the oldest first, and of each the paths that are its own.
func TestWrote(t *testing.T) {
	s := newStory(t)
	s.step(busy, files{"a": "1"}, busy)
	s.step(me, files{"a": "2"}, me)
	s.step(busy, files{"a": "3"}, busy, lane)
	owned := []model.Owned{{By: []string{busy}, Paths: []string{"b"}}}
	s.put(model.Checkpoint{Session: busy, By: []string{me}, Owned: owned}, files{"a": "4", "b": "4"})
	s.restore(refs.KindCheckout, me, files{"a": "4", "b": "4"}, refs.Restore{Target: s.step(rest, files{}, rest).ID})
	told := func(session string) (list []string) {
		steps, err := s.authors.Wrote(session)
		s.Must(err)
		for _, w := range steps {
			line := fmt.Sprint(w.Checkpoint.Seq)
			s.Must(tree.Diff(s.E.Log.Objs, w.From, w.To, func(ch tree.Change) error {
				if is, err := w.Wrote(ch); err != nil || is {
					line += " " + ch.Path
				}
				return nil
			}))
			list = append(list, line)
		}
		return list
	}
	enginetest.Equal(t, "its own", told(me), []string{"3 a", "4 a", "5 a"})
	enginetest.Equal(t, "its lane's", told(lane), told(me))
	enginetest.Equal(t, "theirs", told(busy), []string{"2 a", "4 a", "5 b"})
	enginetest.Equal(t, "nobody's", told(kid), nil)
}
