package history_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/value"
	"rewind/tree"
)

// beside is a project in which two agents and a person worked at the same files, some of it taken back, and some of it
// named. One minute lies between what they did.
type beside struct {
	*story
	now   time.Time
	began time.Time
}

func newBeside(t *testing.T) *beside {
	t.Helper()
	p := enginetest.NewProject(t)
	began := time.Date(2027, 1, 1, 10, 0, 0, 0, time.UTC)
	s := &beside{story: &story{Project: p}, now: began, began: began}
	p.E.Log.Now = func() time.Time { return s.now }
	a, b := p.Agent("a"), p.Agent("b")
	for _, do := range []func(){
		func() { p.Write("f", "0"); p.Write("old", "0"); p.Save("first") },
		func() { a.Start(); b.Start(); a.Prompt("Rename the parser") },
		func() { a.Run("a1", func() { p.Write("f", "1"); p.Write("d/x", "1") }) },
		func() { b.Prompt("write docs") },
		func() { // what both calls did is found at the end of the first, and is of both
			a.Before("a2")
			b.Before("b1")
			p.Write("g", "1")
			b.After("b1")
			a.After("a2")
		},
		func() { b.Edits("b2", func() { p.Write("f", "2"); p.Write("d/y", "1") }, "f", "d/y") },
		func() { // what was there before the call is a person's
			p.Write("mine", "1")
			p.Write("d/mine", "1")
			a.Run("a3", func() { p.Remove("old"); p.Write("h", "1") })
		},
		func() { b.Stop(); p.Write("g", "2") },
		func() { a.Stop() },
		func() { p.Write("mine", "2"); p.Save("by hand") },
		func() { a.Prompt("only talk"); a.Stop() },
		func() { p.Write("mine", "3"); a.Prompt("again the parser") },
		func() {
			a.Run("a4", func() { p.Write("f", "3"); p.Write("h", "2") })
			for n := range 3 { // in a moment: the last stands for them
				a.Run(fmt.Sprint("a5", n), func() { p.Write("f", fmt.Sprint(3, n)) })
			}
			a.Stop()
		},
		func() {
			of := restore.Options{CodeOnly: true, Session: model.SessionChoice{Session: "a"}}
			p.Checkout("turn:1@claude/a", of)
		},
		func() { b.Prompt("more docs"); b.Run("b3", func() { p.Write("g", "3") }) },
	} {
		s.now = s.now.Add(time.Minute)
		do()
	}
	all := p.Listed()
	slices.Reverse(all)
	for i := range all {
		s.names = append(s.names, all[i].ID.String(), fmt.Sprint("c", i), all[i].Short+" ", fmt.Sprintf("c%d ", i))
	}
	_, err := p.E.History.Tag(enginetest.Bg, "kept", all[1].ID.String(), false)
	p.Must(err)
	for _, text := range []string{"well", "done"} {
		_, err = p.E.Log.PutMessage(enginetest.Bg, all[2].Checkpoint, text)
		p.Must(err)
	}
	return s
}

// marks are what a list says of a checkpoint beside what it is.
func (s *beside) marks(l *history.Listed) string {
	if !strings.HasPrefix(l.ID.String(), l.Short) || len(l.Short) < 7 {
		s.T.Fatalf("%s is called %q", l.ID, l.Short)
	}
	return fmt.Sprintf("of %q, %q %q%s", l.Whose, l.Tags, l.Messages,
		words(map[string]bool{"current": l.Current, "safety": l.Safety, "aside": l.Aside}))
}

// ids are the checkpoints of a part of a row.
func ids(list []*model.Checkpoint) (out []string) {
	for _, cp := range list {
		out = append(out, cp.ID.String())
	}
	return out
}

func (s *beside) row(r *history.Row) string {
	end := "no code"
	if !r.NoCode {
		end = r.ID.String() + " " + s.marks(&r.Listed)
	}
	return fmt.Sprintf("%s %d %q at %v: %s, of %s and %s, +%d ~%d -%d %s%s, yours %s", r.Of, r.Turn, r.Prompt,
		r.At.Sub(s.began), end, ids(r.Steps), ids(r.Found), r.Counts.Added, r.Counts.Modified, r.Counts.Deleted,
		changes(r.Changes), words(map[string]bool{"cut": r.Cut}), r.Yours)
}

