package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"rewind/api"
	"rewind/internal/term"
	"rewind/internal/textdiff"
)

// checkoutParts is 'checkout -p': it shows what going to the checkpoint changes, asks piece by piece, and has what was chosen set.
func checkoutParts(ctx context.Context, a *app, req api.CheckoutRequest) error {
	d, err := call(ctx, a, api.Diff, api.DiffRequest{
		Project: req.Project, Walk: req.Walk, From: req.Checkpoint, Paths: req.Paths, Context: 3, Back: true,
	}, "comparing")
	if err != nil {
		return err
	}
	a.Notices(d.Notices)
	if len(d.Files) == 0 {
		a.Say("nothing differs from %s", d.From.Short)
		return nil
	}
	q := newQuestions(ctx, a)
	parts, err := q.files(d.Files)
	if err != nil {
		return err
	}
	if len(parts) == 0 {
		a.Say("nothing was chosen: the files stay as they are")
		return nil
	}
	req.Checkpoint, req.Paths, req.Parts = api.Text(d.From.ID), nil, parts
	return doRestore(ctx, a, api.Checkout, req)
}

// files asks of each file, in turn.
func (q *questions) files(list []api.FileDiff) (parts []api.Part, err error) {
	for i := 0; i < len(list) && !q.done; i++ {
		shown := list[i : i+1]
		if i+1 < len(list) && list[i+1].Path == list[i].Path { // what goes and what comes, of another type
			shown = list[i : i+2]
			i++
		}
		why := notAsked(shown)
		if i+1 < len(list) && shown[0].Status == "added" && strings.HasPrefix(string(list[i+1].Path), string(shown[0].Path)+"/") {
			why = "a directory is there now: without -p all of it is set"
		}
		if why != "" {
			q.a.Say("left out: %s: %s", term.Quote(string(shown[0].Path)), why)
			continue
		}
		part, err := q.file(shown)
		if err != nil {
			return nil, err
		}
		if part != nil {
			part.Path, part.OldMode, part.OldID = shown[0].Path, shown[0].OldMode, shown[0].OldID
			parts = append(parts, *part)
		}
	}
	return parts, nil
}

// notAsked is why nothing of a path can be chosen; "": it can.
func notAsked(list []api.FileDiff) string {
	for _, f := range list {
		switch {
		case f.Note == "secret":
			return "it is on the secret list"
		case f.Gone != "":
			return "its content is " + f.Gone
		case isDirMode(f.OldMode) || isDirMode(f.NewMode):
			return "the permissions of a directory are set without -p"
		}
	}
	return ""
}

func isDirMode(mode string) bool { return strings.HasPrefix(mode, "04") }

// file asks what is to become of a path; nil: it stays. Two differences are those of a change of type.
func (q *questions) file(list []api.FileDiff) (*api.Part, error) {
	f := list[0]
	verb, text := "", f.Status == "modified" && f.Note == "" && isFileMode(f.OldMode)
	switch {
	case len(list) > 1:
		verb = "Replace it"
	case f.Status == "added":
		verb = "Bring this file back"
	case f.Status == "deleted":
		verb = "Remove this file"
	case !text && f.Status != "mode":
		verb = "Set the whole file"
	}
	if verb != "" {
		for _, f := range list {
			if err := q.a.FilePatch(q.a.Out, f); err != nil {
				return nil, err
			}
		}
		pieces, err := q.pieces(verb, []piece{{}})
		if err != nil || !pieces[0].chosen {
			return nil, err
		}
		return &api.Part{Whole: true}, nil
	}
	head := f
	head.Hunks = nil
	if err := q.a.FilePatch(q.a.Out, head); err != nil {
		return nil, err
	}
	var asked []piece
	if f.OldMode != f.NewMode {
		asked = append(asked, piece{mode: true})
	}
	for _, h := range f.Hunks {
		asked = append(asked, piece{hunk: &h})
	}
	pieces, err := q.pieces("", asked)
	if err != nil {
		return nil, err
	}
	return chosenOf(pieces), nil
}

func isFileMode(mode string) bool { return strings.HasPrefix(mode, "10") }

// chosenOf is the part that the chosen pieces of a file are; nil: none was.
func chosenOf(pieces []piece) *api.Part {
	part := api.Part{Whole: true}
	for _, p := range pieces {
		part.Whole = part.Whole && p.chosen && !p.edited
		switch {
		case !p.chosen:
		case p.mode:
			part.Mode = true
		default:
			part.Hunks = append(part.Hunks, *p.hunk)
		}
	}
	switch {
	case part.Whole:
		return &api.Part{Whole: true}
	case !part.Mode && len(part.Hunks) == 0:
		return nil
	}
	return &part
}

// piece is what one question is about: a hunk, the permissions, or with neither the whole file.
type piece struct {
	hunk           *textdiff.Hunk
	mode           bool
	chosen, edited bool
}

// pieces asks of each piece of a file. verb is what is done to a whole one.
func (q *questions) pieces(verb string, list []piece) ([]piece, error) {
	shown := -1 // the piece whose hunk is on the screen
	for i := 0; i < len(list); {
		p := &list[i]
		if p.hunk != nil && shown != i {
			if err := q.a.Hunk(q.a.Out, *p.hunk); err != nil {
				return nil, err
			}
		}
		shown = i
		ask, keys := verb, "ynqad"
		switch {
		case p.mode:
			ask = "Set the permissions"
		case p.hunk != nil:
			ask = "Set this hunk"
			if len(p.hunk.Split()) > 1 {
				keys += "s"
			}
			keys += "e"
		}
		key, err := q.key(fmt.Sprintf("(%d/%d) %s", i+1, len(list), ask), keys)
		if err != nil {
			return nil, err
		}
		switch key {
		case 'y':
			p.chosen = true
			i++
		case 'n':
			i++
		case 'a':
			for ; i < len(list); i++ {
				list[i].chosen = true
			}
		case 'd':
			return list, nil
		case 'q':
			q.done = true
			return list, nil
		case 's':
			var pieces []piece
			for _, h := range p.hunk.Split() {
				pieces = append(pieces, piece{hunk: &h})
			}
			list, shown = slices.Replace(list, i, i+1, pieces...), -1
			q.a.Say("split into %d", len(pieces))
		case 'e':
			if h, ok := q.edit(*p.hunk); ok {
				p.hunk, p.chosen, p.edited = &h, true, true
				i++
			}
		}
	}
	return list, nil
}
