package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

// bisectJSON is an answer with what it changed.
type bisectJSON struct {
	api.BisectResponse
	Show *api.ShowResponse `json:"show,omitempty"`
}

// tellFound prints an answer, or returns the error that it is. newest: the last that passes was looked for, not the
// first that fails.
func (a *app) tellFound(ctx context.Context, r api.BisectResponse, newest bool) error {
	answer := r.Answer
	var bad *api.ShowResponse
	if answer.Bad != nil && answer.Good != nil && len(answer.Suspects) == 0 {
		req := api.ShowRequest{Project: a.project(), Checkpoint: api.Text(answer.Bad.ID)}
		req.Patch, req.Context, req.Lines = true, patchContext, true
		show, err := api.Call(ctx, a.client, api.Show, req, nil)
		if err != nil {
			return err
		}
		bad = &show
	}
	verdict := bisectError(answer, newest)
	if a.json {
		return errors.Join(a.printJSON(bisectJSON{r, bad}), verdict)
	}
	if verdict != nil && len(answer.Suspects) == 0 {
		return verdict
	}
	err := a.paged(func(w io.Writer) error {
		a.foundWords(w, answer, bad, newest)
		if bad == nil {
			return nil
		}
		return a.ShowFiles(w, *bad, true, false)
	})
	if answer.Good != nil && bad != nil {
		a.Say("%s", a.mendedBy(r, bad))
	}
	return errors.Join(err, verdict)
}

// mendedPaths is how many paths a command that mends them names.
const mendedPaths = 5

// mendedBy is how what was found is mended. A checkout of the last that passes keeps what other sessions changed since:
// what one of them broke has to be taken with --exact.
func (a *app) mendedBy(r api.BisectResponse, bad *api.ShowResponse) string {
	good := r.Answer.Good
	if bad.Checkpoint.Session == good.Session {
		return "back to before it: rewind checkout " + good.Short
	}
	var paths []string
	here, err := filepath.EvalSymlinks(a.dir)
	for _, c := range bad.Changes {
		rel, bad := filepath.Rel(here, filepath.Join(string(r.Root), string(c.Path)))
		err = cmp.Or(err, bad)
		paths = append(paths, term.Sanitize(rel))
	}
	// the last that passes has it not
	isNew := func(c api.Change) bool { return c.Status == "added" || c.Status == "renamed" }
	if err != nil || len(paths) > mendedPaths || slices.ContainsFunc(bad.Changes, isNew) {
		return fmt.Sprintf("back to before it: rewind checkout %s --exact; without --exact what others changed since stays", good.Short)
	}
	return fmt.Sprintf("its files as before it: rewind checkout %s --exact -- %s", good.Short, render.ShellLine(paths))
}

// foundWords say in a sentence each which checkpoint is the first that fails and which the last that passes, and what
// that rests on.
func (a *app) foundWords(w io.Writer, answer *api.BisectAnswer, bad *api.ShowResponse, newest bool) {
	fails, passes := "the first that fails", "the last that passes"
	if newest {
		fails, passes = "the next one fails", "the newest that passes"
	}
	var lines []string
	if good := answer.Good; good != nil {
		lines = append(lines, fmt.Sprintf("%s: %s, %s, %s", passes, a.Styled(term.ID, good.Short), a.Clock(good.Time),
			term.Sanitize(render.Words(render.What(*good)))))
	}
	if bad != nil {
		c := bad.Checkpoint
		line := fmt.Sprintf("%s: %s, %s, %s", fails, a.Styled(term.ID, c.Short), a.Clock(c.Time),
			render.ShownWords(*bad))
		if c.Event == "save" && c.Message != "" {
			line += ": " + term.Sanitize(render.Words(string(c.Message)))
		}
		if c.Prompt != "" {
			line += "\n  for the prompt: " + term.Sanitize(render.Words(string(c.Prompt)))
		}
		lines = append([]string{line}, lines...)
		if newest {
			lines[0], lines[1] = lines[1], lines[0]
		}
	}
	for _, l := range lines {
		fmt.Fprintln(w, l)
	}
	if len(answer.Suspects) > 0 {
		list := answer.Suspects
		if answer.Bad != nil {
			list = append([]api.Checkpoint{*answer.Bad}, list...)
		}
		fmt.Fprintf(w, "%s is one of these, most of which could not be told:\n", fails)
		for _, c := range list {
			fmt.Fprintf(w, "  %s  %s  %s\n", a.Styled(term.ID, c.Short), a.Clock(c.Time),
				term.Sanitize(render.Words(render.What(c))))
		}
	}
	for _, text := range answer.Assumed {
		fmt.Fprintf(w, "%s %s\n", a.Styled(term.Warn, "assumed:"), term.Sanitize(text))
	}
}

// triedWords name the checkpoints at which it fails, between the newest and the oldest that were tried.
func triedWords(list []api.Checkpoint) string {
	const most = 10
	var names []string
	for i := 1; i < len(list)-1; i++ {
		if len(names) == most {
			names = append(names, fmt.Sprintf("and %d more", len(list)-1-i))
			break
		}
		names = append(names, list[i].Short)
	}
	if names == nil {
		return ""
	}
	return ", and at every other one that was tried: " + strings.Join(names, ", ")
}

// noneGood is what to do where it passes at none.
const noneGood = "what broke it is older than rewind's memory, or is not in the project's files; where you know one at " +
	"which it passes: 'rewind bisect run --good <checkpoint>'"

// bisectError is the error of an answer that is none.
func bisectError(answer *api.BisectAnswer, newest bool) error {
	failed := func(hint, format string, args ...any) error {
		return &api.Error{Word: api.WordFailed, Message: fmt.Sprintf(format, args...), Hint: hint}
	}
	name := func(c *api.Checkpoint) string { return fmt.Sprintf("%s (%s)", c.Short, render.What(*c)) }
	switch {
	case len(answer.Suspects) > 0:
		return &api.Error{
			Word: api.WordPartial,
			Message: "it could not be told where it begins: " + render.Count(len(answer.Suspects), "checkpoint") +
				" could not be tried",
			Hint: "the list above has them; 'rewind show <checkpoint> -p' shows what one of them changed",
		}
	case answer.Bad == nil && answer.Good == nil:
		return failed("", "it could be told of no checkpoint")
	case answer.Bad == nil && newest:
		return nil
	case answer.Bad == nil:
		return failed("--bad names a checkpoint at which it fails", "it passes at %s, so there is nothing to find",
			name(answer.Good))
	case answer.Good == nil && newest:
		return failed("it may pass between those that were tried: 'rewind bisect start' goes by what you say",
			"it passes at none that was tried, up to %s", name(answer.Bad))
	case answer.Good == nil:
		return failed(noneGood, "it fails at %s already, the oldest one that was looked at%s",
			name(answer.Bad), triedWords(answer.Tried))
	}
	return nil
}
