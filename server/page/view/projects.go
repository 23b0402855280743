package view

import (
	"path/filepath"

	"rewind/api"
	"rewind/internal/term"
)

// projectRow is a project that can be looked at.
type projectRow struct {
	ID, Name, Root string
	Used           moment
	Size           string
	Wrong          string
}

// Projects lists them, the one that changed last first.
func Projects(f Frame, list []api.Store) Page {
	var rows []projectRow
	for _, s := range list {
		if s.Root == "" {
			continue // of no directory: nothing can be done with it here
		}
		r := projectRow{
			ID: s.ID, Name: filepath.Base(string(s.Root)), Root: string(s.Root), Size: term.Size(s.DiskBytes),
			Wrong: string(s.Wrong),
		}
		if s.Used != nil {
			r.Used = f.moment(*s.Used)
		}
		rows = append(rows, r)
	}
	f.At = "projects"
	return Page{Frame: f, Title: "Projects", Data: rows, name: "projects"}
}
