package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/register"
	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/tree"
)

// CheckAgents looks at the settings of every agent that is installed, and starts one of its hooks unless quick. root is
// the project, made at began, whose sessions are given, newest first; it may be "".
func CheckAgents(ctx context.Context, h project.Home, env value.AgentEnv, root string, began time.Time, sessions []model.Session,
	quick bool,
) []value.Check {
	tier, guard := register.HooksTier(h, root), register.HooksGuard(h, root)
	var out []value.Check
	for _, agent := range value.Agents() {
		a := register.Locate(agent, env)
		if !a.Installed {
			continue
		}
		c := checkAgent(ctx, h, a, env, root, tier, guard, quick)
		c.Name = string(agent)
		checkHeard(&c, h, agent, env, audience{root, began, sessions}, quick)
		out = append(out, c)
	}
	if len(out) > 0 {
		out = append(out, register.CheckPrograms(ctx, h, env, quick)...)
	}
	return out
}

// checkHeard adds when an agent was heard of last, and where its settings are as they should be, what shows that it is
// not heard.
func checkHeard(c *value.Check, h project.Home, agent hooks.Agent, env value.AgentEnv, a audience, quick bool) {
	var last time.Time
	for _, s := range a.sessions {
		if s.Agent == agent && s.Event != "" { // rewind's own forks are not heard
			last = s.Last.UTC()
			c.Last = &last
			break
		}
	}
	if c.Level == value.LevelFinding {
		return
	}
	if file, at, ok := a.silent(agent, env); !ok {
		c.Level, c.Remedy = value.LevelFinding, value.Textf("start %s anew; 'rewind save' captures what it did", agent)
		c.Text = value.Textf("%s works here, and no hook is called: it wrote %s at %s (%s)", agent, file,
			at.UTC().Format(time.RFC3339), c.Text)
		return
	}
	if at, why := register.LastFailure(h, agent); c.Level == value.LevelOK && at.After(last) {
		c.Text = value.Textf("%s; an event was lost at %s: %s", c.Text, at.Format(time.RFC3339), why)
		c.Level = value.LevelNote // a hook was started now, and works
		if quick {
			c.Level, c.Remedy = value.LevelFinding, "rewind validate"
		}
	}
}

// lacking counts the hooks that are wanted and not there.
func lacking(want, there []hooks.Registration) (n int) {
	for _, w := range want {
		if !slices.Contains(there, w) {
			n++
		}
	}
	return n
}

// distrusted reports whether Codex is known to pass over hooks that nobody has allowed.
func distrusted(a register.AgentHooks, e *register.SettingsEdit) bool {
	config, _ := os.ReadFile(filepath.Join(a.Dir, "config.toml"))
	trusted, known := hooks.CodexTrusted(config, a.File, e.File.Data)
	return known && !trusted
}

func checkAgent(ctx context.Context, h project.Home, a register.AgentHooks, env value.AgentEnv, root, tier string,
	guard, quick bool,
) value.Check {
	finding := func(remedy, format string, args ...any) value.Check {
		return value.Check{Level: value.LevelFinding, Text: value.Textf(format, args...), Remedy: value.Text(remedy)}
	}
	want, err := register.Wanted(h, a.Agent, tier)
	if err != nil {
		return finding("", "%v", err)
	}
	if guard {
		want = register.Guarded(h, a.Agent, want)
	}
	e := &register.SettingsEdit{Agent: a.Agent, Path: a.File, Want: want}
	if err := register.Plan(ctx, h, e); err != nil {
		return finding("correct the file, then "+project.RegisterRemedy, "%v", err)
	}
	missing := lacking(want, e.Ours)
	switched := register.Switched(a.Agent, env, root, want)
	noProgram, install := register.MissingProgram(h, env)
	switch {
	case len(e.Ours) == 0:
		return finding(project.RegisterRemedy, "no hooks in %s: what this agent does is not captured", a.File)
	case missing > 0:
		return finding(project.RegisterRemedy, "%d of %d hooks of tier %s missing in %s", missing, len(want),
			tier, a.File)
	case !bytes.Equal(e.After, e.File.Data):
		return finding(project.RegisterRemedy, "hooks in %s that tier %s does not have", a.File, tier)
	case noProgram != "":
		return finding(install, "%s", noProgram)
	case switched.Off != nil:
		text, remedy := register.SwitchedText(switched.Off)
		return finding(remedy, "%s", text)
	case switched.Some != nil:
		s := switched.Some
		return finding(fmt.Sprintf("take it out of %s:%d", s.File, s.Line),
			"%s in %s:%d has %s, a hook of rewind's: it is not called", s.Setting, s.File, s.Line, s.Value)
	}
	has, wrong := register.CheckWithin(ctx, h, a.Agent, env, root)
	if wrong != "" {
		return finding(project.RegisterRemedy, "%s", wrong)
	}
	c := value.Check{Level: value.LevelOK, Text: value.Textf("%d hooks in %s", len(e.Ours), a.File)}
	if a.Agent == hooks.Codex && distrusted(a, e) {
		return finding("start codex and allow the hooks when it asks",
			"%s, not trusted yet: codex passes over them", c.Text)
	}
	if !quick {
		version, err := register.Probe(ctx, h, want[0].Command, env)
		if err != nil {
			return finding("try it: "+want[0].Command+" </dev/null; "+project.RegisterRemedy+
				" puts the programs in place", "%s, but %v", c.Text, err)
		}
		c.Text += ", which start rewind " + value.Text(version)
	}
	c.Text += value.Text(has)
	for _, u := range switched.Unread {
		c.Level = value.LevelNote
		c.Text += value.Textf("; %s may switch hooks off, and was not read: %v", u.File, u.Err)
	}
	return c
}

