package find

import (
	"context"
	"fmt"
	"slices"

	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/internal/gitinfo"
	"rewind/internal/textdiff"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/tree"
)

// BlameOptions say which lines of which file are asked for.
type BlameOptions struct {
	Path        string // relative to the root
	Checkpoint  string // a name; "": the current checkpoint
	First, Last int    // lines from 1, both included; 0: from the beginning, to the end
	AnySpace    bool   // lines that differ in nothing but white space are the same
	// Git knows of lines that are older than the first checkpoint; nil: nobody does
	Git Repository
}

// A Repository is the user's git repository. Paths are relative to the project's root. Its errors say no more than that
// it cannot tell.
type Repository interface {
	FileAt(commit, path string, max int64) ([]byte, error)
	BlameAt(commit, path string, ranges [][2]int, anySpace bool) (map[int]gitinfo.CommitLine, error)
}

// An Origin is what some lines come from.
type Origin struct {
	history.Listed
	Path  string      // the file's name then
	By    []string    // the sessions whose change it was; none: it came from outside
	Root  bool        // the first checkpoint that is known: what it has may be older
	Prior objstore.ID // the checkpoint before, as far as it has the file; zero: none
	Was   string      // the file's name in it
	Older bool        // it had them before: gc has merged the step that brought them into another
	// Commit is, of Root, the commit of the user's that brought them; Path is the file's name in it, from the top of
	// the repository. nil: not known
	Commit *gitinfo.Commit
}

// Blamed is a file, or a part of it.
type Blamed struct {
	Checkpoint history.Listed // whose state it is
	Path       string
	First      int // the number of the first line
	Lines      []value.BlamedLine
	Origins    []Origin
}

// Blame says of each line of a file which checkpoint brought it, through renames. A file that is no text, or over
// maxContent, is model.ErrUsage.
func (f *Finder) Blame(ctx context.Context, o BlameOptions) (*Blamed, error) {
	return again(func() (*Blamed, error) { return f.blameLines(ctx, o) })
}

func (f *Finder) blameLines(ctx context.Context, o BlameOptions) (*Blamed, error) {
	path, err := model.CleanPath(o.Path)
	if err != nil {
		return nil, err
	}
	if o.Checkpoint == "" {
		o.Checkpoint = "@"
	}
	cp, err := f.history.Resolve(o.Checkpoint)
	if err != nil {
		return nil, err
	}
	e, err := f.log.Lookup(cp, path)
	if err != nil {
		return nil, err
	}
	r, err := f.reading()
	if err != nil {
		return nil, err
	}
	content, err := r.blamable(path, &e)
	if err != nil {
		return nil, err
	}
	t, steps, err := f.timeline(ctx)
	if err != nil {
		return nil, err
	}
	b := &blame{steps: steps, anySpace: o.AnySpace, git: o.Git}
	at, known := t.place(cp.ID)
	if !known {
		return nil, fmt.Errorf("blame %q: %w: checkpoint %s is not in the log", path, model.ErrNotFound, cp.ID.Short())
	}
	lines := splitLines(content)
	first, last, err := within(o.First, o.Last, len(lines), path)
	if err != nil {
		return nil, err
	}
	b.want = make([]want, len(lines))
	now := make([]int, len(lines))
	for i := range now {
		if now[i] = -1; i >= first-1 && i < last {
			now[i] = i
			b.left++
		}
	}
	if err := b.walk(ctx, &trail{r: r, texts: f.readingAs(r), t: t, steps: steps, at: at, path: path, e: &e}, content, now); err != nil {
		return nil, err
	}
	return f.blamed(b, at, path, lines, first, last)
}

// within settles which lines are meant.
func within(first, last, n int, path string) (int, int, error) {
	if first <= 0 {
		first = 1
	}
	if last <= 0 || last > n {
		last = n
	}
	if n > 0 && (first > n || last < first) {
		return 0, 0, fmt.Errorf("blame %q: %w: it has %d lines", path, model.ErrUsage, n)
	}
	return first, last, nil
}

// blamable reads a file of which lines can be told.
func (r *reading) blamable(path string, e *tree.Entry) ([]byte, error) {
	usage := func(why string) error { return fmt.Errorf("blame %q: %w: %s", path, model.ErrUsage, why) }
	switch {
	case e.Type == tree.TypeDir:
		return nil, usage("it is a directory")
	case e.Type != tree.TypeFile:
		return nil, usage("it is a symbolic link")
	case r.secret(path):
		return nil, usage("it is on the secret list")
	case e.Size > maxContent:
		return nil, usage("it is too large")
	}
	content, err := r.content(path, e)
	switch {
	case err != nil:
		return nil, err
	case r.gone[path]:
		return nil, fmt.Errorf("blame %q: %w: its content is not in the store any more", path, model.ErrNotFound)
	case textdiff.IsBinary(content):
		return nil, usage("it is no text")
	}
	return content, nil
}

