package history_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/kv"
	"rewind/internal/osfile"
	"rewind/objstore"
)

// A question is one that people ask of a history; its answer is all that they get.
type question struct {
	name string
	ask  func() (any, error)
}

// about says what questions about a project name.
type about struct {
	names    []string // checkpoints and moments
	shown    []string // of which all is told
	sessions []string
	not      *regexp.Regexp // questions that are not asked while reads fail
}

// questions are those about a project, and about sessions in it.
func questions(p *enginetest.Project, a about) (list []question) {
	h := p.E.History
	add := func(name string, ask func() (any, error)) { list = append(list, question{name, ask}) }
	for _, name := range a.names {
		add("resolve "+name, func() (any, error) { return h.Resolve(name) })
		add("moment "+name, func() (any, error) {
			return held(p, func() (any, error) { return moment(h.Moment("", name)) })
		})
		if strings.HasPrefix(name, "turn:") && !strings.HasPrefix(name, "turn:0") {
			add("row "+name, func() (any, error) { return h.TurnRow(enginetest.Bg, name, "") })
			add("show all of "+name, func() (any, error) {
				s, r, err := h.ShowTurn(enginetest.Bg, name, "", nil)
				return []any{s, r}, err
			})
		}
	}
	for _, name := range a.shown {
		add("show "+name, func() (any, error) { return h.Show(enginetest.Bg, name, nil) })
		add("files "+name, func() (any, error) { return h.Files(name, history.FilesOptions{Deep: true}) })
		add("cat "+name, func() (any, error) { return catOf(h, name) })
	}
	list = append(list, questionsOfAll(p)...)
	for _, name := range a.sessions {
		for _, q := range questionsOf(p, name) {
			add(q.name+" of "+name, q.ask)
		}
	}
	return list
}

// questionsOfAll are those about lists of all that there is.
func questionsOfAll(p *enginetest.Project) []question {
	h := p.E.History
	return []question{
		{"list", func() (any, error) { return h.List(enginetest.Bg, history.ListOptions{All: true}) }},
		{"rows", func() (any, error) { return h.Rows(enginetest.Bg, history.RowOptions{All: true, Past: true}) }},
		{"graph", func() (any, error) {
			res, err := h.Rows(enginetest.Bg, history.RowOptions{})
			if err != nil {
				return nil, err
			}
			return h.Graph(enginetest.Bg, res.Rows)
		}},
		{"operations", func() (any, error) { return h.Operations(enginetest.Bg, 0, history.Every) }},
		{"density", func() (any, error) { return h.Density(enginetest.Bg, 9) }},
		{"touched", func() (any, error) { return h.Touched(enginetest.Bg, 9, 9) }},
		{"tags", func() (any, error) { return h.Tags(enginetest.Bg) }},
		{"names", func() (any, error) { return h.Names(enginetest.Bg) }},
		{"tips", func() (any, error) {
			tips, err := h.Tips()
			return fmt.Sprint(tips), err
		}},
		{"sessions", func() (any, error) {
			list, left, err := h.SessionList(enginetest.Bg, true, 0)
			return []any{list, left}, err
		}},
		{"tree", func() (any, error) { return h.FamilyTree(enginetest.Bg, "", true, nil) }},
		{"branches", func() (any, error) { return h.LocalBranches(enginetest.Bg) }},
		{"fork points", func() (any, error) { return h.ForkPoints(enginetest.Bg) }},
		{"forks", func() (any, error) { return h.Forks(enginetest.Bg, p.Env(), "") }},
		{"fork ends", func() (any, error) { return h.ForkEnds(enginetest.Bg) }},
	}
}

// questionsOf are those about a session.
func questionsOf(p *enginetest.Project, name string) []question {
	h, w := p.E.History, model.SessionChoice{Session: name}
	return []question{
		{"turns", func() (any, error) { return h.Turns(enginetest.Bg, w, 0) }},
		{"future", func() (any, error) { return h.Future(enginetest.Bg, w) }},
		{"page", func() (any, error) { return h.Page(enginetest.Bg, w, "", history.Place{}, 100) }},
		{"messages", func() (any, error) {
			list, why, err := h.Messages(enginetest.Bg, "turn:1@"+name, 9)
			return []any{list, why}, err
		}},
		{"newest", func() (any, error) { return h.NewestOf(name) }},
		{"tip", func() (any, error) {
			return held(p, func() (any, error) { return h.Tip(name) })
		}},
		{"cut off", func() (any, error) {
			return held(p, func() (any, error) { return moment(h.CutOff(name)) })
		}},
		{"named", func() (any, error) { return h.Named(w, "@~1") }},
	}
}

// moment is one with its conversation: where that is not known the moment is not told.
func moment(m *history.Moment, err error) (any, error) {
	if err == nil && m != nil {
		err = m.Err
	}
	return m, err
}

// held asks with the log's lock held, and the records loaded.
func held(p *enginetest.Project, ask func() (any, error)) (any, error) {
	defer p.E.Log.Hold()()
	if err := p.E.Log.LoadSessions(); err != nil {
		return nil, err
	}
	return ask()
}