// CheckProject looks at what the project itself needs; quick leaves out what reads many objects.
func (e *Engine) CheckProject(quick bool) ([]value.Check, error) {
	out := []value.Check{{
		Name: "project", Level: value.LevelOK,
		Text: value.Textf("%s (%s mode, store %s)", e.Log.Project.Root, e.Log.Project.Mode, e.Log.Project.Store),
	}}
	if !e.Log.Config.HooksEnabled() {
		out = append(out, value.Check{
			Name: "hooks", Level: value.LevelNote,
			Text: "hooks.enabled is false: events of agents are not taken in here",
		})
	}
	if d := e.Log.Damage(); errors.Is(d, kv.ErrUnwritable) {
		return append(append(out, value.Check{Name: "store", Level: value.LevelNote, Text: value.Text(d.Error())}),
			e.checkDisk()...), nil
	} else if d != nil {
		out = append(out, value.Check{
			Name: "store", Level: value.LevelFinding, Text: value.Textf("opened only to read: %v", d),
			Remedy: "rewind verify",
		})
		return append(out, e.checkDisk()...), nil
	}
	if w := e.Log.DB.Warning(); w != "" {
		out = append(out, value.Check{
			Name: "store", Level: value.LevelFinding, Text: value.Text(w),
			Remedy: value.Text("have nothing clean up below " + e.Log.Project.Store),
		})
	}
	e.Log.Lock()
	j, err := e.Log.ReadJournal()
	e.Log.Unlock()
	if err != nil {
		return out, err
	}
	if j != nil {
		out = append(out, value.Check{
			Name: "half done", Level: value.LevelFinding,
			Text:   value.Textf("a checkout of %s was cut short", j.Target.Short()),
			Remedy: "rewind checkout --continue, or --abort",
		})
	}
	if w := e.Restorer.Weaker(); w != "" {
		out = append(out, value.Check{Name: "restores", Level: value.LevelNote, Text: value.Text(w)})
	}
	out = append(out, e.Worktree.CheckGit()...)
	out = append(out, e.checkDisk()...)
	watches, err := e.checkWatches(quick)
	if out = append(out, watches...); err != nil {
		return out, err
	}
	talks, err := e.checkConversations(quick)
	return append(out, talks...), err
}

// lowSpace is the free space in bytes below which a disk is a finding.
const lowSpace = 256 << 20

// checkDisk looks at the space for the store and in the project.
func (e *Engine) checkDisk() []value.Check {
	var out []value.Check
	for _, d := range []struct{ what, dir string }{{"store", e.Log.Project.Store}, {"project", e.Log.Project.Root}} {
		free, err := register.FreeBytes(d.dir)
		if err != nil {
			out = append(out, value.Check{
				Name: "disk", Level: value.LevelNote,
				Text: value.Textf("the space at the %s is not known: %v", d.what, err),
			})
			continue
		}
		c := value.Check{
			Name: "disk", Level: value.LevelOK,
			Text: value.Textf("%s free at the %s", humanize.IBytes(free), d.what),
		}
		if free < lowSpace {
			c.Level, c.Remedy = value.LevelFinding, value.Text("free some space: df -h "+d.dir)
		}
		out = append(out, c)
	}
	return out
}

// watchLimit is the number of directories that one user can have watched on Linux.
const watchLimit = "/proc/sys/fs/inotify/max_user_watches"

// checkWatches holds the system's limit against the directories of the newest checkpoint; quick asks only a watcher
// that runs. Nothing on systems without such a limit.
func (e *Engine) checkWatches(quick bool) ([]value.Check, error) {
	limit, ok := readNumber(watchLimit)
	if !ok {
		return nil, nil
	}
	dirs := 0
	if w := e.Worktree.Watching(); w != nil {
		dirs = w.Directories
		if !w.Healthy && strings.Contains(w.Reason, filepath.Base(watchLimit)) {
			dirs = max(dirs, limit+1)
		}
	}
	if !quick {
		n, err := e.directories()
		if err != nil {
			return nil, err
		}
		dirs = max(dirs, n)
	}
	if quick && dirs == 0 {
		return nil, nil
	}
	if dirs <= limit {
		return []value.Check{{
			Name: "watches", Level: value.LevelOK,
			Text: value.Textf("%d directories, the system allows %d", dirs, limit),
		}}, nil
	}
	return []value.Check{{
		Name: "watches", Level: value.LevelFinding,
		Text: value.Textf("more directories than the system watches (%d): every checkpoint looks at all files",
			limit),
		Remedy: value.Textf("sudo sysctl fs.inotify.max_user_watches=%d", max(2*dirs, 2*limit)),
	}}, nil
}

// directories counts those of the newest state that is known, the root included.
func (e *Engine) directories() (int, error) {
	e.Log.Lock()
	defer e.Log.Unlock()
	was, err := e.Log.Head()
	if err != nil {
		return 0, err
	}
	n := 1
	err = tree.Walk(e.Log.Objs, was.Tree, func(_ string, ent tree.Entry) error {
		if ent.Type == tree.TypeDir {
			n++
		}
		return nil
	})
	return n, err
}

func readNumber(path string) (int, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	return n, err == nil
}
