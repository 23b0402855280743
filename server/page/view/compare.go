package view

import (
	"cmp"
	"strconv"

	"rewind/api"
	"rewind/internal/naming"
	"rewind/internal/render"
)

// comparison is two branches since they parted.
type comparison struct {
	A, B       comparisonSide
	Ancestor   string // in words; "": they have nothing in common
	Href       string // of it
	NoFork     string
	Conflicts  []overlap
	Both       int    // files that both changed
	Rest       string // the address of those that are not there; "": all are
	Collide    int
	Divergence string
}

// comparisonSide is what one of them did.
type comparisonSide struct {
	ID          string
	Title, Own  string // as of a Branch
	Short       string
	Href        string
	Checkpoints int
	Added       int
	Removed     int
	Turns       []comparisonTurn
	Change      change
	Others      int
	More        int // turns that are not there
}

// comparisonTurn is a turn of it.
type comparisonTurn struct {
	Name   string // of the turn, as pick takes it
	Turn   uint64
	Whose  string // the session, where it is not this one
	Href   string
	Said   string // the address of its conversation
	Prompt string
	When   moment
	Steps  int
}

// overlap is a path that both changed.
type overlap struct {
	Path, Verdict, Reason string
	Places                int
}

// Compare turns what compare answers into a document.
func Compare(f Frame, where string, r *api.CompareResponse) Page {
	c := &comparison{
		A: f.side(&r.A, with(where, "side", "a")), B: f.side(&r.B, with(where, "side", "b")), Both: len(r.Conflicts),
		Collide: r.Collide, Divergence: strconv.FormatFloat(r.Divergence*100, 'f', 0, 64) + " %",
		NoFork: string(r.NoFork),
	}
	if a := r.Ancestor; a != nil {
		c.Ancestor, c.Href = short(a.Session), f.Path("c", a.Checkpoint)
		if a.Turn > 0 {
			c.Ancestor = naming.TurnWords(a.Turn, c.Ancestor)
		}
		if a.Prompt != "" {
			c.Ancestor += ": " + brief(string(a.Prompt))
		}
	}
	c.Conflicts, c.Rest = overlaps(r, where, 0)
	f.At = "compare"
	return Page{Frame: f, Title: "Compare · " + f.Name, Data: c, name: "compare"}
}

// overlapsAtOnce is how many files that both changed are named at once.
const overlapsAtOnce = 60

// overlaps are the files that both changed, from one on, and the address of those behind them.
func overlaps(r *api.CompareResponse, where string, from int) (out []overlap, rest string) {
	list := behind(r.Conflicts, from)
	for _, o := range list[:min(len(list), overlapsAtOnce)] {
		out = append(out, overlap{pathWords(o.Path), string(o.Verdict), render.CollideWords(o.Reason), o.Places})
	}
	if len(list) > len(out) {
		rest = with(where, "overlap", strconv.Itoa(from+len(out)))
	}
	return out, rest
}

// Overlaps are further files that both sides of a comparison changed.
func Overlaps(f Frame, where string, r *api.CompareResponse, from int) Page {
	c := &comparison{Both: len(r.Conflicts)}
	c.Conflicts, c.Rest = overlaps(r, where, from)
	return Page{Frame: f, Data: c, name: "compare"}
}

// turnsOfSide is how many turns of a side are listed; its log has them all.
const turnsOfSide = 24

func (f Frame) side(s *api.CompareSide, where string) comparisonSide {
	out := comparisonSide{
		ID: s.Session, Short: short(s.Session), Href: f.Path("s", s.Session),
		Checkpoints: s.Checkpoints, Added: s.Added, Removed: s.Removed,
	}
	out.Title, out.Own = forkWords(s.Title, s.ForkName)
	out.Title = cmp.Or(out.Title, out.Short)
	half := Room{roomOfChange.lines / 2, roomOfChange.nodes / 2, roomOfChange.bytes / 2}
	out.Change = changed(s.Files, where, 0, half)
	out.More = max(len(s.Turns)-turnsOfSide, 0)
	for _, t := range s.Turns[:len(s.Turns)-out.More] {
		turn := comparisonTurn{
			Name: api.TurnName(t.Turn, t.Session), Turn: t.Turn, Prompt: brief(string(t.Prompt)),
			When: f.moment(t.Time), Steps: t.Checkpoints,
		}
		if turn.Href = f.Point(turn.Name); t.Turn > 0 {
			turn.Said = turn.Href + "/said"
		}
		if t.Session != s.Session {
			turn.Whose = short(t.Session)
		}
		out.Turns = append(out.Turns, turn)
	}
	for _, o := range s.Others {
		out.Others += len(o.Paths)
	}
	return out
}
