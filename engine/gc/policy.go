package gc

import (
	"time"

	"rewind/engine/project"
)

// retention says what gc keeps. All but what a person asks for is on by default.
type retention struct {
	grace  time.Duration // everything that is younger
	all    time.Duration // every checkpoint
	turns  time.Duration // the last of each turn
	daily  time.Duration // the last of each day and session
	safety time.Duration // those before restores, saved ones, what forks begin at; and what restores, forks and tags of the log name
	// What a person asked for; it takes away from the rest.
	newest int           // of each session only so many steps; 0: all
	older  time.Duration // nothing that is older; 0: no limit
}

// retentionOf reads the settings.
func retentionOf(c project.Config) retention {
	age := func(key string) time.Duration {
		d, _ := project.ParseKeepAge(c.Get(key).(string)) // checked when it was read
		return d
	}
	return retention{grace: age("gc.grace"), all: age("gc.keep_all"), turns: age("gc.keep_turns"), daily: age("gc.keep_daily"), safety: age("gc.keep_safety")}
}

// A logged is what the policy knows of an entry of the log. Entries are in the order of the log, and none is older than one before it.
type logged struct {
	step         bool // a checkpoint on a branch
	safety       bool // the state before a restore
	names        bool // not a checkpoint, but it names some: a restore, a fork, a tag
	conversation bool // not a checkpoint, but a place in a conversation
	marker       bool // of those: where a turn begins or ends
	session      string
	age          time.Duration // as the log tells, which counts no gap for more than maxGap
	wall         time.Duration // as the clock tells
	day          int64         // on which it was made
	saved        bool          // by a person
	turnEnd      bool          // of steps: the last of its turn
	pinned       bool          // needed whatever the policy says
}

// keeps decides for each entry whether it is kept: a checkpoint as such, any other with what it names. It depends on nothing else, and a
// longer age, or a greater number, never keeps less.
func (r retention) keeps(log []logged) []bool {
	keep := make([]bool, len(log))
	type day struct {
		session string
		day     int64
	}
	days := map[day]bool{}
	ranks := map[string]int{}
	for i := len(log) - 1; i >= 0; i-- {
		l := &log[i]
		newestOfDay := false
		if l.step {
			d := day{session: l.session, day: l.day}
			newestOfDay = !days[d]
			days[d] = true
		}
		asked := (r.newest == 0 || ranks[l.session] < r.newest) && (r.older == 0 || l.wall < r.older)
		if l.step {
			ranks[l.session]++
		}
		due := false
		switch {
		case l.step:
			due = l.age < r.all || l.turnEnd && l.age < r.turns || newestOfDay && l.age < r.daily || l.saved && l.age < r.safety
		case l.safety, l.names:
			due = l.age < r.safety
		case l.conversation:
			due = l.age < r.all || l.marker
		}
		keep[i] = l.pinned || l.age < r.grace || asked && due
	}
	return keep
}

// steps of a policy that is made stricter until the store fits.
var stricter = []func(*retention){
	func(r *retention) { r.turns = min(r.turns, 7*24*time.Hour) },
	func(r *retention) { r.daily, r.safety = min(r.daily, 90*24*time.Hour), min(r.safety, 90*24*time.Hour) },
	func(r *retention) { r.turns = min(r.turns, 24*time.Hour) },
	func(r *retention) { r.daily, r.safety = min(r.daily, 30*24*time.Hour), min(r.safety, 30*24*time.Hour) },
	func(r *retention) { r.daily, r.safety = min(r.daily, 7*24*time.Hour), min(r.safety, 7*24*time.Hour) },
	func(r *retention) {
		r.all, r.daily, r.safety = min(r.all, time.Hour), min(r.daily, 24*time.Hour), min(r.safety, 24*time.Hour)
	},
	func(r *retention) { r.all, r.turns, r.daily, r.safety = r.grace, r.grace, r.grace, r.grace },
}
