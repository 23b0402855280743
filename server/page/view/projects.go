package view

import (
	"path/filepath"
	"strconv"

	"rewind/api"
	"rewind/internal/term"
)

// projects are some of them.
type projects struct {
	Rows []projectRow
	Rest string // the address of those behind them; "": there are none
}

// projectRow is a project that can be looked at.
type projectRow struct {
	ID, Name, Root string
	Used           moment
	Size           string
	Wrong          string
}

// Projects lists them from one on, the one that changed last first.
func Projects(f Frame, list []api.Store, from int) Page {
	var rows []projectRow
	for _, s := range list {
		if s.Root == "" {
			continue // of no directory: nothing can be done with it here
		}
		r := projectRow{
			ID: s.ID, Name: brief(filepath.Base(string(s.Root))), Root: brief(string(s.Root)),
			Size:  term.Size(s.DiskBytes),
			Wrong: brief(string(s.Wrong)),
		}
		if s.Used != nil {
			r.Used = f.moment(*s.Used)
		}
		rows = append(rows, r)
	}
	rows, r := behind(rows, from), roomOfList
	out := projects{Rows: some(&r, rows, func(p *projectRow) (nodes, bytes int) {
		return 8, 400 + len(p.ID) + weight(p.Name+p.Root+p.Wrong)
	})}
	if len(out.Rows) < len(rows) {
		out.Rest = f.Base + "/projects?from=" + strconv.Itoa(from+len(out.Rows))
	}
	f.At = "projects"
	return Page{Frame: f, Title: "Projects", Data: out, name: "projects"}
}
