package history_test

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"rewind/engine"
	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/internal/value"
)

// TestAnswersWhileReadsFail: where one read of the store fails, each question is answered with an error of that read,
// or as if it had not failed: but for what is a hint. Asked again, it is answered as if nothing had failed.
func TestAnswersWhileReadsFail(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(t *testing.T) (*enginetest.Project, about){
		"forked": forkedAbout, "tangled": tangled, "beside": besideAbout, "origins": origins,
		"thinned": thinnedAbout, "cut short": cutShort, "unheard": unheard, "before": before, "older": older,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			readsFail(begin(t))
		})
	}
}

func forkedAbout(t *testing.T) (*enginetest.Project, about) {
	t.Helper()
	p := enginetest.NewProject(t)
	_, _, of := forked(p)
	return p, of
}

// besideAbout is newBeside, and what can be asked of it.
func besideAbout(t *testing.T) (*enginetest.Project, about) {
	t.Helper()
	s := newBeside(t)
	of := about{shown: []string{"@", "turn:1@claude/a", "turn:1@claude/b"}, sessions: []string{"claude/a", "claude/b"}}
	for _, session := range of.sessions {
		of.names = append(of.names, turnsOf(session, 3)...)
	}
	return s.Project, of
}

// turnsOf are the names of the first turns of a session, and of what was there before them.
func turnsOf(session string, turns int) (names []string) {
	for n := range turns + 1 {
		names = append(names, fmt.Sprintf("turn:%d@%s", n, session), fmt.Sprintf("before:%d@%s", n+1, session))
	}
	return names
}

// tangled is a session whose file is cut and gone on with, and made again what it was; whose person goes back in the
// agent; whose agent is killed before it has written a prompt, and writes another, and a call, behind their hooks.
func tangled(t *testing.T) (*enginetest.Project, about) {
	t.Helper()
	p, k := enginetest.TwoTurns(t)
	three := k.Take("three", p.Edits("f", "3"))
	p.Back("turn:1", restore.Options{InPlace: true})
	reopened(p, k)
	k.Take("two again", p.Edits("f", "4"))
	p.Back(three.Checkpoint.String(), restore.Options{InPlace: true})
	reopened(p, k)
	at := k.Parent
	k.Take("left", p.Edits("f", "5"))
	k.Take("left, too", nil)
	k.Parent = at
	k.Take("instead", nil)
	k.Send(hooks.Event{Kind: hooks.Prompt, Prompt: "same words"}, capture.HandleOptions{}) // killed
	k.Start()
	k.Take("same words", p.Edits("f", "6"))
	k.Send(hooks.Event{Kind: hooks.Prompt, Prompt: "late"}, capture.HandleOptions{})
	tool := hooks.Tool{Name: "Bash", Call: "toolu_late"}
	k.Send(hooks.Event{Kind: hooks.BeforeTool, Tool: tool}, capture.HandleOptions{})
	p.Edits("f", "7")()
	k.Send(hooks.Event{Kind: hooks.AfterTool, Tool: tool}, capture.HandleOptions{})
	k.Stop()
	k.Used("late")
	k.Line("assistant", `{"id":"msg_late","type":"message","role":"assistant","content":[{"type":"tool_use",`+
		`"id":"toolu_late","name":"Bash","input":{"command":"y"}}],"stop_reason":"tool_use"}`)
	k.Say("done: late")
	k.Take("last", p.Edits("g", "8"))
	p.Settle()
	return p, about{
		names: turnsOf(k.Name(), 10), shown: []string{"@"}, sessions: []string{k.Name()},
		// Where it cannot be told that the person had gone back, it is as if they had not.
		not: regexp.MustCompile(`^moment before:6|^undone to`),
	}
}

