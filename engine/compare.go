package engine

import (
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

// Compare compares two branches; context is how many unchanged lines a change has around it.
func (e *Engine) Compare(ctx context.Context, o compare.Options, context int) (*Compared, error) {
	res, err := e.Comparer.Compare(ctx, o)
	if err != nil {
		return nil, err
	}
	out := &Compared{Result: res}
	var lines [2]map[string]int
	for i := range res.Sides {
		lines[i] = map[string]int{}
		err := e.DiffChanges(res.Sides[i].Changes, DiffOptions{Context: context}, func(f FileDiff) error {
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
