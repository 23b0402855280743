package register

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"rewind/engine/project"
	"rewind/hooks"
	"rewind/internal/programs"
	"rewind/internal/value"
)

// within is what an agent has of rewind besides its hooks.
type within struct {
	Server   string   // the file that lists rewind's MCP server; "": none does
	Commands []string // the commands that a person can type
	Left     []string // files that are not as they were written: somebody's, which nobody touches
}

// asked reports whether one of the projects, or the global setting, has a switch on: agents read one file for all
// projects.
func asked(h project.Home, root string, is func(project.Config) bool) bool {
	for _, root := range append(h.Projects(), root, "") {
		if c, err := project.LoadConfig(h, root); err == nil && is(c) {
			return true
		}
	}
	return false
}

// rewindProgram is the command line of people, as agents start it.
func rewindProgram(h project.Home) string { return programs.Path(programDir(h), programs.Rewind) }

// planServer plans the list of MCP servers; file is where ours is wanted.
func planServer(ctx context.Context, h project.Home, agent hooks.Agent, env value.AgentEnv, o Options) (file string,
	edits []*SettingsEdit, err error,
) {
	server := !o.Remove && asked(h, o.Root, project.Config.Server)
	e := &SettingsEdit{Agent: agent, Path: hooks.ServerFile(agent, env.Var, string(env.Home)), form: &serverForm{}}
	if server {
		e.form = &serverForm{program: rewindProgram(h)}
		file = e.Path
	}
	if server || mayHaveServer(e.Path) {
		switch err := Plan(ctx, h, e); {
		case err == nil:
			edits = append(edits, e)
		case server || o.Remove:
			return file, nil, err
		}
	}
	return file, edits, nil
}

// planCommand plans one file of a command; what is no plain file is somebody's.
func planCommand(ctx context.Context, h project.Home, e *SettingsEdit) error {
	if !isPlain(e.Path) {
		return errSomebodys
	}
	return Plan(ctx, h, e)
}

// planWithin works out what an agent's list of MCP servers, and its commands, will be. Where none is wanted, and none
// of ours is there, nothing is looked at that could be wrong.
func planWithin(ctx context.Context, h project.Home, agent hooks.Agent, env value.AgentEnv, o Options) (w within, edits []*SettingsEdit,
	err error,
) {
	w.Server, edits, err = planServer(ctx, h, agent, env, o)
	if err != nil {
		return w, nil, err
	}
	commands := !o.Remove && asked(h, o.Root, project.Config.Commands)
	for _, c := range hooks.Commands(agent, env.Var, string(env.Home), rewindProgram(h)) {
		f := &commandForm{}
		e := &SettingsEdit{Agent: agent, Path: c.Path, File: &settingsFile{path: c.Path}, form: f}
		if commands {
			f.text = c.Text
		} else if _, err := os.Lstat(c.Path); err != nil {
			continue
		}
		switch err := planCommand(ctx, h, e); {
		case errors.Is(err, errSomebodys):
			if commands || backup(h, e) != nil {
				w.Left = append(w.Left, c.Path)
			}
			continue
		case err != nil:
			return w, nil, err
		}
		if commands {
			w.Commands = append(w.Commands, c.Name)
		}
		edits = append(edits, e)
	}
	return w, edits, nil
}

// mayHaveServer looks at a file that need not be understood.
func mayHaveServer(path string) bool {
	b, err := os.ReadFile(path)
	return err == nil && hooks.MentionsServer(b)
}

// form is what an edit makes of a file.
type form interface {
	// plan returns what the file is to be, nil for none, and whether something of ours is in it.
	plan(e *SettingsEdit) (after []byte, ours bool, err error)
	// wants: something of ours is to be there afterwards.
	wants() bool
	// keep is what has to be kept of an edit until something of ours is taken out again.
	keep(e *SettingsEdit, had bool) (data []byte, needed bool)
	name() string
}

// serverForm is rewind's server in an agent's list of MCP servers.
type serverForm struct{ program string }

func (f *serverForm) name() string { return "-mcp" }
func (f *serverForm) wants() bool  { return f.program != "" }

func (f *serverForm) plan(e *SettingsEdit) (after []byte, ours bool, err error) {
	if !f.wants() && !e.File.exists() {
		return nil, false, nil
	}
	had, err := hooks.RegisteredServer(e.Agent, e.File.Data)
	if err != nil {
		if !f.wants() && errors.Is(err, hooks.ErrForeignServer) {
			return e.File.Data, false, nil
		}
		return nil, false, err
	}
	if f.wants() {
		after, err = hooks.RegisterServer(e.Agent, e.File.Data, f.program)
	} else {
		after, err = hooks.UnregisterServer(e.Agent, e.File.Data, e.kept)
	}
	return after, had != "", err
}

// keep keeps the file from before, as of hooks.
func (f *serverForm) keep(e *SettingsEdit, had bool) ([]byte, bool) { return e.File.Data, !had }

// errSomebodys is returned for a command's file that is not as it was written.
var errSomebodys = errors.New("somebody has changed it, or it is not rewind's")

// commandForm is the file of a command, whole. What was written is kept: what is there must be that.
type commandForm struct{ text []byte }

func (f *commandForm) name() string { return "-command" }
func (f *commandForm) wants() bool  { return f.text != nil }

func (f *commandForm) plan(e *SettingsEdit) (after []byte, ours bool, err error) {
	if !isPlain(e.Path) || e.File.exists() && !slices.ContainsFunc([][]byte{e.kept, f.text}, func(b []byte) bool {
		return b != nil && bytes.Equal(e.File.Data, b)
	}) {
		return nil, false, errSomebodys
	}
	return f.text, e.File.exists(), nil
}

func (f *commandForm) keep(*SettingsEdit, bool) ([]byte, bool) { return f.text, true }

// CheckWithin says what of the server and the commands is not as it should be, or "", and what there is.
func CheckWithin(
	ctx context.Context, h project.Home, agent hooks.Agent, env value.AgentEnv, root string,
) (has, wrong string) {
	w, edits, err := planWithin(ctx, h, agent, env, Options{Root: root})
	switch {
	case err != nil:
		return "", err.Error()
	case slices.ContainsFunc(edits, (*SettingsEdit).changes):
		i := slices.IndexFunc(edits, (*SettingsEdit).changes)
		return "", fmt.Sprintf("%s is not as agents.mcp and agents.commands say", edits[i].Path)
	}
	if w.Server != "" {
		has += ", the MCP server"
	}
	if n := len(w.Commands); n > 0 {
		has += fmt.Sprintf(", %d commands", n)
	}
	if len(w.Left) > 0 {
		has += fmt.Sprintf("; %s is not as rewind wrote it, and is left alone", w.Left[0])
	}
	return has, ""
}