// cutShort is a session, there from the project's first checkpoint on, whose file is cut in the middle of a turn that
// goes on, and later made again what it was, while another one's is cut; its last prompt is not answered yet.
func cutShort(t *testing.T) (*enginetest.Project, about) {
	t.Helper()
	p := enginetest.NewProject(t)
	ticking(p)
	p.Write("f", enginetest.Big("0"))
	k, other := p.Talker(1), p.Talker(2)
	k.Take("one", p.Edits("f", "1"))
	k.Ask("two")
	k.Work(p.Edits("f", "2"))
	inPlace := restore.Options{InPlace: true, Force: true}
	p.Back("turn:1@"+k.Name(), inPlace)
	reopened(p, k)
	k.Work(p.Edits("f", "3"))
	k.Say("done: two")
	k.Stop()
	three := k.Take("three", p.Edits("f", "4"))
	other.Take("other", p.Edits("g", "1"))
	other.Take("more", p.Edits("g", "2"))
	p.Back("turn:1@"+k.Name(), inPlace)
	p.Back("turn:1@"+other.Name(), inPlace)
	p.Back(three.Checkpoint.String(), inPlace)
	reopened(p, k)
	p.Write("mine", "x")
	k.Ask("not answered")
	p.Settle()
	of := about{
		names: slices.Concat(turnsOf(k.Name(), 5), turnsOf(other.Name(), 5)), shown: []string{"@"},
		sessions: []string{k.Name(), other.Name()},
	}
	return p, of
}

// origins is a session whose file was cut by nobody's wish, one that was imported, forks of both, one of them its
// agent's, and a session without a file that only its hooks tell of. The sessions are named in that order.
func origins(t *testing.T) (*enginetest.Project, about) {
	t.Helper()
	p, first := enginetest.Begun(t)
	ticking(p)
	first.Take("one", p.Edits("f", "1"))
	first.Take("two", p.Edits("f", "2"))
	old := p.Talker(2)
	for _, text := range []string{"long ago", "later"} {
		old.Used(text)
		old.Say("done: " + text)
	}
	_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	p.Must(err)
	kid := copied(p, first, 3, "done: one")
	kid.Start()
	kid.Take("kid's", p.Edits("g", "1"))
	of := restore.Options{Session: model.SessionChoice{Session: old.Name()}}
	grand := p.Opened(p.Fork("turn:1", of).Fork)
	grand.Take("old one's", p.Edits("g", "2"))
	silent := p.Agent("silent")
	silent.Start()
	silent.Prompt("without a file")
	silent.Run("call", func() { p.Write("g", "b") })
	silent.Stop()
	p.Settle()
	left, _, _ := strings.Cut(p.Slurp(first.File), `"content":"two"`)
	p.Must(os.WriteFile(first.File, enginetest.WholeLines([]byte(left)), 0o600))
	p.Settle()
	a := about{
		shown:    []string{"@"},
		sessions: []string{first.Name(), old.Name(), kid.Name(), grand.Name(), silent.Name()},
	}
	for _, session := range a.sessions {
		a.names = append(a.names, turnsOf(session, 2)...)
	}
	return p, a
}

// TestTagsWhileReadsFail: a tag is set, moved and taken away, or nothing has changed and it can be done again.
func TestTagsWhileReadsFail(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("f", "0")
	p.Save("first")
	p.Write("f", "1")
	p.Save("second")
	_, err := p.E.History.Tag(enginetest.Bg, "kept", "@", false)
	p.Must(err)
	for name, do := range map[string]func(h *history.History) error{
		"tag": func(h *history.History) error {
			_, err := h.Tag(enginetest.Bg, "new", "@~1", false)
			return errors.Join(err, h.FreeTag("other"))
		},
		"move": func(h *history.History) error {
			_, err := h.Tag(enginetest.Bg, "kept", "@~1", true)
			return err
		},
		"untag": func(h *history.History) error { return h.Untag(enginetest.Bg, "kept") },
	} {
		done := false // what is done is not done again where only a look at it has failed
		p.ReadFails(name, 24, func(q *enginetest.Project) (string, error) {
			if !done {
				if err := do(q.E.History); err != nil {
					return "", err
				}
			}
			done = true
			list, err := q.E.History.Tags(enginetest.Bg)
			if err != nil {
				return "", err
			}
			done = false
			text := ""
			for _, tag := range list {
				text += tag.Tag + tag.Checkpoint.Short
			}
			return text, nil
		})
	}
}

