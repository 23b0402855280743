package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/programs"
	"rewind/internal/render"
	"rewind/internal/term"
	"rewind/internal/value"
)

// agentsFlag is --agents: which agents' hooks a command is about.
type agentsFlag []string

func (f *agentsFlag) add(cmd *cobra.Command, help string) {
	cmd.Flags().StringSliceVar((*[]string)(f), "agents", nil, help)
	_ = cmd.RegisterFlagCompletionFunc("agents", cobra.FixedCompletions([]string{
		"all\tevery one that is installed", "none", "claude\tClaude Code", "codex\tCodex CLI", "gemini\tGemini CLI",
		"droid\tFactory Droid",
	}, cobra.ShellCompDirectiveNoFileComp))
}

// names are the agents of a request; none: all that are installed. off: none are wanted.
func (f agentsFlag) names() (names []api.Agent, off bool, err error) {
	switch {
	case len(f) == 0 || len(f) == 1 && f[0] == "all":
		return nil, false, nil
	case len(f) == 1 && f[0] == "none":
		return nil, true, nil
	case slices.Contains(f, "all") || slices.Contains(f, "none"):
		return nil, false, usage("--agents: all and none stand alone")
	}
	for _, name := range f {
		if !slices.Contains(value.Agents(), api.Agent(name)) {
			return nil, false, usage("--agents %s: no such agent: want all, none or some of %s", name,
				strings.Join(agentWords(), ", "))
		}
		names = append(names, api.Agent(name))
	}
	return names, false, nil
}

// agentEnv is what this command's environment says about where agents keep their settings and sessions, and where their
// programs are. Without a home directory only agents that a variable places are found.
func agentEnv() api.AgentEnv {
	home, _ := os.UserHomeDir()
	env := api.AgentEnv{Home: api.Text(home), Vars: map[string]api.Text{}, Path: api.Text(os.Getenv("PATH"))}
	for _, name := range api.AgentVariables() {
		if dir := os.Getenv(name); dir != "" {
			if abs, err := filepath.Abs(dir); err == nil {
				env.Vars[name] = api.Text(abs)
			}
		}
	}
	if self, err := os.Executable(); err == nil {
		env.Rewind = api.Text(self)
	}
	for _, name := range value.Agents() {
		if _, err := exec.LookPath(string(name)); err == nil {
			env.Programs = append(env.Programs, name)
		}
	}
	return env
}

// setHooks fills in the environment of a request and sends it.
func (a *app) setHooks(ctx context.Context, req api.HooksRequest) (api.HooksResponse, error) {
	req.Project, req.Env = a.project(), agentEnv()
	return call(ctx, a, api.SetHooks, req, "")
}

