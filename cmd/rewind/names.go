package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/naming"
	"rewind/internal/render"
	"rewind/internal/term"
)

// checkpointName is a checkpoint as a command sends it: a time is settled here, by this clock and in this zone, for a
// daemon may have been started in another.
func (a *app) checkpointName(name string) (api.Text, error) {
	if dir, rest, ok := a.splitPlace(name); ok {
		if rest == "" {
			return api.Text(dir), nil
		}
		sent, err := a.checkpointName(rest)
		return api.Text(dir+":") + sent, err
	}
	sent, err := naming.Absolute(name, a.Now().Local())
	if err != nil {
		return "", usage("checkpoint %q: %v", name, err)
	}
	return api.Text(sent), nil
}

// splitPlace divides a name that begins with the directory of a worktree, and gives that as an absolute path: at the
// longest directory that is there, for one may have colons in its name, or else at the first colon.
func (a *app) splitPlace(name string) (dir, rest string, ok bool) {
	if !naming.BeginsWithDir(name) {
		return "", name, false
	}
	dir, rest, _ = strings.Cut(name, ":")
	for long := name; len(long) > len(dir); long = long[:strings.LastIndexByte(long, ':')] {
		if fi, err := os.Stat(a.absolute(long)); err == nil && fi.IsDir() {
			dir, rest = long, strings.TrimPrefix(name[len(long):], ":")
			break
		}
	}
	return a.absolute(dir), rest, true
}

// meantPath gives an error about a name that is none, but is a path that exists, a hint with the command line that was
// probably meant. as is that command, with %s for the path. Of a path that is there no more the hint says where it was.
func (a *app) meantPath(ctx context.Context, err error, name, as string) error {
	var told *api.Error
	if !errors.As(err, &told) || name == "" {
		return err
	}
	if told.Word != api.WordNotFound && told.Word != api.WordUsage {
		return err
	}
	n, bad := naming.Parse(name)
	if from, to, ok := strings.Cut(name, ".."); ok {
		_, one := naming.Parse(from)
		_, other := naming.Parse(to)
		if one == nil && other == nil {
			told.Hint = fmt.Sprintf("two checkpoints are named one after the other: rewind diff %s",
				render.ShellLine([]string{from, to}))
			return err
		}
	}
	if bad == nil && n.Kind != naming.Word {
		return err
	}
	if told.Op == "worktree" && !strings.HasPrefix(name, "./") {
		return err
	}
	if _, none := os.Lstat(a.absolute(name)); none == nil {
		told.Hint = fmt.Sprintf("%s is a path here: %s", term.Quote(name),
			fmt.Sprintf(as, render.ShellLine([]string{name})))
		return err
	}
	return a.wasLast(ctx, err, []api.Text{api.Text(name)})
}

// shortly is how long is looked for a remedy.
const shortly = 2 * time.Second

// lookedAt is how many of the steps that changed a path are looked at for one that has it.
const lookedAt = 50

// wasLast gives an error about what is not found a hint with the newest checkpoint that changed a file of such a path,
// and left one there: the first of the paths that are not here any more, and were.
func (a *app) wasLast(ctx context.Context, err error, paths []api.Text) error {
	var told *api.Error
	if !errors.As(err, &told) || told.Word != api.WordNotFound {
		return err
	}
	ctx, end := context.WithTimeout(ctx, shortly)
	defer end()
	for _, path := range paths {
		if _, none := os.Lstat(a.absolute(string(path))); none == nil {
			continue
		}
		r, failed := api.Call(ctx, a.client, api.Paths, api.PathsRequest{
			Project: a.project(), Paths: []api.Text{path}, NoFollow: true, All: true, Limit: lookedAt,
		}, nil)
		if failed != nil {
			continue
		}
		for _, s := range r.Checkpoints {
			has := func(c api.Change) bool { return c.Status != "deleted" }
			if !slices.ContainsFunc(s.Changes, has) {
				continue
			}
			in := render.Cause(s.Checkpoint)
			if s.Checkpoint.Turn > 0 {
				in = naming.TurnWords(s.Checkpoint.Turn, s.Checkpoint.Whose)
			}
			told.Hint = fmt.Sprintf("%s was last in %s: rewind checkout %s", term.Quote(string(path)),
				term.Sanitize(in), render.ShellLine([]string{s.Checkpoint.Short, "--", string(path)}))
			return err
		}
	}
	return err
}

// oneName takes a command's only checkpoint off its arguments; what stands behind it without "--" was meant for a path.
func oneName(cmd *cobra.Command, names []string) error {
	if len(names) < 2 {
		return nil
	}
	err := usage("%s takes one checkpoint; put paths after '--'", cmd.Name())
	var told *api.Error
	if errors.As(err, &told) {
		told.Hint = fmt.Sprintf("rewind %s %s -- %s", cmd.Name(), render.ShellLine(names[:1]),
			render.ShellLine(names[1:]))
	}
	return err
}

// sessionArgument settles a session that can be given as an argument, or with --session as everywhere else.
func sessionArgument(cmd *cobra.Command, args []string, session *string) error {
	switch {
	case len(args) == 0:
	case *session != "" && *session != args[0]:
		return usage("%s: give the session once", cmd.Name())
	default:
		*session = args[0]
	}
	return nil
}

// shownTitle is how much of a title keeps the line of a candidate within 80 columns.
const shownTitle = 24

// candidates names what an error says could be meant, one a line.
func (a *app) candidates(told *api.Error) {
	if len(told.Sessions) == 0 {
		for _, c := range told.Candidates {
			fmt.Fprintf(a.Err, "  %s\n", term.Sanitize(c))
		}
		return
	}
	t := a.Table(term.Column{}, term.Column{}, term.Column{Right: true}, term.Column{}, term.Column{Flex: true})
	for _, s := range told.Sessions {
		t.Row(term.Cell{Text: "  " + string(s.Agent)}, term.Cell{Text: s.Short},
			term.Cell{Text: render.Count(s.Turns, "turn")}, term.Cell{Text: a.Time(s.Last)},
			term.Cell{Text: term.Truncate(term.Sanitize(string(s.Title)), shownTitle)})
	}
	_ = t.Flush(a.Err)
}
