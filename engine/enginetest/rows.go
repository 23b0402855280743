package enginetest

import (
	"fmt"
	"reflect"
	"slices"

	"rewind/engine/history"
	"rewind/engine/model"
)

// SameRows fails the test if a list of rows that need have no steps but the ends (history.RowOptions.Ends) says
// anything else than one that has all of them. It returns how many rows had steps that were left out.
func (p *Project) SameRows() (left int) {
	p.T.Helper()
	for _, all := range []bool{false, true} {
		for _, limit := range []int{0, 1, 4} {
			for _, changes := range []int{0, 3} {
				o := history.RowOptions{All: all, Limit: limit, Changes: changes, Past: !all}
				left += p.sameRows(o)
			}
		}
	}
	for _, s := range p.E.Log.ListSessions() {
		o := history.RowOptions{Limit: 2}
		o.Session = s.Name
		left += p.sameRows(o)
	}
	o := history.RowOptions{}
	o.Prompt = "2"
	return left + p.sameRows(o)
}

// sameRows is SameRows for one question, page by page.
func (p *Project) sameRows(o history.RowOptions) (left int) {
	p.T.Helper()
	for {
		o.Ends = false
		want, err := p.E.History.Rows(Bg, o)
		p.Must(err)
		o.Ends = true
		got, err := p.E.History.Rows(Bg, o)
		p.Must(err)
		if len(got.Rows) != len(want.Rows) || got.More != want.More || got.Next != want.Next {
			p.T.Fatalf("%+v: %d rows, %v, %d; with all steps %d, %v, %d", o, len(got.Rows), got.More, got.Next,
				len(want.Rows), want.More, want.Next)
		}
		for i := range want.Rows {
			if got.Rows[i].Count > len(got.Rows[i].Steps) {
				left++
			}
			if a, b := rowText(&got.Rows[i]), rowText(&want.Rows[i]); a != b {
				p.T.Fatalf("%+v: row %d is\n%s\nwith all steps\n%s", o, i, a, b)
			}
			if !reflect.DeepEqual(got.Rows[i].Checkpoint, want.Rows[i].Checkpoint) {
				p.T.Fatalf("%+v: row %d has another checkpoint", o, i)
			}
		}
		a, err := p.E.History.Graph(Bg, got.Rows)
		p.Must(err)
		b, err := p.E.History.Graph(Bg, want.Rows)
		p.Must(err)
		if !reflect.DeepEqual(a, b) {
			p.T.Fatalf("%+v: another graph", o)
		}
		if !want.More {
			return left
		}
		o.Before = want.Next
	}
}

// rowText is all that a row tells, of its steps the ends.
func rowText(r *history.Row) string {
	ends := []*model.Checkpoint{}
	if n := len(r.Steps); n > 0 {
		ends = append(ends, r.Steps[0], r.Steps[n-1])
	}
	if r.Count < len(r.Steps) {
		return "a row counts less steps than it has"
	}
	var text []string
	for _, cp := range slices.Concat(ends, r.Found) {
		text = append(text, fmt.Sprintf("%+v", *cp))
	}
	for _, ch := range r.Changes {
		text = append(text, fmt.Sprintf("%s %+v %+v", ch.Path, ch.Old, ch.New))
	}
	return fmt.Sprint(r.Short, r.Current, r.Tags, r.Messages, r.Safety, r.Whose, r.Aside, r.Of, r.Turn, r.Prompt, r.At,
		r.Count, r.Tools(), r.Counts, r.Cut, r.NoCode, r.Yours, r.Restored, text)
}
