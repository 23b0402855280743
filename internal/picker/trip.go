package picker

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

// A wanted is what goes back.
type wanted uint8

const (
	both wanted = iota
	code
	talk
)

// trip is going back: what is wanted, and what it would do.
type trip struct {
	to      target
	back    bool // to before it
	what    wanted
	exact   bool
	inPlace bool
	fork    bool // only a new session
	parts   []api.Part
	picked  string // what the parts are, in words
	round   int    // of the newest request
	pending bool
	restore *api.RestoreResponse
	forked  *api.ForkResponse
	err     *api.Error
	top     int
}

// goTo previews going back to what is chosen.
func (m *model) goTo() tea.Cmd {
	t, ok := m.target()
	if !ok {
		return nil
	}
	return m.setOut(t)
}

// takesBack reports whether Enter takes a target back: every turn. What is no turn is a state, and is gone to.
func (t *target) takesBack() bool { return t.whole && t.before != "" && !t.talkOnly() }

// verb is what Enter does with a target.
func (t *target) verb() string {
	switch {
	case t.talkOnly():
		return "forking at"
	case t.takesBack():
		return "taking back"
	}
	return "going to"
}

// talkOnly reports whether only the conversation can be gone on with.
func (t *target) talkOnly() bool { return t.row != nil && t.row.NoCode }

// setOut previews what Enter does with a target.
func (m *model) setOut(t target) tea.Cmd {
	m.trip = trip{to: t, back: t.takesBack(), fork: t.talkOnly(), round: m.trip.round}
	return m.preview()
}

// place is the name of where the trip goes.
func (t *trip) place() string {
	if t.back {
		return t.to.before
	}
	return t.to.name
}

// title says where the trip goes.
func (t *trip) title() string {
	switch {
	case t.fork && t.back:
		return "Fork before " + t.to.title
	case t.fork:
		return "Fork at " + t.to.title
	case t.parts != nil:
		return "Set " + t.picked + " as " + t.where()
	case t.back && t.to.takesBack() && !t.exact:
		if t.to.current {
			return "Take back " + t.to.title
		}
		return "Take back " + t.to.title + " and what its session did since"
	case t.back:
		return "Go to before " + t.to.title
	}
	return "Go to " + t.to.title
}

// where says which moment is meant.
func (t *trip) where() string {
	switch {
	case t.back:
		return "before " + t.to.title
	case t.to.whole:
		return "after " + t.to.title
	}
	return "in " + t.to.title
}

// request is the checkout that the trip is.
func (m *model) request() api.CheckoutRequest {
	t := &m.trip
	req := api.CheckoutRequest{Project: m.project(), Checkpoint: api.Text(t.place()), Parts: t.parts}
	req.Choose = true
	if t.parts == nil {
		req.Env, req.Exact, req.InPlace = m.o.Env, t.exact, t.inPlace
		req.CodeOnly, req.ContextOnly = t.what == code, t.what == talk
		req.TakeBack = t.to.whole && !t.exact
		if t.what == code {
			req.Env, req.InPlace = api.AgentEnv{}, false
		}
	}
	return req
}

func (m *model) forkRequest() api.ForkRequest {
	req := api.ForkRequest{Project: m.project(), Env: m.o.Env, Checkpoint: api.Text(m.trip.place())}
	req.Choose = true
	return req
}

// preview asks what the trip would do; nothing is touched.
func (m *model) preview() tea.Cmd {
	t := &m.trip
	m.mode = going
	t.round++
	t.pending, t.restore, t.forked, t.err, t.top = true, nil, nil, nil, 0
	round := t.round
	if t.place() == "" {
		t.pending, t.err = false, &api.Error{Message: "nothing is before it", Hint: "a goes to what it left"}
		return nil
	}
	if t.fork {
		req := m.forkRequest()
		req.DryRun = true
		return ask(m, func(ctx context.Context) (api.ForkResponse, error) { return m.src.Fork(ctx, req) },
			func(m *model, r api.ForkResponse, err error) tea.Cmd {
				if m.trip.round == round {
					m.trip.pending, m.trip.forked, m.trip.err = false, &r, told(err)
				}
				return nil
			})
	}
	if t.parts != nil { // what differs was shown when they were chosen, and is held against that
		t.pending = false
		return nil
	}
	req := m.request()
	req.DryRun = true
	return ask(m, func(ctx context.Context) (api.RestoreResponse, error) { return m.src.Checkout(ctx, req) },
		func(m *model, r api.RestoreResponse, err error) tea.Cmd {
			if m.trip.round == round {
				m.trip.pending, m.trip.restore, m.trip.err = false, &r, told(err)
			}
			return nil
		})
}

