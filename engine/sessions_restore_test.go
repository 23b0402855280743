package engine_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"pgregory.net/rapid"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/value"
	"rewind/refs"
)

// sure is yes, no, or what the contract leaves open.
type sure int

const (
	no sure = iota
	maybe
	yes
)

func (m *sessions23) actorOf(name string) *actor {
	for _, a := range m.h.actors {
		if a.Name() == name {
			return a
		}
	}
	return nil
}

// colleague says whether another session's change stays when a restores: not one of a's past, nor of a branch of its
// family that is not running.
func (m *sessions23) colleague(a *actor, name string, r *round) sure {
	o := m.actorOf(name)
	switch {
	case o == a, slices.Contains(a.turns, r):
		return no
	case o.family != a.family:
		if a.ended || a.idle {
			return maybe // it began after this one was over, perhaps
		}
		return yes
	case o.left, o.ended && len(o.calls) == 0:
		if o.left && !o.ended {
			return maybe // open in another window, perhaps
		}
		return no
	case !o.open, o.esc:
		return maybe // it was killed, or stopped, and nobody said so
	case len(o.calls) > 0 || len(o.turns) > 0 && !o.last().over && !o.last().stopped:
		return yes
	}
	return maybe // it waits for its person
}

// whose says how far a change stays when a restores; at is its place among all.
func (m *sessions23) whose(a *actor, at int, by []string, turns []*round) (is sure) {
	for i, name := range by {
		r := turns[i]
		if at >= a.began && r != nil && r.of != a {
			r = nil // a subagent of a turn that both have, that works on in the other one
		}
		is = max(is, m.colleague(a, name, r))
	}
	return is
}

// without says whether a path can be what it is, once what is not surely another session's is taken back change by
// change, the newest first.
func (m *sessions23) without(a *actor, path, is string, lo int) bool {
	back := reversing(m.h.world[path])
	if now, seen := m.h.world[path], m.h.seen[path]; now != seen {
		by, turns := m.h.authors(path)
		if m.h.loose[path] || m.whose(a, len(m.h.changes), by, turns) != yes {
			back.perhaps(seen, now)
		}
	}
	for at := len(m.h.changes) - 1; at >= lo; at-- {
		c := m.h.changes[at]
		if c.path == path && (c.restore || c.loose || m.whose(a, at, c.by, c.turns) != yes) {
			back.perhaps(c.was, c.is)
		}
		if c.path == path && c.restore { // what it found unsaved, and left
			back.perhaps(c.seen, c.was)
		}
	}
	return slices.Contains(back, is)
}

// theirs says whether what lies at a path is another's since some change: surely if behind hi, perhaps if behind lo.
func (m *sessions23) theirs(a *actor, path string, lo, hi int) sure {
	is := no
	add := func(at int, by []string, turns []*round, loose bool, cut []string) {
		c := m.whose(a, at, by, turns)
		if at < hi || loose {
			c = min(c, maybe)
		}
		is = max(is, c)
		for _, name := range cut {
			is = max(is, min(m.colleague(a, name, nil), maybe))
		}
	}
	for at, c := range m.h.changes {
		switch {
		case c.path != path || at < lo:
		case c.restore: // and whether what it set is its session's change is open
			is = min(is, maybe)
			if o := m.actorOf(c.by[0]); o == nil || m.colleague(a, c.by[0], nil) != no {
				is = maybe
			}
		default:
			add(at, c.by, c.turns, c.loose, c.cut)
		}
	}
	if m.h.world[path] != m.h.seen[path] {
		by, turns := m.h.authors(path)
		add(max(hi, len(m.h.changes)), by, turns, m.h.loose[path], m.h.cut[path])
	}
	return is
}

// persons says whether what lies at a path is a person's since some change, and nobody else's: surely if all of it is
// behind hi, perhaps if behind lo. no: nobody but others has changed it.
func (m *sessions23) persons(path string, lo, hi int) sure {
	is, some, others := yes, false, false
	add := func(by []string, doubt bool) {
		some, others = some || len(by) == 0, others || len(by) > 0
		if doubt {
			is = maybe
		}
	}
	for at, c := range m.h.changes[lo:] {
		if c.path == path && !c.undone {
			add(c.by, c.restore || c.loose || lo+at < hi)
		}
	}
	if m.h.world[path] != m.h.seen[path] {
		by, _ := m.h.authors(path)
		_, laid := m.h.laidBy[path]
		add(by, laid || m.h.loose[path])
	}
	switch {
	case is == yes && !some:
		return no
	case others:
		return maybe
	}
	return is
}

