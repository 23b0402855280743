package history

import (
	"cmp"
	"context"
	"math"
	"slices"

	"rewind/engine/model"
	"rewind/objstore"
)

// A Link leads from a row of a list to the one that it goes on from.
type Link struct {
	Row    int // its index; -1: none that is listed, though it goes on from something
	Elided int // checkpoints between the two that are in no row; not counted where Row is -1
	// Fork is where the conversation was forked, of the first row that a fork has of its own; nil: it is none.
	Fork *model.Lineage
}

// Graph says of each row which of the others it goes on from: of those whose end its own end goes back to, by first
// parents, the nearest. A turn that changed nothing is no state: it hangs on the row where it stood, and what its
// session did next there hangs on it. Nil: the row goes on from nothing. Links make no circle; where turns overlap, one
// may lead to a row that is listed above.
func (h *History) Graph(ctx context.Context, rows []Row) ([]*Link, error) {
	g := &graph{
		rows: rows, read: h.log.Checkpoints(), ends: map[objstore.ID]int{}, within: map[objstore.ID]bool{}, idle: map[standing][]int{},
		known: map[objstore.ID]above{}, past: map[aForked]int{}, oldest: math.MaxUint64,
	}
	for i := range rows {
		r := &rows[i]
		if r.Count > len(r.Steps) {
			g.runs = append(g.runs, [2]uint64{r.Steps[0].Seq, r.Steps[1].Seq})
		}
		if r.NoCode {
			g.past[aForked{r.Of, r.Turn}] = i
			continue
		}
		if len(r.Steps) == 0 {
			at := standing{r.Of, r.ID}
			g.idle[at] = append(g.idle[at], i)
			continue
		}
		end := r.Steps[len(r.Steps)-1]
		g.ends[end.ID], g.oldest = i, min(g.oldest, end.Seq)
		for _, cp := range r.Steps {
			g.within[cp.ID] = true
		}
	}
	slices.SortFunc(g.runs, func(a, b [2]uint64) int { return cmp.Compare(a[0], b[0]) })
	links := make([]*Link, len(rows))
	for i := range rows {
		var err error
		if links[i], err = g.link(i); err != nil {
			return nil, err
		}
		if err = ctx.Err(); err != nil {
			return nil, err
		}
	}
	return links, g.forks(h, links)
}

// forks tells of the first row of each fork where it was forked.
func (g *graph) forks(h *History, links []*Link) error {
	seen := map[string]bool{}
	for i := len(g.rows) - 1; i >= 0; i-- {
		r := &g.rows[i]
		turn := r.Turn
		if turn == 0 {
			turn = r.Cause.Turn
		}
		if turn == 0 || seen[r.Of] {
			continue
		}
		seen[r.Of] = true
		s, err := h.log.StoredSession(r.Of)
		if err != nil {
			return err
		}
		if s != nil && s.Fork.Resolved() && turn == uint64(s.Fork.Both)+1 && links[i] != nil {
			links[i].Fork = s.Fork
		}
	}
	return nil
}

// StepRows are checkpoints as rows of their own, for Graph.
func StepRows(list []Listed) []Row {
	rows := make([]Row, len(list))
	for i, l := range list {
		rows[i] = Row{Listed: l, Of: l.Session, Steps: []*model.Checkpoint{l.Checkpoint}, sequence: l.Seq}
	}
	return rows
}

type graph struct {
	rows   []Row
	read   func(objstore.ID) (*model.Checkpoint, error)
	ends   map[objstore.ID]int   // rows by their newest step
	within map[objstore.ID]bool  // steps of all rows
	runs   [][2]uint64           // the oldest step and the newest one of rows that have no others, the oldest first
	idle   map[standing][]int    // rows of turns that changed nothing
	known  map[objstore.ID]above // what was walked already
	past   map[aForked]int       // rows without code, by session and turn
	oldest uint64                // no row ends before it
}

// standing is where a turn that changed nothing stood.
type standing struct {
	session string
	code    objstore.ID
}

