package compare

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// Turn is a turn that a side took since the ancestor.
type Turn struct {
	Session string
	Turn    uint64
	Prompt  string    // how it begins
	Time    time.Time // of the first that is known of it since then
	Steps   int       // checkpoints of it since then; 0: it changed nothing
	seq     uint64
}

// Wrote are paths that somebody else than the side's session changed, alone or too.
type Wrote struct {
	By    string // a session; "": nobody's call, it came from outside
	Paths []string
}

// since fills in what a side did since the ancestor.
func (res *Result) since(ctx context.Context, s *Side, only refs.PathSet) error {
	from, read := res.Ancestor.Checkpoint, s.in.log.Checkpoints()
	for cp := s.Tip.Checkpoint; cp.ID != from.ID && cp.Seq > from.Seq; {
		s.Steps = append(s.Steps, cp)
		if len(cp.Parents) == 0 {
			break
		}
		var err error
		if cp, err = read(cp.Parents[0]); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	slices.Reverse(s.Steps)
	err := tree.Diff(res.get, from.Tree, s.Tip.Tree, func(ch tree.Change) error {
		if only.Has(ch.Path) {
			s.Changes = append(s.Changes, ch)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.in.turns(from, s); err != nil {
		return err
	}
	return s.in.others(ctx, read, from, s, res.get)
}

// turns fills in the turns of the steps, and those of the side's session that changed nothing: their prompts are in the
// log. A turn whose number came again later was taken back, and is none.
func (c *Comparer) turns(from *model.Checkpoint, s *Side) error {
	known, err := c.turnsOfSteps(s.Steps)
	if err != nil {
		return err
	}
	upTo := s.Tip.Seq
	if s.Whole {
		upTo = math.MaxUint64
	}
	prompts, err := c.history.Prompts(s.Session, from.Seq, upTo)
	if err != nil {
		return err
	}
	for _, op := range prompts {
		k := turnKey{op.Session, op.Turn}
		t := known[k]
		if t == nil {
			t = &Turn{Session: k.session, Turn: k.turn}
			known[k] = t
		}
		t.Prompt, t.Time, t.seq = cmp.Or(t.Prompt, op.Message), time.UnixMilli(op.Time), op.Seq
	}
	for _, t := range known {
		s.Turns = append(s.Turns, *t)
	}
	slices.SortFunc(s.Turns, func(a, b Turn) int { return cmp.Compare(a.seq, b.seq) })
	return nil
}

type turnKey struct {
	session string
	turn    uint64
}

// turnsOfSteps are the turns in which steps were taken.
func (c *Comparer) turnsOfSteps(steps []*model.Checkpoint) (map[turnKey]*Turn, error) {
	known, told := map[turnKey]*Turn{}, c.history.Told()
	for _, cp := range steps {
		if cp.Cause.Turn == 0 {
			continue
		}
		cp, err := told(cp)
		if err != nil {
			return nil, err
		}
		k := turnKey{cp.Session, cp.Cause.Turn}
		if known[k] == nil {
			known[k] = &Turn{Session: k.session, Turn: k.turn, Prompt: cp.Cause.Prompt, Time: cp.Time, seq: cp.Seq}
		}
		known[k].Steps++
	}
	return known, nil
}

// others fills in which of the side's changes others made. In a step these are the authors of a path. Between two
// steps, if the worktree did not stay as the first had left it, these are the authors of the steps on other lines. What
// a restore set in between is told as from outside.
func (c *Comparer) others(
	ctx context.Context, read reader, from *model.Checkpoint, s *Side, get objstore.Getter,
) error {
	changed := map[string]bool{}
	for _, ch := range s.Changes {
		if model.IsFile(ch.Old) || model.IsFile(ch.New) {
			changed[ch.Path] = true
		}
	}
	w := wrote{of: s, changed: changed, by: map[string]map[string]bool{}, get: tree.NewMemo(get)}
	at, between := from.Tree, map[string]bool{}
	for _, cp := range s.Steps {
		before, err := oplog.Before(cp, read)
		if err != nil {
			return err
		}
		if before != at {
			if err := w.eachFile(at, before, func(path string) { between[path] = true }); err != nil {
				return err
			}
		}
		if err := w.step(cp, before); err != nil {
			return err
		}
		if at = cp.Tree; ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if len(between) > 0 {
		if err := c.beside(ctx, read, from, &w, between); err != nil {
			return err
		}
	}
	for _, by := range slices.Sorted(maps.Keys(w.by)) {
		s.Others = append(s.Others, Wrote{by, slices.SortedFunc(maps.Keys(w.by[by]), tree.ComparePaths)})
	}
	return nil
}

// beside looks for who wrote the paths that changed between the steps of a side.
func (c *Comparer) beside(
	ctx context.Context, read reader, from *model.Checkpoint, w *wrote, between map[string]bool,
) error {
	on, told := map[objstore.ID]bool{}, map[string]bool{}
	for _, cp := range w.of.Steps {
		on[cp.ID] = true
	}
	err := c.log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Seq <= from.Seq || ctx.Err() != nil {
			return kv.ErrStop
		}
		if op.Kind != refs.KindCheckpoint || op.Seq > w.of.Tip.Seq || on[op.Checkpoint] {
			return nil
		}
		cp, err := read(op.Checkpoint)
		if err != nil {
			return err
		}
		before, err := oplog.Before(cp, read)
		if err != nil {
			return err
		}
		authors := cp.AuthorsOf()
		return w.eachFile(before, cp.Tree, func(path string) {
			if between[path] {
				told[path] = true
				w.add(path, authors(path))
			}
		})
	})
	if err != nil {
		return err
	}
	for path := range between {
		if !told[path] {
			w.add(path, nil)
		}
	}
	return ctx.Err()
}

// wrote collects who wrote what of a side's changes.
type wrote struct {
	of      *Side
	changed map[string]bool
	by      map[string]map[string]bool
	get     objstore.Getter
}

func (w *wrote) add(path string, authors []string) {
	if !w.changed[path] {
		return
	}
	if len(authors) == 0 {
		authors = []string{""}
	}
	for _, by := range authors {
		if by == w.of.Session || by == "" && w.of.Session == model.Manual {
			continue
		}
		if w.by[by] == nil {
			w.by[by] = map[string]bool{}
		}
		w.by[by][path] = true
	}
}

// step takes in whose the changes of a step are. Where all but the paths that it names are the side's, no tree is read.
func (w *wrote) step(cp *model.Checkpoint, before objstore.ID) error {
	if slices.Equal(cp.By, []string{w.of.Session}) || len(cp.By) == 0 && w.of.Session == model.Manual {
		for _, o := range cp.Owned {
			for _, path := range o.Paths {
				w.add(path, o.By)
			}
		}
		return nil
	}
	authors := cp.AuthorsOf()
	return w.eachFile(before, cp.Tree, func(path string) { w.add(path, authors(path)) })
}

func (w *wrote) eachFile(from, to objstore.ID, fn func(path string)) error {
	return tree.Diff(w.get, from, to, func(ch tree.Change) error {
		if model.IsFile(ch.Old) || model.IsFile(ch.New) {
			fn(ch.Path)
		}
		return nil
	})
}
