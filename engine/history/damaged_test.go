package history_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rewind/engine"
	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/restore"
	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
	"rewind/internal/osfile"
	"rewind/objstore"
)

// A question is one that people ask of a history; its answer is all that they get.
type question struct {
	name string
	ask  func() (any, error)
}

// questions are those about a project, and about a fork and what it was made of.
func questions(p *enginetest.Project, first, kid string) (list []question) {
	h := p.E.History
	add := func(name string, ask func() (any, error)) { list = append(list, question{name, ask}) }
	one := func(name string, ask func(name string) (any, error)) {
		for _, of := range []string{first, kid} {
			add(name+" of "+of, func() (any, error) { return ask(of) })
		}
	}
	choice := func(session string) model.SessionChoice { return model.SessionChoice{Session: session} }
	moment := func(m *history.Moment, err error) (any, error) {
		if err == nil && m != nil {
			err = m.Err
		}
		return m, err
	}
	held := func(ask func() (any, error)) (any, error) {
		defer p.E.Log.Hold()()
		if err := p.E.Log.LoadSessions(); err != nil {
			return nil, err
		}
		return ask()
	}
	for _, name := range []string{
		"@", "@~1", "@{now}", "kept", "session:" + kid, "fork:" + kid, "turn:0@" + first, "turn:1@" + first,
		"turn:2@" + first, "before:1@" + first, "before:2@" + first, "turn:1@" + kid, "turn:2@" + kid,
		"before:2@" + kid,
	} {
		add("resolve "+name, func() (any, error) { return h.Resolve(name) })
		add("moment "+name, func() (any, error) {
			return held(func() (any, error) { return moment(h.Moment("", name)) })
		})
		if strings.HasPrefix(name, "turn:") && !strings.HasPrefix(name, "turn:0") {
			add("row "+name, func() (any, error) { return h.TurnRow(enginetest.Bg, name, "") })
			add("show all of "+name, func() (any, error) {
				s, r, err := h.ShowTurn(enginetest.Bg, name, "", nil)
				return []any{s, r}, err
			})
		}
	}
	for _, name := range []string{"@", "turn:1@" + kid, "before:2@" + first} {
		add("show "+name, func() (any, error) { return h.Show(enginetest.Bg, name, nil) })
		add("files "+name, func() (any, error) { return h.Files(name, history.FilesOptions{Deep: true}) })
		add("cat "+name, func() (any, error) { return catOf(h, name) })
	}
	add("list", func() (any, error) { return h.List(enginetest.Bg, history.ListOptions{All: true}) })
	add("rows", func() (any, error) {
		return h.Rows(enginetest.Bg, history.RowOptions{All: true, Past: true})
	})
	add("graph", func() (any, error) {
		res, err := h.Rows(enginetest.Bg, history.RowOptions{})
		if err != nil {
			return nil, err
		}
		return h.Graph(enginetest.Bg, res.Rows)
	})
	add("operations", func() (any, error) { return h.Operations(enginetest.Bg, 0, history.Every) })
	add("density", func() (any, error) { return h.Density(enginetest.Bg, 9) })
	add("touched", func() (any, error) { return h.Touched(enginetest.Bg, 9, 9) })
	add("tags", func() (any, error) { return h.Tags(enginetest.Bg) })
	add("names", func() (any, error) { return h.Names(enginetest.Bg) })
	add("tips", func() (any, error) {
		tips, err := h.Tips()
		return fmt.Sprint(tips), err
	})
	add("sessions", func() (any, error) {
		list, left, err := h.SessionList(enginetest.Bg, true, 0)
		return []any{list, left}, err
	})
	add("tree", func() (any, error) { return h.FamilyTree(enginetest.Bg, "", true, nil) })
	add("branches", func() (any, error) { return h.LocalBranches(enginetest.Bg) })
	add("fork points", func() (any, error) { return h.ForkPoints(enginetest.Bg) })
	add("forks", func() (any, error) { return h.Forks(enginetest.Bg, p.Env(), "") })
	add("the fork", func() (any, error) { return h.Forks(enginetest.Bg, p.Env(), kid) })
	add("fork ends", func() (any, error) { return h.ForkEnds(enginetest.Bg) })
	one("turns", func(name string) (any, error) { return h.Turns(enginetest.Bg, choice(name), 0) })
	one("future", func(name string) (any, error) { return h.Future(enginetest.Bg, choice(name)) })
	one("page", func(name string) (any, error) {
		return h.Page(enginetest.Bg, choice(name), "", history.Place{}, 100)
	})
	one("messages", func(name string) (any, error) {
		list, why, err := h.Messages(enginetest.Bg, "turn:1@"+name, 9)
		return []any{list, why}, err
	})
	one("newest", func(name string) (any, error) { return h.NewestOf(name) })
	one("tip", func(name string) (any, error) {
		return held(func() (any, error) { return h.Tip(name) })
	})
	one("cut off", func(name string) (any, error) {
		return held(func() (any, error) { return moment(h.CutOff(name)) })
	})
	one("named", func(name string) (any, error) { return h.Named(choice(name), "@~1") })
	return list
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
	first, kid := forked(p)
	for _, file := range []string{first.File, kid.File} { // what a young file says is not stored
		fi, err := os.Stat(file)
		for p.Must(err); osfile.StampOf(fi).Young(time.Now()); {
			time.Sleep(time.Millisecond)
		}
	}
	list := questions(p, first.Name(), kid.Name())
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
			case err != nil, told.MatchString(got), got != want[q.name] && hint(q.name, key):
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

// forked is a session of two turns, and a fork of its first in which the person has gone back and on in another way.
func forked(p *enginetest.Project) (first, kid *enginetest.Talker) {
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
	return first, kid
}

// TestAnswersWhileReadsFail: where one read of the store fails, each question is answered with an error, or as if it
// had not failed: but for what is a hint.
func TestAnswersWhileReadsFail(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	first, kid := forked(p)
	disk := kvtest.NewFaultFS(p.FS)
	p.Close()
	var err error
	p.E, err = engine.Open(enginetest.Bg, p.Home, p.Root, project.Options{KV: kv.Options{FS: disk}})
	p.Must(err)
	db := p.E.Log.DB
	disk.Hook(func(c kvtest.Call) {
		if c.Kind == kvtest.Read { // so that the next read of a key comes here too
			db.TrimCaches()
		}
	})
	ask := func(q *question, fail int) (string, error) {
		forget(p)
		p.E.History.TrimCaches()
		db.TrimCaches()
		disk.Set(&kvtest.Fault{Kind: kvtest.Read, N: fail, Path: ".sst", Err: syscall.EIO})
		return q.answer()
	}
	list := questions(p, first.Name(), kid.Name())
	for i := range list {
		_, err := ask(&list[i], 0)
		p.Must(err)
	}
	for range 4 { // what is remembered leaves the cache no room
		b := db.NewBatch()
		p.Must(b.Set([]byte{0xff}, nil))
		p.Must(b.Commit(enginetest.Bg, kv.Written))
		p.Must(db.Compact(enginetest.Bg))
	}
	defer disk.Set()
	for i := range list {
		q := &list[i]
		if q.name == "operations" { // from where a restore went is left out where it cannot be read
			continue
		}
		want, err := ask(q, 0)
		p.Must(err)
		reads := disk.Calls(kvtest.Read)
		want = whose.ReplaceAllString(want, "")
		most := min(12, reads)
		for k := range most {
			got, err := ask(q, 1+k*reads/most)
			got = whose.ReplaceAllString(got, "")
			if err == nil && got != want && !told.MatchString(got) {
				t.Errorf("%s: read %d of %d fails:\n%s\nwant\n%s", q.name, 1+k*reads/most, reads, got, want)
			}
		}
	}
}

// whose is what a session is called, which nothing is said of where it cannot be told.
var whose = regexp.MustCompile(`"Whose":"[^"]*",`)

// told says in an answer what could not be read.
var told = regexp.MustCompile(`"(no_code|Problem)":"[^"]|it cannot be read|"Uncounted":[1-9]`)

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
