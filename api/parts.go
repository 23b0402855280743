package api

import "strings"

// A Choice is what can be chosen of one path of a diff with Back.
type Choice struct {
	Files  []FileDiff // its differences: two where what goes is of another type than what comes
	Why    string     // why nothing can be chosen; "": it can
	Pieces []Piece
}

// A Piece is a hunk, the permissions, or with neither the whole path.
type Piece struct {
	Hunk           *Hunk
	Mode           bool
	Chosen, Edited bool
}

// Choices are what can be chosen of a diff with Back, path by path.
func Choices(files []FileDiff) (list []Choice) {
	for i := 0; i < len(files); i++ {
		c := Choice{Files: files[i : i+1]}
		if i+1 < len(files) && files[i+1].Path == files[i].Path { // what goes and what comes, of another type
			c.Files = files[i : i+2]
			i++
		}
		c.Why = unchoosable(c.Files)
		if i+1 < len(files) && c.Files[0].Status == "added" && strings.HasPrefix(string(files[i+1].Path), string(c.Files[0].Path)+"/") {
			c.Why = "a directory is there now: without -p all of it is set"
		}
		if c.Why == "" {
			c.Pieces = c.pieces()
		}
		list = append(list, c)
	}
	return list
}

// unchoosable is why nothing of a path can be chosen; "": it can.
func unchoosable(list []FileDiff) string {
	for _, f := range list {
		switch {
		case f.Note == "secret":
			return "it is on the secret list"
		case f.Gone != "":
			return "its content is " + f.Gone
		case strings.HasPrefix(f.OldMode, "04") || strings.HasPrefix(f.NewMode, "04"): // a directory
			return "the permissions of a directory are set without -p"
		}
	}
	return ""
}

// Whole reports whether the path is chosen as a whole, or not at all.
func (c *Choice) Whole() bool {
	f := c.Files[0]
	text := f.Status == "modified" && f.Note == "" && strings.HasPrefix(f.OldMode, "10")
	whole := len(c.Files) > 1 || f.Status == "added" || f.Status == "deleted"
	return whole || !text && f.Status != "mode"
}

func (c *Choice) pieces() (list []Piece) {
	f := c.Files[0]
	if c.Whole() {
		return []Piece{{}}
	}
	if f.OldMode != f.NewMode {
		list = append(list, Piece{Mode: true})
	}
	for _, h := range f.Hunks {
		list = append(list, Piece{Hunk: &h})
	}
	return list
}

// Part is what is chosen; nil: nothing.
func (c *Choice) Part() *Part {
	f := c.Files[0]
	part := Part{Path: f.Path, OldMode: f.OldMode, OldID: f.OldID, Whole: true}
	for _, p := range c.Pieces {
		part.Whole = part.Whole && p.Chosen && !p.Edited
		switch {
		case !p.Chosen:
		case p.Mode:
			part.Mode = true
		case p.Hunk != nil:
			part.Hunks = append(part.Hunks, *p.Hunk)
		}
	}
	switch {
	case part.Whole:
		part.Mode, part.Hunks = false, nil
	case !part.Mode && len(part.Hunks) == 0:
		return nil
	}
	return &part
}
