package engine

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

	"rewind/hooks"
)

// AgentEnv says where agents keep their settings. It is the environment of the person who asks, not of the process that answers.
type AgentEnv struct {
	Home string            // the user's home directory
	Vars map[string]string // the variables by which agents move their own, with absolute values

	Path   string // the PATH, where an agent's program has to be run
	Rewind string // the program of the person who asks, which hooks are to start; "": this process's

	Programs []hooks.Agent // those whose program is on the user's PATH: installed, if they have never been started, too
}

func (v AgentEnv) get(name string) string { return v.Vars[name] }

// Agents are the agents with hooks, in the order in which they are told.
func Agents() []hooks.Agent {
	return []hooks.Agent{hooks.Claude, hooks.Codex, hooks.Gemini, hooks.Droid}
}

// hooksWait is how long a registration waits for another one.
const hooksWait = 5 * time.Second

// ErrNoProgram is returned when there is nothing that hooks could call.
var ErrNoProgram = errors.New("the program that hooks call is missing")

// HooksOptions say what SetHooks does.
type HooksOptions struct {
	Agents  []hooks.Agent // nil: all
	Remove  bool          // take the hooks out
	Refresh bool          // only where hooks of ours are
	Root    string        // a project that counts whether it is known or not; may be ""
	DryRun  bool
}

// HooksResult is what SetHooks did, or with a dry run would do.
type HooksResult struct {
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
	SwitchedOff string // the setting by which the user has switched all hooks off
	Changes     []SettingsChange
	Err         error // why this agent's hooks are not as they should be; the others' are
}

// Err is what went wrong with single agents; nil: nothing.
func (r *HooksResult) Err() error {
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

// HooksTier is the tier whose hooks are registered: agents read one file for all projects, so it is the widest that a project, or the
// global setting, asks for. A project that wants fewer events is sent the others all the same. root is a project that counts whether it is
// known or not; it may be "".
func (h Home) HooksTier(root string) string {
	wide := 0
	ask := func(tier string) { wide = max(wide, slices.Index(hooks.Tiers(), tier)) }
	global, err := LoadConfig(h, "")
	if err != nil {
		return hooks.DefaultTier // whoever reads the file with the bad setting will say so
	}
	roots := h.projects()
	if root != "" && !slices.Contains(roots, root) {
		roots = append(roots, root)
	}
	for _, root := range roots {
		c, err := LoadConfig(h, root)
		switch {
		case err != nil:
			ask(hooks.DefaultTier)
		case c.HooksEnabled():
			ask(c.Tier())
		}
	}
	if len(roots) == 0 || global.isSet("tier") {
		ask(global.Tier())
	}
	return hooks.Tiers()[wide]
}

// guardWord is the word of the guard's hook: smart-checkpoint refuses tool calls under it.
const guardWord = "guard"

// HooksGuard tells whether the guard is registered: agents read one file for all projects, so it is when one of them, or the global setting,
// asks for it.
func (h Home) HooksGuard(root string) bool {
	for _, root := range append(h.projects(), root, "") {
		if c, err := LoadConfig(h, root); err == nil && c.Guard() {
			return true
		}
	}
	return false
}

// guarded are the hooks of a tier with the guard's, in front of every tool call.
func (h Home) guarded(agent hooks.Agent, want []hooks.Registration) []hooks.Registration {
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
		Event: event, Matcher: matcher, Timeout: timeout, Command: hooks.HookCommand(h.HookProgram(), guardWord, agent),
	})
}

// isSet reports whether a file says what the setting is.
func (c Config) isSet(key string) bool {
	return slices.ContainsFunc(c.settings, func(s Setting) bool { return s.Key == key && s.From != "default" })
}

// wanted are the hooks of a tier for one agent.
func (h Home) wanted(agent hooks.Agent, tier string) ([]hooks.Registration, error) {
	t, err := hooks.LoadTier(tier)
	if err != nil {
		return nil, err
	}
	var out []hooks.Registration
	for _, k := range t.Hooks[agent] {
		out = append(out, hooks.Registration{Event: k.Event, Matcher: k.Matcher, Timeout: k.Timeout, Command: hooks.HookCommand(h.HookProgram(), k.Command, agent)})
	}
	return out, nil
}

