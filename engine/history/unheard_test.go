package history_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/refs"
)

// titled gives a session a title, by a line that is no turn.
func titled(k *enginetest.Talker, title string) {
	k.Append(fmt.Sprintf(`{"type":"custom-title","customTitle":%q,"sessionId":%q}`+"\n", title, k.ID))
}

// unheard is a session with two prompts in one turn, a turn that ended where a person had gone back to, and two in the
// same words, the second written late; one whose agent was killed in its first turn, and one where it was behind a cut;
// and one that only talked.
func unheard(t *testing.T) (*enginetest.Project, about) {
	t.Helper()
	p, k := enginetest.Begun(t)
	ticking(p)
	none := capture.HandleOptions{}
	prompt := func(k *enginetest.Talker, text string) { k.Send(hooks.Event{Kind: hooks.Prompt, Prompt: text}, none) }
	k.Take("one", p.Edits("f", "1"))
	k.Take("two", nil)
	k.Take("three", p.Edits("f", "3"))
	p.Write("mine", "0")
	k.Send(hooks.Event{Kind: hooks.Compact}, none) // behind the stop
	p.Write("mine", "a")
	k.Ask("four")
	p.Write("mine", "b")
	k.Ask("the rest of it")
	k.Say("done: four")
	k.Stop()
	k.Ask("five")
	code := restore.Options{CodeOnly: true, Session: model.SessionChoice{Session: k.Name()}}
	code.Force = true
	p.Checkout("turn:1", code)
	k.Say("done: five")
	k.Stop()
	k.Take("same", p.Edits("f", "6"))
	prompt(k, "same") // written late
	p.Edits("f", "7")()
	k.Stop()
	k.Used("same")
	prompt(k, "eight")
	k.Used("eight")
	k.Work(p.Edits("f", "8"))
	k.Say("done: eight")
	k.Stop()

	other := p.Talker(2)
	titled(other, "other's")
	prompt(other, "killed")
	p.Edits("g", "1")()
	other.Stop()
	other.Start()
	other.Take("begun again", p.Edits("g", "2"))
	other.Take("more", p.Edits("g", "3"))
	again := p.Talker(5)
	again.Take("begin", p.Edits("g", "4"))
	again.Take("more", p.Edits("g", "5"))
	p.Back("turn:1@"+again.Name(), restore.Options{InPlace: true})
	reopened(p, again)
	prompt(again, "killed again")
	p.Edits("g", "6")()
	again.Stop()
	talk := p.Talker(3)
	talk.Take("only talk", nil)
	p.Settle()
	return p, aboutAll(p, k, other, again, talk)
}

// aboutAll is what can be asked of all turns of sessions.
func aboutAll(p *enginetest.Project, list ...*enginetest.Talker) about {
	of := about{shown: []string{"@"}}
	for _, k := range list {
		of.sessions = append(of.sessions, k.Name())
		of.names = append(of.names, turnsOf(k.Name(), int(p.Session(k.Name()).Turn))...)
	}
	return of
}

// before is an imported session in which a person went back within a branch, and a fork of a turn of that branch; two
// of which hooks told from their third turn on, whose files were cut to that, and to the first; and one that a person's
// restore left at its beginning.
func before(t *testing.T) (*enginetest.Project, about) {
	t.Helper()
	p := enginetest.NewProject(t)
	ticking(p)
	p.Write("f", enginetest.Big("0"))
	p.Save("first")
	old, late := p.Talker(1), p.Talker(2)
	say := func(k *enginetest.Talker, list ...string) (ends []string) {
		for _, text := range list {
			k.Used(text)
			k.Say("done: " + text)
			ends = append(ends, k.Parent)
		}
		return ends
	}
	a := say(old, "a")[0]
	b := say(old, "b", "c")[0]
	old.Parent = b
	say(old, "d")
	old.Parent = a
	say(old, "e")
	_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	p.Must(err)
	say(late, "one", "two")
	late.Send(hooks.Event{Kind: hooks.SessionStart, Source: "resume"}, capture.HandleOptions{})
	late.Take("three", p.Edits("f", "3"))
	at := late.Parent
	late.Take("left", p.Edits("f", "4"))
	p.Write("mine", "1")
	late.Parent = at
	late.Take("instead", p.Edits("f", "5"))
	p.Back("turn:3@"+late.Name(), restore.Options{InPlace: true})
	reopened(p, late)
	at = late.Parent
	late.Take("left again", nil)
	late.Parent = at
	late.Take("five", p.Edits("f", "7"))
	lost := p.Talker(4)
	on := say(lost, "lost one", "lost two")[0]
	lost.Take("lost three", p.Edits("g", "0"))
	context := restore.Options{InPlace: true}
	context.ContextOnly = true
	p.Back("turn:1@"+lost.Name(), context)
	lost.Parent = on
	lost.Take("found two", p.Edits("g", "x"))
	of := restore.Options{Session: model.SessionChoice{Session: old.Name()}}
	kid := p.Opened(p.Fork("turn:4", of).Fork)
	kid.Take("of a branch", p.Edits("g", "1"))
	first := p.Talker(3)
	first.Start()
	first.Take("begin", p.Edits("g", "2"))
	back := restore.Options{CodeOnly: true, Session: model.SessionChoice{Session: first.Name()}}
	p.Checkout("turn:0", back)
	p.Settle()
	return p, aboutAll(p, old, late, lost, kid, first)
}