// A blame is under way: it goes back from state to state, and hands lines on to the state before as long as that has
// them.
type blame struct {
	steps    []step
	anySpace bool
	git      Repository
	want     []want
	origins  []origin
	left     int // lines without an origin
}

// want is a line that is asked for: its origin, and its place there from 0.
type want struct{ origin, at int }

type origin struct {
	step  int
	path  string
	prior int // the step before; -1: none
	was   string
	older bool // in a state before it, which no step has any more

	commit *gitinfo.Commit
}

// walk finds the origins of lines of a file: is holds it as the trail begins, and now says for each line of that which
// line that is asked for it is; -1: none. The trail is read ahead: to put a version together takes as long as to verify
// and to compare it.
func (b *blame) walk(ctx context.Context, t *trail, is []byte, now []int) error {
	if b.left == 0 {
		return nil
	}
	for h, err := range ahead(t.hops(ctx), contentsAhead(t.e.Size)) {
		if err != nil {
			return err
		}
		switch {
		case h.was == nil:
			if b.steps[h.at].before.IsZero() && b.git != nil {
				if now, err = b.committed(t.r.log, h, is, now); err != nil {
					return err
				}
			}
			b.settle(origin{step: h.at, path: h.path, prior: none}, now, every(len(now)))
			return nil
		case h.was.ID != h.e.ID:
			then, err := h.then()
			if err != nil {
				return err
			}
			lines := b.match(then, is, now)
			b.settle(origin{step: h.at, path: h.path, prior: h.prior, was: h.name}, now, lines.news)
			// the lines of the state before are nobody's: those that are left are told as the step has them
			if h.prior == none {
				for _, i := range lines.news {
					now[i] = none
				}
				break
			}
			is, now = then, lines.over(now)
		}
		if b.left == 0 {
			return nil
		}
		if h.prior == none { // no checkpoint is known that had the state before
			if now, err = b.scattered(ctx, t, &h, is, now); err != nil {
				return err
			}
			b.settle(origin{step: h.at, path: h.path, prior: none, older: true}, now, every(len(now)))
			return nil
		}
	}
	return nil
}

// scattered passes the lines of a state that no checkpoint has on to the older checkpoints that have them, the newest
// first. Such a state comes from a restore that kept others' changes: it joins a file from several states. It gives now
// without them.
func (b *blame) scattered(ctx context.Context, t *trail, h *hop, is []byte, now []int) ([]int, error) {
	tried := map[objstore.ID]bool{}
	for at := h.at - 1; at >= 0 && slices.ContainsFunc(now, asked); at-- {
		e, err := t.r.trees.at(b.steps[at].tree, h.name)
		if err != nil {
			return nil, err
		}
		id := fileID(e)
		if id.IsZero() || tried[id] {
			continue
		}
		tried[id] = true
		then, err := t.texts.content(h.name, e)
		if err != nil {
			return nil, err
		}
		lines, left := b.match(then, is, now), slices.Repeat([]int{none}, len(now))
		for _, i := range lines.news {
			left[i] = now[i]
		}
		from := *t
		from.at, from.path, from.e = at, h.name, e
		if err := b.walk(ctx, &from, then, lines.over(now)); err != nil {
			return nil, err
		}
		now = left
	}
	return now, nil
}

// asked reports whether a line is one that is asked for.
func asked(w int) bool { return w != none }

// settle gives some lines of a step their origin.
func (b *blame) settle(o origin, now, lines []int) {
	named := false
	for _, i := range lines {
		w := now[i]
		if w < 0 {
			continue
		}
		if !named {
			b.origins = append(b.origins, o)
			named = true
		}
		b.want[w] = want{origin: len(b.origins) - 1, at: i}
		b.left--
	}
}

// every is the lines of a text of n.
func every(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// blamed puts the answer together.
func (f *Finder) blamed(b *blame, of int, path string, lines [][]byte, first, last int) (*Blamed, error) {
	at, err := f.dresser(b.steps, every(len(b.steps)))
	if err != nil {
		return nil, err
	}
	out := &Blamed{Path: path, First: first, Lines: []value.BlamedLine{}}
	if out.Checkpoint, err = at(of); err != nil {
		return nil, err
	}
	for _, o := range b.origins {
		l, err := at(o.step)
		if err != nil {
			return nil, err
		}
		one := Origin{
			Listed: l, Path: o.path, By: l.AuthorsOf()(o.path),
			Root: b.steps[o.step].before.IsZero(), Older: o.older, Commit: o.commit,
		}
		if o.prior >= 0 {
			one.Prior, one.Was = b.steps[o.prior].id, o.was
		}
		out.Origins = append(out.Origins, one)
	}
	for i := first - 1; i < last; i++ {
		l := value.BlamedLine{Origin: b.want[i].origin, Line: b.want[i].at + 1}
		l.Text, l.Cut = shown(value.Text(lines[i]))
		out.Lines = append(out.Lines, l)
	}
	return out, nil
}