// newFile says whether no checkpoint holds what lies at a path, nor has a restore laid it there.
func (h *timeline) newFile(path string) sure {
	if h.world[path] == "" || h.world[path] == h.seen[path] {
		return no
	}
	switch {
	case h.seen[path] == "" && h.step[path] == "":
		return yes
	case h.seen[path] == "" || h.step[path] == "":
		return maybe
	}
	return no
}

// target is what a path may be in a restore to a turn's end; nil: anything.
func (t *round) target() map[string][]string {
	if t.vague {
		return nil
	}
	return t.end
}

// goes holds what a restore of a session to a turn's end did to the files. keep: a person's changes stay.
func (m *sessions23) goes(t *rapid.T, a *actor, r *restore.Result, end *round, exact, keep bool) {
	t.Helper()
	before, after, want := m.h.world, m.files(), end.target()
	defer func() {
		if r.Saved != nil {
			m.h.saved()
		}
		m.h.restored(a, after)
		m.stands(a, end)
		if r.Operation != nil {
			m.h.accounted(a, want)
		}
	}()
	if len(r.Conflicts) > 0 {
		t.Fatalf("others: conflicts without a racing edit: %+v", r.Conflicts)
	}
	if !holdOthers || want == nil {
		return
	}
	for _, path := range paths23 {
		stays := m.theirs(a, path, end.lo, end.hi)
		if exact {
			stays = no
		}
		was, is := before[path], after[path]
		same, hit := was == is, slices.Contains(want[path], is)
		mine := no
		if keep {
			mine = m.persons(path, end.lo, end.hi)
		}
		named := slices.ContainsFunc(r.Plan.Kept, func(k value.Kept) bool {
			return string(k.Path) == path || k.Dir && refs.Below(path, string(k.Path))
		})
		what := fmt.Sprintf("others: %s was %q and is %q, the target has %q; another's: %d, kept %v", path,
			was, is, want[path], stays, m.KeptNames(r))
		switch {
		case !same && m.without(a, path, is, end.lo):
			// what a colleague had there before is there again: only what others did behind that was taken back
		case !same && !hit:
			t.Fatalf("neither. %s", what)
		case stays == yes && !same:
			t.Fatalf("another session's change went. %s", what)
		case mine == yes && !same:
			t.Fatalf("a person's change went. %s", what)
		case m.h.newFile(path) == yes && !same && !exact && !slices.Contains(r.Plan.Yours, path):
			t.Fatalf("a file that no checkpoint holds went, unnamed. %s", what)
		case stays == yes && !slices.Contains(want[path], was) && !named:
			t.Fatalf("it is not named. %s", what)
		case stays == no && mine == no && !hit:
			t.Fatalf("it did not go to the target. %s", what)
		}
	}
}

// stands has a session's steps go on from a turn's end. Where that is a turn that it has from another session it begins
// there, for undo goes along steps: what stayed beside the turn is in none of its own yet. One that has done something
// may go on along either.
func (m *sessions23) stands(a *actor, end *round) {
	a.back = min(a.back, end.lo)
	if end.of == a {
		return
	}
	was := a.begin
	a.begin = map[string][]string{}
	for _, path := range paths23 {
		a.begin[path] = append(slices.Clone(end.target()[path]), m.h.world[path])
		if len(a.all) > 0 {
			a.begin[path] = append(a.begin[path], was[path]...)
		}
	}
}

// places gives the function that has all sessions go on from where they do now.
func (m *sessions23) places() (again func()) {
	was := map[*actor]actor{}
	for _, a := range m.h.actors {
		was[a] = *a
	}
	return func() {
		for a, w := range was {
			a.begin, a.back = w.begin, w.back
		}
	}
}

// asBefore has a session's restore be taken back: the files are as they were, and the two together are no change.
// before is how many changes there were.
func (m *sessions23) asBefore(a *actor, was, seen map[string]string, before int) {
	m.h.restored(a, was)
	for i := range m.h.changes[before:] {
		m.h.changes[before+i].undone = m.h.changes[before+i].restore
	}
	m.h.seen = seen
}

