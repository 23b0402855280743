package engine_test

import (
	"maps"
	"slices"
)

// A timeline is plain: what lies on the disk, who changed what when, and what each session's turns ended with, kept by
// somebody who watches and knows nothing of rewind. Where the contract (docs/sessions.md#one-truth) leaves open which
// of several states is meant, it holds all of them.
type timeline struct {
	world   map[string]string // path to content; not there: no file
	seen    map[string]string // the same as rewind took it in last, at an event or a save, with what restores have set since
	step    map[string]string // the same at the newest of these events and saves that found anything changed
	changes []change
	actors  []*actor
	laid    bool                // a restore came after all that was taken in
	loose   map[string]bool     // changed while a call was open that had been cut off: rewind may know that, or not
	cut     map[string][]string // of loose: the sessions whose calls these are
	laidBy  map[string]string   // what a restore of a path alone has set there, until that is taken in
}

// change is one path's change as rewind could take it in.
type change struct {
	path    string
	was, is string   // the content before and after; "": no file
	by      []string // sessions, sorted; empty: from outside
	turns   []*round // of those sessions, in the same order
	restore bool     // it was set by one, of that session
	undone  bool     // of a restore, and of the undo-restore that took it back at once: together they are no change
	seen    string   // of a restore: what was known of the path, before what it found there
	loose   bool     // by may be wrong: see history
	cut     []string // of loose: the sessions that rewind may take it for
}

// round is a turn.
type round struct {
	of      *actor
	prompt  string
	end     map[string][]string // what a path may be at its end; "": no file
	own     map[string]bool     // paths that the session changed in it
	from    int                 // it begins behind so many changes
	lo, hi  int                 // its end lies behind so many changes: at least, at most
	stopped bool                // the agent said so
	whole   bool                // and nothing was cut off in it
	vague   bool                // it ends in what a restore laid out: see holdBehindRestore
	over    bool                // the next one has begun, or the session was opened or closed since
}

// openCall is a tool call that the hooks have announced and not ended.
type openCall struct {
	id, tool string
	lane     string // "": the main conversation
	path     string // that it names; "": a shell
	alive    bool   // it was not cut off
	round    *round
	input    map[string]any
}

func newHistory() *timeline {
	return &timeline{
		world: map[string]string{}, seen: map[string]string{}, step: map[string]string{}, loose: map[string]bool{},
		cut: map[string][]string{}, laidBy: map[string]string{},
	}
}

// authors are those who changed a path, by the open calls: those whose calls name it; else the shells. What a restore
// of the path has set is nobody's.
func (h *timeline) authors(path string) (by []string, turns []*round) {
	if is, laid := h.laidBy[path]; laid && is == h.world[path] {
		return nil, nil
	}
	of := map[string]*round{}
	add := func(can func(*openCall) bool) {
		for _, a := range h.actors {
			for _, c := range a.calls {
				if can(c) {
					of[a.Name()] = c.round
				}
			}
		}
	}
	if add(func(c *openCall) bool { return c.path == path }); len(of) == 0 {
		add(func(c *openCall) bool { return c.path == "" })
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		by, turns = append(by, name), append(turns, of[name])
	}
	return by, turns
}

// dirty lists the paths that differ from what was taken in last.
func (h *timeline) dirty() []string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(union(h.world, h.seen))) {
		if h.world[path] != h.seen[path] {
			out = append(out, path)
		}
	}
	return out
}

