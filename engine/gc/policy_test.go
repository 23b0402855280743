package gc

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rewind/engine/project"
)

const testDay = 24 * time.Hour

func byDefault() retention {
	return retentionOf(project.DefaultConfig())
}

func TestPolicy(t *testing.T) {
	old := 40 * testDay
	for name, c := range map[string]struct {
		r    func(*retention)
		log  []logged // oldest first
		want []bool
	}{
		"everything of the last day": {
			nil,
			[]logged{{step: true, age: 23 * time.Hour}, {step: true, age: time.Hour}},
			[]bool{true, true},
		},
		"then the ends of turns": {
			nil,
			[]logged{
				{step: true, age: 2 * testDay},
				{step: true, age: 2 * testDay, turnEnd: true},
				{step: true, age: 2 * testDay},
				{step: true, age: 2 * testDay},
			},
			[]bool{false, true, false, true}, // the last is the day's last
		},
		"then the last of each day": {
			nil,
			[]logged{
				{step: true, age: old, day: 1, turnEnd: true},
				{step: true, age: old, day: 1},
				{step: true, age: old - testDay, day: 2, turnEnd: true},
			},
			[]bool{false, true, true},
		},
		"of each session": {
			nil,
			[]logged{
				{step: true, age: old, session: "a"},
				{step: true, age: old, session: "b"},
				{step: true, age: old, session: "b"},
			},
			[]bool{true, false, true},
		},
		"not for ever, if so said": {
			func(r *retention) { r.daily = 100 * testDay },
			[]logged{{step: true, age: 101 * testDay}, {step: true, age: 99 * testDay, day: 1}},
			[]bool{false, true},
		},
		"saved and safety": {nil, []logged{
			{safety: true, age: 181 * testDay},
			{safety: true, age: 179 * testDay},
			{step: true, saved: true, age: 179 * testDay},
			{step: true, age: 170 * testDay},
		}, []bool{false, true, true, true}},
		"what a restore names": {
			nil,
			[]logged{{names: true, age: 181 * testDay}, {names: true, age: testDay}},
			[]bool{false, true},
		},
		"pinned": {nil, []logged{
			{step: true, pinned: true, age: 999 * testDay},
			{step: true, age: 999 * testDay},
			{step: true, age: 999 * testDay},
		}, []bool{true, false, true}},
		"conversations": {
			nil,
			[]logged{
				{conversation: true, marker: true, age: 999 * testDay},
				{conversation: true, age: 999 * testDay},
				{conversation: true, age: time.Hour},
			},
			[]bool{true, false, true},
		},
		"keep 2": {
			func(r *retention) { r.newest = 2 },
			[]logged{
				{step: true, age: 3 * time.Hour},
				{safety: true, age: 3 * time.Hour},
				{step: true, age: 2 * time.Hour},
				{step: true, age: 2 * time.Hour},
				{step: true, age: 3 * time.Hour, session: "other"},
			},
			[]bool{false, false, true, true, true},
		},
		"keep 2, but for the youngest": {
			func(r *retention) { r.newest = 1 },
			[]logged{{step: true, age: 2 * time.Hour}, {step: true, age: time.Minute}, {step: true}},
			[]bool{false, true, true},
		},
		"older": {
			func(r *retention) { r.older = 10 * testDay },
			[]logged{
				{step: true, saved: true, age: 11 * testDay, wall: 11 * testDay},
				{step: true, age: 7 * testDay, wall: 11 * testDay},
				{step: true, age: 7 * testDay, wall: 7 * testDay},
			},
			[]bool{false, false, true},
		},
	} {
		r := byDefault()
		if c.r != nil {
			c.r(&r)
		}
		if got := r.keeps(c.log); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestPolicyEdges: each age ends when it is reached, and not a moment before.
func TestPolicyEdges(t *testing.T) {
	only := func(set func(*retention, time.Duration)) func(*retention) {
		return func(r *retention) { *r = retention{}; set(r, testDay) }
	}
	all := func(r *retention, d time.Duration) { r.all = d }
	safety := func(r *retention, d time.Duration) { r.safety = d }
	for name, c := range map[string]struct {
		r     func(*retention)
		entry logged
		ages  string // "age" or "wall"
	}{
		"grace": {only(func(r *retention, d time.Duration) { r.grace = d }), logged{}, "age"},
		"all":   {only(all), logged{step: true}, "age"},
		"turns": {
			only(func(r *retention, d time.Duration) { r.turns = d }),
			logged{step: true, turnEnd: true},
			"age",
		},
		"daily":        {only(func(r *retention, d time.Duration) { r.daily = d }), logged{step: true}, "age"},
		"saved":        {only(safety), logged{step: true, saved: true}, "age"},
		"safety":       {only(safety), logged{safety: true}, "age"},
		"names":        {only(safety), logged{names: true}, "age"},
		"conversation": {only(all), logged{conversation: true}, "age"},
		"older": {
			only(func(r *retention, d time.Duration) { r.all, r.older = project.Forever, d }),
			logged{step: true},
			"wall",
		},
		"older, named": {
			only(func(r *retention, d time.Duration) { r.safety, r.older = project.Forever, d }),
			logged{names: true},
			"wall",
		},
	} {
		r := byDefault()
		c.r(&r)
		for _, d := range []time.Duration{testDay - 1, testDay, testDay + 1} {
			l := c.entry
			if l.age = d; c.ages == "wall" {
				l.age, l.wall = 0, d
			}
			if got := r.keeps([]logged{l}); got[0] != (d < testDay) {
				t.Errorf("%s, %v old: kept %v", name, d, got[0])
			}
		}
	}
}

// TestPromise05PolicyIsMonotone: who asks for more is never given less, what is pinned or young stays, and what the
// policy has left it leaves again.
func TestPromise05PolicyIsMonotone(t *testing.T) {
	age := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.IntRange(0, 400).Draw(t, "hours")) * time.Hour
	})
	rapid.Check(t, func(t *rapid.T) {
		var log []logged
		at := 400 * time.Hour
		for range rapid.IntRange(0, 40).Draw(t, "entries") {
			at -= min(at, time.Duration(rapid.IntRange(0, 30).Draw(t, "gap"))*time.Hour)
			l := logged{
				age: at, wall: at, day: int64((400*time.Hour - at) / testDay),
				session: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "session"),
			}
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				l.safety = true
			case 1:
				l.names = true
			case 2:
				l.conversation, l.marker = true, rapid.Bool().Draw(t, "marker")
			default:
				l.step, l.saved, l.turnEnd = true, rapid.Bool().Draw(t, "saved"), rapid.Bool().Draw(t, "turnEnd")
			}
			l.pinned = rapid.IntRange(0, 5).Draw(t, "pinned") == 0
			log = append(log, l)
		}
		r := retention{
			grace: age.Draw(t, "grace"), all: age.Draw(t, "all"), turns: age.Draw(t, "turns"),
			daily:  age.Draw(t, "daily"),
			safety: age.Draw(t, "safety"),
		}
		r.newest, r.older = rapid.IntRange(0, 5).Draw(t, "newest"), age.Draw(t, "older")
		more := r
		for _, d := range []*time.Duration{&more.grace, &more.all, &more.turns, &more.daily, &more.safety} {
			*d += age.Draw(t, "more")
		}
		if more.newest > 0 {
			more.newest += rapid.IntRange(0, 3).Draw(t, "more newest")
		}
		if more.older > 0 {
			more.older += age.Draw(t, "more older")
		}
		less := r
		for _, f := range stricter {
			f(&less)
		}
		kept, wider, narrower := r.keeps(log), more.keeps(log), less.keeps(log)
		var left []logged
		for i, l := range log {
			if kept[i] && !wider[i] || narrower[i] && !kept[i] {
				t.Fatalf("entry %d, %+v: %v, with longer ages %v, with shorter ones %v", i, l, kept[i], wider[i],
					narrower[i])
			}
			if (l.pinned || l.age < r.grace) && !kept[i] {
				t.Fatalf("entry %d, %+v, is not kept", i, l)
			}
			if kept[i] {
				left = append(left, l)
			}
		}
		if again := r.keeps(left); slices.Contains(again, false) {
			t.Fatalf("what was left is not left again: %v of %+v", again, left)
		}
	})
}