// dropped takes the sessions away that a restore took away: forks that nobody has opened.
func (m *sessions23) dropped() {
	m.h.actors = slices.DeleteFunc(m.h.actors, func(a *actor) bool {
		_, err := os.Stat(a.File)
		return !a.used && errors.Is(err, os.ErrNotExist)
	})
}

// someTurn draws a session that can go back, and a turn of it that is over.
func (m *sessions23) someTurn(t *rapid.T, can func(*actor) bool) (*actor, int) {
	done := func(a *actor) int {
		n := 0
		for _, r := range a.turns {
			if r.stopped || r.over {
				n++
			}
		}
		return n
	}
	a := m.someActor(t, func(a *actor) bool { return a.born && done(a) > 0 && !a.works() && can(a) })
	if a == nil {
		return nil, 0
	}
	return a, rapid.IntRange(1, done(a)).Draw(t, "turn")
}

// works reports whether a call of a session is under way.
func (a *actor) works() bool {
	return slices.ContainsFunc(a.calls, func(c *openCall) bool { return c.alive })
}

// checkoutTurn goes back to the end of a turn: with the conversation, or by a fork with the code; perhaps that is
// reverted at once.
func (m *sessions23) checkoutTurn(t *rapid.T) {
	a, n := m.someTurn(t, func(*actor) bool { return len(m.h.actors) < maxActors })
	if a == nil {
		return
	}
	fork, exact := rapid.Bool().Draw(t, "fork"), rapid.IntRange(0, 5).Draw(t, "exact") == 0
	keep := !fork && !exact && rapid.IntRange(0, 2).Draw(t, "keep mine") == 0
	m.say("checkout turn:%d --session %s (fork %v, exact %v, keep mine %v)", n, a.short(), fork, exact, keep)
	end, before := a.turns[n-1], len(m.h.changes)
	was, seen, pos, again := maps.Clone(m.h.world), maps.Clone(m.h.seen), m.pos, m.places()
	name := fmt.Sprint("turn:", n)
	o := restore.Options{
		Session: model.SessionChoice{Session: a.Name()}, Scope: refs.Scope{Exact: exact}, KeepMine: keep, Env: m.Env(),
	}
	var r *restore.Result
	var err error
	if fork {
		var f *restore.Forked
		if f, err = m.E.Restorer.Fork(enginetest.Bg, name, restore.Options{
			Session: model.SessionChoice{Session: a.Name()}, Checkout: true,
			Scope: refs.Scope{Exact: exact}, Env: m.Env(),
		}); err == nil {
			r = f.Restore
		}
	} else {
		r, err = m.shown(t, o, func(o restore.Options) (*restore.Result, error) {
			return m.E.Restorer.Checkout(enginetest.Bg, name, o)
		})
	}
	if err != nil {
		var none *model.NoConversationError
		if fork && !end.whole && errors.As(err, &none) {
			return
		}
		t.Fatalf("checkout turn:%d of %s: %v", n, a.Name(), err)
	}
	m.goes(t, a, r, end, exact, keep)
	if r.Saved != nil { // what was unsaved is a step of the branch that was left, also when the restore is taken back
		seen = maps.Clone(was)
	}
	m.dropped()
	m.say("  of %s: %+v", r.Plan.Target.Session, r.Conversation)
	if r.Operation == nil { // there was nothing to do: whether the project stands there now is open
		m.pos = append(slices.Clone(pos), a.Name())
		m.look(t)
		return
	}
	made := m.wentTo(a, r, end, n, pos)
	m.look(t)
	if !holdUndo || rapid.IntRange(0, 2).Draw(t, "undo-restore") != 0 {
		return
	}
	after := m.files()
	m.undoRestore(t, was)
	if !fork {
		m.say("the same again")
		r, err := m.E.Restorer.Checkout(enginetest.Bg, name, o)
		if err != nil {
			t.Fatalf("undo: the same again: %v", err)
		}
		if now := m.files(); !maps.Equal(now, after) {
			t.Fatalf("undo: the same again gives %q, at first it gave %q", now, after)
		}
		if r.Operation != nil {
			m.undoRestore(t, was)
		}
	}
	m.asBefore(a, was, seen, before)
	again()
	m.dropped()
	if made != nil && m.actorOf(made.Name()) != nil {
		t.Fatalf("undo: undo-restore leaves %s, which the restore made", made.File)
	}
	a.left = false
	m.pos = append([]string{a.Name()}, pos...)
	m.look(t)
}

