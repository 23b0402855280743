package view

import (
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
	Collide    int
	Divergence string
}

// comparisonSide is what one of them did.
type comparisonSide struct {
	ID          string
	Title       string
	Short       string
	Href        string
	Checkpoints int
	Added       int
	Removed     int
	Turns       []comparisonTurn
	Files       []fileDiff
	Others      int
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
func Compare(f Frame, r *api.CompareResponse) Page {
	c := &comparison{
		A: f.side(&r.A), B: f.side(&r.B), Collide: r.Collide, Divergence: strconv.FormatFloat(r.Divergence*100, 'f', 0, 64) + " %",
		NoFork: string(r.NoFork),
	}
	if a := r.Ancestor; a != nil {
		c.Ancestor, c.Href = short(a.Session), f.Path("c", a.Checkpoint)
		if a.Turn > 0 {
			c.Ancestor = naming.TurnWords(a.Turn, c.Ancestor)
		}
		if a.Prompt != "" {
			c.Ancestor += ": " + string(a.Prompt)
		}
	}
	for _, o := range r.Conflicts {
		c.Conflicts = append(c.Conflicts, overlap{string(o.Path), string(o.Verdict), render.CollideWords(o.Reason), o.Places})
	}
	f.At = "compare"
	return Page{Frame: f, Title: "Compare · " + f.Name, Data: c, name: "compare"}
}

func (f Frame) side(s *api.CompareSide) comparisonSide {
	out := comparisonSide{
		ID: s.Session, Title: string(s.Title), Short: short(s.Session), Href: f.Path("s", s.Session),
		Checkpoints: s.Checkpoints, Added: s.Added, Removed: s.Removed,
	}
	if out.Title == "" {
		out.Title = out.Short
	}
	for i := range s.Files {
		out.Files = append(out.Files, diff(&s.Files[i]))
	}
	for _, t := range s.Turns {
		turn := comparisonTurn{
			Name: api.TurnName(t.Turn, t.Session), Turn: t.Turn, Prompt: string(t.Prompt), When: f.moment(t.Time), Steps: t.Checkpoints,
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