// SetHooks registers the hooks of agents in their own settings, or takes them out. All files of an agent are planned first: one that cannot be
// understood refuses that agent, and its Err names file, line and column. Then file after file is replaced, each durably and as a whole; what goes
// wrong with one agent keeps no other from its hooks.
func (h Home) SetHooks(ctx context.Context, env AgentEnv, o HooksOptions) (*HooksResult, error) {
	if !o.DryRun {
		unlock, err := h.lock(ctx, hooksWait)
		if err != nil {
			return nil, err
		}
		defer unlock()
	}
	r := &HooksResult{Program: h.HookProgram(), Tier: h.HooksTier(o.Root)}
	var edits [][]*settingsEdit // of each of r.Agents
	adds := false
	for _, agent := range Agents() {
		if o.Agents != nil && !slices.Contains(o.Agents, agent) {
			continue
		}
		a, list, err := h.planAgent(ctx, agent, env, r.Tier, o)
		if err != nil {
			a.Err, list = err, nil
		}
		r.Agents, edits = append(r.Agents, a), append(edits, list)
		adds = adds || slices.ContainsFunc(list, func(e *settingsEdit) bool { return len(e.want) > 0 })
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if adds {
		var err error
		if r.Copied, err = h.bringPrograms(ctx, env, o.Refresh, o.DryRun); err != nil {
			if h.checkPrograms() != nil {
				return nil, err
			}
			r.CopyErr = err
		}
	}
	for i, list := range edits {
		a := &r.Agents[i]
		for _, e := range list {
			if !o.DryRun {
				if a.Err = h.write(ctx, e); a.Err != nil {
					break // of an agent's files one may depend on the other
				}
			}
			if e.changes() {
				a.Changes = append(a.Changes, SettingsChange{Path: e.file.path, Before: e.file.data, After: e.after})
			}
		}
	}
	return r, nil
}

// locate finds an agent's settings.
func locate(agent hooks.Agent, env AgentEnv) AgentHooks {
	exists := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil && filepath.IsAbs(path) // a relative one is anybody's
	}
	file, installed := hooks.SettingsFile(agent, env.get, env.Home, exists, os.ReadFile)
	installed = installed || slices.Contains(env.Programs, agent) ||
		agent == hooks.Claude && exists(filepath.Join(env.Home, ".claude.json")) // its installer leaves that before its directory is there
	return AgentHooks{Agent: agent, Installed: installed, File: file, Dir: filepath.Dir(hooks.SettingsFiles(agent, env.get, env.Home)[0])}
}

// planAgent reads the files of one agent and works out what each will be.
func (h Home) planAgent(ctx context.Context, agent hooks.Agent, env AgentEnv, tier string, o HooksOptions) (AgentHooks, []*settingsEdit, error) {
	a := locate(agent, env)
	if !a.Installed {
		return a, nil, nil
	}
	want, err := h.wanted(agent, tier)
	if err != nil {
		return a, nil, err
	}
	if h.HooksGuard(o.Root) {
		want = h.guarded(agent, want)
	}
	if o.Remove {
		want = nil
	}
	var edits []*settingsEdit
	had := 0
	for _, path := range hooks.SettingsFiles(agent, env.get, env.Home) {
		e := &settingsEdit{agent: agent, path: path}
		if path == a.File {
			e.want = want
		}
		if err := h.plan(ctx, e); err != nil {
			return a, nil, err
		}
		had += len(e.ours)
		if e.file.exists() || len(e.want) > 0 {
			edits = append(edits, e)
		}
		if path == a.File {
			a.SwitchedOff, _ = hooks.SwitchedOff(agent, e.file.data)
		}
	}
	if o.Refresh && had == 0 {
		return a, nil, nil
	}
	a.Hooks = len(want)
	return a, edits, nil
}

// settingsEdit turns one settings file into what it should be.
type settingsEdit struct {
	agent hooks.Agent
	path  string
	want  []hooks.Registration // none: ours are taken out
	file  *settingsFile
	ours  []hooks.Registration // that are in file
	after []byte               // nil: the file goes
}

func (e *settingsEdit) changes() bool {
	return e.file.exists() != (e.after != nil) || !bytes.Equal(e.file.data, e.after)
}

// plan reads the file as it is now.
func (h Home) plan(ctx context.Context, e *settingsEdit) (err error) {
	if e.file, err = readSettings(ctx, e.path); err != nil {
		return err
	}
	e.after = nil
	switch {
	case len(e.want) > 0:
		if e.ours, err = hooks.Registered(e.agent, e.file.data); err == nil {
			e.after, err = hooks.Register(e.agent, e.file.data, e.want)
		}
	case e.file.exists():
		if e.ours, err = hooks.Registered(e.agent, e.file.data); err == nil {
			e.after, err = hooks.Unregister(e.agent, e.file.data, h.backup(e))
		}
	}
	if err != nil {
		return e.refuse(err)
	}
	return nil
}

// refuse names the place as editors and terminals understand it.
func (e *settingsEdit) refuse(err error) error {
	var line, column int
	text := strings.TrimPrefix(err.Error(), "hooks: settings: ")
	if n, _ := fmt.Sscanf(text, "line %d, column %d:", &line, &column); n == 2 {
		_, text, _ = strings.Cut(text, ": ")
		return fmt.Errorf("engine: settings of %s: %s:%d:%d: %s; it was left as it is", e.agent, e.path, line, column, text)
	}
	return fmt.Errorf("engine: settings of %s: %s: %w; it was left as it is", e.agent, e.path, err)
}

// settingsTries is how often an edit starts over because the agent wrote the file meanwhile.
const settingsTries = 10

// write replaces the file, and plans anew when it is not what was read any more.
func (h Home) write(ctx context.Context, e *settingsEdit) error {
	for try := 1; ; try++ {
		err := h.replace(e)
		if !errors.Is(err, errChanged) || try == settingsTries {
			return err
		}
		if err := h.plan(ctx, e); err != nil {
			return err
		}
	}
}

func (h Home) replace(e *settingsEdit) error {
	if e.changes() {
		if len(e.want) > 0 && len(e.ours) == 0 {
			if err := h.keepBackup(e); err != nil {
				return err
			}
		}
		if err := e.file.replace(e.after); err != nil {
			return err
		}
	}
	if len(e.want) == 0 {
		return h.dropBackup(e)
	}
	return nil
}
