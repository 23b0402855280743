package register

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rewind/engine/project"
	"rewind/hooks"
	"rewind/internal/value"
)

// hooksWait is how long a registration waits for another one.
const hooksWait = 5 * time.Second

// ErrNoProgram is returned when there is nothing that hooks could call.
var ErrNoProgram = errors.New("the program that hooks call is missing")

// Options say what SetHooks does.
type Options struct {
	Agents  []hooks.Agent // nil: all
	Remove  bool          // take the hooks out
	Refresh bool          // only where hooks of ours are
	Root    string        // a project that counts whether it is known or not; may be ""
	DryRun  bool
}

// Result is what SetHooks did, or with a dry run would do.
type Result struct {
	Program string // what the hooks call
	Tier    string
	Agents  []AgentHooks

	Copied  []string // the programs that were put where hooks start them
	CopyErr error    // why they were not, where a pair is there that works
}

// AgentHooks is one agent's part.
type AgentHooks struct {
	Agent       hooks.Agent
	Dir         string // where its settings are; it is installed when that exists
	Installed   bool
	File        string // that has the hooks, or would have them
	Hooks       int    // of ours, afterwards
	SwitchedOff string // by which setting, file and line all hooks are switched off; "": they are not
	within
	Changes []SettingsChange
	Err     error // why this agent's hooks are not as they should be; the others' are
}

// Err is what went wrong with single agents; nil: nothing.
func (r *Result) Err() error {
	if r == nil {
		return nil
	}
	var all []error
	for _, a := range r.Agents {
		all = append(all, a.Err)
	}
	return errors.Join(all...)
}

// SettingsChange is what became of one file. A nil slice is no file.
type SettingsChange struct {
	Path          string // links followed
	Before, After []byte
}

// HooksTier is the tier whose hooks are registered: agents read one file for all projects, so it is the widest that a
// project, or the global setting, asks for. A project that wants fewer events is sent the others all the same. root is
// a project that counts whether it is known or not; it may be "".
func HooksTier(h project.Home, root string) string {
	wide := 0
	ask := func(tier string) { wide = max(wide, slices.Index(hooks.Tiers(), tier)) }
	global, err := project.LoadConfig(h, "")
	if err != nil {
		return hooks.DefaultTier // whoever reads the file with the bad setting will say so
	}
	roots := h.Projects()
	if root != "" && !slices.Contains(roots, root) {
		roots = append(roots, root)
	}
	for _, root := range roots {
		c, err := project.LoadConfig(h, root)
		switch {
		case err != nil:
			ask(hooks.DefaultTier)
		case c.HooksEnabled():
			ask(c.Tier())
		}
	}
	if len(roots) == 0 || global.IsSet("tier") {
		ask(global.Tier())
	}
	return hooks.Tiers()[wide]
}

// guardWord is the word of the guard's hook: smart-checkpoint refuses tool calls under it.
const guardWord = "guard"

// HooksGuard tells whether the guard is registered: agents read one file for all projects, so it is when one of them,
// or the global setting, asks for it.
func HooksGuard(h project.Home, root string) bool {
	return asked(h, root, project.Config.Guard)
}

// Guarded are the hooks of a tier with the guard's, in front of every tool call.
func Guarded(h project.Home, agent hooks.Agent, want []hooks.Registration) []hooks.Registration {
	event := map[hooks.Agent]string{hooks.Gemini: "BeforeTool"}[agent]
	if event == "" {
		event = "PreToolUse"
	}
	matcher := map[hooks.Agent]string{hooks.Claude: "*", hooks.Droid: "*"}[agent]
	timeout := 5
	if agent == hooks.Gemini {
		timeout = 5000
	}
	return append(want, hooks.Registration{
		Event: event, Matcher: matcher, Timeout: timeout, Command: hooks.HookCommand(hookProgram(h), guardWord, agent),
	})
}

