package history_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/engine/sessions"
	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
)

// recorded has the store say something else of a session.
func recorded(p *enginetest.Project, name string, change func(s *model.Session)) {
	p.T.Helper()
	s := p.Session(name)
	change(&s)
	putRecord(p, model.SessionKey(name), s.Encode())
}

func putRecord(p *enginetest.Project, key, raw []byte) {
	p.T.Helper()
	b := p.E.Log.DB.NewBatch()
	p.Must(b.Set(key, raw))
	p.Must(b.Commit(enginetest.Bg, kv.Written))
	p.Must(b.Close())
	forget(p)
}

// TestForkPointsAsRecorded: what is told of a fork point is what its record has, and what is there: its checkpoint, or
// else that of the turn, and otherwise why there is none.
func TestForkPointsAsRecorded(t *testing.T) {
	t.Parallel()
	p, first := enginetest.TwoTurns(t)
	of := restore.Options{Session: model.SessionChoice{Session: first.Name()}}
	kid := p.Opened(p.Fork("turn:1", of).Fork)
	kid.Take("other", p.Edits("g", "1"))
	silent := p.Agent("silent")
	silent.Prompt("without a file")
	silent.Stop()
	h, nowhere := p.E.History, enginetest.TestID("nowhere").String()
	end := func(name string) string {
		cp, err := h.Resolve(name)
		p.Must(err)
		return cp.ID.String()
	}
	one, two := end("turn:1@"+first.Name()), end("turn:2@"+first.Name())
	was := *p.Session(kid.Name()).Fork
	for what, tt := range map[string]struct {
		change func(l *model.Lineage)
		code   string
		why    string
		how    value.Found
	}{
		"as it was made":      {func(*model.Lineage) {}, one, "", value.FoundMade},
		"of an older version": {func(l *model.Lineage) { l.How = "" }, one, "", value.FoundMade},
		"of an agent": {
			func(l *model.Lineage) { l.How, l.Kind = "", model.ByAgent }, one, "", "",
		},
		"another checkpoint": {func(l *model.Lineage) { l.Checkpoint = two }, two, "", value.FoundMade},
		"no checkpoint":      {func(l *model.Lineage) { l.Checkpoint = "" }, one, "", value.FoundMade},
		"a lost one":         {func(l *model.Lineage) { l.Checkpoint = nowhere }, one, "", value.FoundMade},
		"a lost one of a turn that is not there": {
			func(l *model.Lineage) { l.Checkpoint = nowhere; l.Share(7, nil) }, "", "gc has removed it",
			value.FoundMade,
		},
		"a turn that is not there": {
			func(l *model.Lineage) { l.Checkpoint = ""; l.Share(7, nil) }, "",
			"no code was captured at turn 7 of " + first.Name(), value.FoundMade,
		},
		"not known yet": {
			func(l *model.Lineage) { l.Checkpoint, l.Kind = "", model.ByAgent; l.Share(0, nil) }, "",
			"how much of " + first.Name() + " it has is not known", value.FoundMade,
		},
		"of nobody": {
			func(l *model.Lineage) { l.Checkpoint, l.Session = "", "claude/none" }, "", "claude/none is not known here",
			value.FoundMade,
		},
		"of itself": {
			func(l *model.Lineage) { l.Checkpoint, l.Session = "", kid.Name() }, "",
			"no code was captured at turn 1 of " + kid.Name(), value.FoundMade,
		},
	} {
		recorded(p, kid.Name(), func(s *model.Session) {
			l := was
			tt.change(&l)
			s.Fork = &l
		})
		l, err := h.ForkPoint(enginetest.Bg, "fork:"+kid.ID)
		p.Must(err)
		got := fmt.Sprintf("%s %q %q of %s", l.Checkpoint, l.NoCode, l.How, l.Child)
		if want := fmt.Sprintf("%s %q %q of %s", tt.code, tt.why, tt.how, kid.Name()); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
		if code, why := forkNamed(p, kid); code != tt.code || why != tt.why {
			t.Errorf("%s by its name: %s %q", what, code, why)
		}
	}
}

// forkNamed is the checkpoint of a fork's point by its name, or why there is none.
func forkNamed(p *enginetest.Project, kid *enginetest.Talker) (code, why string) {
	p.T.Helper()
	cp, err := p.E.History.Resolve("fork:" + kid.ID)
	var none *model.NoForkCodeError
	if errors.As(err, &none) && none.Session == kid.Name() {
		return "", none.Why
	}
	p.Must(err)
	return cp.ID.String(), ""
}