// changes are paths with what became of them.
func changes(list []tree.Change) (out []string) {
	for _, ch := range list {
		sign := map[[2]bool]string{{false, true}: "+", {true, true}: "~", {true, false}: "-"}
		out = append(out, sign[[2]bool{ch.Old != nil, ch.New != nil}]+ch.Path)
	}
	return out
}

func (s *beside) rowsOf(o history.RowOptions) *history.RowResult {
	s.T.Helper()
	res, err := s.E.History.Rows(enginetest.Bg, o)
	s.Must(err)
	return res
}

func (s *beside) listOf(o history.ListOptions) *history.ListResult {
	s.T.Helper()
	res, err := s.E.History.List(enginetest.Bg, o)
	s.Must(err)
	return res
}

// TestStoryBeside: what is told of turns side by side, of single steps and of the log. testdata/beside.txt is that.
func TestStoryBeside(t *testing.T) {
	t.Parallel()
	s := newBeside(t)
	h := s.E.History
	for _, o := range []history.RowOptions{{All: true}, {}, {Changes: 1}} {
		s.say("## rows, all %t, at most %d changes", o.All, o.Changes)
		res := s.rowsOf(o)
		links, err := h.Graph(enginetest.Bg, res.Rows)
		s.Must(err)
		for i := range res.Rows {
			s.say("%d: %s", i, s.row(&res.Rows[i]))
			if l := links[i]; l != nil && o.Changes == 0 {
				s.say("  from %d, %d between", l.Row, l.Elided)
			}
		}
	}
	for _, o := range []history.ListOptions{{All: true}, {Steps: true}, {}} {
		res := s.listOf(o)
		s.say("## list, all %t, steps %t, folded %d", o.All, o.Steps, res.Folded)
		for i := range res.Checkpoints {
			l := &res.Checkpoints[i]
			s.say("%s %s %d at %v: %s", l.ID, l.Cause.Event, l.Cause.Turn, l.Time.Sub(s.began), s.marks(l))
		}
	}
	s.shownSteps()
	for which, what := range []string{"changing", "restoring", "every"} {
		s.say("## operations, %s", what)
		list, err := h.Operations(enginetest.Bg, 0, history.Which(which))
		s.Must(err)
		for i := range list {
			o, sides := &list[i], ""
			for _, l := range []*history.Listed{o.From, o.To} {
				if l != nil {
					sides += ", " + l.ID.String() + " " + s.marks(l)
				}
			}
			s.say("%s %s %d, undone by %d%s", o.Kind, o.Session, o.Turn, o.Undone, sides)
		}
	}
	for _, most := range []int{1, 3, 100} {
		d, err := h.Density(enginetest.Bg, most)
		s.Must(err)
		s.say("## density in %d", most)
		for _, span := range d.Spans {
			s.say("%v from %v: %d", d.Length, span.At.Sub(s.began), span.Checkpoints)
		}
	}
	s.hold("beside")
}

// shownSteps tells what is shown of each step and of each turn.
func (s *beside) shownSteps() {
	h := s.E.History
	s.say("## shown")
	all := s.Listed()
	for i := range all {
		one, err := h.Show(enginetest.Bg, all[i].ID.String(), nil)
		s.Must(err)
		paths, err := h.Paths(all[i].Checkpoint, 2)
		s.Must(err)
		s.say("%s: %s, %d skipped, first %s, %s", one.ID, changes(one.Changes), len(one.Skips), paths,
			s.marks(&one.Listed))
	}
	for _, name := range []string{"turn:1@claude/a", "turn:2@claude/a", "turn:3@claude/a", "turn:1@claude/b"} {
		one, row, err := h.ShowTurn(enginetest.Bg, name, "", nil)
		s.Must(err)
		s.say("%s: %s %s, %s", name, one.ID, changes(one.Changes), s.row(row))
		again, row, err := h.ShowTurn(enginetest.Bg, name, row.ID.String(), []string{"f"})
		s.Must(err)
		s.say("  in f: %s, %t", changes(again.Changes), row != nil)
		_, row, err = h.ShowTurn(enginetest.Bg, name, all[0].ID.String(), nil)
		s.Must(err)
		s.say("  with another end: %t", row != nil)
	}
}