// above is what a walk from a checkpoint on finds, that one included.
type above struct {
	row    int // -1: no row
	elided int
	begins bool // the line begins, and no row was met
}

func (g *graph) link(i int) (*Link, error) {
	r := &g.rows[i]
	if r.NoCode {
		return g.linkPast(r), nil
	}
	from := r.ID
	if n := len(r.Steps); n > 0 {
		if len(r.Steps[n-1].Parents) == 0 {
			return nil, nil //nolint:nilnil // nothing is before it
		}
		from = r.Steps[n-1].Parents[0]
	}
	if r.Count > len(r.Steps) {
		from = r.Steps[0].ID
	}
	for n := len(r.Steps) - 2; n >= 0 && r.Steps[n].ID == from; n-- { // those of its own are the row itself
		if len(r.Steps[n].Parents) == 0 {
			return nil, nil //nolint:nilnil // as above
		}
		from = r.Steps[n].Parents[0]
	}
	a, err := g.up(from)
	if err != nil {
		return nil, err
	}
	at := []objstore.ID{from}
	if a.row >= 0 {
		at = append(at, g.rows[a.row].end())
	}
	for _, code := range at {
		if idle := g.before(standing{r.Of, code}, i); idle >= 0 {
			return &Link{Row: idle, Elided: g.elided(from, code, a.elided)}, nil
		}
	}
	if a.begins {
		return nil, nil //nolint:nilnil // as above
	}
	return &Link{Row: a.row, Elided: a.elided}, nil
}

// linkPast links a turn without code to the turn before it.
func (g *graph) linkPast(r *Row) *Link {
	if r.Turn == 1 {
		return nil
	}
	if before, ok := g.past[aForked{r.Of, r.Turn - 1}]; ok {
		return &Link{Row: before}
	}
	return &Link{Row: -1}
}

// elided is how many checkpoints lie between from and the state at which a turn stood: none, or all up to the next row.
func (g *graph) elided(from, code objstore.ID, all int) int {
	if from == code {
		return 0
	}
	return all
}

// before is the newest row of a turn that stood there before row i; -1: none.
func (g *graph) before(at standing, i int) int {
	best := -1
	for _, k := range g.idle[at] {
		if g.rows[k].sequence < g.rows[i].sequence && (best < 0 || g.rows[k].sequence > g.rows[best].sequence) {
			best = k
		}
	}
	return best
}

// end is the state that a row's steps left, or where it stood.
func (r *Row) end() objstore.ID {
	if n := len(r.Steps); n > 0 {
		return r.Steps[n-1].ID
	}
	return r.ID
}

// up walks along first parents from a checkpoint to the next one that ends a row. No checkpoint is walked twice.
func (g *graph) up(id objstore.ID) (above, error) {
	var path []*model.Checkpoint
	a := above{row: -1}
	for {
		if known, ok := g.known[id]; ok {
			a = known
			break
		}
		if row, ok := g.ends[id]; ok {
			a.row = row
			break
		}
		cp, err := g.read(id)
		if err != nil {
			return a, err
		}
		if cp.Seq < g.oldest {
			break
		}
		path = append(path, cp)
		if a.begins = len(cp.Parents) == 0; a.begins {
			break
		}
		id = cp.Parents[0]
	}
	for i := len(path) - 1; i >= 0; i-- {
		if !g.isWithin(path[i]) {
			a.elided++
		}
		g.known[path[i].ID] = a
	}
	return a, nil
}

// isWithin reports whether a checkpoint is a step of a row.
func (g *graph) isWithin(cp *model.Checkpoint) bool {
	if g.within[cp.ID] {
		return true
	}
	begins := func(r [2]uint64, seq uint64) int { return cmp.Compare(r[0], seq) }
	i, is := slices.BinarySearchFunc(g.runs, cp.Seq, begins)
	return is || i > 0 && cp.Seq <= g.runs[i-1][1]
}
