package view

import (
	"net/url"
	"strings"

	"rewind/api"
)

// between is what is different between two states.
type between struct {
	From, To         string
	FromHref, ToHref string
	Change           change
	Turned           string // the address of the difference the other way round
}

// Between is the document of a diff, which is at an address.
func Between(f Frame, where string, r *api.DiffResponse) Page {
	d := &between{To: "the files as they are"}
	d.From, d.FromHref = f.moments(momentOf(&r.From))
	if r.To != nil {
		d.To, d.ToHref = f.moments(momentOf(r.To))
	}
	d.Turned = turned(where, r)
	d.Change = changed(r.Files, where, 0, roomOfChange)
	before, after := r.From.ID, ""
	if r.To == nil && back(where) {
		d.From, d.To, d.FromHref, d.ToHref = d.To, d.From, d.ToHref, d.FromHref
	}
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

// turned is the address of a difference the other way round: of one to the files as they are, what going back to the
// state changes.
func turned(where string, r *api.DiffResponse) string {
	switch {
	case r.To != nil:
		return with(where, "from", r.To.ID, "to", r.From.ID)
	case back(where):
		return with(where, "from", r.From.ID, "back", "")
	}
	return with(where, "from", r.From.ID, "back", "1")
}

// back reports whether an address asks for what going back changes.
func back(where string) bool {
	_, words, _ := strings.Cut(where, "?")
	q, _ := url.ParseQuery(words)
	return q.Get("back") != ""
}
