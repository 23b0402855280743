package bisect

// Verdict is what somebody says of a state. It is kept in files.
type Verdict string

// The verdicts; "" is none yet.
const (
	Good Verdict = "good"
	Bad  Verdict = "bad"
	Skip Verdict = "skip" // it cannot be told
)

// order is how a session looks for a state that is good, before it knows one.
type order string

const (
	byHand    order = "hand"  // it waits to be told
	fromEnds  order = "ends"  // the oldest is asked about; where that fails, backwards in steps that double
	fromNewer order = "newer" // backwards, in steps that double
)

// choice is what is known of a line by its verdicts, and which state to ask about. Positions count from the newest, 0.
type choice struct {
	ask  int  // -1: none
	end  bool // ask is about an end of the line, to be sure of it
	bad  int  // the oldest that fails of those newer than good; -1: none is known
	good int  // the newest that passes; the length of the line: none is known
	left int  // between them, not asked about yet
}

// choose decides by the verdicts of a line. What is asked about is unknown: asking ends. Two neighbours, bad and then
// good, are the answer; with only skipped ones between them it is any of those, or bad. The newest good counts and the
// newest change behind it, so that no order of verdicts is a contradiction: what lies behind good is not looked at.
func choose(line []Verdict, o order) choice {
	c := choice{ask: -1, bad: -1, good: len(line)}
	for i, v := range line {
		if v == Good {
			c.good = i
			break
		}
		if v == Bad {
			c.bad = i
		}
	}
	for i := c.bad + 1; i < c.good; i++ {
		if line[i] == "" {
			c.left++
		}
	}
	switch {
	case len(line) == 0 || c.good == 0:
	case line[0] == "":
		c.ask, c.end = 0, true
	case c.good == len(line):
		c.ask, c.end = goodAt(line, c.bad, o), true
	case c.left > 0:
		c.ask = middle(line, c.bad, c.good)
	}
	return c
}

// goodAt is the state to ask about while none is known to be good; -1: there is none, or it is for somebody to say.
func goodAt(line []Verdict, bad int, o order) int {
	switch o {
	case fromEnds:
		if fails(line) {
			return doubling(line)
		}
		for i := len(line) - 1; i > 0; i-- {
			if line[i] == "" {
				return i
			}
		}
	case fromNewer:
		for i := min(max(2*bad, bad+1, 1), len(line)-1); i < len(line); i++ {
			if line[i] == "" {
				return i
			}
		}
		for i := len(line) - 1; i > bad; i-- { // all that is older was skipped
			if line[i] == "" {
				return i
			}
		}
	case byHand:
	}
	return -1
}

// fails reports whether the oldest state that could be told, of those asked about first, is bad: what is newer was
// asked about after it, or is the newest.
func fails(line []Verdict) bool {
	for i := len(line) - 1; i > 0; i-- {
		if line[i] != Skip {
			return line[i] == Bad
		}
	}
	return false
}

// doubling is the next state backwards from the newest, in steps that double; -1: all of them were told.
func doubling(line []Verdict) int {
	for i := 1; i < len(line)-1; i *= 2 {
		if line[i] == "" {
			return i
		}
	}
	return -1
}

// middle is the state to ask about between bad and good: the middle one of the longest run without one that was
// skipped. What cannot be told is mostly so for a stretch, and that run leads away from it, as git's choice does.
func middle(line []Verdict, bad, good int) int {
	best, most, from := -1, 0, bad+1
	for i := bad + 1; i <= good; i++ {
		if i < good && line[i] == "" {
			continue
		}
		if n := i - from; n > most {
			best, most = from+(n-1)/2, n
		}
		from = i + 1
	}
	return best
}

// questions is about how many more it takes for n states.
func questions(n int) (q int) {
	for ; n > 0; n /= 2 {
		q++
	}
	return q
}