func catOf(h *history.History, name string) (any, error) {
	r, size, err := h.Cat(enginetest.Bg, name, "f")
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	return []any{size, string(b)}, err
}

// answer is what a question is answered, as text.
func (q *question) answer() (string, error) {
	got, err := q.ask()
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(got)
	return string(b), err
}

// TestDamagedRecords: where one record of the store cannot be read, each question is answered as before, or with an
// error, and never otherwise: but for what is a hint, as the reason why a conversation is not shown.
func TestDamagedRecords(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	first, kid, of := forked(p)
	for _, file := range []string{first.File, kid.File} { // what a young file says is not stored
		fi, err := os.Stat(file)
		for p.Must(err); osfile.StampOf(fi).Young(time.Now()); {
			time.Sleep(time.Millisecond)
		}
	}
	list := append(questions(p, of), question{"the fork", func() (any, error) {
		return p.E.History.Forks(enginetest.Bg, p.Env(), kid.Name())
	}})
	want, err := map[string]string{}, error(nil)
	for range 2 { // what is learnt at the first time is known at the second
		forget(p)
		for i := range list {
			want[list[i].name], err = list[i].answer()
			if err != nil {
				t.Fatalf("%s: %v", list[i].name, err)
			}
		}
	}
	records := map[string][]byte{}
	for _, prefix := range []byte{kv.PrefixOperation, kv.PrefixRef, kv.PrefixObject} {
		p.Must(p.E.Log.DB.Scan(kv.Range{Prefix: []byte{prefix}}, func(key, raw []byte) error {
			records[string(key)] = slices.Clone(raw)
			return nil
		}))
	}
	failed := map[string]bool{}
	put := func(key string, raw []byte) {
		b := p.E.Log.DB.NewBatch()
		p.Must(b.Set([]byte(key), raw))
		p.Must(b.Commit(enginetest.Bg, kv.Written))
		p.Must(b.Close())
		forget(p)
	}
	for key, raw := range records {
		put(key, raw[:len(raw)-1])
		for i := range list {
			q := &list[i]
			got, err := q.answer()
			switch {
			case err != nil, unread.MatchString(got), got != want[q.name] && hint(q.name, key):
				failed[q.name] = true
			case got == want[q.name]:
			default:
				t.Errorf("%s without %s: %s\nwant %s", q.name, recordName(key), got, want[q.name])
			}
		}
		put(key, raw)
	}
	for i := range list {
		if q := &list[i]; !failed[q.name] {
			t.Errorf("%s: no record is needed", q.name)
		}
		if got, err := list[i].answer(); err != nil || got != want[list[i].name] {
			t.Errorf("%s once all is there again: %s, %v", list[i].name, got, err)
		}
	}
}

// forked is a session of two turns, and a fork of its first in which the person has gone back and on in another way;
// and what can be asked of both.
func forked(p *enginetest.Project) (first, kid *enginetest.Talker, of about) {
	p.Write("f", enginetest.Big("0"))
	p.Save("first")
	first = p.Talker(1)
	first.Take("one", p.Edits("f", "1"))
	first.Take("two", p.Edits("f", "2"))
	kid = p.Opened(p.Fork("turn:1", restore.Options{Session: model.SessionChoice{Session: first.Name()}}).Fork)
	kid.Take("other", p.Edits("f", "3"))
	at := kid.Parent
	kid.Take("left", nil)
	kid.Parent = at
	kid.Take("more", p.Edits("g", "4"))
	p.Checkout("turn:2@"+kid.Name(), restore.Options{CodeOnly: true})
	_, err := p.E.History.Tag(enginetest.Bg, "kept", "turn:2@"+first.Name(), false)
	p.Must(err)
	p.Settle()
	of.sessions = []string{first.Name(), kid.Name()}
	of.names = []string{
		"@", "@~1", "@{now}", "kept", "session:" + kid.Name(), "fork:" + kid.Name(), "turn:0@" + first.Name(),
		"turn:1@" + first.Name(), "turn:2@" + first.Name(), "before:1@" + first.Name(), "before:2@" + first.Name(),
		"turn:1@" + kid.Name(), "turn:2@" + kid.Name(), "before:2@" + kid.Name(),
	}
	of.shown = []string{"@", "turn:1@" + kid.Name(), "before:2@" + first.Name()}
	return first, kid, of
}

// unread says in an answer what could not be read.
var unread = regexp.MustCompile(`"(no_code|Problem)":"[^"]|it cannot be read|"Uncounted":[1-9]`)

// hint reports whether a question is answered without a record, as if that was gone.
func hint(question, key string) bool {
	of := objstore.Kind(0)
	if key[0] == kv.PrefixObject {
		of = objstore.Kind(key[1])
	}
	return question == "operations" && of == objstore.Checkpoint || question == "fork ends"
}

// forget has everything read from the store again.
func forget(p *enginetest.Project) {
	defer p.E.Log.Hold()()
	p.E.Log.Forget()
}

// recordName says what a key is of.
func recordName(key string) string {
	if key[0] == kv.PrefixObject {
		return fmt.Sprintf("%s %x", objstore.Kind(key[1]), key[2:6])
	}
	return fmt.Sprintf("%q", key)
}
