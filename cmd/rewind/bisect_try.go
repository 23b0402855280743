package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rewind/api"
	"rewind/internal/confine"
	"rewind/internal/relay"
	"rewind/internal/term"
)

// bisectVariable tells a command which checkpoint is tried.
const bisectVariable = "REWIND_BISECT"

// layersName is the directory beside the scratch directory that has the layers of a command's private view.
const layersName = "layers"

// confine finds out how far a command can be kept from the project.
func (t *trial) confine(ctx context.Context) {
	home, err := relay.Home()
	if err != nil || relay.CheckHome(home) != nil {
		return // who is asked for the first state says what is wrong with it
	}
	t.level = confine.Probe(ctx, t.here, filepath.Join(home, "bisect"))
}

// mounts is that for the API.
func (t *trial) mounts() api.BisectMounts {
	return api.BisectMounts{
		Overlay: t.level == confine.Overlay, ReadOnly: t.level != confine.None, Own: t.level.Own(), Group: os.Getegid(),
	}
}

// confineNote says what a command can still do to the project.
func (a *app) confineNote(t *trial) {
	if t.level == confine.None {
		a.Say("note: this system does not let a private view be mounted: a command that names the project by an absolute path " +
			"writes into it")
	}
}

// try runs the command once and says what that means; an error ends the search.
func (a *app) try(ctx context.Context, r api.BisectResponse, t *trial) (as, why string, err error) {
	rel := t.below(string(r.Root))
	out, err := confine.Run(ctx, a.confined(r, t, rel))
	if len(out.Left) > 0 {
		a.Say("note: processes of another user that the command started could not be ended: %s", strings.Trim(fmt.Sprint(out.Left), "[]"))
	}
	var start *confine.StartError
	switch {
	case errors.Is(err, confine.ErrNoDir):
		return "skip", "it has no directory " + term.Quote(filepath.ToSlash(rel)), nil
	case errors.As(err, &start):
		return "", "", usage("%s: %v", term.Quote(t.command[0]), start)
	case err != nil:
		return "", "", err
	case out.Late:
		return "bad", fmt.Sprintf("it did not end in %v", t.timeout), nil
	}
	return judge(out.Code, r.Test.Short)
}

// judge says what an exit code means.
func judge(code int, checkpoint string) (as, why string, err error) {
	switch {
	case code == 0:
		return "good", "it exits with 0", nil
	case code == cannotTell:
		return "skip", "it exits with 125", nil
	case code <= mostBad:
		return "bad", fmt.Sprintf("it exits with %d", code), nil
	}
	return "", "", &api.Error{
		Word: api.WordFailed, Message: fmt.Sprintf("the command exited with %d at %s, which ends the search", code, checkpoint),
		Hint: "0 is for good, 125 for what cannot be told, 1 to 127 for bad; a signal counts as 128 and its number",
	}
}

// confined is the command as it is run below a scratch directory.
func (a *app) confined(r api.BisectResponse, t *trial, rel string) confine.Command {
	tree := string(r.Dir)
	v := &confine.View{Root: string(r.Root), Tree: tree, Layers: filepath.Join(filepath.Dir(tree), layersName)}
	mounted := map[api.Text]bool{}
	for _, path := range r.Mounts {
		mounted[path] = true
	}
	for _, l := range r.Links {
		switch path := string(l.Path); {
		case l.How == "link" && l.Why == "":
			v.Through = append(v.Through, path)
		case mounted[l.Path] && l.How == "overlay":
			v.Overlaid = append(v.Overlaid, path)
		case mounted[l.Path]:
			v.ReadOnly = append(v.ReadOnly, path)
		}
	}
	level := t.level
	if below(tree, v.Root) {
		level = confine.None // mounting over the project would cover it
	}
	dir := filepath.Join(tree, rel)
	return confine.Command{
		Argv: t.command, Dir: dir, Fallback: t.here, Env: environment(dir, r.Test.ID),
		Stdout: a.Err, Stderr: a.Err, Timeout: t.timeout, Level: level, View: v, Started: func(s confine.Started) {
			if s.Fell && !t.told {
				t.told = true
				a.Say("note: where a checkpoint has no %s, that of the project is run", term.Quote(t.command[0]))
			}
		},
	}
}

// environment is a command's: the person's, but for where it runs and what is tried.
func environment(dir, checkpoint string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "PWD=") || strings.HasPrefix(v, bisectVariable+"=")
	})
	return append(env, "PWD="+dir, bisectVariable+"="+checkpoint)
}

// below reports whether a path lies below a directory.
func below(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// below is where the person stands below the project's root; "": in it.
func (t *trial) below(root string) string {
	here, err := filepath.EvalSymlinks(t.here)
	if err != nil {
		return ""
	}
	rel, err := filepath.Rel(root, here)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	return rel
}