// Wanted are the hooks of a tier for one agent.
func Wanted(h project.Home, agent hooks.Agent, tier string) ([]hooks.Registration, error) {
	t, err := hooks.LoadTier(tier)
	if err != nil {
		return nil, err
	}
	var out []hooks.Registration
	for _, k := range t.Hooks[agent] {
		out = append(out, hooks.Registration{
			Event: k.Event, Matcher: k.Matcher, Timeout: k.Timeout,
			Command: hooks.HookCommand(hookProgram(h), k.Command, agent),
		})
	}
	return out, nil
}

// SetHooks registers the hooks of agents in their own settings, or takes them out. All files of an agent are planned
// first: one that cannot be understood refuses that agent, and its Err names file, line and column. Then file after
// file is replaced, each durably and as a whole; what goes wrong with one agent keeps no other from its hooks.
func SetHooks(ctx context.Context, h project.Home, env value.AgentEnv, o Options) (*Result, error) {
	if !o.DryRun {
		unlock, err := h.Lock(ctx, hooksWait)
		if err != nil {
			return nil, err
		}
		defer unlock()
	}
	r := &Result{Program: hookProgram(h), Tier: HooksTier(h, o.Root)}
	var edits [][]*SettingsEdit // of each of r.Agents
	adds := false
	for _, agent := range value.Agents() {
		if o.Agents != nil && !slices.Contains(o.Agents, agent) {
			continue
		}
		a, list, err := planAgent(ctx, h, agent, env, r.Tier, o)
		if err != nil {
			a.Err, list = err, nil
		}
		r.Agents, edits = append(r.Agents, a), append(edits, list)
		adds = adds || slices.ContainsFunc(list, (*SettingsEdit).wants)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if adds {
		var err error
		if r.Copied, err = bringPrograms(ctx, h, env, o.Refresh, o.DryRun); err != nil {
			if checkPrograms(h) != nil {
				return nil, err
			}
			r.CopyErr = err
		}
	}
	for i, list := range edits {
		r.Agents[i].apply(ctx, h, list, o.DryRun)
	}
	return r, nil
}

// apply writes an agent's files, and tells what changes in them.
func (a *AgentHooks) apply(ctx context.Context, h project.Home, list []*SettingsEdit, dryRun bool) {
	for _, e := range list {
		if !dryRun {
			if a.Err = writeSettings(ctx, h, e); a.Err != nil {
				return // of an agent's files one may depend on the other
			}
		}
		if e.changes() {
			a.Changes = append(a.Changes, SettingsChange{Path: e.File.path, Before: e.File.Data, After: e.After})
		}
	}
}

// Locate finds an agent's settings.
func Locate(agent hooks.Agent, env value.AgentEnv) AgentHooks {
	exists := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil && filepath.IsAbs(path) // a relative one is anybody's
	}
	file, installed := hooks.SettingsFile(agent, env.Var, string(env.Home), exists, os.ReadFile)
	installed = installed || slices.Contains(env.Programs, agent) ||
		// its installer leaves that before its directory is there
		agent == hooks.Claude && exists(filepath.Join(string(env.Home), ".claude.json"))
	return AgentHooks{
		Agent: agent, Installed: installed, File: file,
		Dir: filepath.Dir(hooks.SettingsFiles(agent, env.Var, string(env.Home))[0]),
	}
}

// planAgent reads the files of one agent and works out what each will be.
func planAgent(ctx context.Context, h project.Home, agent hooks.Agent, env value.AgentEnv, tier string, o Options) (AgentHooks,
	[]*SettingsEdit, error,
) {
	a := Locate(agent, env)
	if !a.Installed {
		return a, nil, nil
	}
	want, err := Wanted(h, agent, tier)
	if err != nil {
		return a, nil, err
	}
	if HooksGuard(h, o.Root) {
		want = Guarded(h, agent, want)
	}
	if o.Remove {
		want = nil
	}
	var edits []*SettingsEdit
	had := 0
	for _, path := range hooks.SettingsFiles(agent, env.Var, string(env.Home)) {
		e := &SettingsEdit{Agent: agent, Path: path}
		if path == a.File {
			e.Want = want
		}
		if err := Plan(ctx, h, e); err != nil {
			return a, nil, err
		}
		had += len(e.Ours)
		if e.File.exists() || len(e.Want) > 0 {
			edits = append(edits, e)
		}
	}
	if o.Refresh && had == 0 {
		return a, nil, nil
	}
	a.Hooks = len(want)
	if off := Switched(agent, env, o.Root, want).Off; off != nil {
		a.SwitchedOff, _ = SwitchedText(off)
	}
	var more []*SettingsEdit
	if a.within, more, err = planWithin(ctx, h, agent, env, o); err != nil {
		return a, nil, err
	}
	if o.Remove { // in the other order than they were put there: a file may have both
		return a, append(more, edits...), nil
	}
	return a, append(edits, more...), nil
}