// toldOf is a turn of which events tell that do not say where they came, as those of an older version.
func toldOf(p *enginetest.Project, k *enginetest.Talker, turn uint64, text string) {
	p.T.Helper()
	for _, kind := range []hooks.Kind{hooks.Prompt, hooks.Stop} {
		op := refs.Operation{Kind: refs.KindEvent, Session: k.Name(), Turn: turn}
		if op.Cause.Event = model.EventWords[kind]; kind == hooks.Prompt {
			op.Message = text
		}
		p.E.Log.Lock()
		err := p.E.Log.Record(enginetest.Bg, op)
		p.E.Log.Unlock()
		p.Must(err)
	}
}

// TestTurnLeftOut: a turn of which no event tells ends where the one before it did.
func TestTurnLeftOut(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Checkout("turn:1", restore.Options{CodeOnly: true})
	toldOf(p, k, 5, "later")
	for name, want := range map[string]string{
		"turn:2": "2", "turn:3": "2", "turn:4": "2", "turn:5": "1", "before:5": "2",
	} {
		if got := p.At(k, name); got != want {
			t.Errorf("%s has %s, want %s", name, got, want)
		}
	}
	if _, err := p.E.History.Moment(k.Name(), "turn:6"); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("behind the last: %v", err)
	}
}

// older are sessions whose last events do not say where they came: behind a restore of the code, and behind a cut of
// the session's file.
func older(t *testing.T) (*enginetest.Project, about) {
	t.Helper()
	p, k := enginetest.TwoTurns(t)
	ticking(p)
	p.Checkout("turn:1", restore.Options{CodeOnly: true})
	toldOf(p, k, 3, "behind a restore")
	other := p.Talker(2)
	other.Take("begin", p.Edits("g", "1"))
	other.Take("more", p.Edits("g", "2"))
	p.Back("turn:1@"+other.Name(), restore.Options{InPlace: true})
	toldOf(p, other, 2, "behind a cut")
	return p, aboutAll(p, k, other)
}

func TestStoryOlder(t *testing.T) {
	t.Parallel()
	p, of := older(t)
	tell(p, of, 3, "older", "first", "other")
}

func TestStoryUnheard(t *testing.T) {
	t.Parallel()
	p, of := unheard(t)
	tell(p, of, 0, "unheard", "first", "other", "again", "talk")
}

func TestStoryBefore(t *testing.T) {
	t.Parallel()
	p, of := before(t)
	tell(p, of, 0, "before", "old", "late", "lost", "kid", "begun")
}

// TestStandsInAPrompt: where a prompt found something changed the project stands in the turn that it begins; before the
// first prompt in none.
func TestStandsInAPrompt(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	stands := func(what string, at, ahead uint64) {
		t.Helper()
		w := model.SessionChoice{Session: k.Name()}
		l, err := p.E.History.Turns(enginetest.Bg, w, 0)
		p.Must(err)
		fu, err := p.E.History.Future(enginetest.Bg, w)
		if p.Must(err); l.At != at || fu.At != ahead {
			t.Errorf("%s: in turn %d, with what lies ahead of %d; want %d, %d", what, l.At, fu.At, at, ahead)
		}
	}
	stands("at the end", 2, 2)
	p.Write("mine", "1")
	k.Ask("three")
	stands("in a prompt", 3, 3)
	p.Write("mine", "2")
	k.Ask("the rest of it")
	stands("in more of it", 4, 4)
	k.Say("done: three")
	k.Stop()
	p.Write("mine", "3")
	k.Send(hooks.Event{Kind: hooks.Prompt, Notice: true}, capture.HandleOptions{})
	stands("behind a notice", 4, 4)
	p.Write("mine", "4")
	k.Send(hooks.Event{Kind: hooks.Compact}, capture.HandleOptions{})
	stands("behind a compaction", 4, 4)
	p.Checkout("turn:0", restore.Options{CodeOnly: true})
	stands("at the beginning", 0, 0)
	p.Must(os.Remove(k.File))
	stands("without a file", 0, 0)
}
