//go:build acceptance

package acceptance

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// handsMinutes, where it is set, is for how long TestThreeHands goes on; handsSeed is where its dice begin.
const (
	handsMinutes = "REWIND_ACCEPTANCE_MINUTES"
	handsSeed    = "REWIND_ACCEPTANCE_SEED"
)

// hands are three agents at work in a project, two of one kind, and a person who writes there, too.
type hands struct {
	*world
	rnd    *rand.Rand
	record record
	agents []*worker
	made   int // numbers of turns and files that were given out
}

// worker is an agent at work.
type worker struct {
	*world
	by    driver
	name  string // of its lines
	t     *terminal
	id    string
	turns []said
}

// said is a turn: its prompt, and how many changes the record had before it, and when it had done its last.
type said struct {
	prompt     string
	begin, end int
}

// TestThreeHands has three agents and a person work in one project, and at each stop goes back and forth in one of all
// ways: the files are what a plain record of who wrote what says.
func TestThreeHands(t *testing.T) {
	span, seed := time.Minute, uint64(time.Now().UnixNano())
	if n, err := strconv.Atoi(os.Getenv(handsMinutes)); err == nil {
		span = time.Duration(n) * time.Minute
	}
	if n, err := strconv.ParseUint(os.Getenv(handsSeed), 10, 64); err == nil {
		seed = n
	}
	t.Logf("the dice begin at %d", seed)
	plays(t, "hands", func(w *world, d driver) {
		h := &hands{world: w, rnd: rand.New(rand.NewPCG(seed, 0))}
		third, other := w.also(codex)
		w.install()
		w.rewind("init")
		h.joins("A", w, d)
		second := *w
		second.terminals = 200
		h.joins("B", &second, d)
		h.joins("C", third, other)
		stops := 0
		for end := time.Now().Add(span); time.Now().Before(end) && !t.Failed(); stops++ {
			h.works()
			h.stops()
		}
		w.Logf("%d stops", stops)
		for _, a := range h.agents {
			a.by.leave(a.t)
		}
		h.checkQuiet()
	}, claude)
}

// joins opens an agent and has its first turn.
func (h *hands) joins(name string, w *world, d driver) {
	h.Helper()
	a := &worker{world: w, by: d, name: name}
	var known []string
	for _, s := range h.sessions() {
		known = append(known, s.ID)
	}
	a.t = d.open(w, "")
	h.agents = append(h.agents, a)
	h.writes(a)
	a.id = w.fresh(known...)
}

// tell notes what is done, for who looks at a failure.
func (h *hands) tell(format string, args ...any) {
	h.Helper()
	h.Logf(time.Now().Format("15:04:05 ")+format, args...)
}

// number is one that nobody had.
func (h *hands) number() int {
	h.made++
	return h.made
}

// newFile is the name of a file that nobody had.
func (h *hands) newFile() string {
	return fmt.Sprintf("%s/f%d.txt", []string{"src", "docs", "."}[h.rnd.IntN(3)], h.number())
}

// some is a file that is there; "": there is none.
func (h *hands) some() string {
	list := slices.Sorted(maps.Keys(h.record.now()))
	if len(list) == 0 {
		return ""
	}
	return list[h.rnd.IntN(len(list))]
}

// text is a new file, made in a turn.
func text(n int) string {
	return fmt.Sprintf("made %d\n=\nA -\n=\nB -\n=\nC -\n=\nyou -\n", n)
}