// TestT9Clock: the order is that of the log whatever the clock says, ages never grow by more than a week for one jump,
// and a clock that cannot be right is refused.
func TestT9Clock(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	ms := func(ago time.Duration) int64 { return now.Add(-ago).UnixMilli() }
	for name, c := range map[string]struct {
		times   []int64
		r       retention
		oldest  time.Duration // at most, in the log's count
		refused bool
	}{
		"as it should be": {
			[]int64{ms(3 * time.Hour), ms(2 * time.Hour), ms(0)},
			retention{},
			3 * time.Hour, false,
		},
		"nothing":       {nil, retention{}, 0, false},
		"an hour back":  {[]int64{ms(time.Hour), ms(-time.Hour)}, retention{}, 0, true},
		"a minute back": {[]int64{ms(time.Hour), ms(-time.Minute)}, retention{}, 2 * time.Hour, false},
		"a year back":   {[]int64{ms(-365 * testDay)}, retention{}, 0, true},
		"an hour ahead": {[]int64{ms(2 * time.Hour), ms(time.Hour)}, retention{}, 2 * time.Hour, false},
		"a year ahead": {
			[]int64{ms(365*testDay + time.Hour), ms(365 * testDay)},
			retention{},
			maxGap + time.Hour, false,
		},
		"a year ahead, and --older": {[]int64{ms(365 * testDay)}, retention{older: testDay}, 0, true},
		"at rest, and --older":      {[]int64{ms(29 * testDay)}, retention{older: testDay}, maxGap, false},
		"it was a year ahead": {
			[]int64{ms(3 * time.Hour), ms(-365 * testDay), ms(time.Hour)},
			retention{},
			time.Hour + 0 + maxGap,
			false,
		},
		"it was a year behind": {
			[]int64{ms(3 * time.Hour), ms(365 * testDay), ms(time.Hour)},
			retention{},
			time.Hour + maxGap,
			false,
		},
		"it is a year behind by now": {
			[]int64{ms(-365 * testDay), ms(time.Hour)},
			retention{},
			time.Hour + maxGap, false,
		},
		"before 1970, and out of all": {[]int64{0, 1 << 62, 5}, retention{}, 3 * maxGap, false},
	} {
		k := newClock(now, c.times)
		if err := k.trusted(c.r); errors.Is(err, ErrClock) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
		for i := range k.age {
			if i > 0 && (k.age[i] > k.age[i-1] || k.wall[i] > k.wall[i-1]) {
				t.Errorf("%s: operation %d is older than the one before", name, i)
			}
			if k.age[i] < 0 || k.wall[i] < 0 {
				t.Errorf("%s: %v, %v", name, k.age, k.wall)
			}
		}
		if len(k.age) > 0 && !c.refused && k.age[0] > c.oldest {
			t.Errorf("%s: the oldest is %v old, at most %v", name, k.age[0], c.oldest)
		}
	}
}

