package find

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"

	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/internal/textdiff"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/tree"
)

const (
	// maxMatches bounds an answer.
	maxMatches = 10_000
	// maxText is how much of a line is shown, in bytes.
	maxText = 1 << 10
	// maxSpans is how many spans a match has at most: the newest.
	maxSpans = 16
	// maxAround is how many lines may be asked for around a match.
	maxAround = 100
)

// GrepOptions say what is searched for, and where.
type GrepOptions struct {
	Pattern
	Paths         []string // files, directories and patterns, relative to the root; none: every path
	All           bool     // safety checkpoints, too
	Session       string   // only in the checkpoints of this session; a name, or a prefix of the agent's id
	Before, After int      // lines around each match
	Limit         int      // at most so many matches; 0: maxMatches
	Once          bool     // of what was said: what forks have as a copy counts once, as what the oldest session has
}

// A Match is a line of a file that matches, once for all checkpoints in which the file has it.
type Match struct {
	Path   string
	Line   int    // from 1, in the newest of them
	Text   string // without its line feed; "" of a binary file
	Cut    bool   // the line is longer
	Binary bool   // the file is no text: only that it matches
	Before []string
	After  []string
	Spans  []Span // the oldest first
	Older  int    // spans that were left out, older than these
	Now    bool   // it is in the newest state of the worktree that is known
}

// A Span is a run of checkpoints, as the worktree went through them, in all of which a file has a line.
type Span struct {
	First, Last history.Listed
	Gone        *history.Listed // the checkpoint after Last, which has it no more; nil: Last is the newest
}

// GrepResult is in the order of a walk, lines in that of the file.
type GrepResult struct {
	Matches []Match
	More    bool // there are others
	value.Unsearched
}

// Grep searches the files of every checkpoint.
func (f *Finder) Grep(ctx context.Context, o GrepOptions) (*GrepResult, error) {
	return again(func() (*GrepResult, error) { return f.grepAll(ctx, o) })
}

// Files gives the files whose path matches, once for all checkpoints that have one. Their matches have no line.
func (f *Finder) Files(ctx context.Context, o GrepOptions) (*GrepResult, error) {
	return again(func() (*GrepResult, error) { return f.filesNamed(ctx, o) })
}

func (f *Finder) filesNamed(ctx context.Context, o GrepOptions) (*GrepResult, error) {
	g, err := f.grepOf(o)
	if err != nil {
		return nil, err
	}
	g.without = func(objstore.ID) bool { return false } // what is in them counts for nothing
	t, steps, err := f.timeline(ctx)
	if err != nil {
		return nil, err
	}
	line, files, err := g.onLine(t, steps)
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(file fileRuns) bool { return !g.m.in([]byte(file.path)) })
	if g.more = len(files) > g.limit; g.more {
		files = files[:g.limit]
	}
	dress, err := f.dresser(steps, line)
	if err != nil {
		return nil, err
	}
	out := g.result()
	for _, file := range files {
		h := &hit{Match: Match{Path: file.path}}
		for _, r := range file.runs {
			h.put(r)
		}
		h.Now = h.spans[len(h.spans)-1].last == len(line)-1
		if err := h.dress(dress, len(line)); err != nil {
			return nil, err
		}
		out.Matches = append(out.Matches, h.Match)
	}
	return out, ctx.Err()
}

// grepOf is a search whose session is one.
func (f *Finder) grepOf(o GrepOptions) (*grep, error) {
	if o.Session != "" {
		var err error
		if o.Session, err = f.session(o.Session); err != nil {
			return nil, err
		}
	}
	return f.grep(o)
}

func (f *Finder) grepAll(ctx context.Context, o GrepOptions) (*GrepResult, error) {
	g, err := f.grepOf(o)
	if err != nil {
		return nil, err
	}
	t, steps, err := f.timeline(ctx)
	if err != nil {
		return nil, err
	}
	line, files, err := g.onLine(t, steps)
	if err != nil {
		return nil, err
	}
	f.log.Lock()
	head, err := f.log.Head()
	f.log.Unlock()
	if err != nil {
		return nil, err
	}
	without, err := f.sift(ctx, g.r, len(files), t.paths(), g.m.in)
	if err != nil {
		return nil, err
	}
	screened := g.without
	g.without = func(id objstore.ID) bool { return without.has(id) || screened(id) }
	found, total := make([][]*hit, len(files)), atomic.Int64{}
	err = f.share(ctx, g.r, len(files), func(r *reading, i int) (bool, error) {
		one := *g
		one.r, one.more = r, false
		hits, err := one.file(ctx, files[i].path, files[i].runs, head.Tree)
		found[i] = hits
		return total.Add(int64(len(hits))) <= int64(g.limit), err
	})
	if err != nil {
		return nil, err
	}
	dress, err := f.dresser(steps, line)
	if err != nil {
		return nil, err
	}
	hits := slices.Concat(found...)
	if g.more = len(hits) > g.limit; g.more {
		hits = hits[:g.limit]
	}
	out := g.result()
	for _, h := range hits {
		if err := h.dress(dress, len(line)); err != nil {
			return nil, err
		}
		out.Matches = append(out.Matches, h.Match)
	}
	return out, nil
}