func union(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// take is an event or a save taking in what changed; it gives those changes. mine is the actor whose event it is, nil:
// a person's save; a closing event begins a turn, or opens or closes the session.
func (h *timeline) take(mine *actor, closing bool) []change {
	var got []change
	for _, path := range h.dirty() {
		by, turns := h.authors(path)
		c := change{
			path: path, was: h.seen[path], is: h.world[path], by: by, turns: turns,
			loose: h.loose[path], cut: h.cut[path],
		}
		h.changes = append(h.changes, c)
		got = append(got, c)
	}
	for _, c := range got {
		for _, t := range h.rounds() {
			i := slices.Index(c.turns, t)
			switch {
			case i < 0 && !(t.over || t.stopped):
				t.mayEnd(c.path, h.world[c.path]) // the turn may go on
			case i < 0 && slices.Contains(c.by, t.of.Name()):
				// by a subagent of an earlier turn: which of the two it counts for is open
				h.mayEndAt(t, c.path)
			case i < 0:
			case c.loose:
				t.mayEnd(c.path, h.world[c.path])
				t.hi = len(h.changes)
			case t.of == mine && !t.over && !(closing && t.stopped):
				t.end[c.path] = []string{h.world[c.path]}
				t.own[c.path] = true
				t.lo, t.hi = len(h.changes), len(h.changes)
			// what a turn did and another one's event took in, or that comes when the next one has begun: the turn may
			// end here, as all lies now
			default:
				h.mayEndAt(t, c.path)
				t.own[c.path] = true
			}
			if i < 0 && !(t.over || t.stopped) {
				t.hi = len(h.changes)
			}
		}
	}
	clear(h.loose)
	clear(h.cut)
	clear(h.laidBy)
	h.seen = maps.Clone(h.world)
	if len(got) > 0 {
		h.laid = false
		h.step = maps.Clone(h.world)
	}
	return got
}

// touched is a path having been changed by hand, or by a shell.
func (h *timeline) touched(path string) {
	for _, a := range h.actors {
		for _, c := range a.calls {
			if !c.alive {
				h.loose[path] = true
				h.cut[path] = append(h.cut[path], a.Name())
			}
		}
	}
}

// saved is a restore having saved what was unsaved before it: a change as any other, also of a path that another
// session had written, but whose it counts as where calls are open is left open.
func (h *timeline) saved() {
	for _, path := range h.dirty() {
		by, turns := h.authors(path)
		h.changes = append(h.changes, change{
			path: path, was: h.seen[path], is: h.world[path], by: by, turns: turns, loose: true, cut: h.cut[path],
		})
	}
	h.seen = maps.Clone(h.world)
}

// rounds are all turns that there ever were, each once.
func (h *timeline) rounds() []*round {
	var all []*round
	for _, a := range h.actors {
		all = append(all, a.all...)
	}
	return all
}

// mayEnd adds what a path may be at the end.
func (t *round) mayEnd(path string, contents ...string) {
	for _, c := range contents {
		if !slices.Contains(t.end[path], c) {
			t.end[path] = append(slices.Clone(t.end[path]), c)
		}
	}
}

// mayEndAt is a change of a path that may be the newest of a turn: behind its end the turn ends as all lies then.
func (h *timeline) mayEndAt(t *round, changed string) {
	for _, path := range paths23 {
		if path == changed || t.over || t.stopped {
			t.mayEnd(path, h.world[path])
		}
	}
	t.hi = len(h.changes)
}

// endsNow is an event in the turn. Its prompt and its stop are surely an end of it until more comes; at any other one
// what somebody else has changed since the turn's own work may be in it or not.
func (h *timeline) endsNow(t *round, stop bool) {
	sure := !t.stopped && !t.over && (stop || len(t.end) == 0)
	for _, path := range paths23 {
		// it ends with the newest checkpoint that its session made: what others have done since may be in it or not
		if sure && !stop {
			t.end[path] = []string{h.world[path]}
		} else {
			t.mayEnd(path, h.world[path])
		}
	}
	t.hi = len(h.changes)
	if sure {
		t.vague = false
	}
	if sure && !stop {
		t.lo = t.hi
	}
	if h.laid && !t.stopped && !t.over {
		t.lo, t.vague = 0, !holdBehindRestore
	}
}

// restored is a restore having set paths: nobody's change. A turn that is under way may end with either.
func (h *timeline) restored(a *actor, after map[string]string) {
	before := h.world
	h.laid = true
	for path := range h.laidBy { // the head has moved: whether it is still known to be a restore's is open
		h.loose[path] = true
	}
	clear(h.laidBy)
	for _, o := range h.actors {
		o.moved = o.moved || o.family == a.family
	}
	for _, path := range paths23 {
		if before[path] != after[path] {
			h.changes = append(h.changes, change{
				path: path, was: before[path], is: after[path], by: []string{a.Name()}, restore: true,
				seen: h.seen[path],
			})
		}
	}
	for _, t := range h.rounds() {
		if t.over || t.stopped {
			continue
		}
		for _, path := range paths23 {
			t.mayEnd(path, before[path], after[path])
		}
		t.hi = len(h.changes)
	}
	for _, path := range paths23 {
		if before[path] != after[path] {
			put(h.seen, path, after[path])
		}
	}
	h.world = after
}

// laidOut is a restore having set a path alone: nobody's call has changed it, whatever runs. Until the next event or
// save it is as unsaved as an edit.
func (h *timeline) laidOut(a *actor, path, is string) {
	was := h.world[path]
	if was == is {
		return
	}
	h.changes = append(h.changes, change{path: path, was: was, is: is, by: []string{a.Name()}, restore: true})
	for _, t := range h.rounds() {
		if !t.over && !t.stopped {
			t.mayEnd(path, was, is)
			t.hi = len(h.changes)
		}
	}
	put(h.world, path, is)
	h.laidBy[path] = is
}

// accounted are unsaved changes to what the target of a restore has: rewind counts them as the restore's, unless they
// are another session's. So to others they may be a change of the session that went back, as what it set.
func (h *timeline) accounted(a *actor, want map[string][]string) {
	for _, path := range h.dirty() {
		if want == nil || slices.Contains(want[path], h.world[path]) {
			h.loose[path] = true
			h.changes = append(h.changes, change{
				path: path, was: h.world[path], is: h.world[path], by: []string{a.Name()}, restore: true,
			})
		}
	}
}

func put(files map[string]string, path, content string) {
	if content == "" {
		delete(files, path)
	} else {
		files[path] = content
	}
}
