package view

import "rewind/api"

// between is what is different between two states.
type between struct {
	From, To         string
	FromHref, ToHref string
	Added, Removed   int
	Files            []fileDiff
}

// Between is the document of a diff.
func Between(f Frame, r *api.DiffResponse) Page {
	d := &between{To: "the files as they are"}
	d.From, d.FromHref = f.moments(momentOf(&r.From))
	if r.To != nil {
		d.To, d.ToHref = f.moments(momentOf(r.To))
	}
	for i := range r.Files {
		file := diff(&r.Files[i])
		d.Added, d.Removed = d.Added+file.Added, d.Removed+file.Removed
		d.Files = append(d.Files, file)
	}
	f.At = "compare"
	return Page{Frame: f, Title: "Diff · " + f.Name, Data: d, name: "between"}
}

func momentOf(c *api.Checkpoint) *api.Moment {
	return &api.Moment{ID: c.ID, Short: c.Short, Turn: c.Turn, Whose: c.Whose, Prompt: c.Prompt, Message: c.Message}
}
