package register

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"rewind/engine/project"
	"rewind/hooks"
	"rewind/internal/programs"
	"rewind/internal/relay"
	"rewind/internal/value"
)

// programDir is where hooks start their programs: the client, which their command lines name, and beside it what that
// starts. All are copies, so that a hook needs nothing but this directory, and its path stays the same when rewind is
// upgraded.
func programDir(h project.Home) string { return filepath.Join(h.Dir, "system") }

// hookProgram is what hooks call.
func hookProgram(h project.Home) string { return programs.Path(programDir(h), programs.Client) }

// checkPrograms says whether hooks have something to start.
func checkPrograms(h project.Home) error {
	name, err := programs.Missing(programDir(h))
	if err != nil {
		return fmt.Errorf("register hooks: %w: %s: %w", ErrNoProgram, programs.Path(programDir(h), name),
			PathCause(err))
	}
	return nil
}

// source is where the programs of the person who asks are.
func source(env value.AgentEnv) (programs.Source, error) {
	self := string(env.Rewind)
	if self == "" {
		var err error
		if self, err = os.Executable(); err != nil {
			return programs.Source{}, err
		}
	}
	return programs.Beside(self)
}

// bringPrograms makes the programs that hooks start those of the person who asks; onlyMissing leaves those alone that
// are there. The caller holds the lock of the home directory.
func bringPrograms(
	ctx context.Context, h project.Home, env value.AgentEnv, onlyMissing, dryRun bool,
) ([]string, error) {
	from, err := source(env)
	if err != nil {
		return nil, fmt.Errorf("install programs: %w", err)
	}
	if from.Lacks(programDir(h)) != "" {
		return nil, checkPrograms(h)
	}
	names, err := from.Wanting(programDir(h), false)
	if err != nil {
		return nil, fmt.Errorf("install programs: %w", err)
	}
	if onlyMissing {
		names = slices.DeleteFunc(names,
			func(name string) bool { return programs.Check(programs.Path(programDir(h), name)) == nil })
	}
	if dryRun || len(names) == 0 {
		return names, nil
	}
	if odd := programs.Odd(ctx, from.Dir, programs.Path(from.Dir, programs.Rewind)); odd != "" {
		return nil, fmt.Errorf("install programs: %s: %s", odd, programs.InstallRemedy)
	}
	if err := from.Install(programDir(h), names); err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	relay.ForgetFailure(h.Dir)
	return names, nil
}

// CheckPrograms tells whether hooks start the rewind of the person who asks: after an upgrade by other means than init
// they start the old one. Nothing where no program is there: that is said of each agent.
func CheckPrograms(ctx context.Context, h project.Home, env value.AgentEnv, quick bool) []value.Check {
	if checkPrograms(h) != nil {
		return nil
	}
	from, err := source(env)
	if err != nil {
		return nil // it was moved while it runs; what hooks start is there
	}
	names, err := from.Wanting(programDir(h), quick)
	if err != nil {
		return []value.Check{{
			Name: "programs", Level: value.LevelNote,
			Text: value.Textf("not compared with what hooks start: %v", err),
		}}
	}
	if len(names) > 0 {
		text := "hooks start another build of %s than this one: %s, not %s"
		return []value.Check{{
			Name: "programs", Level: value.LevelFinding, Remedy: project.RegisterRemedy,
			Text: value.Textf(text, programs.List(names),
				programDir(h), from.Dir),
		}}
	}
	if quick {
		return nil
	}
	if odd := programs.Odd(ctx, programDir(h), programs.Path(from.Dir, programs.Rewind)); odd != "" {
		return []value.Check{{
			Name: "programs", Level: value.LevelFinding, Remedy: programs.InstallRemedy,
			Text: value.Text("hooks start programs of several versions: " + odd),
		}}
	}
	return nil
}