// furtherQuestions are some that may be answered with an error though nothing fails: it is their answer.
func furtherQuestions(p *enginetest.Project, a about) (list []question) {
	h := p.E.History
	add := func(name string, ask func() (any, error)) { list = append(list, question{name, ask}) }
	steps := p.Listed()
	for i := range steps {
		cp := steps[i].Checkpoint
		add(fmt.Sprint("moment of step ", i), func() (any, error) {
			return held(p, func() (any, error) { return moment(h.MomentOf(cp)) })
		})
		add(fmt.Sprint("paths of step ", i), func() (any, error) { return h.Paths(cp, 9) })
		if i > 0 {
			add(fmt.Sprint("undone to step ", i), func() (any, error) {
				return held(p, func() (any, error) { return moment(h.Undone(cp, steps[i-1].Checkpoint)) })
			})
		}
	}
	add("other line", func() (any, error) {
		off, err := h.OtherLine()
		var is []bool
		for i := 0; err == nil && i < len(steps); i++ {
			var one bool
			one, err = off(steps[i].Checkpoint)
			is = append(is, one)
		}
		return is, err
	})
	add("restores", func() (any, error) { return h.Operations(enginetest.Bg, 0, history.Restoring) })
	add("some rows", func() (any, error) { return h.Rows(enginetest.Bg, history.RowOptions{Limit: 2, Changes: 1}) })
	for _, name := range a.shown {
		add("entries of "+name, func() (any, error) { return h.Entries(name, "") })
	}
	add("previous", func() (any, error) {
		return held(p, func() (any, error) { return h.BranchNamed("-") })
	})
	for _, o := range []history.ListOptions{
		{Filter: history.Filter{Filter: value.Filter{By: "agent"}}}, {Before: 9, Limit: 2},
	} {
		add(fmt.Sprint("steps before ", o.Before), func() (any, error) { return h.List(enginetest.Bg, o) })
	}
	list = append(list, questionsOfNobody(p)...)
	for _, name := range a.sessions {
		for _, q := range furtherOf(p, name) {
			add(q.name+" of "+name, q.ask)
		}
	}
	return list
}

// questionsOfNobody are some about the session that the project stands on, or whichever has a turn.
func questionsOfNobody(p *enginetest.Project) []question {
	h, whose := p.E.History, model.SessionChoice{}
	named := func(name string) func() (any, error) {
		return func() (any, error) {
			return held(p, func() (any, error) { return moment(h.NamedMoment(enginetest.Bg, name, whose)) })
		}
	}
	return []question{
		{"turns of any", func() (any, error) { return h.Turns(enginetest.Bg, whose, 1) }},
		{"future of any", func() (any, error) { return h.Future(enginetest.Bg, whose) }},
		{"page of any", func() (any, error) { return h.Page(enginetest.Bg, whose, "", history.Place{}, 2) }},
		{"named of any", func() (any, error) { return h.Named(whose, "turn:1") }},
		{"resolved of any", func() (any, error) { return h.Resolve("turn:1") }},
		{"row of any", func() (any, error) { return h.TurnRow(enginetest.Bg, "turn:1", "") }},
		{"shown of any", func() (any, error) {
			s, r, err := h.ShowTurn(enginetest.Bg, "turn:9", "", nil)
			return []any{s, r}, err
		}},
		{"moment of any", named("turn:1")},
		{"now of any", named("@")},
		{"of nobody", named("turn:1@nobody")},
		{"tree of any", func() (any, error) { return h.FamilyTree(enginetest.Bg, "", false, nil) }},
		{"graph of all", func() (any, error) {
			res, err := h.Rows(enginetest.Bg, history.RowOptions{All: true, Past: true, Changes: 1})
			if err != nil {
				return nil, err
			}
			some := slices.DeleteFunc(res.Rows, func(r history.Row) bool { return r.Turn == 1 && !r.NoCode })
			return h.Graph(enginetest.Bg, some)
		}},
	}
}

