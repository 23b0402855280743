package view

import "rewind/api"

// between is what is different between two states.
type between struct {
	From, To         string
	FromHref, ToHref string
	Change           change
}

// Between is the document of a diff, which is at an address.
func Between(f Frame, where string, r *api.DiffResponse) Page {
	d := &between{To: "the files as they are"}
	d.From, d.FromHref = f.moments(momentOf(&r.From))
	if r.To != nil {
		d.To, d.ToHref = f.moments(momentOf(r.To))
	}
	d.Change = changed(r.Files, where, 0, roomOfChange)
	before, after := r.From.ID, ""
	if r.To != nil {
		after = r.To.ID
	}
	d.Change.contents(f, r.Files, before, after)
	f.At = "compare"
	return Page{Frame: f, Title: "Diff · " + f.Name, Data: d, name: "between"}
}

func momentOf(c *api.Checkpoint) *api.Moment {
	return &api.Moment{ID: c.ID, Short: c.Short, Turn: c.Turn, Whose: c.Whose, Prompt: c.Prompt, Message: c.Message}
}
