package history_test

import (
	"context"
	"errors"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/restore"
)

// TestGivenUp: who has given up waiting gets an error, and no part of an answer that looks whole.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	p, first := enginetest.TwoTurns(t)
	at := first.Parent
	first.Take("left", p.Edits("f", "3"))
	first.Parent = at
	first.Take("gone on", p.Edits("f", "4"))
	p.Opened(p.Fork("turn:1", restore.Options{}).Fork).Take("other", p.Edits("f", "5"))
	p.Settle()
	old := p.Talker(7)
	old.Used("long ago")
	old.Say("done")
	_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	p.Must(err)
	h := p.E.History
	res, err := h.Rows(enginetest.Bg, history.RowOptions{})
	p.Must(err)
	ctx, cancel := context.WithCancel(enginetest.Bg)
	cancel()
	for name, ask := range map[string]func(ctx context.Context) error{
		"rows": func(ctx context.Context) error { _, err := h.Rows(ctx, history.RowOptions{}); return err },
		"past": func(ctx context.Context) error {
			_, err := h.Rows(ctx, history.RowOptions{Past: true, Before: 1 << 52})
			return err
		},
		"row":         func(ctx context.Context) error { _, err := h.TurnRow(ctx, "turn:1", ""); return err },
		"graph":       func(ctx context.Context) error { _, err := h.Graph(ctx, res.Rows); return err },
		"tree":        func(ctx context.Context) error { _, err := h.FamilyTree(ctx, "", true, nil); return err },
		"branches":    func(ctx context.Context) error { _, err := h.LocalBranches(ctx); return err },
		"sessions":    func(ctx context.Context) error { _, _, err := h.SessionList(ctx, true, 0); return err },
		"forks":       func(ctx context.Context) error { _, err := h.Forks(ctx, p.Env(), ""); return err },
		"fork points": func(ctx context.Context) error { _, err := h.ForkPoints(ctx); return err },
		"fork ends":   func(ctx context.Context) error { _, err := h.ForkEnds(ctx); return err },
		"density":     func(ctx context.Context) error { _, err := h.Density(ctx, 9); return err },
		"touched":     func(ctx context.Context) error { _, err := h.Touched(ctx, 9, 9); return err },
	} {
		if err := ask(enginetest.Bg); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := ask(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, given up: %v", name, err)
		}
	}
}