// wentTo has the project stand where a restore of a session to a state led, which has so many turns: at the session, or
// at one that goes on from there, which is made then.
func (m *sessions23) wentTo(a *actor, r *restore.Result, end *round, turns int, pos []string) (made *actor) {
	m.pos = []string{a.Name()}
	// the conversation stays as it is: of the fork that a restore made of this one, perhaps
	if c := r.Conversation; c == nil || c.Session == "" {
		for _, name := range pos {
			if o := m.actorOf(name); o != nil && o != a && o.family == a.family {
				m.pos = append(m.pos, name)
			}
		}
	}
	// a fork that nobody had opened, of a turn that cannot be forked: it went, and which of the family stands in for it
	// is open
	if m.actorOf(a.Name()) == nil {
		for _, o := range m.h.actors {
			if o.family == a.family {
				m.pos = append(m.pos, o.Name())
			}
		}
	}
	// one that ends there is gone on with: this one, or a fork that nobody has opened
	if c := r.Conversation; c != nil && c.Fork == nil && c.Session != "" {
		m.pos = []string{c.Session}
		a.left = c.Session != a.Name()
		if o := m.actorOf(c.Session); o != nil { // nil: one that went, and came back
			m.stands(o, end)
		}
	}
	if c := r.Conversation; c != nil && c.Fork != nil {
		made = m.join(a, c.Fork, turns, nil)
		m.stands(made, end)
		m.pos = []string{made.Name()}
		a.left = true
	}
	return made
}

// shown does what a dry run shows, or fails: the same plan, though the dry run may be a look more at the worktree.
func (m *sessions23) shown(
	t *rapid.T, o restore.Options, do func(restore.Options) (*restore.Result, error),
) (*restore.Result, error) {
	o.DryRun = true
	was := m.files()
	r, err := do(o)
	if now := m.files(); !maps.Equal(now, was) {
		t.Fatalf("undo: a dry run makes %q of %q", now, was)
	}
	if o.DryRun = false; err == nil {
		o.Plan = r.PlanHash
	}
	return do(o)
}

// undoRestore takes back the newest restore: the files are as they were.
func (m *sessions23) undoRestore(t *rapid.T, was map[string]string) {
	m.say("undo-restore")
	if _, err := m.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: m.Env()}); err != nil {
		t.Fatalf("undo-restore: %v", err)
	}
	if now := m.files(); !maps.Equal(now, was) {
		t.Fatalf("undo: undo-restore gives %q, before it was %q", now, was)
	}
}

// switches goes to where a session's branch ends, and the session goes on: no colleague's change goes. Perhaps that is
// reverted at once, and then the same switch does the same.
func (m *sessions23) switches(t *rapid.T) {
	a := m.someActor(t, func(a *actor) bool {
		return a.born && !a.works() && len(a.turns) > 0 && (a.last().stopped || a.last().over)
	})
	if a == nil {
		return
	}
	m.say("switch %s", a.short())
	end, was, seen, pos := a.last(), maps.Clone(m.h.world), maps.Clone(m.h.seen), m.pos
	before, again := len(m.h.changes), m.places()
	o := restore.Options{Env: m.Env()}
	do := func(o restore.Options) (*restore.Result, error) {
		return m.E.Restorer.Switch(enginetest.Bg, a.Name(), o)
	}
	r, err := m.shown(t, o, do)
	if err != nil {
		t.Fatalf("switch to %s: %v", a.Name(), err)
	}
	after := m.files()
	for _, path := range paths23 {
		went := after[path] != was[path] && m.theirs(a, path, end.lo, end.hi) == yes
		if went && !m.without(a, path, after[path], end.lo) {
			t.Fatalf("others: switch: another session's change went: %s was %q and is %q", path, was[path], after[path])
		}
	}
	m.goes(t, a, r, &round{of: a, vague: true, lo: end.lo, hi: end.hi}, false, false)
	if r.Saved != nil {
		seen = maps.Clone(was)
	}
	m.dropped()
	m.pos = []string{a.Name()}
	for _, name := range pos {
		if o := m.actorOf(name); o != nil && o != a && o.family == a.family {
			o.left = true
		}
	}
	m.look(t)
	if r.Operation == nil || rapid.IntRange(0, 2).Draw(t, "undo-restore") != 0 {
		return
	}
	m.undoRestore(t, was)
	m.say("the same again")
	if r, err = do(o); err != nil {
		t.Fatalf("undo: the same switch again: %v", err)
	}
	if now := m.files(); !maps.Equal(now, after) {
		t.Fatalf("undo: the same switch again gives %q, at first it gave %q", now, after)
	}
	if r.Operation != nil {
		m.undoRestore(t, was)
	}
	m.asBefore(a, was, seen, before)
	again()
	m.pos = append([]string{a.Name()}, pos...)
	m.look(t)
}

