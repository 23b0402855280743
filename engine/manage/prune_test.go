package manage

import (
	"slices"
	"testing"
	"time"

	"rewind/engine/model"
	"rewind/internal/value"
)

// TestPruneChoose: which forks go, by every reason to go and to stay.
func TestPruneChoose(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	fork := func(name string, days, own int, set func(*model.ForkInfo)) model.ForkInfo {
		f := model.ForkInfo{Own: own}
		f.Name, f.Branch, f.Last = name, name, now.AddDate(0, 0, -days)
		f.Fork = &model.Lineage{Lineage: value.Lineage{Session: "claude/root", Kind: "fork"}}
		if set != nil {
			set(&f)
		}
		return f
	}
	list := []model.ForkInfo{ // newest first
		fork("new", 0, 0, nil),
		fork("used", 1, 2, nil),
		fork("opened", 2, 0, func(f *model.ForkInfo) { f.Event = "session-start" }),
		fork("running", 3, 0, func(f *model.ForkInfo) { f.Running = true }),
		fork("current", 3, 0, func(f *model.ForkInfo) { f.Current = true }),
		fork("main", 4, 0, func(f *model.ForkInfo) { f.Standing = value.MainLine }),
		fork("archived", 4, 0, func(f *model.ForkInfo) { f.Standing = value.Archived }),
		fork("missing", 5, 0, func(f *model.ForkInfo) { f.Missing = true }),
		fork("unplaced", 5, 0, func(f *model.ForkInfo) { f.Fork.Kind = model.ByAgent }),
		fork("old", 40, 0, nil),
		fork("old and used", 50, 3, nil),
		fork("by going back", 60, 0, func(f *model.ForkInfo) { f.Fork.Kind = "undo" }),
		fork("clone", 60, 0, func(f *model.ForkInfo) { f.Fork.Kind, f.Fork.Clone = "clone", true }),
		// no session that could go
		fork("branch within", 60, 3, func(f *model.ForkInfo) { f.Branch = "turn:5@branch within" }),
	}
	for _, c := range []struct {
		p    Prune
		want []string
	}{
		{Prune{}, nil},
		{Prune{Itself: true}, nil},
		{Prune{Unused: true}, []string{"new", "old", "by going back", "clone"}},
		{Prune{Unused: true, Keep: 1}, []string{"old", "by going back", "clone"}},
		{Prune{Older: 30 * 24 * time.Hour}, []string{"old", "old and used", "by going back", "clone"}},
		{Prune{Older: 30 * 24 * time.Hour, Unused: true}, []string{"old", "by going back", "clone"}},
		{Prune{Keep: 2}, []string{"opened", "old", "old and used", "by going back", "clone"}},
		{Prune{Keep: 100}, nil},
		{Prune{Makers: []string{value.ForkClone}}, []string{"clone"}},
		{Prune{Makers: []string{value.ForkMade, value.ForkRestore}, Unused: true}, []string{"new", "old", "by going back"}},
	} {
		var got []string
		for _, f := range c.p.choose(slices.Clone(list), now) {
			got = append(got, f.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.p, got, c.want)
		}
	}
}

// TestPruneAge: a fork of a clock that is ahead has no age, and goes where none is asked for.
func TestPruneAge(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		p    Prune
		ago  time.Duration
		want bool
	}{
		{Prune{Unused: true}, -time.Hour, true},
		{Prune{Older: time.Hour}, -time.Hour, false},
		{Prune{Older: time.Hour}, time.Hour - 1, false},
		{Prune{Older: time.Hour}, time.Hour, true},
	} {
		var f model.ForkInfo
		f.Last, f.Fork = now.Add(-c.ago), &model.Lineage{Lineage: value.Lineage{Session: "claude/root", Kind: "fork"}}
		if got := len(c.p.choose([]model.ForkInfo{f}, now)) > 0; got != c.want {
			t.Errorf("%+v, %v old: %v", c.p, c.ago, got)
		}
	}
}