// TestForkOfTheBeginning: a fork that has no turn of its original began where that did.
func TestForkOfTheBeginning(t *testing.T) {
	t.Parallel()
	p, first := enginetest.TwoTurns(t)
	kid := p.Opened(p.Fork("turn:1", restore.Options{}).Fork)
	kid.Take("other", p.Edits("f", "3"))
	p.Settle()
	recorded(p, kid.Name(), func(s *model.Session) { s.Fork.Share(0, nil) })
	for name, want := range map[string]string{
		"turn:0@" + kid.ID: "0", "turn:0@" + first.ID: "0", "turn:2@" + kid.ID: "3",
	} {
		cp, err := p.E.History.Resolve(name)
		p.Must(err)
		if got := p.Cat(cp, "f")[:1]; got != want {
			t.Errorf("%s has %s, want %s", name, got, want)
		}
	}
}

// TestCircleOfLineages: sessions whose records say that each was made of the other hang below none, and each is asked
// about as any.
func TestCircleOfLineages(t *testing.T) {
	t.Parallel()
	p, a := enginetest.TwoTurns(t)
	b := p.Talker(2)
	b.Take("b's", p.Edits("g", "1"))
	c := p.Talker(3)
	c.Take("c's", p.Edits("g", "2"))
	p.Settle()
	for kid, of := range map[*enginetest.Talker]*enginetest.Talker{a: b, b: a, c: b} {
		recorded(p, kid.Name(), func(s *model.Session) {
			s.Fork = &model.Lineage{Lineage: value.Lineage{Session: of.Name(), Kind: value.ForkMade}}
			s.Fork.Share(1, nil)
		})
	}
	h := p.E.History
	tree, err := h.FamilyTree(enginetest.Bg, a.Name(), true, nil)
	p.Must(err)
	var got []string
	for i := range tree.Branches {
		br := &tree.Branches[i]
		got = append(got, fmt.Sprintf("%s below %q at %d", br.Branch, br.Parent, br.Depth))
	}
	slices.Sort(got)
	enginetest.Equal(t, "tree", got, []string{
		a.Name() + ` below "" at 0`, b.Name() + ` below "" at 0`, c.Name() + ` below "" at 0`,
	})
	for _, k := range []*enginetest.Talker{a, b, c} {
		w := model.SessionChoice{Session: k.Name()}
		_, err := h.Turns(enginetest.Bg, w, 0)
		_, failed := h.Future(enginetest.Bg, w)
		p.Must(errors.Join(err, failed))
		forks, err := h.Forks(enginetest.Bg, p.Env(), k.Name())
		if p.Must(err); len(forks) != 1 || len(forks[0].Lineage) > 2 {
			t.Errorf("%s: %+v", k.Name(), forks)
		}
	}
	_, err = h.Rows(enginetest.Bg, history.RowOptions{})
	p.Must(err)
}

// TestOriginAtOnce: of a session that was heard of before its file was there it is found by whoever asks first that it
// is its agent's fork, and of what.
func TestOriginAtOnce(t *testing.T) {
	t.Parallel()
	p, first := enginetest.TwoTurns(t)
	early := p.Talker(4)
	early.Send(hooks.Event{Kind: hooks.Prompt, Prompt: "early"}, capture.HandleOptions{})
	copied(p, first, 4, "done: one")
	w := model.SessionChoice{Session: early.Name()}
	for what, ask := range map[string]func(h *history.History) error{
		"sessions": func(h *history.History) error {
			list, _, err := h.SessionList(enginetest.Bg, true, 0)
			for i := range list {
				if list[i].Name != early.Name() {
					continue
				}
				if l := list[i].Fork; l == nil || l.Session != first.Name() || l.Depth != 1 {
					t.Errorf("in the list: %+v", l)
				}
			}
			return err
		},
		"turns": func(h *history.History) error {
			l, err := h.Turns(enginetest.Bg, w, 0)
			if err != nil {
				return err
			}
			if len(l.Turns) != 2 || l.Turns[0].Summary != "one" || l.Turns[1].Summary != "early" {
				t.Errorf("turns: %+v", l.Turns)
			}
			return nil
		},
	} {
		q := p.Copied(p.FS, nil)
		p.Must(ask(q.E.History))
		if l := q.Session(early.Name()).Fork; what == "turns" && (l == nil || l.Turn != 1) {
			t.Errorf("%s: it is of %+v", what, l)
		}
		q.Close()
	}
}