// TestStricter: in which steps the ages of the default policy are shortened until a store fits, down to the grace.
func TestStricter(t *testing.T) {
	r := byDefault()
	r.grace = time.Minute
	var got []string
	for _, f := range stricter {
		f(&r)
		got = append(got, fmt.Sprintf("%v %v %v %v", r.all, r.turns, r.daily, r.safety))
	}
	ages := func(all, turns, daily, safety time.Duration) string {
		return fmt.Sprintf("%v %v %v %v", all, turns, daily, safety)
	}
	want := []string{
		ages(testDay, 7*testDay, project.Forever, 180*testDay),
		ages(testDay, 7*testDay, 90*testDay, 90*testDay),
		ages(testDay, testDay, 90*testDay, 90*testDay),
		ages(testDay, testDay, 30*testDay, 30*testDay),
		ages(testDay, testDay, 7*testDay, 7*testDay),
		ages(time.Hour, testDay, testDay, testDay),
		ages(time.Minute, time.Minute, time.Minute, time.Minute),
	}
	if !slices.Equal(got, want) {
		t.Errorf("the ages become\n%q, want\n%q", got, want)
	}
}

// TestClockCounts: how old operations are in the log's count, and by the machine's clock.
func TestClockCounts(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct{ ago, age, wall []time.Duration }{
		"as it should be": {
			[]time.Duration{3 * time.Hour, 2 * time.Hour, time.Hour},
			[]time.Duration{3 * time.Hour, 2 * time.Hour, time.Hour},
			[]time.Duration{3 * time.Hour, 2 * time.Hour, time.Hour},
		},
		"a year without anything": {
			[]time.Duration{366 * testDay, time.Hour},
			[]time.Duration{7*testDay + time.Hour, time.Hour},
			[]time.Duration{366 * testDay, time.Hour},
		},
		"it was a day ahead": {
			[]time.Duration{3 * time.Hour, -testDay, time.Hour},
			[]time.Duration{testDay + 4*time.Hour, time.Hour, time.Hour},
			[]time.Duration{3 * time.Hour, 0, 0},
		},
		"it was an hour behind": {
			[]time.Duration{3 * time.Hour, 4 * time.Hour, time.Hour},
			[]time.Duration{4 * time.Hour, 4 * time.Hour, time.Hour},
			[]time.Duration{3 * time.Hour, 3 * time.Hour, time.Hour},
		},
	} {
		times := make([]int64, len(c.ago))
		for i, ago := range c.ago {
			times[i] = now.Add(-ago).UnixMilli()
		}
		if k := newClock(now, times); !slices.Equal(k.age, c.age) || !slices.Equal(k.wall, c.wall) {
			t.Errorf("%s: ages %v by the clock %v, want %v and %v", name, k.age, k.wall, c.age, c.wall)
		}
	}
	// Weeks enough for more than a duration can tell.
	times := make([]int64, 16_000)
	for i := range times {
		times[i] = now.Add(-8*testDay*time.Duration(len(times)-i)/4).UnixMilli() * 4
	}
	k := newClock(time.UnixMilli(now.UnixMilli()*4), times)
	if k.age[0] != project.Forever || k.age[len(times)-1] != maxGap {
		t.Errorf("the oldest is %v old, the newest %v", k.age[0], k.age[len(times)-1])
	}
	for i := range times[1:] {
		if k.age[i] < k.age[i+1] {
			t.Fatalf("operation %d is %v old, the next one %v", i, k.age[i], k.age[i+1])
		}
	}
}

