package bisect

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// ask answers what is asked until nothing is, and returns how often it was.
func ask(t *rapid.T, line []Verdict, o order, truth []Verdict) (asked int) {
	for {
		c := choose(line, o)
		if c.ask < 0 {
			return asked
		}
		if line[c.ask] != "" {
			t.Fatalf("asked twice about %d of %v", c.ask, line)
		}
		line[c.ask] = truth[c.ask]
		asked++
	}
}

// TestChoose: whatever the history, nothing is asked twice, and the answer is a change from passing to failing with
// nothing between but what was skipped; of a history with one change it is that one, after few questions; what is not
// told is read one state after the other.
func TestChoose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "states")
		truth := make([]Verdict, n)
		change := rapid.IntRange(0, n).Draw(t, "change")
		monotone, skips := rapid.Bool().Draw(t, "monotone"), rapid.Bool().Draw(t, "skips")
		for i := range truth {
			truth[i] = Good
			if i < change && monotone || !monotone && rapid.Bool().Draw(t, "bad") {
				truth[i] = Bad
			}
			if skips && rapid.IntRange(0, 3).Draw(t, "skip") == 0 {
				truth[i] = Skip
			}
		}
		o := rapid.SampledFrom([]order{fromEnds, fromNewer}).Draw(t, "order")
		line := make([]Verdict, n)
		asked := ask(t, line, o, truth)
		c := choose(line, o)
		if !skips && monotone && asked > 2*questions(n)+2 {
			t.Errorf("%d questions for %d states", asked, n)
		}
		if c.good < n && truth[c.good] != Good || c.bad >= 0 && truth[c.bad] != Bad {
			t.Fatalf("%+v of %v", c, truth)
		}
		for i := c.bad + 1; i < min(c.good, n); i++ {
			if c.good < n && c.good > 0 && truth[i] != Skip {
				t.Fatalf("%d lies between, and can be told: %+v of %v", i, c, truth)
			}
		}
		if !monotone || skips {
			return
		}
		naive := 0 // the first that passes, reading one after the other
		for naive < n && truth[naive] == Bad {
			naive++
		}
		if c.good != naive || c.bad != naive-1 {
			t.Errorf("%+v, reading says %d", c, naive)
		}
	})
}

// TestChooseSeeks: where the oldest fails, too, a good one is looked for in steps that double.
func TestChooseSeeks(t *testing.T) {
	all := func(n int, good ...int) []Verdict {
		truth := make([]Verdict, n)
		for i := range truth {
			truth[i] = Bad
		}
		for _, i := range good {
			truth[i] = Good
		}
		return truth
	}
	for _, tt := range []struct {
		truth     []Verdict
		asked     []int
		bad, good int
	}{
		{all(20), []int{0, 19, 1, 2, 4, 8, 16}, 19, 20},
		{all(20, 5, 6, 7, 8), []int{0, 19, 1, 2, 4, 8, 6, 5}, 4, 5},
		{all(20, 1), []int{0, 19, 1}, 0, 1},
		{all(2), []int{0, 1}, 1, 2},
		{all(1), []int{0}, 0, 1},
	} {
		line, asked := make([]Verdict, len(tt.truth)), []int(nil)
		for c := choose(line, fromEnds); c.ask >= 0; c = choose(line, fromEnds) {
			line[c.ask], asked = tt.truth[c.ask], append(asked, c.ask)
		}
		c := choose(line, fromEnds)
		if !slices.Equal(asked, tt.asked) || c.bad != tt.bad || c.good != tt.good {
			t.Errorf("%v: asked %v, want %v; %+v, want %d, %d", tt.truth, asked, tt.asked, c, tt.bad, tt.good)
		}
	}
}

// TestChooseByHand: a person may say anything in any order; there is always a question, a wish or an answer, and the
// newest good counts.
func TestChooseByHand(t *testing.T) {
	for _, tt := range []struct {
		line           []Verdict
		ask, bad, good int
	}{
		{[]Verdict{Bad, "", "", "", Good}, 2, 0, 4},
		{[]Verdict{Bad, "", "", "", ""}, -1, 0, 5},
		{[]Verdict{Bad, Good, "", Bad, Good}, -1, 0, 1},
		{[]Verdict{Bad, "", Bad, "", Good, Bad, Good}, 3, 2, 4},
		{[]Verdict{Bad, "", "", "", Skip, "", "", "", Good}, 2, 0, 8},
		{[]Verdict{Bad, "", Skip, Skip, Skip, "", "", "", Good}, 6, 0, 8},
		{[]Verdict{Bad, Skip, Good}, -1, 0, 2},
		{[]Verdict{Good, "", Bad}, -1, -1, 0},
		{[]Verdict{Skip, "", Good}, 1, -1, 2},
	} {
		c := choose(tt.line, byHand)
		if c.ask != tt.ask || c.bad != tt.bad || c.good != tt.good {
			t.Errorf("%v: %+v, want %d, %d, %d", tt.line, c, tt.ask, tt.bad, tt.good)
		}
	}
}
