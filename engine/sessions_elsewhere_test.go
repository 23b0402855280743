package engine_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/restore"
	"rewind/hooks"
)

// elsewhere is a second project. Sessions of the first change files there in calls that name them: the project hears of
// the calls and of the stop, and is told which turn that is. A person types there, too.
type elsewhere struct {
	*enginetest.Project
	world map[string]string
	done  []changeElsewhere
	rows  map[*round]uint64 // the turn that a round is there
}

type changeElsewhere struct {
	by      *round // nil: the person's
	path    string
	was, is string
}

// open sets the project up at the first visit: most runs have none.
func (w *elsewhere) open(m *sessions23) {
	if w.Project != nil {
		return
	}
	root := m.Root + "-elsewhere"
	m.Must(os.MkdirAll(root, 0o755))
	w.Project = enginetest.OpenProject(m.T, root, m.Home.Dir+"-elsewhere")
	w.world, w.rows = map[string]string{}, map[*round]uint64{}
	w.Write("start", enginetest.Big("start"))
	w.Save("first")
}

func (w *elsewhere) close() {
	if w.Project != nil {
		w.Close()
	}
}

func (w *elsewhere) put(m *sessions23, by *round, path string, removes bool) {
	m.n++
	is := fmt.Sprintf("%d elsewhere", m.n)
	if removes && w.world[path] != "" {
		is = ""
	}
	m.say("  elsewhere %s: %q -> %q", path, w.world[path], is)
	w.done = append(w.done, changeElsewhere{by, path, w.world[path], is})
	w.set(path, is)
}

func (w *elsewhere) set(path, is string) {
	if is == "" {
		w.Remove(path)
	} else {
		w.Write(path, enginetest.Big(is))
	}
	put(w.world, path, is)
}

// visits is a call of a session in the second project, in the middle of a turn; perhaps a person types there before.
func (m *sessions23) visits(t *rapid.T, a *actor) {
	w := &m.there
	w.open(m)
	if rapid.Bool().Draw(t, "types") {
		w.put(m, nil, somePath23(t), rapid.IntRange(0, 4).Draw(t, "remove") == 0)
	}
	tool, input := a.Tool("")
	id := fmt.Sprint("call_", enginetest.Unique())
	said := map[string]any{"tool_name": tool, "tool_input": input, "tool_use_id": id}
	a.Scribe.Calls(id, tool, input)
	h := m.event(a, nil, hooks.BeforeTool, maps.Clone(said))
	o := capture.HandleOptions{Turn: h.Turn, Recount: true}
	r := a.last()
	if h.Turn != uint64(len(a.turns)) {
		t.Fatalf("a call in turn %d is of turn %d", len(a.turns), h.Turn)
	}
	a.TellIn(w.Project, o, hooks.BeforeTool, maps.Clone(said))
	w.put(m, r, somePath23(t), rapid.IntRange(0, 4).Draw(t, "remove") == 0)
	said["tool_response"] = "done"
	m.event(a, nil, hooks.AfterTool, maps.Clone(said))
	h = a.TellIn(w.Project, o, hooks.AfterTool, maps.Clone(said))
	a.Result(id, tool, "done")
	cp := w.Get(h)
	if h.New && (!slices.Equal(cp.By, []string{a.Name()}) || cp.Cause.Turn != o.Turn) {
		t.Fatalf("elsewhere: turn %d of %s has a checkpoint of %q in turn %d", o.Turn, a.Name(), cp.By, cp.Cause.Turn)
	}
	w.rows[r] = o.Turn
}

// back takes a turn back, and all that its session did there behind it, and holds the files against the record.
func (w *elsewhere) back(m *sessions23, t *rapid.T) {
	if w.Project == nil {
		return
	}
	if h := w.files(m); !maps.Equal(h, w.world) {
		t.Fatalf("elsewhere: %q, want %q", h, w.world)
	}
	var can []*round
	for _, a := range m.h.actors {
		for _, r := range a.turns {
			again := func(o *round) bool { return o != r && o.of == r.of && w.rows[o] == w.rows[r] }
			twice := slices.ContainsFunc(slices.Collect(maps.Keys(w.rows)), again) // its number came again
			if n := w.rows[r]; n > 0 && !twice && r.of == a {
				can = append(can, r)
			}
		}
	}
	if len(can) == 0 {
		return
	}
	r := rapid.SampledFrom(can).Draw(t, "turn elsewhere")
	from := slices.IndexFunc(w.done, func(c changeElsewhere) bool { return c.by == r })
	want, open := maps.Clone(w.world), map[string]bool{}
	for _, c := range slices.Backward(w.done[from:]) {
		its := c.by != nil && c.by.of == r.of
		switch {
		case !its && !open[c.path]:
			open[c.path] = true
		case its && !open[c.path]:
			put(want, c.path, c.was)
		}
	}
	for _, c := range w.done[from:] { // where two hands were at work conflicts are settled, as is told elsewhere
		if its := c.by != nil && c.by.of == r.of; !its {
			open[c.path] = true
		}
	}
	before := maps.Clone(w.world)
	name := fmt.Sprintf("before:%d", w.rows[r])
	m.say("elsewhere: back to %s of %s", name, r.of.short())
	o := restore.Options{TakeBack: true, CodeOnly: true, Env: w.Env()}
	o.Session.Session = r.of.Name()
	if _, err := w.E.Restorer.Checkout(enginetest.Bg, name, o); err != nil {
		t.Fatalf("elsewhere: %s of %s: %v", name, r.of.short(), err)
	}
	got := w.files(m)
	for _, path := range paths23 {
		if !open[path] && got[path] != want[path] {
			t.Fatalf("elsewhere: %s of %s: %s is %q, want %q", name, r.of.short(), path, got[path], want[path])
		}
	}
	if _, err := w.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{CodeOnly: true, Env: w.Env()}); err != nil {
		t.Fatalf("elsewhere: undo-restore: %v", err)
	}
	if got := w.files(m); !maps.Equal(got, before) {
		t.Fatalf("elsewhere: undo-restore leaves %q, want %q", got, before)
	}
}

func (w *elsewhere) files(m *sessions23) map[string]string {
	out := map[string]string{}
	for _, path := range paths23 {
		b, err := os.ReadFile(w.Path(path))
		if os.IsNotExist(err) {
			continue
		}
		m.Must(err)
		out[path], _, _ = strings.Cut(string(b), "\n")
	}
	return out
}