// A fileRuns is a path with the contents that it had.
type fileRuns struct {
	path string
	runs []run
}

// onLine gives the line that is searched, by places of its steps, and the files that it had, in the order of a walk.
func (g *grep) onLine(t *timeline, steps []step) (line []int, files []fileRuns, err error) {
	for i := range steps {
		if (g.All || !steps[i].safety) && (g.Session == "" || g.Session == steps[i].session) {
			line = append(line, i)
		}
	}
	if !g.All && g.Session == "" {
		for _, f := range t.files(g.meant, g.without) {
			if runs := t.runs(f.versions, len(line)); len(runs) > 0 {
				files = append(files, fileRuns{f.path, runs})
			}
		}
		return line, files, nil
	}
	byPath, err := g.r.runs(steps, line, g.meant)
	for _, path := range slices.SortedFunc(maps.Keys(byPath), tree.ComparePaths) {
		files = append(files, fileRuns{path, byPath[path]})
	}
	return line, files, err
}

// GrepTree searches the files of one state: its lines stand in no span. get has the state's objects; a content that it
// has not is too large.
func (f *Finder) GrepTree(
	ctx context.Context, get objstore.Getter, root objstore.ID, o GrepOptions,
) (*GrepResult, error) {
	g, err := f.grep(o)
	if err != nil {
		return nil, err
	}
	out := g.result()
	err = tree.Walk(get, root, func(path string, e tree.Entry) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case e.Type == tree.TypeDir && !g.meant.below(path) && !g.meant.has(path):
			return tree.SkipDir
		case e.Type != tree.TypeFile || !g.meant.has(path) || g.r.secret(path):
			return nil
		case e.Size > maxContent:
			g.r.large[path] = true
			return nil
		}
		content, err := get.Get(objstore.Blob, e.ID)
		if err != nil {
			why, bad := f.log.GoneEntry(&e)
			switch {
			case bad == nil && why != "":
				g.r.gone[path] = true
			case errors.Is(err, objstore.ErrNotFound): // of a state that is not stored, the largest are not kept
				g.r.large[path] = true
			default:
				return err
			}
			return nil
		}
		g.lines(path, content, func(m Match) bool {
			if g.more = len(out.Matches) == g.limit; !g.more {
				m.Now = true
				g.around(&m, content)
				m.Text, m.Cut = shown(m.Text)
				out.Matches = append(out.Matches, m)
			}
			return !g.more
		})
		if g.more {
			return tree.SkipAll
		}
		return nil
	})
	out.More, out.Unsearched = g.more, g.r.unsearched()
	return out, err
}

// A grep is a search that runs.
type grep struct {
	GrepOptions
	m       *matcher
	meant   *names
	r       *reading
	screen  *screen
	without func(objstore.ID) bool // contents in which nothing matches
	limit   int
	more    bool
	seen    map[saidLine]int // of a search for what was said once: which of those found it is
}

func (f *Finder) grep(o GrepOptions) (*grep, error) {
	if o.Text == "" {
		return nil, &emptyPatternError{}
	}
	m, err := o.compile()
	if err != nil {
		return nil, err
	}
	meant, err := newNames(o.Paths)
	if err != nil {
		return nil, err
	}
	r, err := f.reading()
	sc := &f.state.screen
	g := &grep{GrepOptions: o, m: m, meant: meant, r: r, screen: sc, without: sc.without(m.fixed), limit: maxMatches}
	if o.Limit > 0 {
		g.limit = min(o.Limit, maxMatches)
	}
	g.Before, g.After = min(max(o.Before, 0), maxAround), min(max(o.After, 0), maxAround)
	return g, err
}

func (g *grep) result() *GrepResult {
	return &GrepResult{Matches: []Match{}, More: g.more, Unsearched: g.r.unsearched()}
}

// A run is a content of a path in consecutive steps: from the first to the last, by their places on the line.
type run struct {
	e           *tree.Entry
	first, last int
}

// runs gives the contents that files had on a line, by path and the oldest first.
func (r *reading) runs(steps []step, line []int, meant *names) (map[string][]run, error) {
	files := map[string][]run{}
	var before objstore.ID
	for i, at := range line {
		err := r.trees.diff(before, steps[at].tree, meant, func(ch tree.Change) {
			if fileID(ch.Old) == fileID(ch.New) {
				return // a mode, a directory
			}
			list := files[ch.Path]
			if n := len(list); n > 0 && !fileID(ch.Old).IsZero() {
				list[n-1].last = i - 1
			}
			if !fileID(ch.New).IsZero() {
				files[ch.Path] = append(list, run{ch.New, i, len(line) - 1})
			}
		})
		if err != nil {
			return nil, err
		}
		before = steps[at].tree
	}
	return files, nil
}