// checkoutPath sets one path as it was at the end of a turn, whoever changed it since, and nothing else: the project
// stands where it stood. Perhaps that is reverted at once.
func (m *sessions23) checkoutPath(t *rapid.T) {
	a, n := m.someTurn(t, func(*actor) bool { return true })
	if a == nil {
		return
	}
	path := somePath23(t)
	m.say("checkout turn:%d --session %s -- %s", n, a.short(), path)
	was, want := maps.Clone(m.h.world), a.turns[n-1].target()
	o := restore.Options{
		Session: model.SessionChoice{Session: a.Name()}, Scope: refs.Scope{Paths: refs.PathSet{path}}, Env: m.Env(),
	}
	r, err := m.shown(t, o, func(o restore.Options) (*restore.Result, error) {
		return m.E.Restorer.Checkout(enginetest.Bg, fmt.Sprint("turn:", n), o)
	})
	if none := want == nil || slices.Contains(want[path], ""); none && errors.Is(err, model.ErrNotFound) {
		return // the target has none
	}
	if err != nil {
		t.Fatalf("checkout turn:%d of %s -- %s: %v", n, a.Name(), path, err)
	}
	after := m.files()
	for _, other := range paths23 {
		if other != path && after[other] != was[other] {
			t.Fatalf("others: %s was %q and is %q, and %s alone was to be set", other, was[other], after[other], path)
		}
	}
	if want != nil && !slices.Contains(want[path], after[path]) {
		t.Fatalf("others: %s is %q, the target has %q", path, after[path], want[path])
	}
	if r.Saved != nil {
		m.h.saved()
	}
	m.say("  is %q", after[path])
	m.h.laidOut(a, path, after[path])
	m.look(t)
	if r.Operation == nil || rapid.IntRange(0, 2).Draw(t, "undo-restore") != 0 {
		return
	}
	m.undoRestore(t, was)
	m.h.laidOut(a, path, was[path])
	m.look(t)
}

// forkTurn makes a session of the turns up to one; the code stays.
func (m *sessions23) forkTurn(t *rapid.T) {
	a, n := m.someTurn(t, func(*actor) bool { return len(m.h.actors) < maxActors })
	if a == nil {
		return
	}
	m.say("fork turn:%d --session %s", n, a.short())
	f, err := m.E.Restorer.Fork(enginetest.Bg, fmt.Sprint("turn:", n),
		restore.Options{Session: model.SessionChoice{Session: a.Name()}, Env: m.Env()})
	var none *model.NoConversationError
	if !a.turns[n-1].whole && errors.As(err, &none) {
		return
	}
	m.Must(err)
	if now := m.files(); !maps.Equal(now, m.h.world) {
		t.Fatalf("others: a fork changed the files from %q to %q", m.h.world, now)
	}
	m.join(a, f.Fork, n, a.turns[n-1].end).beside = true
}

// join has a fork be one of the sessions. begin is what files may be where it begins.
func (m *sessions23) join(a *actor, f *model.Fork, n int, begin map[string][]string) *actor {
	_, id := model.SplitSession(f.Session)
	if !a.turns[n-1].whole {
		n = min(n, f.Cut.Turn)
	}
	b := &actor{
		Scribe: m.PickUp(a.Agent, id, f.Path), family: a.family, turns: slices.Clone(a.turns[:n]), born: true,
		begin: map[string][]string{},
	}
	b.began, b.back = len(m.h.changes), len(m.h.changes)
	for _, path := range paths23 {
		b.begin[path] = append(slices.Clone(begin[path]), m.h.world[path])
	}
	m.h.actors = append(m.h.actors, b)
	m.say("  makes %s", b.short())
	return b
}

