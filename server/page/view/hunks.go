package view

import (
	"strconv"

	"rewind/api"
)

// hunk is a piece of a file that can be chosen.
type hunk struct {
	N      int
	Chosen bool
	Words  string // what it is, where it has no lines
	Lines  fileDiff
}

const (
	shownHunks = 60
	hunkLength = 120 // lines of one that are shown
)

// Hunks puts on a sheet what can be chosen of a file, and what is; nil: nothing differs.
func (f Frame) Hunks(s *Sheet, to *api.Checkpoint, c *api.Choice) {
	s.Target, _ = f.moments(momentOf(to))
	if s.Unchosen = c == nil || c.Part() == nil; c == nil {
		s.Nothing = true
		return
	}
	file := &c.Files[0]
	where := with(f.Path("diff"), "from", to.ID, "back", "1", "file", string(file.Path))
	r, from := roomOfPreview, 0
	for i := range c.Pieces[:min(len(c.Pieces), shownHunks)] {
		p := &c.Pieces[i]
		one := hunk{N: i, Chosen: p.Chosen}
		switch {
		case p.Mode:
			one.Words = "its permissions: " + file.OldMode + " → " + file.NewMode
		case p.Hunk == nil:
			one.Words = "all of it: " + file.Status
		default:
			n := headed(*p.Hunk) + len(p.Hunk.Lines)
			one.Lines.lines(file.Hunks, where, from, min(n, hunkLength), &r)
			one.Lines.Left, one.Lines.Rest = n-len(one.Lines.Lines), ""
			from += n
		}
		s.Hunks = append(s.Hunks, one)
	}
	if more := len(c.Pieces) - len(s.Hunks); more > 0 {
		all := ": rewind checkout -p " + strconv.Quote(s.Name) + " has all of them."
		s.Notes = append(s.Notes, count(more, "more hunk")+all)
	}
}