// depart does what was previewed. Nothing is done before it was seen.
func (m *model) depart() tea.Cmd {
	t := &m.trip
	switch {
	case t.pending:
		return nil
	case t.err != nil:
		return m.preview()
	}
	t.pending = true
	t.round++
	if t.fork {
		req := m.forkRequest()
		return ask(m, func(ctx context.Context) (api.ForkResponse, error) { return m.src.Fork(ctx, req) },
			func(m *model, r api.ForkResponse, err error) tea.Cmd {
				return m.arrived(outcome{fork: &r, forked: req}, err)
			})
	}
	req := m.request()
	if t.restore != nil {
		req.Plan = t.restore.Plan // what was seen, or nothing
	}
	return ask(m, func(ctx context.Context) (api.RestoreResponse, error) { return m.src.Checkout(ctx, req) },
		func(m *model, r api.RestoreResponse, err error) tea.Cmd { return m.arrived(outcome{restore: &r}, err) })
}

// arrived shows what was done.
func (m *model) arrived(o outcome, err error) tea.Cmd {
	m.trip.pending = false
	if err != nil {
		m.trip.err, m.mode = told(err), going
		return nil
	}
	m.outcomes, m.mode, m.trip.top, m.why = append(m.outcomes, o), did, 0, nil
	m.log.moved = false
	m.side.forget()
	return m.refresh()
}

// undo takes back what was done last here: a fork by deleting it, unless somebody has gone on with it meanwhile.
func (m *model) undo() tea.Cmd {
	if !m.undoable() || m.trip.pending {
		return nil
	}
	m.trip.pending = true
	last := m.outcomes[len(m.outcomes)-1]
	undone := func(m *model, o outcome, err error) tea.Cmd {
		if o.undoes = true; err == nil {
			turnOver(m.outcomes)
		}
		return m.arrived(o, err)
	}
	if last.fork != nil {
		req := api.ManageRequest{Project: m.project(), Env: m.o.Env, Do: api.DoDelete, Sessions: []string{last.fork.Session}}
		return ask(m, func(ctx context.Context) (api.ManageResponse, error) { return m.src.Manage(ctx, req) },
			func(m *model, r api.ManageResponse, err error) tea.Cmd { return undone(m, outcome{deleted: &r}, err) })
	}
	req := api.UndoRestoreRequest{Project: m.project(), Operation: last.operation()}
	req.Env = m.o.Env
	return ask(m, func(ctx context.Context) (api.RestoreResponse, error) { return m.src.UndoRestore(ctx, req) },
		func(m *model, r api.RestoreResponse, err error) tea.Cmd { return undone(m, outcome{restore: &r}, err) })
}

// turnOver takes the last outcome out of what holds. What that had undone holds again, and so on.
func turnOver(list []outcome) {
	for i := len(list) - 1; i >= 0; i-- {
		list[i].undone = !list[i].undone
		if !list[i].undoes {
			return
		}
	}
}

// undoable reports whether what was done last here can be taken back.
func (m *model) undoable() bool {
	if len(m.outcomes) == 0 {
		return false
	}
	last := m.outcomes[len(m.outcomes)-1]
	return last.operation() > 0 || last.fork != nil && !last.fork.Reused
}

// operation is the number under which it can be taken back; 0: none.
func (o outcome) operation() uint64 {
	switch {
	case o.restore != nil:
		return o.restore.Operation
	case o.deleted != nil:
		return o.deleted.Operation
	}
	return 0
}

// end finishes a restore that is half done, or takes it back.
func (m *model) end(abort bool) tea.Cmd {
	req := api.CheckoutRequest{Project: m.project(), Continue: !abort, Abort: abort}
	req.Env = m.o.Env
	return ask(m, func(ctx context.Context) (api.RestoreResponse, error) { return m.src.Checkout(ctx, req) },
		func(m *model, r api.RestoreResponse, err error) tea.Cmd {
			if err != nil {
				m.stop(told(err))
				return nil
			}
			return m.arrived(outcome{restore: &r}, nil)
		})
}