// inPlace cuts the session itself, which its person has closed.
func (m *sessions23) inPlace(t *rapid.T) {
	a, n := m.someTurn(t, func(a *actor) bool {
		return !a.open && len(a.turns) > 1 && !slices.ContainsFunc(a.turns, func(r *round) bool { return !r.whole })
	})
	if a == nil || n == len(a.turns) {
		return
	}
	m.say("checkout turn:%d --in-place --session %s", n, a.short())
	end := a.turns[n-1]
	r, err := m.E.Restorer.Checkout(enginetest.Bg, fmt.Sprint("turn:", n),
		restore.Options{Session: model.SessionChoice{Session: a.Name()}, InPlace: true, Env: m.Env()})
	m.Must(err)
	if r.Conversation == nil || r.Conversation.Mode != model.ConversationInPlace {
		t.Fatalf("in place: %+v", r.Conversation)
	}
	m.goes(t, a, r, end, false, false)
	m.dropped()
	for _, gone := range a.turns[n:] {
		gone.over = true
	}
	a.turns = slices.Clone(a.turns[:n])
	a.Read()
	m.pos = []string{a.Name()}
	m.look(t)
	m.turnsOf(a)
}

// aloneBy reports whether a path was changed since a session began, and by its own calls alone, or by a person alone.
func (m *sessions23) aloneBy(a *actor, path string, its bool) bool {
	some := false
	for _, c := range m.h.changes[a.began:] {
		if c.path != path {
			continue
		}
		some = true
		if c.restore || c.loose || its != slices.Equal(c.by, []string{a.Name()}) || !its && len(c.by) > 0 {
			return false
		}
	}
	return some && (!its || m.h.world[path] == m.h.seen[path])
}

// onlyOthers reports whether nobody but other sessions has changed a path since a session began.
func (m *sessions23) onlyOthers(a *actor, path string) bool {
	some := false
	for _, c := range m.h.changes[a.began:] {
		if c.path != path {
			continue
		}
		some = true
		if c.restore || c.loose || len(c.by) == 0 {
			return false
		}
		for i, name := range c.by {
			if m.colleague(a, name, c.turns[i]) != yes {
				return false
			}
		}
	}
	if m.h.world[path] != m.h.seen[path] {
		return false
	}
	return some
}

