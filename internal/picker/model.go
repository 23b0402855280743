package picker

import (
	"bytes"
	"context"
	"errors"
	"slices"

	tea "charm.land/bubbletea/v2"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
	"rewind/internal/value"
)

// options say where the picker looks, and for whom.
type options struct {
	Dir   string       `json:"dir"`
	Env   api.AgentEnv `json:"env"`
	Color string       `json:"color"`
	Plain bool         `json:"plain"` // lines and a prompt, nothing is drawn over
}

// A mode is what keys mean.
type mode uint8

// The modes.
const (
	looking  mode = iota // at the log
	typing               // at the log, and a filter for it is typed
	asking               // what to search for is typed
	finding              // at what was found
	going                // at a preview
	choosing             // files and hunks
	did                  // at what was done
	helping              // at the keys
	stopped              // nothing to look at: no project, no checkpoint, half done, an error
)

// model is the picker. Its methods are called by one goroutine.
type model struct {
	ctx    context.Context
	src    source
	o      options
	screen *term.Streams // how text looks, and what the time is

	width, height int
	mode, before  mode // before: the one that help goes back to
	log           log
	side          side
	trip          trip
	choice        choice
	search        search
	status        *api.StatusResponse
	why           *api.Error // of stopped; else of the last thing that was asked for
	silent        silent     // "": the daemon answers
	outcomes      []outcome
	typesAtOnce   bool // letters are the filter's: picker.keys is fzf
	zoomed        bool // only the right side
	leave         bool
	run           []string // a command of rewind to be run after leaving

	first *api.ListResponse // rows that were there before the screen was; nil: they are asked for
}

// newModel makes a picker.
func newModel(ctx context.Context, src source, screen *term.Streams, o options) *model {
	m := &model{ctx: ctx, src: src, o: o, screen: screen, width: 80, height: 24}
	m.log.limit = api.FirstRows
	return m
}

// then is the answer to a request: what it does to the model.
type then func(m *model) tea.Cmd

// silent says that the daemon does not answer.
type silent string

// tick asks for what has changed meanwhile.
type tick struct{}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd {
	if m.first == nil {
		return tea.Batch(m.refresh(), m.settings())
	}
	m.log.wanted = m.log.limit // they are what would be asked for
	return tea.Batch(m.loaded(*m.first, nil), m.look(), m.settings())
}

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case then:
		m.silent = ""
		return m, msg(m)
	case silent:
		if m.silent != "" {
			return m, nil
		}
		m.silent = msg
		return m, m.look() // its answer says that the daemon is back
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 1), max(msg.Height, 1)
		return m, nil
	case tea.KeyPressMsg:
		return m, m.press(msg)
	case tea.PasteMsg:
		m.typed(msg.Content)
		return m, m.filtered()
	case tea.MouseClickMsg:
		return m, m.click(msg)
	case tea.MouseWheelMsg:
		return m, m.wheel(msg)
	case tick:
		return m, m.glance()
	}
	return m, nil
}

// ask runs a request beside the screen; apply gets its answer.
func ask[Resp any](
	m *model, request func(ctx context.Context) (Resp, error), apply func(m *model, r Resp, err error) tea.Cmd,
) tea.Cmd {
	ctx := m.ctx
	return func() tea.Msg {
		r, err := request(ctx)
		return then(func(m *model) tea.Cmd { return apply(m, r, err) })
	}
}

// refresh asks for the rows, and once they are there where the project stands: rows are what one waits for.
func (m *model) refresh() tea.Cmd {
	load, look := m.load(), m.look()
	if load == nil {
		return look
	}
	return func() tea.Msg {
		rows := load().(then)
		return then(func(m *model) tea.Cmd { return tea.Batch(rows(m), look) })
	}
}

// settings asks what letters are for: commands, until there is an answer.
func (m *model) settings() tea.Cmd {
	return ask(m, func(ctx context.Context) (api.ConfigResponse, error) {
		return m.src.Config(ctx, api.ConfigRequest{Project: m.project()})
	}, func(m *model, r api.ConfigResponse, _ error) tea.Cmd {
		m.typesAtOnce = slices.ContainsFunc(r.Settings, func(s api.Setting) bool {
			return s.Key == value.PickerKeys && s.Value == value.KeysFzf
		})
		if m.typesAtOnce && m.mode == looking {
			m.mode = typing
		}
		return nil
	})
}

// look asks where the project stands.
func (m *model) look() tea.Cmd {
	return ask(m, func(ctx context.Context) (api.StatusResponse, error) {
		return m.src.Status(ctx, api.StatusRequest{Project: m.project()})
	}, func(m *model, r api.StatusResponse, err error) tea.Cmd {
		if err == nil {
			m.status = &r
			if m.atLog() && r.HalfDone != "" {
				m.stop(&api.Error{Word: api.WordHalfDone, Message: "a checkout of " + r.HalfDone[:min(7,
					len(r.HalfDone))] + " is half done"})
			}
		}
		return nil
	})
}

// stop shows why there is nothing to look at.
func (m *model) stop(why *api.Error) { m.mode, m.why = stopped, why }

// told is an error as it is shown.
func told(err error) *api.Error {
	var e *api.Error
	if err == nil || errors.As(err, &e) {
		return e
	}
	return &api.Error{Word: api.WordFailed, Message: err.Error()}
}

func (m *model) project() api.Project { return api.Project{Dir: api.Text(m.o.Dir)} }

// pane makes a printer for a part of the screen.
func (m *model) pane(width int) (*render.Printer, *bytes.Buffer) {
	s, text := m.screen.Pane(width)
	return &render.Printer{Streams: s, Keys: true}, text
}

// An outcome is what the picker did.
type outcome struct {
	restore *api.RestoreResponse
	fork    *api.ForkResponse
	forked  api.ForkRequest
	deleted *api.ManageResponse // a fork that was made here, taken back
	undoes  bool                // the one before
	undone  bool                // by a later one
}

// tell prints it as the command does that would have done it.
func (o outcome) tell(pr *render.Printer) {
	switch {
	case o.fork != nil:
		pr.Notices(o.fork.Notices)
		pr.TellForked(*o.fork, o.forked)
	case o.deleted != nil:
		pr.Notices(o.deleted.Notices)
		for _, l := range o.deleted.Losses {
			name := render.ShortSession(l.Session) + " " + string(l.Title)
			pr.Say("taken back: %s is deleted; nobody had used it", term.Sanitize(name))
		}
		pr.Say("undo this: rewind undo-restore")
	case o.restore != nil:
		pr.Notices(o.restore.Notices)
		pr.TellRestore(*o.restore, "")
	}
}

func (m *model) quit() tea.Cmd {
	m.leave = true
	return tea.Quit
}
