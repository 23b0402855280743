package engine

import (
	"cmp"
	"context"

	"rewind/engine/compare"
	"rewind/internal/textdiff"
)

// Compared is how two branches differ, with the files of both sides as Diff has them.
type Compared struct {
	*compare.Result
	Files      [2][]FileDiff // from the common ancestor to each side
	Divergence float64       // from 0 to 1, see compare.Result.Diverge
}

// Compare compares two branches, of which the second, o.B, may be one of another worktree of the family; nil: it is of
// this one. context is how many unchanged lines a change has around it.
func (e *Engine) Compare(ctx context.Context, with *Engine, o compare.Options, context int) (*Compared, error) {
	with = cmp.Or(with, e)
	o.With = with.Comparer
	res, err := e.Comparer.Compare(ctx, o)
	if err != nil {
		return nil, err
	}
	out := &Compared{Result: res}
	var lines [2]map[string]int
	for i := range res.Sides {
		lines[i] = map[string]int{}
		err := e.DiffChanges(res.Sides[i].Changes, DiffOptions{Context: context, Beside: with}, func(f FileDiff) error {
			out.Files[i] = append(out.Files[i], f)
			added, removed := textdiff.Stat(f.Text.Hunks)
			lines[i][f.Path] += max(added+removed, 1)
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	out.Divergence = res.Diverge(lines)
	return out, nil
}
