package main

import (
	"context"
	"fmt"
	"slices"

	"rewind/api"
	"rewind/internal/term"
)

// checkoutParts is 'checkout -p': it shows what going to the checkpoint changes, asks piece by piece, and has what was
// chosen set.
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
	return doRestore(ctx, a, api.Checkout, req, again{})
}

// files asks of each path, in turn.
func (q *questions) files(list []api.FileDiff) (parts []api.Part, err error) {
	for _, c := range api.Choices(list) {
		if q.done {
			break
		}
		if c.Why != "" {
			q.a.Say("left out: %s: %s", term.Quote(string(c.Files[0].Path)), c.Why)
			continue
		}
		if err := q.path(&c); err != nil {
			return nil, err
		}
		if part := c.Part(); part != nil {
			parts = append(parts, *part)
		}
	}
	return parts, nil
}

// path asks what is to become of a path.
func (q *questions) path(c *api.Choice) (err error) {
	verb := "Set the whole file"
	switch f := c.Files[0]; {
	case len(c.Files) > 1:
		verb = "Replace it"
	case f.Status == "added":
		verb = "Bring this file back"
	case f.Status == "deleted":
		verb = "Remove this file"
	}
	shown := c.Files
	if !c.Whole() {
		head := c.Files[0]
		head.Hunks = nil
		shown, verb = []api.FileDiff{head}, ""
	}
	for _, f := range shown {
		if err := q.a.FilePatch(q.a.Out, f); err != nil {
			return err
		}
	}
	c.Pieces, err = q.pieces(verb, c.Pieces)
	return err
}

// wording is what is asked of a piece, and the keys that answer; verb is what is done to a whole file.
func wording(p *api.Piece, verb string) (ask, keys string) {
	ask, keys = verb, "ynqad"
	switch {
	case p.Mode:
		ask = "Set the permissions"
	case p.Hunk != nil:
		ask = "Set this hunk"
		if len(p.Hunk.Split()) > 1 {
			keys += "s"
		}
		keys += "e"
	}
	return ask, keys
}

// piecesOf are the parts of a hunk, each a piece of its own.
func piecesOf(h *api.Hunk) (pieces []api.Piece) {
	for _, part := range h.Split() {
		pieces = append(pieces, api.Piece{Hunk: &part})
	}
	return pieces
}

// pieces asks of each piece of a file. verb is what is done to a whole one.
func (q *questions) pieces(verb string, list []api.Piece) ([]api.Piece, error) {
	shown := -1 // the piece whose hunk is on the screen
	for i := 0; i < len(list); {
		p := &list[i]
		if p.Hunk != nil && shown != i {
			if err := q.a.Hunk(q.a.Out, *p.Hunk); err != nil {
				return nil, err
			}
		}
		shown = i
		ask, keys := wording(p, verb)
		key, err := q.key(fmt.Sprintf("(%d/%d) %s", i+1, len(list), ask), keys)
		if err != nil {
			return nil, err
		}
		switch key {
		case 'y':
			p.Chosen = true
			i++
		case 'n':
			i++
		case 'a':
			for ; i < len(list); i++ {
				list[i].Chosen = true
			}
		case 'd':
			return list, nil
		case 'q':
			q.done = true
			return list, nil
		case 's':
			pieces := piecesOf(p.Hunk)
			list, shown = slices.Replace(list, i, i+1, pieces...), -1
			q.a.Say("split into %d", len(pieces))
		case 'e':
			if h, ok := q.edit(*p.Hunk); ok {
				p.Hunk, p.Chosen, p.Edited = &h, true, true
				i++
			}
		}
	}
	return list, nil
}