// TestRowsAskedFor: what a list of rows or of steps is asked for is what of the whole list has it, page by page too.
func TestRowsAskedFor(t *testing.T) {
	t.Parallel()
	s := newBeside(t)
	at := func(minutes int) time.Time { return s.began.Add(time.Duration(minutes) * time.Minute) }
	var filters []value.Filter
	for n := 0; n < 17; n += 2 {
		filters = append(filters, value.Filter{Since: at(n)}, value.Filter{Until: at(n)},
			value.Filter{Since: at(n), Until: at(n + 3)}, value.Filter{Session: "b", Since: at(n)})
	}
	filters = append(filters, value.Filter{}, value.Filter{Session: "a"}, value.Filter{Session: "claude/b"},
		value.Filter{Session: "manual"}, value.Filter{Agent: "claude"}, value.Filter{Agent: "codex"},
		value.Filter{Tool: "bash"}, value.Filter{Tool: "Write"}, value.Filter{By: "agent"},
		value.Filter{By: "outside"}, value.Filter{Prompt: "PARSER"}, value.Filter{Prompt: "hand"},
		value.Filter{Session: "b", Prompt: "docs", Tool: "write"})
	for _, all := range []bool{false, true} {
		rows := s.rowsOf(history.RowOptions{All: all}).Rows
		steps := s.listOf(history.ListOptions{All: all, Steps: true}).Checkpoints
		for _, f := range filters {
			s.rowsLike(history.RowOptions{All: all, Filter: history.Filter{Filter: f}}, rows)
			s.stepsLike(history.ListOptions{All: all, Steps: true, Filter: history.Filter{Filter: f}}, steps)
		}
	}
}

// named is a filter with the whole name of its session.
func named(f history.Filter) history.Filter {
	if len(f.Session) == 1 {
		f.Session = "claude/" + f.Session
	}
	return f
}

// rowsLike holds rows that are asked for against all, whole and in pages.
func (s *beside) rowsLike(o history.RowOptions, all []history.Row) {
	s.T.Helper()
	f, want := named(o.Filter), []string{}
	for i := range all {
		r := &all[i]
		text := r.Prompt
		if r.Turn == 0 {
			text = r.Cause.Message
		}
		about := f
		about.Since, about.Until = time.Time{}, time.Time{}
		about.Filter.Prompt = ""
		has := about.Tool == "" && about.By == "" && about.Has(&model.Checkpoint{Session: r.Of})
		has = has || slices.ContainsFunc(r.Steps, about.Has)
		in := history.Filter{Filter: value.Filter{Since: f.Since, Until: f.Until, Prompt: f.Prompt}}
		if has && in.Has(&model.Checkpoint{Time: r.At, Cause: model.Cause{Message: text}}) {
			want = append(want, s.bare(r))
		}
	}
	for limit := range 4 {
		got := []string{}
		for page := o; ; {
			page.Limit = limit
			res := s.rowsOf(page)
			for i := range res.Rows {
				got = append(got, s.bare(&res.Rows[i]))
			}
			if o.Filter == (history.Filter{}) && page.Before > 0 && len(res.Rows) == 0 {
				s.T.Fatalf("%+v: there is nothing more", page)
			}
			if page.Before = res.Next; !res.More {
				break
			}
			if res.Next == 0 || len(res.Rows) != limit {
				s.T.Fatalf("%+v: %d rows, more behind %d", page, len(res.Rows), res.Next)
			}
		}
		enginetest.Equal(s.T, fmt.Sprintf("%+v in pages of %d", o, limit), got, want)
	}
}

// bare is a row without where the worktree stands, which each list says of one row of its own.
func (s *beside) bare(r *history.Row) string {
	one := *r
	one.Current = false
	return strings.NewReplacer(s.names...).Replace(s.row(&one))
}

// stepsLike is rowsLike of steps.
func (s *beside) stepsLike(o history.ListOptions, all []history.Listed) {
	s.T.Helper()
	f, want := named(o.Filter), []string{}
	for i := range all {
		if f.Has(all[i].Checkpoint) {
			want = append(want, all[i].ID.String()+s.marks(&all[i]))
		}
	}
	for limit := range 4 {
		got := []string{}
		for page := o; ; {
			page.Limit = limit
			res := s.listOf(page)
			for i := range res.Checkpoints {
				l := &res.Checkpoints[i]
				got, page.Before = append(got, l.ID.String()+s.marks(l)), l.Seq
			}
			if !res.More {
				break
			}
			if len(res.Checkpoints) != limit {
				s.T.Fatalf("%+v: %d steps, and more", page, len(res.Checkpoints))
			}
		}
		enginetest.Equal(s.T, fmt.Sprintf("%+v in pages of %d", o, limit), got, want)
	}
}