// SettingsEdit turns one settings file into what it should be.
type SettingsEdit struct {
	Agent hooks.Agent
	Path  string
	Want  []hooks.Registration // none: ours are taken out
	File  *settingsFile
	Ours  []hooks.Registration // that are in file
	After []byte               // nil: the file goes

	form form   // what is put there; nil: hooks
	had  bool   // something of ours is in file
	kept []byte // what was kept when ours was put there, nil: nothing
}

func (e *SettingsEdit) wants() bool { return len(e.Want) > 0 || e.form != nil && e.form.wants() }

func (e *SettingsEdit) changes() bool {
	return e.File.exists() != (e.After != nil) || !bytes.Equal(e.File.Data, e.After)
}

// Plan reads the file as it is now.
func Plan(ctx context.Context, h project.Home, e *SettingsEdit) (err error) {
	if e.File, err = readSettings(ctx, e.Path); err != nil {
		return err
	}
	e.After, e.kept = nil, backup(h, e)
	switch {
	case e.form != nil:
		e.After, e.had, err = e.form.plan(e)
	case len(e.Want) > 0:
		if e.Ours, err = hooks.Registered(e.Agent, e.File.Data); err == nil {
			e.After, err = hooks.Register(e.Agent, e.File.Data, e.Want)
		}
	case e.File.exists():
		if e.Ours, err = hooks.Registered(e.Agent, e.File.Data); err == nil {
			e.After, err = hooks.Unregister(e.Agent, e.File.Data, e.kept)
		}
	}
	if err != nil {
		return e.refuse(err)
	}
	e.had = e.had || len(e.Ours) > 0
	return nil
}

// refuse names the place as editors and terminals understand it.
func (e *SettingsEdit) refuse(err error) error {
	var line, column int
	text := strings.TrimPrefix(err.Error(), "hooks: settings: ")
	if n, _ := fmt.Sscanf(text, "line %d, column %d:", &line, &column); n == 2 {
		_, text, _ = strings.Cut(text, ": ")
		return fmt.Errorf("settings of %s: %s:%d:%d: %s; it was left as it is", e.Agent, e.Path, line, column, text)
	}
	return &value.OpError{Op: "settings of", Subject: string(e.Agent), Err: fmt.Errorf("%s: %w; it was left as it is", e.Path, err)}
}

// settingsTries is how often an edit starts over because the agent wrote the file meanwhile.
const settingsTries = 10

// writeSettings replaces the file, and plans anew when it is not what was read any more.
func writeSettings(ctx context.Context, h project.Home, e *SettingsEdit) error {
	for try := 1; ; try++ {
		err := replace(h, e)
		if !errors.Is(err, errChanged) || try == settingsTries {
			return err
		}
		if err := Plan(ctx, h, e); err != nil {
			return err
		}
	}
}

func replace(h project.Home, e *SettingsEdit) error {
	if e.changes() {
		if data, needed := e.keep(); needed {
			if err := keepBackup(h, e, data); err != nil {
				return err
			}
		}
		if err := e.File.replace(e.After); err != nil {
			return err
		}
		if c, ok := e.form.(*commandForm); ok && e.After == nil {
			c.removeEmpty(e.File.path)
		}
	}
	if !e.wants() {
		return dropBackup(h, e)
	}
	return nil
}

// keep is what has to be kept until ours is taken out again: the file from before, unless something of ours is in it.
func (e *SettingsEdit) keep() (data []byte, needed bool) {
	switch {
	case !e.wants():
		return nil, false
	case e.form != nil:
		return e.form.keep(e, e.had)
	}
	return e.File.Data, !e.had
}