// showHooks prints a line for each agent, and with a dry run what would change in its settings.
func (a *app) showHooks(w io.Writer, r api.HooksResponse, req api.HooksRequest) error {
	for _, h := range r.Agents {
		if !h.Installed {
			if slices.Contains(req.Agents, h.Agent) {
				fmt.Fprintf(w, "%-11s not installed: it is not on the PATH, and there is no %s\n", h.Agent,
					term.Quote(string(h.Dir)))
			}
			continue
		}
		if req.Refresh && h.Hooks == 0 || h.Error != nil { // told apart
			continue
		}
		fmt.Fprintf(w, "%-11s %s\n", h.Agent, hooksText(h, req))
		for _, c := range h.Changes {
			if !req.DryRun {
				continue
			}
			if err := a.settingsPatch(w, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// programsNote says that hooks start other programs now, or why they do not.
func (a *app) programsNote(r api.HooksResponse, req api.HooksRequest) {
	dir := term.Quote(filepath.Dir(string(r.Program)))
	if e := r.CopyErr; e != nil {
		a.Say("note: hooks go on with the programs that are in %s, another build: %s", dir,
			term.SanitizeText(e.Message))
	}
	if len(r.Copied) == 0 {
		return
	}
	were, them := "were", "them"
	switch {
	case req.DryRun:
		were = "would be"
	case len(r.Copied) == 1:
		were, them = "was", "it"
	}
	a.Say("note: %s %s copied to %s, where hooks start %s", programs.List(r.Copied), were, dir, them)
}

// hooksJSON is where Codex has hooks: it asks for trust when that changes.
const hooksJSON = "hooks.json"

func hooksText(h api.AgentHooks, req api.HooksRequest) string {
	would := ""
	if req.DryRun {
		would = "would be "
	}
	file := term.Quote(string(h.File))
	switch {
	case req.Remove && len(h.Changes) == 0:
		return "has no hooks of rewind"
	case req.Remove:
		var files []string
		for _, c := range h.Changes {
			files = append(files, term.Quote(string(c.Path)))
		}
		return "hooks " + would + "taken out of " + strings.Join(files, ", ")
	}
	text := fmt.Sprintf("%s %sregistered in %s", render.Count(h.Hooks, "hook"), would, file)
	if len(h.Changes) == 0 {
		text = fmt.Sprintf("%s in %s, as they should be", render.Count(h.Hooks, "hook"), file)
	}
	if h.Server != "" {
		text += ", the MCP server in " + term.Quote(string(h.Server))
	}
	for i, c := range h.Commands {
		text += map[bool]string{true: ", commands ", false: " "}[i == 0] + string(c)
	}
	isHooks := func(c api.FileDiff) bool { return filepath.Base(string(c.Path)) == hooksJSON }
	if h.Agent == "codex" && slices.ContainsFunc(h.Changes, isHooks) {
		text += "; codex asks once whether it may run them"
	}
	if h.SwitchedOff != "" {
		text += "; but " + term.Sanitize(h.SwitchedOff)
	}
	return text
}

// settingsPatch prints the difference of a settings file, whose path is absolute, as a patch.
func (a *app) settingsPatch(w io.Writer, f api.FileDiff) error {
	path := term.Quote(string(f.Path))
	from, to := path, path
	if f.Status == "added" {
		from = os.DevNull
	}
	if f.Status == "deleted" {
		to = os.DevNull
	}
	fmt.Fprintf(w, "%s\n%s\n", a.Styled(term.Bold, "--- "+from), a.Styled(term.Bold, "+++ "+to))
	for _, h := range f.Hunks {
		if err := a.Hunk(w, h); err != nil {
			return err
		}
	}
	return nil
}

// hooksErrors are what went wrong with single agents, as one error; nil: nothing.
func hooksErrors(r api.HooksResponse) error {
	var all []*api.Error
	for _, h := range r.Agents {
		if h.Error != nil {
			all = append(all, h.Error)
		}
	}
	if len(all) < 2 {
		if all == nil {
			return nil
		}
		return all[0]
	}
	out := *all[0]
	for _, e := range all[1:] {
		if e.Word != out.Word {
			out.Word = api.WordFailed
		}
		if e.Hint != out.Hint {
			out.Hint = ""
		}
		out.Message += "\n" + e.Message
	}
	out.Code = api.CodeOf(out.Word)
	return &out
}

// installed reports whether there is an agent to speak of.
func installed(r api.HooksResponse) bool {
	return slices.ContainsFunc(r.Agents, func(h api.AgentHooks) bool { return h.Installed })
}

// noAgents is said where no agent is found.
func noAgents(r api.HooksResponse) string {
	var dirs []string
	for _, h := range r.Agents {
		dirs = append(dirs, term.Quote(string(h.Dir)))
	}
	return "no agent was found (" + strings.Join(dirs,
		", ") + "); once one is installed, 'rewind config --register-hooks' registers its hooks"
}

// hooksOptions are the flags of config that are about hooks.
type hooksOptions struct {
	register, unregister, dryRun bool
	agents                       agentsFlag
	tier                         string
}

func (o *hooksOptions) any() bool { return o.register || o.unregister }

// runHooks is config --register-hooks and --unregister-hooks.
func runHooks(ctx context.Context, a *app, o hooksOptions) error {
	names, off, err := o.agents.names()
	if err != nil || off {
		return err
	}
	req := api.HooksRequest{Agents: names, Remove: o.unregister, DryRun: o.dryRun}
	r, err := a.setHooks(ctx, req)
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(r)
	} else {
		err = a.showHooks(a.Out, r, req)
	}
	if err := errors.Join(err, hooksErrors(r)); err != nil {
		return err
	}
	for _, h := range r.Agents {
		if !h.Installed && slices.Contains(names, h.Agent) {
			return &api.Error{
				Word: api.WordFailed,
				Message: fmt.Sprintf("%s is not installed: it is not on the PATH, and there is no %s",
					h.Agent, h.Dir), Hint: "start it once, or set the variable that says where its settings are",
			}
		}
	}
	a.programsNote(r, req)
	a.leftNotes(r)
	switch {
	case r.CopyErr != nil:
		return r.CopyErr
	case o.dryRun:
	case !installed(r):
		a.Say("hint: %s", noAgents(r))
	case o.register:
		a.Say("hint: 'rewind validate' checks them, 'rewind config --unregister-hooks' takes them out again")
	}
	return nil
}

// refreshHooks registers anew where hooks are registered: another tier may want others. What stands in the way is said,
// it is no error of the setting.
func (a *app) refreshHooks(ctx context.Context) {
	req := api.HooksRequest{Refresh: true}
	r, err := a.setHooks(ctx, req)
	if err != nil {
		a.hooksNote(err)
		return
	}
	a.programsNote(r, req)
	for _, h := range r.Agents {
		if len(h.Changes) > 0 {
			a.Say("%s: %s", h.Agent, hooksText(h, req))
		}
	}
	a.agentNotes(r)
}

// leftNotes names the commands of agents that are somebody's now.
func (a *app) leftNotes(r api.HooksResponse) {
	for _, h := range r.Agents {
		for _, path := range h.Left {
			a.Say("note: %s is not as rewind wrote it: it stays as it is", term.Quote(string(path)))
		}
	}
}

// agentNotes says which agents' hooks are not as they should be, where that must not fail the command.
func (a *app) agentNotes(r api.HooksResponse) {
	a.leftNotes(r)
	for _, h := range r.Agents {
		if h.Error == nil {
			continue
		}
		a.Say("note: no hooks of %s were registered: %s", h.Agent, term.SanitizeText(h.Error.Message))
		if h.Error.Hint != "" {
			a.Say("hint: %s, then 'rewind config --register-hooks'", term.SanitizeText(h.Error.Hint))
		}
	}
}

// hooksNote says why hooks are not as they should be, where that must not fail the command.
func (a *app) hooksNote(err error) {
	a.Say("note: no hooks were registered: %s", term.SanitizeText(err.Error()))
	var told *api.Error
	if errors.As(err, &told) && told.Hint != "" {
		a.Say("hint: %s, then 'rewind config --register-hooks'", term.SanitizeText(told.Hint))
	}
}

// agentWords are the names of the agents that there are, as they are typed.
func agentWords() []string {
	var out []string
	for _, agent := range value.Agents() {
		out = append(out, string(agent))
	}
	return out
}
