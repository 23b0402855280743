package find

import (
	"context"
	"slices"
	"sync"

	"rewind/engine/oplog"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// maxVersions bounds the timeline that is kept for the next search: a version takes 16 bytes, beside its path and its
// content.
const maxVersions = 1 << 20

// State is what searches of an open project share. The zero value is empty.
type State struct {
	mu     sync.Mutex
	kept   *timeline // nil: none
	screen screen
}

// A timeline is what searches know of the log without reading it again: its steps, and which paths each of them
// changed. It only grows, by what the log has got since the last search, until something is taken out of the log
// (oplog.Log.Rewrites): then it begins anew.
//
// A step is in it as the state that the worktree had, and as what it changed: told against the state before it, which
// another session's step may lie between. Versions of a path have both.
type timeline struct {
	rewrites uint64 // of the log, when it began
	upTo     uint64 // the newest operation that is in it

	mu       sync.Mutex // guards what follows; what is in a slice does not change
	steps    []step
	line     []int // the steps that are not safety checkpoints, by their places
	places   map[objstore.Key]int32
	versions map[string][]version // by path, ascending
	contents []content
	count    int // versions
}

// A step is a checkpoint of the log.
type step struct {
	id, tree objstore.ID
	before   objstore.ID // the tree that its changes are told against; zero: the empty one
	session  string
	parent   int32 // its place; -1: it has none, or that is not in the log
	ordinal  int32 // how many steps that are no safety checkpoints are older
	follows  bool  // its changes are told against its parent
	safety   bool
}

// A version says that a path is another one since a step.
type version struct {
	step    int32
	was, is int32 // contents; none: no file
	told    bool  // it is what the step changed
	stands  bool  // the file in the worktree was another one in the state before, on the line
}

const none = -1

// content is what a file holds.
type content struct {
	id   objstore.ID
	size int64
}

func (c content) entry() *tree.Entry { return &tree.Entry{Type: tree.TypeFile, ID: c.id, Size: c.size} }

// timeline gives the timeline of the log as it is, and its steps, the oldest first: they stay as they are when it
// grows.
func (f *Finder) timeline(ctx context.Context) (*timeline, []step, error) {
	st := f.state
	st.mu.Lock()
	defer st.mu.Unlock()
	t, rewrites := st.kept, f.log.Rewrites()
	if t == nil || t.rewrites != rewrites {
		t = &timeline{rewrites: rewrites, places: map[objstore.Key]int32{}, versions: map[string][]version{}}
		st.screen.forget()
	}
	err := t.grow(ctx, f)
	if st.kept = t; t.count > maxVersions {
		st.kept = nil
	}
	return t, t.steps[:len(t.steps):len(t.steps)], err
}

// grow takes in what the log has got. What is in it after an error is right.
func (t *timeline) grow(ctx context.Context, f *Finder) error {
	type made struct {
		seq     uint64
		id      objstore.ID
		safety  bool
		session string
	}
	var news []made
	err := f.log.Made(func(op *refs.Operation) error {
		if op.Seq <= t.upTo {
			return kv.ErrStop
		}
		news = append(news, made{op.Seq, op.Checkpoint, op.Kind == refs.KindSafety, op.Session})
		return nil
	})
	if err != nil || len(news) == 0 {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	read, trees := f.log.CheckpointsOnce(), f.trees()
	t.steps, t.line = slices.Grow(t.steps, len(news)), slices.Grow(t.line, len(news))
	for _, m := range slices.Backward(news) {
		if err := ctx.Err(); err != nil {
			return err
		}
		cp, err := read(m.id)
		if err != nil {
			return err
		}
		s := step{id: cp.ID, tree: cp.Tree, session: m.session, safety: m.safety, parent: none}
		s.ordinal = int32(len(t.line))
		if n := len(t.steps); n > 0 && t.steps[n-1].session == s.session {
			s.session = t.steps[n-1].session // one text for all
		}
		if i, ok := t.places[cp.Parent().Key()]; ok {
			s.parent = i
		}
		if s.follows = cp.Base.IsZero() && s.parent != none; s.follows {
			s.before = t.steps[s.parent].tree
		} else if s.before, err = oplog.Before(cp, read); err != nil {
			return err
		}
		if err := t.add(s, trees); err != nil {
			return err
		}
		t.upTo = m.seq
	}
	return nil
}

// add appends a step with the versions that it brings, all or nothing.
func (t *timeline) add(s step, trees *trees) error {
	var last objstore.ID // the state before on the line
	if len(t.line) > 0 {
		last = t.steps[t.line[len(t.line)-1]].tree
	}
	both := !s.safety && last == s.before
	news := map[string][]version{}
	contents := t.contents
	diff := func(from objstore.ID, told, stands bool) error {
		return trees.diff(from, s.tree, everything, func(ch tree.Change) {
			v := version{step: int32(len(t.steps)), told: told, stands: stands, was: none, is: none}
			keep := func(e *tree.Entry) int32 {
				id := fileID(e)
				if id.IsZero() {
					return none
				}
				if n := len(t.versions[ch.Path]); n > 0 { // mostly the one that was there
					if at := t.versions[ch.Path][n-1].is; at != none && contents[at].id == id {
						return at
					}
				}
				contents = append(contents, content{id, e.Size})
				return int32(len(contents) - 1)
			}
			v.was, v.is = keep(ch.Old), keep(ch.New)
			news[ch.Path] = append(news[ch.Path], v)
		})
	}
	if err := diff(s.before, true, both); err != nil {
		return err
	}
	if !s.safety && !both {
		if err := diff(last, false, true); err != nil {
			return err
		}
	}
	t.contents = contents
	for path, list := range news {
		t.versions[path] = append(t.versions[path], list...)
		t.count += len(list)
	}
	t.places[s.id.Key()] = int32(len(t.steps))
	if !s.safety {
		t.line = append(t.line, len(t.steps))
	}
	t.steps = append(t.steps, s)
	return nil
}

var everything = &names{}

// place gives the place of a checkpoint.
func (t *timeline) place(id objstore.ID) (int, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, ok := t.places[id.Key()]
	return int(i), ok
}

// changed marks the steps that changed a path which is meant.
func (t *timeline) changed(marks []bool, meant func(path string) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for path, list := range t.versions {
		if meant(path) {
			mark(marks, list)
		}
	}
}

// changedIn marks the steps that changed one path.
func (t *timeline) changedIn(marks []bool, path string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	mark(marks, t.versions[path])
}

// former gives the steps that changed a path, each with the file that it was in the state before; nil: it was none.
func (t *timeline) former(path string) map[int]*tree.Entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := map[int]*tree.Entry{}
	for _, v := range t.versions[path] {
		if !v.told {
			continue
		}
		if out[int(v.step)] = nil; v.was != none {
			out[int(v.step)] = t.contents[v.was].entry()
		}
	}
	return out
}

func mark(marks []bool, list []version) {
	for _, v := range list {
		if v.told && int(v.step) < len(marks) {
			marks[v.step] = true
		}
	}
}

// files are the paths that are meant and were files of which some content is not left out, in the order of a walk, each
// with its versions.
func (t *timeline) files(meant *names, without func(objstore.ID) bool) (list []pathVersions) {
	t.mu.Lock()
	defer t.mu.Unlock()
	some := func(v version) bool {
		return v.was != none && !without(t.contents[v.was].id) || v.is != none && !without(t.contents[v.is].id)
	}
	for path, versions := range t.versions {
		if meant.has(path) && slices.ContainsFunc(versions, some) {
			list = append(list, pathVersions{path, versions})
		}
	}
	slices.SortFunc(list, func(a, b pathVersions) int { return tree.ComparePaths(a.path, b.path) })
	return list
}

// paths is how many there ever were.
func (t *timeline) paths() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.versions)
}

