package conversation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/internal/torture"
)

// A saying is a record of a made-up session file.
type saying struct {
	id, parent, message, call, role, text string
	session                               string // that it is written as
	asked                                 string // the session that the reply was asked in, if another
	forked                                [2]string
	at                                    time.Time
	turn                                  int // from 1
	book                                  bool
}

// A branch is a session of a family, and how it was made.
type branch struct {
	id     string
	kind   string  // how
	parent *branch // that is to be found; nil: none
	turn   int     // of the parent, the last that it has
	of     *branch // that it was really made of: of what has the same records, the first is to be found
	said   []saying
	front  []string // lines that stand ahead
	cut    int      // turns that its file still has; 0: all
	torn   bool     // its last line was not finished
}

func (b *branch) turns() int {
	for _, s := range slices.Backward(b.said) {
		if s.turn > 0 {
			return s.turn
		}
	}
	return 0
}

// same is the first session that has the same records as b up to a turn.
func (b *branch) same(turn int) *branch {
	for b.of != nil && turn <= b.turn && b.kind != "resume 1.0" {
		b = b.of
	}
	return b
}

// families makes session files as Claude Code of all ages, its SDK and tools beside them leave them behind. What each
// kind of copy keeps and changes is what the released agents were seen to do (testdata/driven); tool is what programs
// beside them do.
type families struct {
	rnd *rand.Rand
	n   int
	now time.Time
}

func (f *families) id() string {
	f.n++
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", f.rnd.Uint32(), f.n)
}

func (f *families) later(most int) time.Time {
	f.now = f.now.Add(time.Duration(200+f.rnd.IntN(most)) * time.Millisecond)
	return f.now
}

var words = []string{"fix it", "go on", "and now tests", "no, the other one", "yes"} // the same again and again

func (f *families) goOn(b *branch, turns int) {
	say := func(s saying) {
		s.id, s.session, s.at = f.id(), b.id, f.later(20_000)
		for _, old := range slices.Backward(b.said) {
			if !old.book {
				s.parent = old.id
				break
			}
		}
		b.said = append(b.said, s)
	}
	for range turns {
		turn := b.turns() + 1
		b.said = append(b.said, saying{book: true, session: b.id, at: f.later(100)})
		say(saying{role: "user", text: words[f.rnd.IntN(len(words))], turn: turn})
		for range f.rnd.IntN(3) { // calls that run beside each other are no branches
			message, call := "msg_01"+f.id(), "toolu_01"+f.id()
			say(saying{role: "assistant", message: message, call: call, turn: turn})
			of := b.said[len(b.said)-1].id
			say(saying{role: "user", call: call, text: f.quotes(b), turn: turn})
			b.said[len(b.said)-1].parent = of
		}
		say(saying{role: "assistant", message: "msg_01" + f.id(), text: "done", turn: turn})
	}
}

// quotes is a tool's result: lines of this or any session file, as a tool that reads them gives.
func (f *families) quotes(b *branch) string {
	if f.rnd.IntN(3) > 0 {
		return "ok"
	}
	return line(b.said[f.rnd.IntN(len(b.said))], "/elsewhere")
}

var kinds = []string{
	"/branch", "--fork-session", "--fork-session 2.1.30", "copied file", "resume 1.0", "forkSession",
	"tool",
}

