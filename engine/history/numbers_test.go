package history_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
)

// aPrompt is a turn as who typed it knows it.
type aPrompt struct {
	number uint64
	text   string
	said   bool   // it is in the conversation
	code   string // at its end
}

// typist is a person with one session, whose prompts another hook may refuse.
type typist struct {
	*enginetest.Project
	k    *enginetest.Talker
	now  []aPrompt // that count
	code string

	typed int
}

func (p *typist) types(t *rapid.T, refused bool) {
	p.typed++
	text := fmt.Sprint("number ", p.typed) // in the same words nobody could tell which of two was refused
	if refused {
		p.k.Send(hooks.Event{Kind: hooks.Prompt, Prompt: text}, capture.HandleOptions{})
	} else {
		work := p.Edits("f", rapid.StringMatching(`[1-9]`).Draw(t, "code"))
		if rapid.Bool().Draw(t, "talks") {
			work = nil
		}
		p.k.Ask(text)
		p.numbers() // while it is at work
		if work != nil {
			p.k.Work(work)
		}
		p.k.Say("done: " + text)
		p.k.Stop()
		p.code = p.Read("f")[:1]
	}
	if rapid.Bool().Draw(t, "more is written") {
		titled(p.k, text)
	}
	p.now = append(p.now, aPrompt{uint64(len(p.now) + 1), text, !refused, p.code})
}

// said are the turns that the conversation has.
func (p *typist) said() []aPrompt {
	return slices.DeleteFunc(slices.Clone(p.now), func(a aPrompt) bool { return !a.said })
}

func (p *typist) numbers() {
	p.T.Helper()
	s := p.Session(p.k.Name())
	for i, a := range p.said() {
		if n := p.E.History.Number(&s, i+1); n != a.number {
			p.T.Fatalf("turn %d of the conversation has number %d of %+v", i+1, n, p.now)
		}
	}
}

func (p *typist) looks() {
	p.T.Helper()
	s := p.Session(p.k.Name())
	l, err := p.E.History.Turns(enginetest.Bg, model.SessionChoice{Session: s.Name}, 0)
	p.Must(err)
	for _, a := range p.now {
		if !slices.ContainsFunc(l.Turns, func(t model.TurnInfo) bool {
			return t.Number == a.number && t.Summary == a.text && !t.Gone && (t.Messages > 0) == a.said
		}) {
			p.T.Fatalf("turn %d is not listed as %+v, but\n%+v\nof %+v", a.number, a, l.Turns, p.now)
		}
		name := fmt.Sprintf("turn:%d", a.number)
		if got := p.At(p.k, name); got != a.code {
			p.T.Fatalf("%s has %s of %+v", name, got, p.now)
		}
		if got := p.E.History.PromptOf(s.Name, a.number); got != a.text {
			p.T.Fatalf("the prompt of %s is %q of %+v", name, got, p.now)
		}
	}
	p.numbers()
	page, err := p.E.History.Page(enginetest.Bg, model.SessionChoice{Session: s.Name}, "", history.Place{}, 1000)
	p.Must(err)
	asked := map[int]string{}
	for _, m := range page.Messages {
		if m.Who == "user" {
			asked[m.Turn] = m.Text
		}
	}
	for _, a := range p.said() {
		if asked[int(a.number)] != a.text {
			p.T.Fatalf("on a page turn %d begins with %q of %+v", a.number, asked[int(a.number)], p.now)
		}
	}
	ahead, err := p.E.History.Future(enginetest.Bg, model.SessionChoice{Session: s.Name})
	p.Must(err)
	for _, a := range ahead.Lines {
		for _, t := range a.Turns {
			is := func(a aPrompt) bool { return a.number == t.Number && a.text == t.Summary }
			if slices.ContainsFunc(p.now, is) {
				p.T.Fatalf("turn %d lies ahead: %+v of %+v", t.Number, ahead, p.now)
			}
		}
	}
}

// TestNumbersOfRefusedPrompts: a prompt that another hook refuses has a number and no place in the conversation. Every
// other turn keeps its number, in a file that is cut, and in forks.
func TestNumbersOfRefusedPrompts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "")
		if err != nil {
			t.Fatalf("%v", err)
		}
		defer os.RemoveAll(dir)
		root := filepath.Join(dir, "p")
		if err := os.Mkdir(root, 0o700); err != nil {
			t.Fatalf("%v", err)
		}
		p := &typist{Project: enginetest.OpenProject(t, root, filepath.Join(dir, "home")), code: "0"}
		defer p.Close()
		ticking(p.Project)
		p.Write("f", enginetest.Big("0"))
		p.Save("first")
		p.k = p.Talker(1)
		p.k.Start()
		for range rapid.IntRange(1, 9).Draw(t, "acts") {
			said := p.said()
			switch rapid.IntRange(0, 5).Draw(t, "act") {
			case 0, 1:
				p.types(t, false)
			case 2, 3:
				p.types(t, true)
			case 4:
				if len(said) > 1 {
					p.cut(t, said[rapid.IntRange(0, len(said)-2).Draw(t, "to")])
				}
			case 5:
				if len(said) > 0 {
					p.forks(t, rapid.IntRange(1, len(said)).Draw(t, "of"))
				}
			}
			p.looks()
		}
	})
}

// cut cuts the session's file to a turn.
func (p *typist) cut(t *rapid.T, a aPrompt) {
	o := restore.Options{InPlace: true}
	o.Force = true
	p.Back(fmt.Sprintf("turn:%d@%s", a.number, p.k.Name()), o)
	reopened(p.Project, p.k)
	p.now, p.code = p.now[:a.number], a.code
}

// forks forks a turn, and takes the fork away again.
func (p *typist) forks(t *rapid.T, place int) {
	said := p.said()[:place]
	o := restore.Options{Session: model.SessionChoice{Session: p.k.Name()}}
	f := p.Fork(fmt.Sprintf("turn:%d", said[place-1].number), o)
	l, err := p.E.History.Turns(enginetest.Bg, model.SessionChoice{Session: f.Fork.Session}, 0)
	p.Must(err)
	for i, a := range said {
		if i >= len(l.Turns) || l.Turns[i].Summary != a.text {
			t.Fatalf("turn %d of a fork is not %+v, but\n%+v\nof %+v", i+1, a, l.Turns, p.now)
		}
		m, err := p.E.History.Moment(f.Fork.Session, fmt.Sprintf("turn:%d", i+1))
		p.Must(err)
		if got := p.Cat(m.Checkpoint, "f")[:1]; got != a.code {
			t.Fatalf("turn %d of a fork has %s of %+v", i+1, got, p.now)
		}
	}
}
