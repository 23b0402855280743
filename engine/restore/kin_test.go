package restore_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/engine/enginetest"
)

// A saying is a record of a made-up session file.
type saying struct {
	id, parent, message, role, text string
	at                              time.Time
	turn                            int // from 1
}

// A branch is a session of a family, and how it was made.
type branch struct {
	id     string
	parent *branch // nil: the first
	turn   int     // of the parent, the last that it has
	fresh  bool    // every record of it has an id of its own
	said   []saying
	names  bool // says which session it was made of
}

func (b *branch) turns() int {
	if len(b.said) == 0 {
		return 0
	}
	return b.said[len(b.said)-1].turn
}

// origin is the session that a copy of the first turns of b is told to come from: of those that have the same records, the first.
func (b *branch) origin(turn int, fresh bool) *branch {
	for b.parent != nil && turn <= b.turn && (fresh || !b.fresh) {
		b = b.parent
	}
	return b
}

// families makes session files as Claude Code, its SDK and tools beside them leave them behind.
type families struct {
	rnd *rand.Rand
	n   int
	now time.Time
}

func (f *families) id() string {
	f.n++
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", f.rnd.Uint32(), f.n)
}

func (f *families) goOn(b *branch, turns int) {
	words := []string{"fix it", "go on", "and now tests", "no, the other one", "yes"} // the same again and again
	say := func(role, message, text string, turn int) {
		f.now = f.now.Add(time.Duration(1+f.rnd.IntN(90_000)) * time.Millisecond)
		s := saying{id: f.id(), message: message, role: role, text: text, at: f.now, turn: turn}
		if n := len(b.said); n > 0 {
			s.parent = b.said[n-1].id
		}
		b.said = append(b.said, s)
	}
	for range turns {
		turn := b.turns() + 1
		say("user", "", words[f.rnd.IntN(len(words))], turn)
		for range 1 + f.rnd.IntN(3) {
			say("assistant", "msg_"+f.id(), "done", turn)
		}
	}
}

// copied makes a session of the first turns of another one.
func (f *families) copied(of *branch) *branch {
	b := &branch{id: f.id(), turn: 1 + f.rnd.IntN(of.turns()), fresh: f.rnd.IntN(2) == 0, names: f.rnd.IntN(4) == 0}
	ids := map[string]string{"": ""}
	for _, s := range of.said {
		if s.turn > b.turn {
			break
		}
		if ids[s.id] = s.id; b.fresh {
			ids[s.id] = f.id()
		}
		s.id, s.parent = ids[s.id], ids[s.parent]
		b.said = append(b.said, s)
	}
	if last := &b.said[len(b.said)-1]; b.fresh && f.rnd.IntN(2) == 0 {
		f.now = f.now.Add(time.Minute)
		last.at = f.now // as the SDK does
	}
	b.parent = of.origin(b.turn, b.fresh)
	if b.names {
		b.parent = of
	}
	f.goOn(b, f.rnd.IntN(3))
	return b
}

func (b *branch) lines(cwd string) string {
	var w strings.Builder
	for i, s := range b.said {
		parent, content := "null", fmt.Sprintf("%q", s.text)
		if s.parent != "" {
			parent = fmt.Sprintf("%q", s.parent)
		}
		if s.role == "assistant" {
			content = fmt.Sprintf(`[{"type":"text","text":%q}]`, s.text)
		}
		forked := ""
		if b.names && s.turn <= b.turn {
			forked = fmt.Sprintf(`,"forkedFrom":{"sessionId":%q,"messageUuid":%q}`, b.parent.id, b.parent.said[i].id)
		}
		fmt.Fprintf(&w, `{"parentUuid":%s,"isSidechain":false,"type":%q,"message":{"id":%q,"role":%q,"content":%s},"uuid":%q,`+
			`"timestamp":%q,"cwd":%q,"sessionId":%q,"version":"2.1.328"%s}`+"\n",
			parent, s.role, s.message, s.role, content, s.id, s.at.UTC().Format("2006-01-02T15:04:05.000Z"), cwd, b.id, forked)
	}
	return w.String()
}

// TestPromise19Kin: of families of sessions whose files mostly name nothing, every fork is found with the right parent and turn, and what
// only begins with the same words is none. The truth is how they were made here; where several sessions have the same records, the first
// of them is meant.
func TestPromise19Kin(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			findsKin(t, rand.New(rand.NewPCG(19, seed)))
		})
	}
}

func findsKin(t *testing.T, rnd *rand.Rand) {
	t.Helper()
	p := enginetest.NewProject(t)
	p.Write("f", enginetest.Big("0"))
	p.Save("first")
	f := &families{rnd: rnd, now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
	var all []*branch
	for range 40 {
		first := &branch{id: f.id()}
		f.goOn(first, 1+f.rnd.IntN(5))
		family := []*branch{first}
		for range f.rnd.IntN(9) {
			of := family[f.rnd.IntN(len(family))]
			family = append(family, f.copied(of))
			if f.rnd.IntN(2) == 0 {
				f.goOn(of, 1) // it goes on beside its fork
			}
		}
		all = append(all, family...)
	}
	p.Must(os.MkdirAll(p.Chats(), 0o700))
	for _, b := range all { // in the order in which they were made
		p.Must(os.WriteFile(filepath.Join(p.Chats(), b.id+".jsonl"), []byte(b.lines(p.Root)), 0o600))
		time.Sleep(15 * time.Millisecond) // a file system's clock is that coarse, and tells which file was made first
	}
	res, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	if p.Must(err); len(res.Sessions) != len(all) || len(res.Failed) > 0 {
		t.Fatalf("%d of %d sessions were imported: %v", len(res.Sessions), len(all), res.Failed)
	}
	forks, right := 0, 0
	for _, b := range all {
		s := p.Session("claude/" + b.id)
		if b.parent == nil {
			if s.Fork != nil {
				t.Errorf("%s is told to be a fork: %+v", b.id, s.Fork)
			}
			continue
		}
		forks++
		if s.Fork != nil && s.Fork.Session == "claude/"+b.parent.id && s.Fork.Turn == b.turn {
			right++
			continue
		}
		how := map[bool]string{true: "every record under a new id", false: "the same ids"}[b.fresh]
		i := slices.IndexFunc(all, func(o *branch) bool { return s.Fork != nil && "claude/"+o.id == s.Fork.Session })
		t.Errorf("%s, %s, names it: %v: is told to be of session %d, %+v, and was made of %s at turn %d", b.id, how, b.names, i, s.Fork,
			b.parent.id, b.turn)
	}
	t.Logf("%d sessions, %d of %d forks are right", len(all), right, forks)
}
