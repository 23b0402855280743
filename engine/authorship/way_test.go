package authorship_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/engine/authorship"
	"rewind/engine/model"
	"rewind/refs"
)

// listed are paths, each with whose they are.
func listed(t authorship.Theirs) string {
	var list []string
	for _, path := range slices.Sorted(maps.Keys(t)) {
		if t[path] != "" {
			list = append(list, path+" "+strings.TrimPrefix(t[path], "claude/"))
		}
	}
	return strings.Join(list, ", ")
}

// TestWays: what stays behind a target, and what else than the session's own goes, by the way of going back.
func TestWays(t *testing.T) {
	s := newStory(t)
	s.event(me)
	s.session(kid, model.Session{Fork: fork(me, "fork")})
	now := files{"f": "1"}
	target := s.step(me, now, me)
	for _, by := range []string{me, busy, rest, kid} {
		now[by[len("claude/"):]] = "1"
		s.step(by, now, by)
	}
	now["hand"] = "1"
	s.step(me, now) // found by an event of the session's, and nobody's call
	found := maps.Clone(now)
	found["unsaved"] = "1"
	const (
		colleagues = "busy busy, rest rest"
		withMine   = "busy busy, hand manual, rest rest, unsaved manual"
		withKid    = "busy busy, hand manual, kid kid, rest rest, unsaved manual"
		goes       = "hand manual, kid kid, unsaved manual"
	)
	for what, tt := range map[string]struct {
		session    string
		way        authorship.Way
		keepMine   bool
		stay, went string
	}{
		"go to":         {me, authorship.GoTo, false, colleagues, goes},
		"and keep mine": {me, authorship.GoTo, true, withMine, "kid kid"},
		"as it was": {
			me, authorship.AsItWas, false,
			"busy busy", "hand manual, kid kid, rest rest, unsaved manual",
		},
		"take back":         {me, authorship.TakeBack, false, withKid, ""},
		"a lane takes back": {lane, authorship.TakeBack, false, withKid, ""},
		"by step":           {me, authorship.ByStep, false, colleagues, goes},
		"by step, mine":     {me, authorship.ByStep, true, withMine, "kid kid"},
	} {
		g := authorship.Going{Session: tt.session, Way: tt.way, KeepMine: tt.keepMine}
		since, err := s.authors.Others(g, target, s.found(found), false)
		s.Must(err)
		if stay, went := listed(since.Stay), listed(since.Went); stay != tt.stay || went != tt.went {
			t.Errorf("%s: %q stays, %q goes; want %q, %q", what, stay, went, tt.stay, tt.went)
		}
	}
}

// TestColleagueBeforeAPerson: a path that a person changed behind a colleague stays for the colleague, and is named so.
func TestColleagueBeforeAPerson(t *testing.T) {
	s := newStory(t)
	s.event(me)
	target := s.step(me, files{"f": "1"}, me)
	s.step(rest, files{"f": "2"}, rest)
	g := authorship.Going{Session: me, Way: authorship.TakeBack}
	since, err := s.authors.Others(g, target, s.found(files{"f": "3"}), false)
	s.Must(err)
	if got := listed(since.Stay); got != "f rest" {
		t.Error(got)
	}
}

// TestCameAfter: a session that began when the one that goes back was over is no colleague, unless it is at work.
func TestCameAfter(t *testing.T) {
	for what, tt := range map[string]struct {
		ended    bool
		after    time.Duration // when the other one began, from the last that was heard
		atWork   bool
		stays    bool
		mineWork bool
		unknown  bool // the other one has no record
	}{
		"after its end":               {true, time.Second, false, false, false, false},
		"at its end":                  {true, 0, false, false, false, false},
		"before its end":              {true, -time.Second, false, true, false, false},
		"at work since":               {true, time.Second, true, true, false, false},
		"beside it":                   {false, time.Second, false, true, false, false},
		"long after all was silent":   {false, model.ActiveWithin + time.Second, false, false, false, false},
		"not so long after":           {false, model.ActiveWithin, false, true, false, false},
		"before it, and at work":      {true, -time.Hour, true, true, false, false},
		"long after, and at work now": {false, time.Hour, true, true, false, false},
		"long after, beside its work": {false, time.Hour, false, true, true, false},
		"nothing is known of it":      {true, time.Second, false, true, false, true},
	} {
		s := newStory(t)
		s.event(me)
		target := s.step(me, files{"f": "1"}, me)
		s.step(rest, files{"f": "1", "g": "1"}, rest)
		s.E.Log.Session(me).Ended = tt.ended
		s.E.Log.Session(rest).First = s.E.Log.Session(me).Last.Add(tt.after)
		s.E.Log.Session(rest).Busy, s.E.Log.Session(me).Busy = tt.atWork, tt.mineWork
		if tt.unknown {
			s.unknown(rest)
		}
		since, err := s.authors.Others(authorship.Going{Session: me}, target, s.found(files{"f": "1", "g": "1"}), false)
		s.Must(err)
		if stays := since.Stay.Of("g") != ""; stays != tt.stays {
			t.Errorf("%s: it stays: %v", what, stays)
		}
		since, err = s.authors.Others(
			authorship.Going{Session: model.Manual},
			target,
			s.found(files{"f": "1", "g": "1"}),
			false,
		)
		s.Must(err)
		if stays := since.Stay.Of("g") != ""; stays != (tt.atWork && !tt.unknown) {
			t.Errorf("%s: it stays for a person: %v", what, stays)
		}
	}
}

// TestWayOfAFamily: what a restore set that moved another branch of the family is taken back with the line; not so
// while somebody is at work on that branch, and never another session's.
func TestWayOfAFamily(t *testing.T) {
	for what, tt := range map[string]struct {
		by     string
		atWork bool
		stays  bool
	}{
		"its own":            {me, false, false},
		"a branch's":         {kid, false, false},
		"a branch's at work": {kid, true, true},
		"another session's":  {rest, false, true},
	} {
		s := newStory(t)
		s.event(me)
		s.session(kid, model.Session{Fork: fork(me, "fork"), Busy: tt.atWork})
		target := s.step(me, files{"f": "1"}, me)
		s.step(me, files{"f": "2"}, me)
		s.restore(refs.KindCheckout, tt.by, files{"f": "2"}, refs.Restore{Target: target.ID})
		s.step(me, files{"f": "1", "g": "1"}, me)
		g := authorship.Going{Session: me, Way: authorship.TakeBack}
		since, err := s.authors.Others(g, target, s.found(files{"f": "1", "g": "1"}), false)
		s.Must(err)
		if stays := since.Stay.Of("f") != ""; stays != tt.stays {
			t.Errorf("%s: it stays: %v", what, stays)
		}
	}
}
