package gc

import (
	"time"

	"rewind/engine/project"
)

// retention says for how long gc keeps what. A zero age keeps nothing by that rule.
type retention struct {
	grace  time.Duration // everything
	all    time.Duration // every checkpoint
	turns  time.Duration // the last step of each turn
	daily  time.Duration // the last step of each day and session
	safety time.Duration // safety and saved checkpoints, and what restores, forks and tags name
	// What a person asked for, which limits the rules above.
	newest int           // so many steps of each session; 0: all
	older  time.Duration // nothing older; 0: no limit
}

// retentionOf reads the settings.
func retentionOf(c project.Config) retention {
	age := func(key string) time.Duration {
		d, _ := project.ParseKeepAge(c.Get(key).(string)) // the setting was checked when it was read
		return d
	}
	return retention{
		grace: age("gc.grace"), all: age("gc.keep_all"), turns: age("gc.keep_turns"), daily: age("gc.keep_daily"),
		safety: age("gc.keep_safety"),
	}
}

// logged is what the policy knows of an entry of the log. Entries come in the order of the log, and ages do not grow.
type logged struct {
	step         bool // a checkpoint on a branch
	safety       bool // the state before a restore
	names        bool // no checkpoint, but it names some: a restore, a fork, a tag
	conversation bool // no checkpoint, but it has a transcript
	marker       bool // its transcript is that of a turn's beginning or end
	session      string
	age          time.Duration // by the clock type: no gap counts for more than maxGap
	wall         time.Duration // by the machine's clock
	day          int64         // of its making, since 1970
	saved        bool          // by a person
	turnEnd      bool          // of steps: the last of its turn
	pinned       bool          // needed whatever the policy says
}

// keeps decides for each entry whether it is kept: a checkpoint itself, or what another entry names. It depends on
// nothing else, and a longer age, or a greater number, never keeps less.
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
		whatever := l.pinned || l.age < r.grace
		keep[i] = whatever || asked && r.young(l, newestOfDay)
	}
	return keep
}

// young reports whether an entry is younger than the age that its kind is kept for.
func (r retention) young(l *logged, newestOfDay bool) bool {
	switch {
	case l.step:
		ofTurn := l.turnEnd && l.age < r.turns
		ofDay := newestOfDay && l.age < r.daily
		saved := l.saved && l.age < r.safety
		kept := ofTurn || ofDay || saved
		return kept || l.age < r.all
	case l.safety, l.names:
		return l.age < r.safety
	case l.conversation:
		return l.age < r.all || l.marker
	}
	return false
}

// stricter are changes of a policy that are made one after the other until the store fits.
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