// lineOf is what a text has in a hand's line.
func lineOf(text, name string) string {
	for l := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(l, name+" "); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// set is a text with another hand's line.
func set(text, name string, n int) string {
	return strings.Replace(text, "\n"+name+" "+lineOf(text, name)+"\n", fmt.Sprintf("\n%s %d\n", name, n), 1)
}

// works has a few turns, and the person's work between and in them.
func (h *hands) works() {
	h.Helper()
	for range 1 + h.rnd.IntN(4) {
		if h.rnd.IntN(3) == 0 {
			h.person()
		}
		a := h.agents[h.rnd.IntN(len(h.agents))]
		h.turn(a)
		h.checkRow(a)
	}
	if h.rnd.IntN(3) == 0 {
		h.person()
	}
}

// person writes, removes or renames a file.
func (h *hands) person() {
	h.Helper()
	p := h.some()
	kind := h.rnd.IntN(6)
	if p == "" {
		kind = 0
	}
	n := h.number()
	switch kind {
	case 0, 1:
		p = h.newFile()
		h.youMake("writes", p, text(n))
	case 2:
		h.youMake("removes", p, "")
	case 3:
		to, was := h.newFile(), h.record.now()[p]
		h.youMake("renames", p, "")
		h.youMake("to", to, was)
	default:
		h.youMake("edits", p, set(h.record.now()[p], you, n))
	}
}

// youMake has the person make a file what it shall be.
func (h *hands) youMake(does, path, becomes string) {
	h.Helper()
	h.tell("you: %s %s", does, path)
	h.record.did(you, 0, path, becomes)
	h.puts(path, becomes)
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// puts makes a file what it shall be.
func (h *hands) puts(path, becomes string) {
	h.Helper()
	full := filepath.Join(h.project, path)
	if becomes != "" {
		h.write(full, becomes)
	} else if err := os.Remove(full); err != nil {
		h.Fatal(err)
	}
}

// turn is a turn of an agent of some kind.
func (h *hands) turn(a *worker) {
	h.Helper()
	p := h.some()
	kind := h.rnd.IntN(9)
	if p == "" {
		kind = 0
	}
	switch kind {
	case 0:
		h.writes(a)
	case 1, 2:
		h.edits(a, p)
	case 3:
		h.says(a, "SED", p, func(n int) {
			h.wrote(a, p, set(h.record.now()[p], a.name, n))
		}, a.name)
	case 4:
		h.says(a, "REMOVE", p, func(int) { h.wrote(a, p, "") })
	case 5:
		to := h.newFile()
		h.says(a, "RENAME", p, func(int) {
			was := h.record.now()[p]
			h.wrote(a, p, "")
			h.wrote(a, to, was)
		}, to)
	case 6:
		h.thinks(a)
	case 7:
		h.overlaps(a, p)
	default:
		h.lets(a)
	}
}

// begins notes a turn.
func (h *hands) begins(a *worker, n int, word string, args ...string) (prompt string) {
	h.Helper()
	prompt = fmt.Sprintf("W%d-%s %s please", n, word, strings.Join(args, " "))
	h.tell("%s: %s", a.name, prompt)
	at := len(h.record.changes)
	a.turns = append(a.turns, said{prompt, at, at})
	return prompt
}

// wrote notes what an agent has made of a file in its turn, which ends with the last that it does.
func (h *hands) wrote(a *worker, path, becomes string) {
	h.record.did(a.name, len(a.turns), path, becomes)
	a.turns[len(a.turns)-1].end = len(h.record.changes)
}

// says has a turn that does something to a path.
func (h *hands) says(a *worker, word, path string, does func(n int), more ...string) {
	h.Helper()
	n := h.number()
	a.t.say(h.begins(a, n, word, append([]string{path}, more...)...))
	does(n)
}

func (h *hands) writes(a *worker) {
	h.Helper()
	p := h.newFile()
	h.says(a, "WRITE", p, func(n int) { h.wrote(a, p, text(n)) })
}

// edits has a turn that edits a line by the agent's own tool.
func (h *hands) edits(a *worker, p string) {
	h.Helper()
	word := "EDIT"
	if a.agent == "codex" {
		word = "PATCH"
	}
	h.says(a, word, p, func(n int) {
		h.wrote(a, p, set(h.record.now()[p], a.name, n))
	}, a.name, lineOf(h.record.now()[p], a.name))
}

// thinks has a turn that writes two files; between the two, while the model thinks, the person writes.
func (h *hands) thinks(a *worker) {
	h.Helper()
	n, p, q := h.number(), h.newFile(), h.newFile()
	prompt := h.begins(a, n, "THINK", p, q)
	a.t.types(prompt)
	h.waits("the first file", func() bool { return isThere(h.place(p)) })
	h.wrote(a, p, text(n))
	time.Sleep(1500 * time.Millisecond)
	h.person()
	h.wrote(a, q, text(n))
	a.answers(prompt)
}

// overlaps has a long command of an agent, and a turn of another one that writes a file by its name meanwhile.
func (h *hands) overlaps(a *worker, p string) {
	h.Helper()
	n := h.number()
	prompt := h.begins(a, n, "LONG", p, a.name)
	a.t.types(prompt)
	outside := filepath.Dir(h.project)
	begun := filepath.Join(outside, fmt.Sprint("begun.", n))
	h.waits("the command", func() bool { return isThere(begun) })
	h.wrote(a, p, set(h.record.now()[p], a.name, n))
	b := h.agents[h.rnd.IntN(len(h.agents))]
	if b != a {
		h.writes(b)
	}
	h.write(filepath.Join(outside, fmt.Sprint("go.", n)), "")
	a.answers(prompt)
}

// lets has a turn in which Claude has another do the work, which is told of its end behind the turn.
func (h *hands) lets(a *worker) {
	h.Helper()
	if a.agent != "claude" {
		h.writes(a)
		return
	}
	n, p := h.number(), h.newFile()
	prompt := h.begins(a, n, "CHILD", p)
	a.t.types(prompt)
	h.waits("the other's work", func() bool { return isThere(h.place(p)) })
	h.wrote(a, p, text(n))
	a.answers(prompt)
	a.t.still(4 * steady)
}

// answers waits for the end of an answer.
func (a *worker) answers(prompt string) {
	a.Helper()
	turn, _, _ := strings.Cut(prompt, " ")
	a.t.until("answer to "+prompt, func(s string) bool { return strings.Contains(s, turn+" complete.") })
	a.t.settles()
}

// waits waits until something holds.
func (h *hands) waits(what string, holds func() bool) {
	h.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(look) {
		if time.Now().After(end) {
			h.Fatalf("no %s within %v", what, patience)
		}
	}
}

// stops holds what is there, and what is told of it, against the record, and goes back and forth.
func (h *hands) stops() {
	h.Helper()
	h.holdsFiles("work", h.record.now())
	for _, a := range h.agents {
		var prompts []string
		for _, t := range a.turns {
			prompts = append(prompts, t.prompt)
		}
		h.checkTurns(a.id, prompts...)
	}
	for range 1 + h.rnd.IntN(3) {
		a := h.agents[h.rnd.IntN(len(h.agents))]
		h.goesBack(a, h.rnd.IntN(9))
		if h.Failed() {
			return
		}
	}
}

// checkRow holds the row of an agent's newest turn against what it did itself, and what you did meanwhile.
func (h *hands) checkRow(a *worker) {
	h.Helper()
	var r struct {
		Turns []struct {
			Session string
			Turn    int
			Changes []struct {
				Path string
				From string `json:"renamed_from"`
			}
			Yours []string
		}
	}
	h.json(&r, "list", "--turns", "--limit", "0", "--session", a.id)
	n := len(a.turns)
	its := func(c *change) bool { return c.by == a.name && c.turn == n }
	want := h.record.changed(a.turns[n-1].begin, its)
	for _, row := range r.Turns {
		if row.Turn != n || !strings.HasSuffix(row.Session, "/"+a.id) {
			continue
		}
		var got []string
		for _, c := range row.Changes {
			for _, path := range []string{c.Path, c.From} {
				if path != "" {
					got = append(got, filepath.Dir(path)+"/"+filepath.Base(path))
				}
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			h.Errorf("the row of turn %d of %s has %q, want %q", n, a.name, got, want)
		}
		if your := h.record.yours(a.turns[n-1]); len(row.Yours) != len(your) {
			h.Errorf("the row of turn %d of %s has beside it %q, want %q", n, a.name, row.Yours, your)
		}
		return
	}
	h.Errorf("there is no row of turn %d of %s", n, a.name)
}

// goesBack goes back in one way, and forth again.
func (h *hands) goesBack(a *worker, way int) {
	h.Helper()
	last := len(a.turns) - 1
	at := h.rnd.IntN(len(a.turns))
	its := func(c *change) bool { return c.by == a.name }
	family := func(c *change) bool { return c.by == a.name || c.by == you }
	switch way {
	case 0:
		h.thereAndBack("redo", a, h.record.without(a.turns[last].begin, its), "undo", "--turn")
	case 1:
		n := last - at + 1
		h.thereAndBack("redo", a, h.record.without(a.turns[at].begin, its), "undo", "--turn", fmt.Sprint(n))
	case 2:
		h.thereAndBack("", a, h.record.without(a.turns[at].begin, family), "checkout", fmt.Sprintf("before:%d", at+1))
	case 3:
		h.thereAndBack("", a, h.record.without(a.turns[at].end, family), "checkout", fmt.Sprintf("turn:%d", at+1))
	case 4:
		h.thereAndBack("", a, h.record.files(a.turns[at].end), "checkout", fmt.Sprintf("turn:%d", at+1), "--exact")
	case 5:
		turn := fmt.Sprintf("turn:%d", at+1)
		h.thereAndBack("", a, h.record.but(a.turns[at].end, its, true), "checkout", turn, "--keep-mine")
	case 6:
		h.thereAndBack("redo", a, h.record.without(a.turns[at].end, its), "undo", "--to", fmt.Sprintf("turn:%d", at+1))
	case 7:
		if last > 0 {
			h.staysBack(a)
		}
	case 8:
		the := func(c *change) bool { return c.by == a.name && c.turn == at+1 }
		later := h.record.changed(a.turns[at].end, its)
		again := func(path string) bool { return slices.Contains(later, path) }
		overwritten := slices.ContainsFunc(h.record.changed(a.turns[at].begin, the), again)
		if want, clean := h.record.clean(a.turns[at].begin, the); clean && !overwritten {
			h.thereAndBack("", a, want, "revert", fmt.Sprintf("turn:%d", at+1))
		}
	}
}

// staysBack takes the last turn of an agent back, and goes on in the new session as the answer says.
func (h *hands) staysBack(a *worker) {
	h.Helper()
	h.tell("rewind undo --turn --session %s, and on from there", a.name)
	last := len(a.turns) - 1
	was, want := h.record.now(), h.record.without(a.turns[last].begin, by(a.name))
	r := h.goes("undo", "--turn", "--session", a.id)
	h.holdsFiles("undo --turn", want)
	if r.Talk.Fork == nil {
		h.Fatalf("no new session: %+v", r)
	}
	for path := range was {
		if _, stays := want[path]; !stays {
			want[path] = ""
		}
	}
	for _, path := range slices.Sorted(maps.Keys(want)) {
		if was[path] != want[path] {
			h.record.did(a.name, 0, path, want[path])
		}
	}
	a.by.leave(a.t)
	a.id, a.turns = r.Talk.Fork.ID, a.turns[:last]
	a.t = a.by.open(a.world, a.id)
}

// thereAndBack goes back, holds the files against the record, and takes that back.
func (h *hands) thereAndBack(back string, a *worker, want map[string]string, args ...string) {
	h.Helper()
	h.tell("rewind %s --session %s", strings.Join(args, " "), a.name)
	was := h.record.now()
	if maps.Equal(was, want) {
		h.tell("which is nothing to do")
		return
	}
	h.goes(append(args, "--session", a.id)...)
	h.holdsFiles(strings.Join(args, " "), want)
	if back == "" || h.rnd.IntN(2) == 0 {
		h.goes("undo-restore")
	} else {
		h.goes("redo", "--session", a.id)
	}
	h.holdsFiles("the way back of "+strings.Join(args, " "), was)
}

// holdsFiles holds the project's files against what the record says.
func (h *hands) holdsFiles(what string, want map[string]string) {
	h.Helper()
	got := map[string]string{}
	for _, dir := range []string{".", "src", "docs"} {
		list, err := filepath.Glob(filepath.Join(h.project, dir, "f*.txt"))
		if err != nil {
			h.Fatal(err)
		}
		for _, path := range list {
			got[dir+"/"+filepath.Base(path)] = h.read(path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(want)) {
		if got[path] != want[path] {
			h.Errorf("%s: %s is %q, want %q", what, path, got[path], want[path])
		}
	}
	for _, path := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[path]; !ok {
			h.Errorf("%s: %s is there, and is not wanted", what, path)
		}
	}
}