// A hit is a match that is still found in newer versions.
type hit struct {
	Match
	spans []run
}

// put says that a hit is in one more version, which is newer than all others.
func (h *hit) put(v run) {
	if n := len(h.spans); n > 0 && h.spans[n-1].last == v.first-1 {
		h.spans[n-1].last = v.last
	} else {
		h.spans = append(h.spans, run{first: v.first, last: v.last})
	}
}

// file searches the versions of a file, the oldest first, and gives its matches, by one more than are asked for at
// most; now is the newest state that is known.
func (g *grep) file(ctx context.Context, path string, versions []run, now objstore.ID) ([]*hit, error) {
	hits := map[string]*hit{}
	var is objstore.ID
	for _, v := range versions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if g.without(v.e.ID) {
			continue
		}
		content, err := g.r.content(path, v.e)
		if err != nil {
			return nil, err
		}
		if content != nil {
			g.screen.add(v.e.ID.Key(), content)
		}
		if len(hits) == 0 {
			if !g.m.in(content) {
				continue
			}
			e, err := g.r.trees.at(now, path)
			if err != nil {
				return nil, err
			}
			is = fileID(e)
		}
		g.lines(path, content, func(m Match) bool {
			h := hits[m.Text]
			switch {
			case h == nil && len(hits) > g.limit:
				return true // those that are known may be in it, too
			case h == nil:
				h = &hit{}
				hits[m.Text] = h
			case h.spans[len(h.spans)-1].last == v.last:
				return true // the line is in it twice
			}
			m.Now = h.Now || v.e.ID == is
			g.around(&m, content)
			h.Match = m
			h.put(v)
			return true
		})
	}
	return slices.SortedFunc(maps.Values(hits), func(a, b *hit) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), -cmp.Compare(a.spans[len(a.spans)-1].last, b.spans[len(b.spans)-1].last),
			cmp.Compare(a.Text, b.Text))
	}), nil
}

// lines calls fn for the lines of a content that match, whole as they are; of a binary one at most once.
func (g *grep) lines(path string, content []byte, fn func(Match) bool) {
	if textdiff.IsBinary(content) {
		if g.m.in(content) {
			fn(Match{Path: path, Binary: true})
		}
		return
	}
	g.m.lines(content, func(n int, line []byte) bool { return fn(Match{Path: path, Line: n, Text: string(line)}) })
}

// around fills in what stands around a match.
func (g *grep) around(m *Match, content []byte) {
	if m.Binary || g.Before == 0 && g.After == 0 {
		return
	}
	n := 0
	for len(content) > 0 && n < m.Line+g.After {
		line, rest := cutLine(content)
		content = rest
		n++
		if n == m.Line || n < m.Line-g.Before {
			continue
		}
		text, _ := shown(string(line))
		if n < m.Line {
			m.Before = append(m.Before, text)
		} else {
			m.After = append(m.After, text)
		}
	}
}

// dress gives a hit the checkpoints of its spans; n is how long the line is.
func (h *hit) dress(at func(int) (history.Listed, error), n int) (err error) {
	h.Text, h.Cut = shown(h.Text)
	if h.Older = max(len(h.spans)-maxSpans, 0); h.Older > 0 {
		h.spans = h.spans[h.Older:]
	}
	for _, s := range h.spans {
		var span Span
		if span.First, err = at(s.first); err != nil {
			return err
		}
		if span.Last, err = at(s.last); err != nil {
			return err
		}
		if s.last < n-1 {
			gone, err := at(s.last + 1)
			if err != nil {
				return err
			}
			span.Gone = &gone
		}
		h.Spans = append(h.Spans, span)
	}
	return nil
}

// dresser gives what dresses the steps of a line, each once.
func (f *Finder) dresser(steps []step, line []int) (func(int) (history.Listed, error), error) {
	dress, err := f.history.Dresser()
	if err != nil {
		return nil, err
	}
	aside, err := f.aside(steps)
	if err != nil {
		return nil, err
	}
	read, done := f.log.Checkpoints(), map[int]history.Listed{}
	return func(i int) (history.Listed, error) {
		if l, ok := done[i]; ok {
			return l, nil
		}
		cp, err := read(steps[line[i]].id)
		if err != nil {
			return history.Listed{}, err
		}
		l, err := dress(cp)
		l.Aside, l.Target = aside[line[i]], f.history.TargetIn(cp)
		done[i] = l
		return l, err
	}, nil
}

// shown is as much of a line as is shown.
func shown[T ~string](line T) (text T, cut bool) {
	if len(line) <= maxText {
		return line, false
	}
	end := maxText
	for end > maxText-4 && line[end]&0xc0 == 0x80 { // not within a character
		end--
	}
	return line[:end], true
}

type emptyPatternError struct{}

func (*emptyPatternError) Error() string        { return "an empty pattern matches every line" }
func (*emptyPatternError) Is(target error) bool { return target == model.ErrUsage }