// copied makes a session of the first turns of another one.
func (f *families) copied(of *branch, kind string) *branch {
	b := &branch{id: f.id(), kind: kind, of: of, turn: of.turns()}
	if kind == "copied file" || kind == "forkSession" || kind == "tool" {
		b.turn = 1 + f.rnd.IntN(of.turns())
	}
	at := f.later(5_000)
	ids := map[string]string{"": ""}
	for _, s := range of.said {
		if s.turn > b.turn || s.book && kind != "copied file" {
			continue
		}
		was := s
		s.forked = [2]string{}
		if ids[s.id] = s.id; kind == "resume 1.0" || kind == "forkSession" || kind == "tool" {
			ids[s.id] = f.id()
		}
		s.id, s.parent = ids[s.id], ids[s.parent]
		if kind != "--fork-session 2.1.30" && kind != "copied file" {
			s.session = b.id
		}
		switch kind {
		case "/branch", "forkSession":
			s.forked = [2]string{of.id, was.id}
		case "--fork-session":
			if s.role == "assistant" && s.asked == "" {
				s.asked = was.session
			}
		case "resume 1.0":
			s.at = at
		}
		b.said = append(b.said, s)
	}
	if kind == "copied file" {
		for len(b.said) > 0 && b.said[len(b.said)-1].book {
			b.said = b.said[:len(b.said)-1]
		}
	}
	switch kind {
	case "--fork-session", "--fork-session 2.1.30":
		b.front = []string{line(saying{book: true, session: b.id, at: at}, "")}
	case "resume 1.0":
		b.front = []string{`{"type":"summary","summary":"Fake title","leafUuid":"` + of.said[len(of.said)-1].id + `"}` +
			"\n"}
	case "forkSession":
		b.said[len(b.said)-1].at = at
	}
	b.parent = of
	for kind == "copied file" && b.parent.of != nil && b.turn <= b.parent.turn &&
		// all that it has says whose it was at first
		(b.parent.kind == "copied file" || b.parent.kind == "--fork-session 2.1.30") {
		b.parent = b.parent.of
	}
	if kind == "tool" || kind == "resume 1.0" { // they say nothing of whose copy it is
		b.parent = of.same(b.turn)
	}
	own := 1 + f.rnd.IntN(3)
	if kind == "/branch" || kind == "forkSession" {
		own = f.rnd.IntN(3)
	}
	f.goOn(b, own)
	return b
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func line(s saying, cwd string) string {
	at := s.at.UTC().Format("2006-01-02T15:04:05.000Z")
	if s.book {
		return fmt.Sprintf(`{"type":"queue-operation","operation":"enqueue","timestamp":%q,"sessionId":%q}`+"\n", at,
			s.session)
	}
	parent, content, more := "null", quoted(s.text), ""
	if s.parent != "" {
		parent = quoted(s.parent)
	}
	switch {
	case s.role == "assistant" && s.call != "":
		content = fmt.Sprintf(`[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":"ls"}}]`, s.call)
	case s.role == "assistant":
		content = fmt.Sprintf(`[{"type":"text","text":%q}]`, s.text)
	case s.call != "":
		content = fmt.Sprintf(`[{"type":"tool_result","tool_use_id":%q,"content":%s}]`, s.call, quoted(s.text))
	}
	if s.forked[0] != "" {
		more += fmt.Sprintf(`,"forkedFrom":{"sessionId":%q,"messageUuid":%q}`, s.forked[0], s.forked[1])
	}
	if s.asked != "" {
		more += fmt.Sprintf(`,"requestSessionId":%q`, s.asked)
	}
	return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"type":%q,"message":{"id":%q,"role":%q,"content":%s},"uuid":%q,`+
		`"timestamp":%q,"cwd":%q,"sessionId":%q,"version":"2.1.328"%s}`+"\n",
		parent, s.role, s.message, s.role, content, s.id, at, cwd, s.session, more)
}

func (b *branch) lines(cwd string) string {
	w := strings.Join(b.front, "")
	for _, s := range b.said {
		if b.cut == 0 || s.turn <= b.cut {
			w += line(s, cwd)
		}
	}
	if b.torn { // a kill in the middle of a line
		w += line(b.said[len(b.said)-1], cwd)[:40]
	}
	return w
}

// family is a first session and what was made of it, five deep at most.
func (f *families) family() []*branch {
	first := &branch{id: f.id(), kind: "first"}
	f.goOn(first, 1+f.rnd.IntN(4))
	all, depth := []*branch{first}, map[*branch]int{}
	for range f.rnd.IntN(8) {
		of := all[f.rnd.IntN(len(all))]
		if depth[of] == 5 {
			continue
		}
		b := f.copied(of, kinds[f.rnd.IntN(len(kinds))])
		depth[b] = depth[of] + 1
		all = append(all, b)
		if f.rnd.IntN(2) == 0 {
			f.goOn(of, 1) // it goes on beside its fork
		}
	}
	if f.rnd.IntN(3) == 0 { // the same words again are another conversation
		again := &branch{id: f.id(), kind: "rerun"}
		f.goOn(again, first.turns())
		for i, s := range first.said {
			if i < len(again.said) {
				again.said[i].text = s.text
			}
		}
		all = append(all, again)
	}
	return all
}

// wear does to files what time does.
func (f *families) wear(all []*branch) {
	for _, b := range all {
		switch f.rnd.IntN(12) {
		case 0:
			b.torn = true
		case 1: // its forks still say what they have of it, where they name it
			named := true
			for _, c := range all {
				named = named && (c.of != b && c.parent != b || c.kind == "/branch" || c.kind == "--fork-session" ||
					c.kind == "forkSession")
			}
			if named && b.turns() > 1 {
				b.cut = 1
			}
			if b.cut == 1 && b.parent != nil {
				b.cut = 0
			}
		}
	}
}

// TestPromise19Kin: of families of sessions made in every way that is known, every fork is found with the right parent
// and turn, whatever order the files are seen in, and what is none is told to be none. The truth is how they were made
// here; where several sessions have the same records, the first of them is meant.
func TestPromise19Kin(t *testing.T) {
	var all score
	for seed := range uint64(8) {
		if !torture.Today(int(seed)) {
			continue
		}
		f := &families{rnd: rand.New(rand.NewPCG(19, seed)), now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
		var list []*branch
		for range 60 {
			family := f.family()
			f.wear(family)
			list = append(list, family...)
		}
		p := enginetest.NewProject(t)
		p.Write("f", enginetest.Big("0"))
		p.Save("first")
		see(t, p, list, f.rnd, 1+int(seed)%4)
		for _, b := range list {
			of := ""
			if b.parent != nil {
				of = "claude/" + b.parent.id
			}
			all.judge(t, p, b.kind, "claude/"+b.id, of, b.turn)
		}
	}
	all.must(t)
}

// see has the files of sessions seen in any order, by so many imports.
func see(t enginetest.Fataler, p *enginetest.Project, list []*branch, rnd *rand.Rand, imports int) {
	t.Helper()
	p.Must(os.MkdirAll(p.Chats(), 0o700))
	order := rnd.Perm(len(list))
	for n := range imports {
		for _, i := range order[n*len(list)/imports : (n+1)*len(list)/imports] {
			b := list[i]
			p.Must(os.WriteFile(filepath.Join(p.Chats(), b.id+".jsonl"), []byte(b.lines(p.Root)), 0o600))
		}
		res, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
		if p.Must(err); len(res.Failed) > 0 {
			t.Fatalf("import: %v", res.Failed)
		}
	}
}

// orders is a question of which sessions were made of which: three families that a seed gives.
type orders struct {
	f    *families
	list []*branch
}

func ordersOf(seed uint64) *orders {
	f := &families{
		rnd: rand.New(rand.NewPCG(seed, 0)), now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC),
	}
	return &orders{f, slices.Concat(f.family(), f.family(), f.family())}
}

// found are the origins of all in a new project, which see brings them to.
func (o *orders) found(t *testing.T, see func(p *enginetest.Project)) map[string]*model.Lineage {
	p := enginetest.NewProject(t)
	p.Write("f", enginetest.Big("0"))
	p.Save("first")
	see(p)
	all := map[string]*model.Lineage{}
	for _, b := range o.list {
		all[b.id] = p.Session("claude/" + b.id).Fork
	}
	return all
}

func sameOrigins(t enginetest.Fataler, what string, want, got map[string]*model.Lineage) {
	t.Helper()
	for id, l := range want {
		if !l.Same(got[id]) {
			t.Fatalf("%s: at once %+v, %s %+v", id, l, what, got[id])
		}
	}
}

// Whatever order files are seen in, and however many at a time, the same is found as when all are seen at once.
func TestPromise19KinAnyOrder(t *testing.T) {
	anyOrder := func(rt enginetest.Fataler, seed uint64) {
		o := ordersOf(seed)
		in := func(imports int) map[string]*model.Lineage {
			return o.found(t, func(p *enginetest.Project) { see(rt, p, o.list, o.f.rnd, imports) })
		}
		sameOrigins(rt, "one by one", in(1), in(len(o.list)))
	}
	anyOrder(t, 0x74b) // what is found of one has another looked at again: more looks than there are sessions
	enginetest.SetChecks(t, 10, 19)
	rapid.Check(t, func(rt *rapid.T) { anyOrder(rt, rapid.Uint64().Draw(rt, "seed")) })
}

// endsAfter is a context that has ended when it was asked so often whether it has.
type endsAfter struct {
	context.Context
	left int
}

func (c *endsAfter) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestPromise19KinInterrupted: an import that is interrupted anywhere, by somebody who then looks at single sessions
// and leaves, is made up for by the next one.
func TestPromise19KinInterrupted(t *testing.T) {
	o := ordersOf(0x74b)
	whole := func(p *enginetest.Project) { see(t, p, o.list, rand.New(rand.NewPCG(1, 1)), 1) }
	want := o.found(t, whole)
	for asked := 0; asked < 3*len(o.list); asked += torture.Points(7, 1) {
		got := o.found(t, func(p *enginetest.Project) {
			p.Must(os.MkdirAll(p.Chats(), 0o700))
			for _, b := range o.list {
				p.Must(os.WriteFile(filepath.Join(p.Chats(), b.id+".jsonl"), []byte(b.lines(p.Root)), 0o600))
			}
			_, _ = p.E.Talks.Import(&endsAfter{enginetest.Bg, asked}, p.Env(), nil)
			p.E.Log.Lock() // somebody looks at one after the other, each before what it was made of
			for _, b := range slices.Backward(o.list) {
				p.E.Talks.ResolveOrigin(enginetest.Bg, "claude/"+b.id)
			}
			p.E.Log.Unlock()
			p.Reopen()
			_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
			p.Must(err)
		})
		sameOrigins(t, fmt.Sprintf("interrupted when it had asked %d times", asked), want, got)
	}
}

// BenchmarkPromise19KinKnown looks for the origins of 1,000 sessions that are known, in a daemon that has just begun.
func BenchmarkPromise19KinKnown(b *testing.B) {
	f := &families{rnd: rand.New(rand.NewPCG(19, 0)), now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
	var list []*branch
	for len(list) < 1000 {
		list = append(list, f.family()...)
	}
	p := enginetest.OpenProject(b, b.TempDir(), b.TempDir())
	defer func() { p.Close() }()
	p.Write("f", enginetest.Big("0"))
	p.Save("first")
	see(b, p, list, f.rnd, 1)
	bytes := 0
	for _, l := range list {
		bytes += len(l.lines(p.Root))
	}
	for b.Loop() {
		b.StopTimer()
		p.Reopen()
		b.StartTimer()
		if _, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(list)), "sessions")
	b.ReportMetric(float64(bytes)/(1<<20), "MiB")
}