// tripLines are the preview, or what was done.
func (m *model) tripLines(width int) []string {
	pr, text := m.pane(width)
	t := &m.trip
	switch {
	case m.mode == did:
		m.outcomes[len(m.outcomes)-1].tell(pr)
		if t.pending {
			fmt.Fprintln(text, "\ntaking it back ...")
		}
		return fold(talkless(text.String()), width, true)
	case t.err != nil:
		fmt.Fprintf(text, "%s %s\n", pr.Styled(term.Error, "error:"), term.SanitizeText(t.err.Message))
		if t.err.Hint != "" {
			fmt.Fprintf(text, "%s %s\n", pr.Styled(term.Bold, "hint:"), term.SanitizeText(keyed(t.err.Hint)))
		}
	case t.parts != nil:
		for _, p := range t.parts {
			what := "all of it"
			if !p.Whole {
				what = render.Count(len(p.Hunks), "hunk")
				if p.Mode {
					what += " and the permissions"
				}
			}
			fmt.Fprintf(text, "  %s  %s\n", term.Quote(string(p.Path)), pr.Styled(term.Dim, what))
		}
		fmt.Fprintln(text, "everything else stays, the conversation, too")
	case t.pending && t.restore == nil && t.forked == nil:
		fmt.Fprintln(text, "previewing ...")
	case t.forked != nil:
		pr.Notices(t.forked.Notices)
		req := m.forkRequest()
		req.DryRun = true
		pr.TellForked(*t.forked, req)
		fmt.Fprintln(text, "the files of the project stay as they are")
	case t.restore != nil:
		pr.Notices(t.restore.Notices)
		pr.TellRestore(*t.restore, "")
		fmt.Fprint(text, t.nothing())
	}
	if t.pending && (t.restore != nil || t.forked != nil || t.parts != nil) {
		fmt.Fprintln(text, "\ndoing it ...")
	}
	return append(m.wishes(width), fold(talkless(text.String()), width, true)...)
}

// nothing says of a preview that nothing at all would change; "": something would.
func (t *trip) nothing() string {
	r := t.restore
	talk := r.Conversation
	talks := talk != nil && talk.Mode != "none" && talk.Mode != "original"
	if talks || len(r.Changes) > 0 {
		return ""
	}
	text := "\nnothing differs: there is nothing to do\n"
	if t.back {
		text += "a goes to " + t.to.title + " itself\n"
	}
	return text
}

// wishes are the lines that say what is wanted, each with its key.
func (m *model) wishes(width int) []string {
	t := &m.trip
	pr, text := m.pane(width)
	fmt.Fprintln(text, pr.Styled(term.Bold, t.title()))
	mark := func(on bool, word string) string {
		if on {
			return pr.Styled(term.Bold, "["+word+"]")
		}
		return " " + word + " "
	}
	if t.parts == nil && !t.fork {
		fmt.Fprintln(text, mark(t.what == both, "b both"), mark(t.what == code, "c code"), mark(t.what == talk, "v conversation"))
	}
	if t.parts == nil && t.to.before != "" {
		line := mark(t.back, "e before it") + " " + mark(!t.back, "a after it")
		if t.exact {
			line += " " + mark(true, "x exact")
		}
		if t.inPlace {
			line += " " + mark(true, "i in place")
		}
		fmt.Fprintln(text, line)
	}
	return append(fold(text.String(), width, true), "")
}

// keyed is a hint with the picker's keys for the flags that do the same.
func keyed(hint string) string { return flagKeys.Replace(hint) }

var flagKeys = strings.NewReplacer(
	"without --in-place", "without i (in place)", "--in-place", "i (in place)",
	"--context-only goes", "v goes", "with --code-only", "with c",
	"--dry-run shows", "Enter shows", ", and its plan", "",
)

// talkless takes the program's name off lines of talk: on a screen of its own nobody else talks.
func talkless(text string) string {
	text = strings.TrimPrefix(text, "rewind: ")
	return strings.ReplaceAll(text, "\nrewind: ", "\n")
}