func furtherOf(p *enginetest.Project, name string) []question {
	h := p.E.History
	of := history.Filter{Filter: value.Filter{Session: name}}
	return []question{
		{"the fork", func() (any, error) { return h.Forks(enginetest.Bg, p.Env(), name) }},
		{"the tree", func() (any, error) { return h.FamilyTree(enginetest.Bg, name, false, nil) }},
		{"rows", func() (any, error) { return h.Rows(enginetest.Bg, history.RowOptions{Filter: of, Past: true}) }},
		{"steps", func() (any, error) { return h.List(enginetest.Bg, history.ListOptions{Filter: of}) }},
		{"the end", func() (any, error) {
			return held(p, func() (any, error) {
				return moment(h.NamedMoment(enginetest.Bg, "turn:1", model.SessionChoice{Session: name}))
			})
		}},
		{"now", func() (any, error) {
			return held(p, func() (any, error) {
				return moment(h.NamedMoment(enginetest.Bg, "@", model.SessionChoice{Session: name}))
			})
		}},
		{"title", func() (any, error) {
			return held(p, func() (any, error) { return h.TitleOf(p.E.Log.Session(name)) })
		}},
		{"a page", func() (any, error) {
			return h.Page(enginetest.Bg, model.SessionChoice{}, "turn:1@"+name, history.Place{}, 3)
		}},
		{"branch 3", func() (any, error) { return h.Way(enginetest.Bg, "turn:3@"+name) }},
		{"the fork point", func() (any, error) { return h.ForkPoint(enginetest.Bg, "fork:"+name) }},
		{"the first turn's name", func() (any, error) {
			return h.Named(model.SessionChoice{Session: name}, "turn:1~1")
		}},
		{"what it stands on", func() (any, error) { return h.ResolveIn(name, "@~1") }},
		{"the newest but one", func() (any, error) { return h.Resolve("session:" + name + "~1") }},
		{"branch named", func() (any, error) {
			return held(p, func() (any, error) { return h.BranchNamed("session:" + name) })
		}},
		{"what all said", func() (any, error) {
			list, why, err := h.Messages(enginetest.Bg, "session:"+name, 9)
			return []any{list, why}, err
		}},
		{"what else is before", func() (any, error) {
			rows, err := h.Rows(enginetest.Bg, history.RowOptions{Filter: of, Past: true, Before: 1 << 52})
			return rows, err
		}},
		{"what lies ahead", func() (any, error) {
			return held(p, func() (any, error) {
				f, err := h.FutureOf(enginetest.Bg, model.SessionChoice{Session: name})
				if err != nil {
					return nil, err
				}
				var all []any
				for i := range f.Lines {
					for k := range f.Lines[i].Turns {
						m, err := moment(h.MomentAhead(&f.Lines[i], &f.Lines[i].Turns[k]))
						if err != nil {
							return nil, err
						}
						all = append(all, m)
					}
				}
				return all, nil
			})
		}},
	}
}

// failing has one read of a store fail.
type failing struct {
	mu    sync.Mutex
	reads [][]uintptr // so far, each by the calls that have led to it
	at    int         // which one fails; 0: none
}

func (f *failing) fault() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var calls [64]uintptr
	if f.reads = append(f.reads, calls[:runtime.Callers(2, calls[:])]); len(f.reads) == f.at {
		return fmt.Errorf("read %d: %w", f.at, syscall.EIO)
	}
	return nil
}