// undoAll goes back step by step until what the session alone changed is as it was when it began, and forward again.
func (m *sessions23) undoAll(t *rapid.T) {
	a := m.someActor(t, func(a *actor) bool { return a.born && !a.left && !a.works() && len(a.all) > 0 })
	if a == nil || !holdUndo {
		return
	}
	o := restore.Options{Session: model.SessionChoice{Session: a.Name()}}
	o.TakeBack = rapid.Bool().Draw(t, "take back")
	m.say("undo of %s (take back: %v), until all of it is undone", a.short(), o.TakeBack)
	var own, others []string
	for _, path := range paths23 {
		touched := false
		for _, c := range m.h.changes[a.began:] {
			touched = touched || c.path == path && slices.Contains(c.by, a.Name())
		}
		switch {
		case m.onlyOthers(a, path), o.TakeBack && m.aloneBy(a, path, false):
			others = append(others, path)
		case o.TakeBack && !m.aloneBy(a, path, true):
		case touched && m.theirs(a, path, a.back, a.back) == no && m.h.newFile(path) == no:
			own = append(own, path)
		}
	}
	left := func() (out []string) {
		for _, path := range own {
			if !slices.Contains(a.begin[path], m.h.world[path]) {
				out = append(out, path)
			}
		}
		return out
	}
	start, seen, steps := maps.Clone(m.h.world), maps.Clone(m.h.seen), 0
	set := map[string]bool{} // paths that went, and came again
	pos := slices.Clone(m.pos)
	for most := len(m.h.changes) + 3; len(left()) > 0; steps++ {
		if steps > most {
			t.Fatalf("undo: %d steps of %s, and %q are not as they were when it began: %q, %q", steps, a.Name(), left(),
				m.h.world, a.begin)
		}
		r, err := m.shown(t, o, func(o restore.Options) (*restore.Result, error) {
			return m.E.Restorer.Undo(enginetest.Bg, 1, o)
		})
		if err != nil {
			t.Fatalf("undo: step %d of %s: %v, and %q are not as they were when it began: %q, %q", steps, a.Name(), err,
				left(), m.h.world, a.begin)
		}
		after := m.files()
		m.say("  step %d: %q", steps, after)
		for _, path := range paths23 {
			set[path] = set[path] || after[path] != m.h.world[path]
		}
		for _, path := range others {
			if after[path] != m.h.world[path] {
				t.Fatalf("undo: %s is another's, was %q and is %q", path, m.h.world[path], after[path])
			}
		}
		if len(r.Conflicts) > 0 {
			t.Fatalf("undo: conflicts without a racing edit: %+v", r.Conflicts)
		}
		if r.Saved != nil {
			m.h.saved()
			seen = maps.Clone(start)
		}
		m.h.restored(a, after)
		m.pos = []string{a.Name()}
		stays := r.Conversation == nil || r.Conversation.Session == "" // and with it the one of the family that goes on
		// a fork that nobody has used stands where the line does, and goes on
		for _, name := range pos {
			// nil: one that went, and came back
			if o := m.actorOf(name); o == nil || o.family == a.family && (stays || !o.used) {
				m.pos = append(m.pos, name)
			}
		}
	}
	m.look(t)
	for i := range steps { // a redo may go over several that lists fold
		_, err := m.shown(t, restore.Options{Session: model.SessionChoice{Session: a.Name()}},
			func(o restore.Options) (*restore.Result, error) { return m.E.Restorer.Redo(enginetest.Bg, 1, o) })
		m.say("  redo %d: %q", i, m.files())
		if i > 0 && errors.Is(err, model.ErrNotFound) && !o.TakeBack {
			break
		}
		if err != nil {
			t.Fatalf("undo: redo %d of %d of %s: %v", i+1, steps, a.Name(), err)
		}
	}
	if now := m.files(); !maps.Equal(now, start) {
		t.Fatalf("undo: after %d steps back and forward there is %q, there was %q", steps, now, start)
	}
	if steps > 0 {
		m.h.restored(a, start)
		m.h.seen = seen
		if o.TakeBack {
			m.pos = pos // each redo goes to where one was
		}
		for path := range set {
			if set[path] && !o.TakeBack {
				put(m.h.seen, path, start[path]) // the redo has laid it out
			}
		}
	}
	m.look(t)
}

// takesBack is undo --turn: what a session did from a prompt on goes, and nothing of anybody else. Perhaps it is taken
// back at once, by redo or by undo-restore, and everything is as it was.
func (m *sessions23) takesBack(t *rapid.T) {
	a := m.someActor(t, func(a *actor) bool {
		return a.born && len(a.turns) > 0 && !a.works() && len(m.h.actors) < maxActors
	})
	if a == nil || !holdUndo {
		return
	}
	n := rapid.IntRange(1, len(a.turns)).Draw(t, "turn")
	if rapid.Bool().Draw(t, "types") {
		m.user(t)
	}
	m.say("undo --to before:%d --session %s", n, a.short())
	was, seen, pos, again := maps.Clone(m.h.world), maps.Clone(m.h.seen), m.pos, m.places()
	from, before, left := a.turns[n-1].from, len(m.h.changes), a.left
	o := restore.Options{Session: model.SessionChoice{Session: a.Name()}, TakeBack: true, Env: m.Env()}
	r, err := m.shown(t, o, func(o restore.Options) (*restore.Result, error) {
		return m.E.Restorer.Checkout(enginetest.Bg, fmt.Sprint("before:", n), o)
	})
	if err != nil {
		t.Fatalf("undo --to before:%d of %s: %v", n, a.Name(), err)
	}
	after := m.files()
	m.say("  %q becomes %q; kept %+v, merges %+v", was, after, r.Plan.Kept, r.Plan.Merges)
	named := slices.Concat(r.Plan.Yours, r.Plan.Returned)
	for _, one := range r.Plan.Merges {
		named = append(named, string(one.Path))
	}
	for _, path := range paths23 {
		m.tookBack(t, a, path, from, after[path], slices.Contains(named, path))
	}
	if r.Saved != nil {
		m.h.saved()
		seen = maps.Clone(was)
	}
	m.h.restored(a, after)
	m.dropped()
	if r.Operation == nil {
		if !maps.Equal(was, after) {
			t.Fatalf("undo: nothing was done, and %q became %q", was, after)
		}
		m.pos = append(slices.Clone(pos), a.Name())
		return
	}
	end := &round{of: a, lo: from}
	if n > 1 {
		end.of = a.turns[n-2].of
	}
	m.stands(a, end)
	m.h.accounted(a, nil)
	made := m.wentTo(a, r, end, n-1, pos)
	m.look(t)
	if rapid.IntRange(0, 2).Draw(t, "it stays") == 0 {
		return
	}
	if rapid.Bool().Draw(t, "redo") {
		m.say("  redo")
		_, err = m.shown(t, restore.Options{Env: m.Env()}, func(o restore.Options) (*restore.Result, error) {
			return m.E.Restorer.Redo(enginetest.Bg, 1, o)
		})
		if err != nil {
			t.Fatalf("undo: redo of before:%d of %s: %v", n, a.Name(), err)
		}
		if now := m.files(); !maps.Equal(now, was) {
			t.Fatalf("undo: redo gives %q, before it was %q", now, was)
		}
	} else {
		m.undoRestore(t, was)
	}
	m.asBefore(a, was, seen, before)
	again()
	m.dropped()
	if made != nil && m.actorOf(made.Name()) != nil {
		t.Fatalf("undo: what was taken back leaves %s, which was made then", made.File)
	}
	a.left = left
	m.pos = append([]string{a.Name()}, pos...)
	m.look(t)
}

