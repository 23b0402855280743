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

	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/tree"
)

// Level says how a check ended.
type Level string

// The levels of checks.
const (
	LevelOK      Level = "ok"
	LevelNote    Level = "note"    // worth knowing, nothing to be done
	LevelFinding Level = "finding" // something does not work as it should
)

// Check is one thing that rewind needs, as it was found.
type Check struct {
	Name   string // what was looked at: an agent, watches, disk, ...
	Level  Level
	Text   string
	Remedy string    // of a finding: a command, or what to do
	Last   time.Time // of an agent: its newest event in this project; zero: none is known
}

// registerRemedy is what puts hooks right.
const registerRemedy = "rewind config --register-hooks"

// CheckAgents looks at the settings of every agent that is installed, and starts one of its hooks unless quick. root is the project, whose
// sessions are given; it may be "".
func (h Home) CheckAgents(ctx context.Context, env AgentEnv, root string, sessions []Session, quick bool) []Check {
	tier, guard := h.HooksTier(root), h.HooksGuard(root)
	var out []Check
	for _, agent := range Agents() {
		a := locate(agent, env)
		if !a.Installed {
			continue
		}
		c := h.checkAgent(ctx, a, env, tier, guard, quick)
		c.Name = string(agent)
		for _, s := range sessions { // newest first
			if s.Agent == agent && s.Event != "" { // rewind's own forks are not heard
				c.Last = s.Last
				break
			}
		}
		if at, why := h.lastFailure(agent); c.Level == LevelOK && at.After(c.Last) {
			c.Text = fmt.Sprintf("%s; an event was lost at %s: %s", c.Text, at.Format(time.RFC3339), why)
			c.Level = LevelNote // a hook was started now, and works
			if quick {
				c.Level, c.Remedy = LevelFinding, "rewind validate"
			}
		}
		out = append(out, c)
	}
	if len(out) > 0 {
		out = append(out, h.CheckPrograms(ctx, env, quick)...)
	}
	return out
}

func (h Home) checkAgent(ctx context.Context, a AgentHooks, env AgentEnv, tier string, guard, quick bool) Check {
	finding := func(remedy, format string, args ...any) Check {
		return Check{Level: LevelFinding, Text: fmt.Sprintf(format, args...), Remedy: remedy}
	}
	want, err := h.wanted(a.Agent, tier)
	if err != nil {
		return finding("", "%v", err)
	}
	if guard {
		want = h.guarded(a.Agent, want)
	}
	e := &settingsEdit{agent: a.Agent, path: a.File, want: want}
	if err := h.plan(ctx, e); err != nil {
		return finding("correct the file, then "+registerRemedy, "%v", err)
	}
	missing := 0
	for _, w := range want {
		if !slices.Contains(e.ours, w) {
			missing++
		}
	}
	off, _ := hooks.SwitchedOff(a.Agent, e.file.data)
	noProgram, install := h.missingProgram(env)
	switch {
	case len(e.ours) == 0:
		return finding(registerRemedy, "no hooks in %s: what this agent does is not captured", a.File)
	case missing > 0:
		return finding(registerRemedy, "%d of %d hooks of tier %s missing in %s", missing, len(want), tier, a.File)
	case !bytes.Equal(e.after, e.file.data):
		return finding(registerRemedy, "hooks in %s that tier %s does not have", a.File, tier)
	case noProgram != "":
		return finding(install, "%s", noProgram)
	case off != "":
		return finding("change "+off+" in "+a.File, "%s in %s switches all hooks off", off, a.File)
	}
	c := Check{Level: LevelOK, Text: fmt.Sprintf("%d hooks in %s", len(e.ours), a.File)}
	if a.Agent == hooks.Codex {
		config, _ := os.ReadFile(filepath.Join(a.Dir, "config.toml"))
		if trusted, known := hooks.CodexTrusted(config, a.File, e.file.data); known && !trusted {
			return finding("start codex and allow the hooks when it asks", "%s, not trusted yet: codex passes over them", c.Text)
		}
	}
	if !quick {
		version, err := h.probe(ctx, want[0].Command, env)
		if err != nil {
			return finding("try it: "+want[0].Command+" </dev/null; "+registerRemedy+" puts the programs in place", "%s, but %v", c.Text, err)
		}
		c.Text += ", which start rewind " + version
	}
	return c
}