// MissingProgram is the finding that hooks have nothing to start, and what mends it; "" as long as they have.
func MissingProgram(h project.Home, env value.AgentEnv) (text, remedy string) {
	name, missing := programs.Missing(programDir(h))
	if missing == nil {
		return "", ""
	}
	why := "which is missing"
	if !errors.Is(missing, fs.ErrNotExist) {
		why = fmt.Sprintf("which cannot be started: %v", PathCause(missing))
	}
	remedy = project.RegisterRemedy
	if from, err := source(env); err != nil || from.Lacks(programDir(h)) != "" {
		remedy = programs.InstallRemedy
	}
	path := programs.Path(programDir(h), name)
	switch name {
	case programs.Client:
		return fmt.Sprintf("hooks call %s, %s", path, why), remedy
	case programs.Daemon:
		return fmt.Sprintf("hooks start %s, %s: nothing is captured", path, why), remedy
	}
	return fmt.Sprintf("hooks start %s, %s: nothing is captured as soon as no daemon runs", path, why), remedy
}

// failureCounts is for how long a lost event is told: as long as the agent has not been heard of since.
const failureCounts = 7 * 24 * time.Hour

// LastFailure is when a hook of an agent last lost its event, and why; zero: never, or it is long ago.
func LastFailure(h project.Home, agent hooks.Agent) (time.Time, string) {
	at, of, why := relay.LastFailure(h.Dir)
	if age := time.Since(at); of != string(agent) || age < -time.Minute || age > failureCounts {
		return time.Time{}, ""
	}
	return at, why
}

// Unanswered are the hooks of a project to which a daemon that ran gave no answer in time: a check that says so, false
// where there is none. A hook that is not known to be of another project is of this one.
func Unanswered(h project.Home, root string) (value.Check, bool) {
	list, full := relay.ReadUnanswered(h.Dir)
	list = slices.DeleteFunc(list, func(u relay.Unanswered) bool { return !concerns(u, root) })
	if len(list) == 0 {
		return value.Check{}, false
	}
	first, last := list[0], list[len(list)-1]
	who, count := "the daemon", strconv.Itoa(len(list))
	if last.PID > 0 {
		who = "process " + strconv.Itoa(last.PID)
	}
	if full {
		count = "at least " + count
	}
	when := "at " + first.At.Format(time.RFC3339)
	if !first.At.Equal(last.At) {
		when = "between " + first.At.Format(time.RFC3339) + " and " + last.At.Format(time.RFC3339)
	}
	return value.Check{
		Name: "unanswered", Level: value.LevelFinding,
		Remedy: "rewind save, which captures what is there now and ends this finding",
		Text: value.Textf("%s %s got no answer from %s %s (%s): as many states may be missing", count,
			map[bool]string{true: "hook", false: "hooks"}[len(list) == 1], who, when, events(list)),
	}, true
}

// concerns reports whether a hook counts for a project: it was called in it, or nobody knows where, not too long ago.
func concerns(u relay.Unanswered, root string) bool {
	if age := time.Since(u.At); age < -time.Minute || age > failureCounts {
		return false
	}
	any := u.Dir == "" || root == ""
	return any || u.Dir == root || strings.HasPrefix(u.Dir, root+string(filepath.Separator))
}

// maxEvents is how many kinds of events are named.
const maxEvents = 4

// events names what was called, each once.
func events(list []relay.Unanswered) string {
	var out []string
	for _, u := range list {
		name := u.Agent + " " + u.Event
		if slices.Contains(out, name) {
			continue
		}
		if len(out) == maxEvents {
			return strings.Join(append(out, "..."), ", ")
		}
		out = append(out, name)
	}
	return strings.Join(out, ", ")
}

// ForgetUnanswered ends what Unanswered says of a project, and what is too old to be told.
func ForgetUnanswered(h project.Home, root string) {
	relay.ForgetUnanswered(h.Dir,
		func(u relay.Unanswered) bool { return concerns(u, root) || time.Since(u.At) > failureCounts })
}

// Probe starts a hook of an agent as the agent does, but for the daemon, and says what became of it.
func Probe(ctx context.Context, h project.Home, command string, env value.AgentEnv) (version string, err error) {
	vars := []string{"HOME=" + string(env.Home), "PATH=" + string(env.Path)}
	for _, kv := range os.Environ() {
		if strings.HasPrefix(kv, "REWIND_") {
			vars = append(vars, kv)
		}
	}
	if version, err = programs.Probe(ctx, command, vars); err != nil {
		return "", fmt.Errorf("started as a hook: %w", err)
	}
	return version, nil
}

// PathCause leaves the path out of an error that names it already.
func PathCause(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
