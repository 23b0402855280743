package authorship_test

import (
	"testing"

	"rewind/engine/authorship"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/hooks"
	"rewind/objstore"
	"rewind/refs"
)

// TestTheirs: a path is of who has an entry for it, or for a directory above it.
func TestTheirs(t *testing.T) {
	t.Parallel()
	some := authorship.Theirs{"a": "1", "d/": "2", "d/e/f": "3", "x/y/": "4", "n": ""}
	all := authorship.Theirs{"/": "5", "d/": "2"}
	for path, want := range map[string][2]string{
		"a": {"1", "5"}, "a/b": {"", "5"}, "d": {"", "5"}, "d/e": {"2", "2"}, "d/e/f": {"3", "2"},
		"d/e/f/g": {"2", "2"},
		"da":      {"", "5"}, "x/y/z": {"4", "5"}, "x/z": {"", "5"}, "n": {"", "5"}, "": {"", "5"},
	} {
		if got := [2]string{some.Of(path), all.Of(path)}; got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

// TestStranger: whose change is a colleague's, by who made it, when, and whether that one is at work.
func TestStranger(t *testing.T) {
	s := newStory(t)
	s.event(me)
	for range 8 {
		s.event(rest)
	}
	began := s.E.Log.DB.LastSeq() + 1
	s.E.Log.Session(me).Began = began
	s.session("claude/busylane", model.Session{LaneOf: busy})
	s.session(kid, model.Session{Fork: fork(me, "fork")})
	s.session("claude/busykid", model.Session{Fork: fork(me, "fork"), Busy: true})
	const later, clone = "claude/later", "claude/clone"
	s.session(later, model.Session{Fork: fork(me, "checkout"), Began: began + 10})
	s.session(clone, model.Session{Fork: fork(busy, "fork"), Began: began + 10})
	s.session("claude/latest", model.Session{Fork: fork(later, "undo"), Began: began + 20})
	s.session("claude/stale", model.Session{Busy: true}).Last = s.Tick.AddDate(-9, 0, 0)
	s.session("claude/call", model.Session{Calls: []model.Call{{ID: "1"}}})
	for _, tt := range []struct {
		session, by string
		seq         uint64
		want        bool
	}{
		{me, me, 1, false},
		{me, me, began + 5, false},
		{me, lane, began + 5, false},
		{lane, me, began + 5, false},
		{lane, rest, began + 5, true},
		{me, model.Manual, began + 5, false},
		{me, rest, began - 1, false},
		{me, rest, began, true},
		{me, busy, began - 1, true},
		{me, busy, began, true},
		{me, "claude/busylane", began - 1, true},
		{me, "claude/stale", began - 1, false},
		{me, "claude/call", began - 1, true},
		{me, "claude/unknown", began - 1, false},
		{me, "claude/unknown", began, true},
		{me, kid, began + 5, false},
		{me, "claude/busykid", began + 5, true},
		{kid, "claude/busykid", began + 5, true},
		{kid, me, began + 5, false},
		// what a session was before a restore made another of it is that one's own
		{later, me, began + 9, false},
		{later, rest, began - 1, false},
		{later, rest, began, true},
		{"claude/latest", rest, began, true},
		// the session that it was forked from began long before
		{clone, rest, s.E.Log.Session(busy).Began, true},
		{clone, rest, s.E.Log.Session(busy).Began - 1, false},
	} {
		if got := s.judge(tt.session).Stranger(tt.by, tt.seq); got != tt.want {
			t.Errorf("%s at %d, for %s: %v", tt.by, tt.seq, tt.session, got)
		}
	}
	s.E.Log.Session(me).Busy = true
	for _, tt := range []struct {
		session string
		seq     uint64
		want    bool
	}{
		{later, began + 9, false},
		{later, began + 10, true},
		{"claude/latest", began + 9, false},
		{"claude/latest", began + 10, true},
		{kid, began + 9, true},
		{me, began + 10, false},
	} {
		if got := s.judge(tt.session).Stranger(me, tt.seq); got != tt.want {
			t.Errorf("the origin at work, at %d, for %s: %v", tt.seq, tt.session, got)
		}
	}
	if s.judge("claude/latest").Stranger(later, began+19) || s.judge("claude/latest").Stranger(later, began+20) {
		t.Error("what a restore was made of is a colleague")
	}
}

// TestCircles: lineages that form a circle end.
func TestCircles(t *testing.T) {
	s := newStory(t)
	s.session("claude/1", model.Session{Fork: fork("claude/2", "checkout")})
	s.session("claude/2", model.Session{Fork: fork("claude/1", "checkout")})
	s.session("claude/3", model.Session{LaneOf: "claude/4"})
	s.session("claude/4", model.Session{LaneOf: "claude/3"})
	for _, name := range []string{"claude/1", "claude/3"} {
		if s.judge(name).Stranger(name, 1) {
			t.Errorf("%s is a stranger to itself", name)
		}
	}
}

// TestInCall: what is new at a path is of the session's open calls alone.
func TestInCall(t *testing.T) {
	s := newStory(t)
	edit := func(paths ...string) model.Call { return model.Call{ID: "e", Class: hooks.Editor, Paths: paths} }
	shell := model.Call{ID: "s", Class: hooks.Changer}
	for what, tt := range map[string]struct {
		mine, lanes, theirs []model.Call
		want                string // the paths, of a, b and c; "-": there is no call
	}{
		"none":              {nil, nil, []model.Call{shell}, "-"},
		"an edit":           {[]model.Call{edit("a")}, nil, nil, "a"},
		"an edit of none":   {[]model.Call{edit()}, nil, nil, "-"},
		"a turn":            {[]model.Call{{ID: model.TurnCall}}, nil, nil, "-"},
		"a shell":           {[]model.Call{shell}, nil, nil, "abc"},
		"both":              {[]model.Call{edit("a"), shell}, nil, nil, "abc"},
		"a lane's":          {nil, []model.Call{edit("b")}, nil, "b"},
		"two shells":        {[]model.Call{shell}, nil, []model.Call{shell}, ""},
		"they edit":         {[]model.Call{shell}, nil, []model.Call{edit("b")}, "ac"},
		"edits of both":     {[]model.Call{edit("a", "b")}, nil, []model.Call{edit("b", "c")}, "a"},
		"a shell of theirs": {[]model.Call{edit("a")}, nil, []model.Call{shell}, "a"},
	} {
		for name, calls := range map[string][]model.Call{me: tt.mine, lane: tt.lanes, busy: tt.theirs} {
			s.E.Log.Session(name).Calls = calls
		}
		is, got := s.judge(me).InCall(), ""
		if is == nil {
			got = "-"
		}
		for _, path := range []string{"a", "b", "c"} {
			if is != nil && is(path) {
				got += path
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", what, got, tt.want)
		}
	}
}

// TestLeadsTo: a checkpoint leads to itself and to what comes after it on its line.
func TestLeadsTo(t *testing.T) {
	s := newStory(t)
	first := s.step(me, files{"f": "1"})
	second := s.step(me, files{"f": "2"})
	beside := s.put(model.Checkpoint{Session: rest, Parents: []objstore.ID{first.ID}}, files{"f": "3"})
	third := s.step(me, files{"f": "4"})
	none := enginetest.TestID("none")
	lost := s.put(model.Checkpoint{Session: kid, Parents: []objstore.ID{none}}, files{"f": "5"})
	for _, tt := range []struct {
		id, tip objstore.ID
		want    bool
	}{
		{first.ID, first.ID, true},
		{first.ID, second.ID, true},
		{first.ID, third.ID, true},
		{second.ID, third.ID, true},
		{first.ID, beside.ID, true},
		{second.ID, beside.ID, false},
		{beside.ID, third.ID, false},
		{third.ID, first.ID, false},
		{third.ID, second.ID, false},
		{objstore.Zero, objstore.Zero, true},
		{first.ID, objstore.Zero, false},
		{objstore.Zero, first.ID, false},
		{none, third.ID, false},
		{none, none, true},
		{first.ID, lost.ID, false},
		{first.ID, none, false},
	} {
		if got := s.authors.LeadsTo(tt.id, tt.tip); got != tt.want {
			t.Errorf("%s to %s: %v", tt.id.Short(), tt.tip.Short(), got)
		}
	}
}

// TestOnBranch: the step of the session's branch that stands for one of another branch.
func TestOnBranch(t *testing.T) {
	s := newStory(t)
	check := func(what, session string, cp, want *model.Checkpoint) {
		t.Helper()
		got, err := s.judge(session).OnBranch(cp)
		s.Must(err)
		if got.ID != want.ID {
			t.Errorf("%s: operation %d, want %d", what, got.Seq, want.Seq)
		}
	}
	alone := s.step(busy, files{"f": "0"}, busy)
	check("it has no branch", me, alone, alone)
	check("it is older", me, alone, alone)
	first := s.step(me, files{"f": "1"}, me)
	second := s.step(me, files{"f": "2"}, me)
	theirs := s.step(busy, files{"f": "2", "g": "1"}, busy)
	other := s.step(rest, files{"f": "3", "g": "1"}, rest, me)
	third := s.step(me, files{"f": "4", "g": "1"}, me)
	check("its own", me, first, first)
	check("its lane's", lane, second, second)
	check("only they changed something", me, theirs, second)
	check("it changed something, too", me, other, other)
	check("older than its branch", me, alone, alone)
	check("only the others changed something", busy, third, theirs)
	on := s.put(model.Checkpoint{Session: rest, Parents: []objstore.ID{third.ID}}, files{"f": "4", "g": "2"})
	check("it goes on from its branch", me, on, on)
}

// TestBack: steps back along a line; what only others changed is no step, and neither is a folded one.
func TestBack(t *testing.T) {
	s := newStory(t)
	turn := func(n uint64, minor bool, all files, by ...string) *model.Checkpoint {
		cause := model.Cause{Event: "stop", Turn: n}
		return s.put(model.Checkpoint{Session: me, By: by, Minor: minor, Cause: cause}, all)
	}
	first := turn(1, false, files{"f": "1"}, me)
	turn(2, true, files{"f": "2"}, me)
	turn(2, false, files{"f": "3"}, me)
	same := turn(3, false, files{"f": "3"}, me)
	theirs := turn(3, false, files{"f": "3", "g": "1"}, busy)
	third := turn(4, false, files{"f": "4", "g": "1"}, me)
	minor := turn(4, true, files{"f": "5", "g": "1"}, me)
	back := func(what string, from *model.Checkpoint, n int, want *model.Checkpoint) {
		t.Helper()
		got, _, err := s.judge(me).Back(from, n)
		s.Must(err)
		if got.Seq != want.Seq {
			t.Errorf("%s: operation %d, want %d", what, got.Seq, want.Seq)
		}
	}
	back("none", third, 0, third)
	back("one", third, 1, theirs)
	back("two", third, 2, first)
	back("from a folded one", minor, 1, third)
	back("from what others did", theirs, 1, first)
	back("from what changed nothing", same, 1, first)
	for n, there := range map[int]int{3: 2, 4: 2} {
		_, _, err := s.judge(me).Back(third, n)
		if none, ok := err.(*model.NoStepError); !ok || none.There != there {
			t.Errorf("%d steps: %v", n, err)
		}
	}
}

// TestSame: two steps are the same where only others changed last what differs.
func TestSame(t *testing.T) {
	s := newStory(t)
	owned := []model.Owned{{By: []string{busy}, Paths: []string{"o"}}}
	last := files{"f": "2", "g": "3", "h": "3", "o": "1"}
	cps := []*model.Checkpoint{
		s.step(me, files{"f": "1", "g": "1", "h": "1"}, me),
		s.step(busy, files{"f": "1", "g": "2", "h": "1"}, busy),
		s.step(busy, files{"f": "1", "g": "2", "h": "2"}, busy, me),
		s.step(busy, files{"f": "1", "g": "2", "h": "3"}, busy),
		s.step(model.Manual, files{"f": "2", "g": "2", "h": "3"}),
		s.step(busy, files{"f": "2", "g": "3", "h": "3"}, busy),
		s.put(model.Checkpoint{Session: me, By: []string{me}, Owned: owned}, last),
		s.step(me, last, me),
	}
	for i, row := range []string{
		"+", "++", "..+", "++++", "....+", "....++", "....+++", "....++++",
	} {
		from := s.judge(me).Stretch(cps[i])
		for k := i; k >= 0; k-- { // each older than the one before
			got, err := from.Same(cps[k])
			if err != nil || got != (row[k] == '+') {
				t.Errorf("%d and %d: %v, %v", i, k, got, err)
			}
			if alone, err := s.judge(me).Stretch(cps[i]).Same(cps[k]); err != nil || alone != got {
				t.Errorf("%d and %d: %v in a row, %v alone, %v", i, k, got, alone, err)
			}
		}
	}
}

// TestOfOrigin: what the session that one was forked from did on the line of both is its past, even while that one is
// at work; what it did since, and what gc has merged into its step from another line, is not.
func TestOfOrigin(t *testing.T) {
	s := newStory(t)
	s.event(busy)
	base := s.step(rest, files{"f": "0"}, rest)
	first := s.step(busy, files{"f": "1"}, busy)
	second := s.step(busy, files{"f": "1", "g": "1"}, busy)
	s.step(busy, files{"f": "1", "g": "1", "h": "1"}, busy)
	s.session(kid, model.Session{Fork: fork(busy, "fork")})
	s.event(kid, refs.Update{Name: refs.Cursor(kid), New: second.ID})
	now := files{"f": "1", "g": "1", "h": "1"}
	s.wantOthers("on the line of both", kid, first, now, "h busy")
	s.wantOthers("further back on it", kid, base, now, "h busy")
	s.wantOthers("behind it", kid, second, now, "h busy")
	s.wantOthers("its own", busy, first, now, "")
	more := files{"f": "1", "g": "1", "h": "1", "i": "1"}
	opened := s.step(busy, more, busy)
	s.event(kid, refs.Update{Name: refs.Cursor(kid), Old: second.ID, New: opened.ID})
	s.wantOthers("since it was forked, where it was opened", kid, first, more, "i busy")
	late := fork(busy, "fork")
	late.Checkpoint = first.ID.String()
	s.session(rest, model.Session{Fork: late})
	tip, err := s.E.Log.Refs.ID(refs.Cursor(rest))
	s.Must(err)
	s.event(rest, refs.Update{Name: refs.Cursor(rest), Old: tip, New: opened.ID})
	s.wantOthers("before it was forked, behind the cut", rest, first, more, "g busy, h busy, i busy")
	s.E.Log.Session(busy).Busy = false
	s.wantOthers("the same, when that is over", rest, first, more, "")
	s.E.Log.Session(busy).Busy = true
	s.event(kid, refs.Update{Name: refs.Cursor(kid), Old: opened.ID, New: second.ID})
	s.step(busy, now, busy)
	squash := model.Squash{Parent: first.ID, Base: first.Tree, By: []string{busy}, Aside: []string{busy}}
	s.commit(func(tx *objstore.Tx, _ uint64) (refs.Operation, []refs.Update) {
		s.Must(tx.Batch().Set(model.SquashKey(second.ID), squash.Encode()))
		return refs.Operation{Kind: refs.KindTag}, nil
	})
	s.E.Log.KnowSquashes()
	s.wantOthers("merged from another line", kid, first, now, "g busy, h busy, i busy")
	s.session(lane, model.Session{Fork: fork(busy, "fork")})
	s.step(lane, now, lane)
	s.wantOthers("older than its line", lane, first, now, "g busy, h busy, i busy")
}