// CheckProject looks at what the project itself needs; quick leaves out what reads many objects.
func (e *Engine) CheckProject(quick bool) ([]Check, error) {
	out := []Check{{Name: "project", Level: LevelOK, Text: fmt.Sprintf("%s (%s mode, store %s)", e.project.Root, e.project.Mode, e.project.Store)}}
	if !e.config.HooksEnabled() {
		out = append(out, Check{Name: "hooks", Level: LevelNote, Text: "hooks.enabled is false: events of agents are not taken in here"})
	}
	if d := e.Damage(); errors.Is(d, kv.ErrUnwritable) {
		return append(append(out, Check{Name: "store", Level: LevelNote, Text: d.Error()}), e.CheckDisk()...), nil
	} else if d != nil {
		out = append(out, Check{Name: "store", Level: LevelFinding, Text: fmt.Sprintf("opened only to read: %v", d), Remedy: "rewind verify"})
		return append(out, e.CheckDisk()...), nil
	}
	if w := e.db.Warning(); w != "" {
		out = append(out, Check{Name: "store", Level: LevelFinding, Text: w, Remedy: "have nothing clean up below " + e.project.Store})
	}
	e.mu.Lock()
	j, err := e.readJournal()
	e.mu.Unlock()
	if err != nil {
		return out, err
	}
	if j != nil {
		out = append(out, Check{
			Name: "half done", Level: LevelFinding, Text: fmt.Sprintf("a checkout of %s was cut short", j.Target.Short()),
			Remedy: "rewind checkout --continue, or --abort",
		})
	}
	out = append(out, e.checkGit()...)
	out = append(out, e.CheckDisk()...)
	watches, err := e.CheckWatches(quick)
	if out = append(out, watches...); err != nil {
		return out, err
	}
	talks, err := e.CheckConversations(quick)
	return append(out, talks...), err
}

// lowSpace is the free space in bytes below which a disk is a finding.
const lowSpace = 256 << 20

// CheckDisk looks at the space for the store and in the project.
func (e *Engine) CheckDisk() []Check {
	var out []Check
	for _, d := range []struct{ what, dir string }{{"store", e.project.Store}, {"project", e.project.Root}} {
		free, err := freeBytes(d.dir)
		if err != nil {
			out = append(out, Check{Name: "disk", Level: LevelNote, Text: fmt.Sprintf("the space at the %s is not known: %v", d.what, err)})
			continue
		}
		c := Check{Name: "disk", Level: LevelOK, Text: fmt.Sprintf("%s free at the %s", humanize.IBytes(free), d.what)}
		if free < lowSpace {
			c.Level, c.Remedy = LevelFinding, "free some space: df -h "+d.dir
		}
		out = append(out, c)
	}
	return out
}

// watchLimit is the number of directories that one user can have watched on Linux.
const watchLimit = "/proc/sys/fs/inotify/max_user_watches"

// CheckWatches holds the system's limit against the directories of the newest checkpoint; quick asks only a watcher that runs. Nothing on systems
// without such a limit.
func (e *Engine) CheckWatches(quick bool) ([]Check, error) {
	limit, ok := readNumber(watchLimit)
	if !ok {
		return nil, nil
	}
	dirs := 0
	if w := e.Watching(); w != nil {
		dirs = w.Watches
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
		return []Check{{Name: "watches", Level: LevelOK, Text: fmt.Sprintf("%d directories, the system allows %d", dirs, limit)}}, nil
	}
	return []Check{{
		Name: "watches", Level: LevelFinding,
		Text:   fmt.Sprintf("more directories than the system watches (%d): every checkpoint looks at all files", limit),
		Remedy: fmt.Sprintf("sudo sysctl fs.inotify.max_user_watches=%d", max(2*dirs, 2*limit)),
	}}, nil
}

// directories counts those of the newest state that is known, the root included.
func (e *Engine) directories() (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	was, err := e.head()
	if err != nil {
		return 0, err
	}
	n := 1
	err = tree.Walk(e.objs, was.tree, func(_ string, ent tree.Entry) error {
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