// TestBrokenSessionRecords: where the record of a session cannot be read its code is found as before: each checkpoint,
// what it changed, and the lists.
func TestBrokenSessionRecords(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	first, kid, _ := forked(p)
	h, ids := p.E.History, []string{}
	for _, l := range p.Listed() {
		ids = append(ids, l.ID.String())
	}
	told := func() (out []string) {
		for _, id := range ids {
			m, err := h.Moment("", id)
			s, failed := h.Show(enginetest.Bg, id, nil)
			if p.Must(errors.Join(err, failed)); m.Checkpoint.ID.String() != id {
				t.Errorf("%s is %s", id, m.Checkpoint.ID)
			}
			out = append(out, fmt.Sprint(id, paths(s.Changes), s.Cause.Turn, s.Tags))
		}
		for _, l := range p.Listed() {
			out = append(out, l.ID.String())
		}
		return out
	}
	want := told()
	for _, name := range []string{first.Name(), kid.Name()} {
		putRecord(p, model.SessionKey(name), []byte("garbage"))
		enginetest.Equal(t, "without "+name, told(), want)
	}
}

// TestIdsAlike: of ids that begin alike none is meant, and those that are near are told, no more than five.
func TestIdsAlike(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("f", "0")
	cp := p.Save("first")
	id := cp.ID.String()
	for n := range byte(7) {
		other := cp.ID.Key()
		other[len(other)-1] += n + 1
		putRecord(p, append([]byte{kv.PrefixObject, byte(objstore.Checkpoint)}, other[:]...), []byte("garbage"))
	}
	h := p.E.History
	var several *objstore.AmbiguousError
	if _, err := h.Resolve(id[:10]); !errors.As(err, &several) {
		t.Fatalf("%v", err)
	}
	if got, err := h.Resolve(id); err != nil || got.ID != cp.ID {
		t.Errorf("a whole id: %v", err)
	}
	wrong := id[:10] + string("0123456789abcdef"[(strings.IndexByte("0123456789abcdef", id[10])+1)%16])
	near := h.Near(enginetest.Bg, wrong, false)
	if len(near) != 5 || !strings.HasPrefix(near[0], id[:10]) {
		t.Errorf("near %s: %s", wrong, near)
	}
	if got := h.Near(enginetest.Bg, id[:3]+"!", false); len(got) > 0 {
		t.Errorf("near what is no id: %s", got)
	}
}

// TestFilesThatCannotBeRead: of a session whose file cannot be read that is said in the list; of one of another agent
// than those whose files are understood what its hooks told; and of an emptied one how many turns those counted.
func TestFilesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	tier, err := hooks.LoadTier("balanced")
	p.Must(err)
	for _, kind := range []hooks.Kind{hooks.Prompt, hooks.Stop} {
		ev := hooks.Event{Agent: "other", Session: "x", Cwd: p.Root, Kind: kind, Prompt: "do it", Transcript: k.File}
		_, err := p.E.Worktree.Handle(enginetest.Bg, ev, capture.HandleOptions{Tier: tier})
		p.Must(err)
	}
	g := p.Scribe(hooks.Gemini, "0265b072-f42b-4976-8ecb-d8dde31bd890")
	g.Tell(hooks.SessionStart, map[string]any{"source": "startup"})
	g.Tell(hooks.Prompt, map[string]any{"prompt": "more"})
	p.Settle()
	h := p.E.History
	p.Must(os.Remove(g.File))
	p.Must(os.Mkdir(g.File, 0o700))
	p.Must(os.Truncate(k.File, 0))
	list, _, err := h.SessionList(enginetest.Bg, true, 0)
	p.Must(err)
	var got []string
	for i := range list {
		s := &list[i]
		agent, _ := model.SplitSession(s.Name)
		is := words(map[string]bool{"problem": s.Problem != "", "missing": s.Missing})
		got = append(got, fmt.Sprintf("%s %q, %d turns%s", agent, s.Title, s.Turns, is))
	}
	enginetest.Equal(t, "sessions", got, []string{
		`gemini "", 0 turns problem`, `other "", 0 turns`, `claude "", 0 turns`,
	})
	page, err := h.Page(enginetest.Bg, model.SessionChoice{Session: "other/x"}, "", history.Place{}, 9)
	if p.Must(err); !strings.Contains(page.Why, "the session files of other are not understood") {
		t.Errorf("%+v", page)
	}
	several := &sessions.SeveralSessionsError{Names: []string{k.Name()}}
	h.Describe(enginetest.Bg, several)
	if s := several.Sessions; len(s) != 1 || s[0].Turns != 2 || s[0].Title != "" {
		t.Errorf("%+v", s)
	}
}