// begin has the n-th read from now on fail; 0: none.
func (f *failing) begin(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads, f.at = nil, n
}

// readsFail asks all questions while one read after the other fails: so many that behind each call of all by which a
// read is asked for a few have failed, and the question with them, or some have and were of no account.
func readsFail(p *enginetest.Project, a about) {
	p.T.Helper()
	const few, some = 2, 3
	var f failing
	o, now := p.Options(), p.E.Log.Now
	o.KV.ReadFault = f.fault
	p.Close()
	var err error
	p.E, err = engine.Open(enginetest.Bg, p.Home, p.Root, o)
	p.Must(err)
	p.E.Log.Now = now
	list := append(questions(p, a), furtherQuestions(p, a)...)
	ask := func(q *question, at int) string {
		forget(p)
		p.E.History.State = &history.State{}
		f.begin(at)
		return told(q)
	}
	for i := range list {
		ask(&list[i], 0) // what is learnt at the first time is known at the second
	}
	tried, shown := map[uintptr]int{}, map[uintptr]int{} // by call
	for i := range list {
		q := &list[i]
		if a.not != nil && a.not.MatchString(q.name) {
			continue
		}
		want := ask(q, 0)
		for n, calls := range f.reads {
			if !slices.ContainsFunc(calls, func(pc uintptr) bool { return shown[pc] < few && tried[pc] < some }) {
				continue
			}
			is := q.failsAt(p, want, n+1, ask)
			for _, pc := range calls {
				if tried[pc]++; is {
					shown[pc]++
				}
			}
		}
	}
}

// failsAt holds what a question is answered where its n-th read fails, and once that is over. It reports whether the
// question failed.
func (q *question) failsAt(p *enginetest.Project, want string, n int, ask func(q *question, at int) string) bool {
	p.T.Helper()
	got := ask(q, n)
	if got == want {
		return false
	}
	if got != failed && !hinted(got, want) {
		p.T.Fatalf("%s: read %d fails:\n%s", q.name, n, apart(got, want))
	}
	if again := told(q); again != want {
		p.T.Fatalf("%s once read %d has failed:\n%s", q.name, n, apart(again, want))
	}
	return got == failed
}

// failed is what a question is answered that fails with the read.
const failed = "the read failed"

// told is the answer as text, or the error.
func told(q *question) string {
	got, err := q.answer()
	switch {
	case errors.Is(err, syscall.EIO):
		return failed
	case err != nil:
		return "error: " + err.Error()
	}
	return got
}

// hinted reports whether an answer is another one in hints alone, or says itself that it is not whole. That is one too,
// where only the conversation of a turn is known: without that there is none.
func hinted(got, want string) bool {
	if hints.ReplaceAllString(got, "") == hints.ReplaceAllString(want, "") || talkOnly.MatchString(want) {
		return true
	}
	less := func(text string) int { return len(unread.FindAllString(text, -1)) + len(sides.FindAllString(text, -1)) }
	return less(got) > less(want)
}

var (
	// hints are what a session is called, what it lost, how many turns it has, why no code was captured, and with what
	// a branch clashes.
	hints = regexp.MustCompile(`"(Whose|Loss)":"[^"]*",?|(has|of) \d+ turns|"no_code":"(\\.|[^"\\])*"|` +
		`"Conflicts":(null|\[.*?\]),"Clashes":\d+`)
	// sides are between which states a restore went, which is left out where one of them cannot be read.
	sides = regexp.MustCompile(`"(From|To)":null`)
	// talkOnly is said of turns of which only the conversation is known.
	talkOnly = regexp.MustCompile(`"NoCode":true|no code was captured then`)
)

// apart is where a text begins to differ from another one; "": it does not.
func apart(got, want string) string {
	if got == want {
		return ""
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	from := max(at-200, 0)
	return fmt.Sprintf("%s\nwant\n%s", got[from:min(at+100, len(got))], want[from:min(at+100, len(want))])
}
