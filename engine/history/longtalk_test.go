package history_test

import (
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/purge"
	"rewind/internal/kv"
)

// talkOf is what the store has of how a session's conversation was read; nil: nothing.
func talkOf(p *enginetest.Project, session string) (stored *model.Talk) {
	p.T.Helper()
	p.Must(p.E.Log.DB.Scan(kv.Range{Prefix: model.TalkKey(session)}, func(_, raw []byte) (err error) {
		stored, err = model.DecodeTalk(raw)
		return err
	}))
	return stored
}

// How a long conversation was read is stored, and the next process goes on from there. What is damaged, or of another
// program, is read from
// the beginning and stored anew; what is purged is not in it.
func TestALongConversationIsReadOnFromTheStore(t *testing.T) {
	const said, other = "hunter22-as-it-was-typed", "hunter22-as-it-is-stored"
	p, k := enginetest.Begun(t)
	k.Ask(said)
	for range 5 {
		k.Say(strings.Repeat("a long answer ", 1<<16))
	}
	k.Stop()
	p.Settle()
	first := func() string {
		l, err := p.E.History.Turns(enginetest.Bg, model.SessionChoice{Session: k.Name()}, 0)
		p.Must(err)
		if len(l.Turns) == 0 {
			t.Fatal("there are no turns")
		}
		return l.Title
	}
	if got := first(); got != said {
		t.Fatalf("the title is %q", got)
	}
	is := talkOf(p, k.Name())
	if is == nil || !strings.Contains(is.State, said) {
		t.Fatalf("the store has %+v", is)
	}
	store := func(one model.Talk, raw []byte) {
		if raw == nil {
			raw = one.Encode()
		}
		b := p.E.Log.DB.NewBatch()
		p.Must(b.Set(model.TalkKey(k.Name()), raw))
		p.Must(b.Commit(enginetest.Bg, kv.Written))
		p.Must(b.Close())
		p.Reopen()
	}
	changed := *is
	changed.State = strings.ReplaceAll(is.State, said, other)
	if store(changed, nil); first() != other {
		t.Error("it was read from its beginning")
	}
	anew := func() bool {
		again := talkOf(p, k.Name())
		return again != nil && again.Read == is.Read && len(again.State) == len(is.State) && strings.Contains(again.State, said)
	}
	newer, cut := changed, changed
	newer.Read++
	cut.State = cut.State[:len(cut.State)-1]
	for what, one := range map[string]model.Talk{"another program's": newer, "cut": cut} {
		if store(one, nil); first() != said {
			t.Errorf("%s was believed", what)
		}
		if !anew() {
			t.Errorf("%s: it is not stored anew", what)
		}
	}
	if store(model.Talk{}, []byte("garbage")); first() != said || !anew() {
		t.Error("garbage was believed, or stays")
	}
	p.Purge(purge.Options{Texts: [][]byte{[]byte(said)}})
	for range 2 { // the transcript is purged, too
		_, _ = p.E.History.Turns(enginetest.Bg, model.SessionChoice{Session: k.Name()}, 0)
		if left := talkOf(p, k.Name()); left != nil && strings.Contains(left.State, said) {
			t.Error("the store has what was purged")
		}
		p.Reopen()
	}
}