// TestClockDoubt: how far the clock may be from the newest operation, and what a person is told who is refused.
func TestClockDoubt(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	const doubt = "gc: the clock is in doubt: it says 2026-11-20T10:00:00Z, "
	for _, c := range []struct {
		ago, older time.Duration
		want       string // ""; it is believed
	}{
		{ago: -maxAhead},
		{ago: -maxAhead - time.Second, want: doubt + "10m1s before the newest operation"},
		{ago: -2*time.Hour - 700*time.Millisecond, want: doubt + "2h0m1s before the newest operation"},
		{ago: maxRest, older: time.Hour},
		{ago: maxRest + time.Second, older: time.Nanosecond, want: doubt + "30 days after the newest operation"},
		{ago: 400*testDay + time.Hour, older: time.Hour, want: doubt + "400 days after the newest operation"},
		{ago: 400 * testDay},
	} {
		got := ""
		if err := newClock(now, []int64{now.Add(-c.ago).UnixMilli()}).trusted(retention{older: c.older}); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("the newest is %v old, older %v: %q, want %q", c.ago, c.older, got, c.want)
		}
	}
}

func TestAges(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0s": 0, "36h": 36 * time.Hour, "30d": 30 * testDay, "2w": 14 * testDay,
		"forever": project.Forever, "5m": 5 * time.Minute,
	} {
		if got, err := project.ParseKeepAge(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "d", "30", "-1d", "1.5d", "3y", "99999999999d", "forever ",
		fmt.Sprint(project.Forever),
	} {
		if got, err := project.ParseKeepAge(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