// tookBack holds what a path became when a session's changes from one on were taken back. yours: it is named as a
// person's.
func (m *sessions23) tookBack(t *rapid.T, a *actor, path string, from int, is string, yours bool) {
	var all []change
	for _, c := range m.h.changes[from:] {
		if c.path == path && !c.undone {
			all = append(all, c)
		}
	}
	now := m.h.world[path]
	if now != m.h.seen[path] {
		by, turns := m.h.authors(path)
		_, laid := m.h.laidBy[path]
		all = append(all, change{
			path: path, was: m.h.seen[path], is: now, by: by, turns: turns, loose: m.h.loose[path], restore: laid,
		})
	}
	last := -1 // the newest change that is not the session's
	for i, c := range all {
		switch m.its(a, &c) {
		case maybe:
			return // open
		case no:
			last = i
		}
	}
	what := fmt.Sprintf("%s was %q and is %q; since then %+v", path, now, is, all)
	switch {
	case len(all) == 0:
		if is != now {
			t.Fatalf("others: nobody has changed it since. %s", what)
		}
	case last < 0:
		if is != all[0].was {
			t.Fatalf("others: the session alone has changed it since. %s", what)
		}
	case slices.ContainsFunc(all, func(c change) bool { return m.its(a, &c) == no && len(c.by) > 0 }):
		// on top of one of the session's own it collides, perhaps: then the path stays as it is
		back, on := reversing(all[last].is), false
		for _, c := range slices.Backward(all[:last]) {
			if m.its(a, &c) == yes {
				back.perhaps(c.was, c.is)
				on = true
			}
		}
		if stays := on && is == now; !slices.Contains(back, is) && !stays {
			t.Fatalf("others: another session's change went. %s", what)
		}
	case !slices.ContainsFunc(all, func(c change) bool { return m.its(a, &c) == yes }):
		if is != now {
			t.Fatalf("others: a person alone has changed it since. %s", what)
		}
	case is != all[last].is && is != all[0].was:
		t.Fatalf("others: neither what the person left, nor what it was. %s", what)
	case is != now && last == len(all)-1 && !yours:
		t.Fatalf("others: a person's change went, unnamed. %s", what)
	}
}

// its says whether a change is a session's own.
func (m *sessions23) its(a *actor, c *change) sure {
	switch {
	case c.restore, c.loose:
		return maybe
	case len(c.by) == 1 && c.by[0] == a.Name() && slices.Contains(a.turns, c.turns[0]):
		return yes
	}
	for _, name := range c.by {
		if o := m.actorOf(name); o == nil || o.family == a.family {
			return maybe
		}
	}
	return no
}
