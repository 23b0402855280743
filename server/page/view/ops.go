package view

import (
	"cmp"
	"strconv"
	"strings"

	"rewind/api"
	"rewind/internal/naming"
	"rewind/internal/render"
)

// restore is one entry of the history of going back.
type restore struct {
	Seq      uint64
	Kind     string
	What     string
	When     moment
	From, To string
	FromHref string
	ToHref   string
	DiffHref string // from one to the other
	Changed  int
	Notes    string // what else there is to know
	CanUndo  bool
	Undone   bool
	Words    string // what it was, where it was no way from one moment to another
	Sessions bool   // it changed sessions, and no file
}

// restores are some of them.
type restores struct {
	Rows []restore
	Rest string // the address of those behind them; "": there are none
}

// Restores is the document of the history of going back, from an entry on.
func Restores(f Frame, list []api.Operation, from int) Page {
	out, list := restores{}, behind(list, from)
	r := roomOfList
	rows := some(&r, f.restores(list), func(r *restore) (nodes, bytes int) {
		return 14, 900 + weight(r.From+r.To+r.Words+r.What) + 2*len(r.DiffHref)
	})
	if len(rows) < len(list) {
		out.Rest = f.Path("ops") + "?from=" + strconv.Itoa(from+len(rows))
	}
	out.Rows = rows
	f.At = "ops"
	return Page{Frame: f, Title: "Restores · " + f.Name, Data: out, name: "ops"}
}

func (f Frame) restores(list []api.Operation) []restore {
	rows := make([]restore, 0, len(list))
	for i := range list {
		o := &list[i]
		r := restore{
			Seq: o.Seq, Kind: o.Kind, What: o.What, When: f.moment(o.Time), Changed: o.Changed, CanUndo: o.CanUndo,
			Undone: o.Undone != 0,
		}
		var notes []string
		if o.Kept > 0 {
			notes = append(notes, strconv.Itoa(o.Kept)+" kept")
		}
		if r.Undone {
			notes = append(notes, "undone")
		}
		if o.Undoes != 0 {
			notes = append(notes, "took back another")
		}
		r.Notes = strings.Join(notes, " · ")

		r.From, r.FromHref = f.moments(o.From)
		r.To, r.ToHref = f.moments(o.To)
		if o.From != nil && o.To != nil && o.From.ID != o.To.ID {
			r.DiffHref = f.Path("diff") + "?from=" + query(o.From.ID) + "&to=" + query(o.To.ID)
		}
		r.Words, r.Sessions = brief(cmp.Or(render.ChangeWords(*o), render.ManagedList(o.Managed))), len(o.Managed) > 0
		rows = append(rows, r)
	}
	return rows
}

// moments is a checkpoint in a person's words.
func (f Frame) moments(m *api.Moment) (words, href string) {
	if m == nil {
		return "", ""
	}
	words = m.Short
	switch {
	case m.Turn > 0 && m.Prompt != "":
		words = naming.TurnWords(m.Turn, m.Whose) + ": " + brief(string(m.Prompt))
	case m.Turn > 0:
		words = naming.TurnWords(m.Turn, m.Whose)
	case m.Message != "":
		words = brief(string(m.Message))
	case m.Event == "init":
		words = render.Cause(api.Checkpoint{Event: m.Event})
	}
	return words, f.Path("c", m.ID)
}
