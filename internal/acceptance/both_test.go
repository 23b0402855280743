//go:build acceptance

package acceptance

import (
	"path/filepath"
	"slices"
	"testing"
)

func TestBothApart(t *testing.T)   { plays(t, "together", testBothApart, claude) }
func TestBothOverlap(t *testing.T) { plays(t, "together", testBothOverlap, claude) }

// also has a second agent at work in a world.
func (w *world) also(c client) (*world, driver) {
	w.Helper()
	dir, err := clientsDir()
	if err != nil {
		w.Fatal(err)
	}
	d := drivers[slices.IndexFunc(drivers, func(d driver) bool { return d.client == c })]
	b := *w
	b.client, b.program, b.output, b.terminals, b.env = c, c.path(dir), nil, 100, slices.Clone(w.env)
	d.onPath(&b)
	d.offline(&b)
	return &b, d
}

// testBothApart has Claude and Codex take turns in one project: undo of one takes its own work back, as far as its
// first turn, and leaves the other's.
func testBothApart(w *world, d driver) {
	b, other := w.also(codex)
	w.install()
	w.rewind("init")
	t, u := d.open(w, ""), other.open(b, "")
	t.say("BUTTON-TURN please")
	u.say("ROUTE-TURN please")
	t.say("AGAIN-TURN please")
	first, second := w.session(), b.session()
	w.checkTurns(first, "BUTTON-TURN please", "AGAIN-TURN please")
	b.checkTurns(second, "ROUTE-TURN please")
	button := func(want string) {
		w.Helper()
		if got := w.read(filepath.Join(w.project, "button.js")); got != want {
			w.Errorf("button.js is %q, want %q", got, want)
		}
	}
	w.Logf("%s", w.rewind("undo", "--session", first))
	button("button 1\n")
	w.isThere("button.js route.go")
	w.Logf("%s", w.rewind("undo", "--session", first))
	w.isThere("route.go")
	w.rewind("redo", "--session", first)
	button("button 1\n")
	w.rewind("redo", "--session", first)
	button("button 2\n")
	w.Logf("%s", w.rewind("checkout", "turn:1", "--session", first))
	button("button 1\n")
	w.isThere("button.js route.go")
	w.rewind("undo-restore")
	button("button 2\n")
	w.Logf("%s", w.rewind("undo", "--session", second))
	w.isThere("button.js")
	d.leave(t)
	other.leave(u)
	w.checkQuiet()
	b.checkQuiet()
}

// testBothOverlap has Codex write a file by its name while a command of Claude's runs: each owns what it wrote.
func testBothOverlap(w *world, d driver) {
	b, other := w.also(codex)
	w.install()
	w.rewind("init")
	t, u := d.open(w, ""), other.open(b, "")
	u.say("ROUTE-TURN please")
	t.types("LONG-TURN please")
	t.until("the call at work", func(string) bool { return w.exists("long.txt") })
	u.say("NAMED-TURN please")
	w.write(filepath.Join(filepath.Dir(w.project), "go.on"), "")
	t.until("its end", func(string) bool { return w.read(filepath.Join(w.project, "long.txt")) == "begun\nended\n" })
	t.settles()
	first, second := w.session(), b.session()
	w.checkTurns(first, "LONG-TURN please")
	b.checkTurns(second, "ROUTE-TURN please", "NAMED-TURN please")
	w.Logf("%s", w.rewind("undo", "--session", first))
	w.isThere("named.txt route.go")
	w.rewind("redo", "--session", first)
	w.isThere("long.txt named.txt route.go")
	w.Logf("%s", w.rewind("undo", "--session", second))
	w.isThere("long.txt route.go")
	w.rewind("redo", "--session", second)
	w.isThere("long.txt named.txt route.go")
	w.Logf("%s", w.rewind("checkout", "turn:1", "--session", second))
	w.isThere("long.txt route.go")
	d.leave(t)
	other.leave(u)
	w.checkQuiet()
	b.checkQuiet()
}