// A pathVersions is a path with its versions.
type pathVersions struct {
	path     string
	versions []version
}

// runs gives the contents that a file had on the line, the oldest first, before step n of it.
func (t *timeline) runs(versions []version, n int) (list []run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, v := range versions {
		at := 0
		if v.stands {
			at = int(t.steps[v.step].ordinal)
		}
		if !v.stands || at >= n || v.was != none && v.is != none && t.contents[v.was].id == t.contents[v.is].id {
			continue // a mode, a directory
		}
		if i := len(list) - 1; i >= 0 && v.was != none {
			list[i].last = at - 1
		}
		if v.is != none {
			list = append(list, run{t.contents[v.is].entry(), at, n - 1})
		}
	}
	return list
}

// held are the distinct contents that a file had in any version, the oldest first.
func (t *timeline) held(versions []version) (list []*tree.Entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	seen := map[objstore.ID]bool{}
	for _, v := range versions {
		for _, at := range []int32{v.was, v.is} {
			if at != none && !seen[t.contents[at].id] {
				seen[t.contents[at].id] = true
				list = append(list, t.contents[at].entry())
			}
		}
	}
	return list
}

// aside says of steps which were left behind by a later one: no branch's end goes back to them.
func (f *Finder) aside(steps []step) ([]bool, error) {
	tips, err := f.history.Tips()
	if err != nil {
		return nil, err
	}
	on, out := make([]bool, len(steps)), make([]bool, len(steps))
	for i, s := range slices.Backward(steps) {
		if on[i] = on[i] || tips[s.id]; on[i] && s.parent != none {
			on[s.parent] = true
		}
		out[i] = !s.safety && !on[i]
	}
	return out, nil
}
