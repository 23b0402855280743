package conversation_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/internal/torture"
	"rewind/internal/value"
	"rewind/transcript"
)

// A cast is what a released agent wrote when it was driven (testdata/driven), taken apart. Conversations are made of
// its turns: record for record as the agent writes them, under ids and at times of their own. All say the same few
// things.
type cast struct {
	agent   value.Agent
	version string
	// the line that a session begins with, and one that was made of another in some way
	first, fork, cut, segment string
	head                      []string
	turns                     [][]string
}

// turnBegins are what the first line of a turn has.
var turnBegins = map[value.Agent]*regexp.Regexp{
	transcript.Codex:  regexp.MustCompile(`"type":"task_started"`),
	transcript.Droid:  regexp.MustCompile(`"interactionMode":`),
	transcript.Gemini: regexp.MustCompile(`^\{"id":"[^"]+","timestamp":"[^"]+","type":"user","content":\[\{"text":`),
}

// castOf takes apart what is kept of an agent.
func castOf(t *testing.T, agent value.Agent, version, project string) *cast {
	t.Helper()
	dir := filepath.Join("testdata", "driven", string(agent)+"-"+version)
	set, err := enginetest.ReadDriven(dir)
	if err != nil {
		t.Fatal(err)
	}
	set.Move(project)
	c := &cast{agent: agent, version: version}
	home := t.TempDir()
	for _, s := range set.Sessions {
		if err := set.Put(home, s); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(home, filepath.FromSlash(s.File)))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(strings.TrimSuffix(string(b), "\n"), "\n")
		lines[len(lines)-1] = strings.TrimSuffix(lines[len(lines)-1], "\n") + "\n"
		of := strings.NewReplacer(s.ID, mine, cmp.Or(s.Parent, "no parent"), theirs)
		switch first := of.Replace(lines[0]); {
		case s.Kind == "first":
			c.first = first
		case strings.HasPrefix(s.Kind, "segment"):
			c.segment = first
			continue
		case strings.HasSuffix(s.Kind, ", 1 deep"):
			c.fork = first
		case strings.HasPrefix(s.Kind, "/rewind"):
			c.cut = first
		case strings.Contains(s.Kind, "compress"), strings.HasPrefix(s.Kind, "rewound"):
			continue
		}
		c.take(s, lines)
	}
	return c
}

// Marks in the lines of a cast.
const (
	mine   = "<this session>"
	theirs = "<the session that it was made of>"
)

// take keeps the turns of a session.
func (c *cast) take(s enginetest.DrivenSession, lines []string) {
	begins, in, ahead := turnBegins[c.agent], false, ""
	for _, l := range lines {
		l = strings.ReplaceAll(l, s.ID, mine)
		switch {
		case strings.HasPrefix(l, `{"sessionId"`), strings.HasPrefix(l, `{"$set":{"messages"`),
			strings.HasPrefix(l, `{"$set":{"sessionId"`),
			strings.Contains(l, `"type":"session_meta"`):
			if !in && s.Kind == "first" && strings.HasPrefix(l, `{"$set":{"messages"`) && len(c.head) == 0 {
				c.head = append(c.head, l)
			}
			continue
		case strings.Contains(l, `"id":"context-`):
			ahead = l
			continue
		case begins.MatchString(l):
			c.turns = append(c.turns, nil)
			in = true
		}
		if !in {
			continue
		}
		at := len(c.turns) - 1
		if ahead != "" {
			c.turns[at], ahead = append(c.turns[at], ahead), ""
		}
		c.turns[at] = append(c.turns[at], l)
	}
}

// A record is a line of a made-up session file.
type record struct {
	text string
	turn int
}

// A talk is a session of a family, and how it was made.
type talk struct {
	id, kind string
	parent   *talk // that is to be found; nil: none
	turn     int   // of the parent, the last that it has
	of       *talk // that it was really made of
	list     []record
	before   *talk  // of Codex the thread's file in front of a segment
	base     int    // of Codex the turns that are in another file
	ordinal  int    // of Codex the next
	last     string // of Droid the newest message
	name     string // the file's, below the home directory
	hidden   bool   // no session of a person's
	left     []way  // ways that were left within it
	told     int    // turns so far
}

// A way is a branch within a session: the turn that it parted behind, and its own.
type way struct {
	after int
	turns []int
}

type talks struct {
	*families
	*cast
	root string
	home bool // the model numbers its calls, as those do that run at home
	n    int
}

var (
	anyUUID   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{24,}`)
	anyTime   = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`)
	itsOrder  = regexp.MustCompile(`^(\{"timestamp":"[^"]+",)"ordinal":\d+`)
	anOrdinal = regexp.MustCompile(`^\{"timestamp":"[^"]+","ordinal":(\d+)`)
	itsWords  = regexp.MustCompile(`("output":|"is_error":false,"content":)"(?:[^"\\]|\\.)*"`)
	itsMeta   = regexp.MustCompile(`"(forked_from_ordinal_exclusive|end_ordinal_exclusive|end_byte_offset)":\d+`)
	itsAt     = regexp.MustCompile(`"forkedAtMessageId":"[^"]*"`)
	itsID     = regexp.MustCompile(`^\{"type":"message","id":"([^"]+)"`)
	itsUp     = regexp.MustCompile(`"parentId":"[^"]+"`)
)

const stamp = "2006-01-02T15:04:05.000Z"

func (f *talks) at(line string, shift time.Duration) string {
	return anyTime.ReplaceAllStringFunc(line, func(s string) string {
		t, _ := time.Parse(stamp, s)
		return t.Add(shift).UTC().Format(stamp)
	})
}

// fresh gives all ids in a line other ones, the same for the same.
func (f *talks) fresh(line string, ids map[string]string) string {
	return anyUUID.ReplaceAllStringFunc(line, func(id string) string {
		if len(id) > 24 && !strings.Contains(id, "-") {
			return id // a sum of something
		}
		if ids[id] == "" {
			switch {
			case len(id) == 36:
				ids[id] = f.id()
			case f.home:
				f.n++
				ids[id] = fmt.Sprint(f.n % 1000)
			default:
				ids[id] = fmt.Sprintf("%024x", f.rnd.Uint64())
			}
		}
		return ids[id]
	})
}

func (f *talks) talk(kind string, of *talk) *talk {
	t := &talk{id: f.id(), kind: kind, of: of}
	f.later(20_000)
	t.name = f.fileOf(t.id, "")
	return t
}

func (f *talks) fileOf(id, segment string) string {
	switch f.agent {
	case transcript.Codex:
		if segment != "" {
			segment = "_" + segment
		}
		return ".codex/sessions/" + f.now.Format("2006/01/02/rollout-2006-01-02T15-04-05-") + id + segment + ".jsonl"
	case transcript.Droid:
		return ".factory/sessions/" + strings.ReplaceAll(f.root, "/", "-") + "/" + id + ".jsonl"
	}
	return ".gemini/tmp/proj/chats/session-" + f.now.Format("2006-01-02T15-04-") + id[:8] + ".jsonl"
}

// begin makes a conversation with so many turns.
func (f *talks) begin(kind string, turns int) *talk {
	t := f.talk(kind, nil)
	f.n = 0
	f.meta(t, f.first, nil)
	for _, l := range f.head {
		t.list = append(t.list, record{text: f.at(l, f.now.Sub(timeIn(l)))})
	}
	f.more(t, turns)
	return t
}

func timeIn(line string) time.Time {
	t, _ := time.Parse(stamp, anyTime.FindString(line))
	return t
}

// meta writes the line that a session begins with, one of a cast's, which names of.
func (f *talks) meta(t *talk, line string, of *talk) {
	named := ""
	if of != nil {
		named = of.id
	}
	line = strings.NewReplacer(mine, t.id, theirs, named).Replace(f.at(line, f.now.Sub(timeIn(line))))
	t.list = append(t.list, record{text: f.numbered(t, line)})
}

func (f *talks) numbered(t *talk, line string) string {
	if !itsOrder.MatchString(line) {
		return line
	}
	t.ordinal++
	return itsOrder.ReplaceAllString(line, fmt.Sprintf(`${1}"ordinal":%d`, t.ordinal-1))
}

// more has a conversation go on for so many turns.
func (f *talks) more(t *talk, turns int) {
	for range turns {
		f.say(t, f.turns[f.rnd.IntN(len(f.turns))])
	}
}

// say adds a turn.
func (f *talks) say(t *talk, lines []string) {
	t.told++
	shift := f.later(20_000).Sub(timeIn(lines[0]))
	ids := map[string]string{}
	for _, l := range lines {
		l = strings.ReplaceAll(f.fresh(f.at(l, shift), ids), mine, t.id)
		if at := timeIn(l); at.After(f.now) {
			f.now = at
		}
		if m := itsID.FindStringSubmatch(l); m != nil { // of Droid
			switch {
			case t.last == "":
			case strings.HasPrefix(m[1], "context-"),
				strings.Contains(l, `"interactionMode"`) && !strings.Contains(l, `"parentId":"context-`):
				l = withParent(l, t.last)
			}
			t.last = m[1]
		}
		if f.rnd.IntN(6) == 0 && itsWords.MatchString(l) { // a tool that reads session files
			l = itsWords.ReplaceAllLiteralString(l,
				itsWords.FindStringSubmatch(l)[1]+quoted(t.list[f.rnd.IntN(len(t.list))].text))
		}
		t.list = append(t.list, record{f.numbered(t, l), t.told})
	}
}

func withParent(line, parent string) string {
	if itsUp.MatchString(line) {
		return itsUp.ReplaceAllString(line, `"parentId":"`+parent+`"`)
	}
	return itsID.ReplaceAllString(line, `${0},"parentId":"`+parent+`"`)
}

// size is how many bytes of a session's file come before a turn's end.
func (t *talk) size(turn int) (bytes, ordinal int) {
	for _, r := range t.list {
		if r.turn > turn {
			break
		}
		bytes += len(r.text)
		if m := anOrdinal.FindStringSubmatch(r.text); m != nil {
			_, _ = fmt.Sscan(m[1], &ordinal)
		}
	}
	return bytes, ordinal + 1
}

// family is a first session and what was made of it.
func (f *talks) family() []*talk {
	f.home = f.rnd.IntN(4) == 0
	first := f.begin("first", 1+f.rnd.IntN(3))
	all := []*talk{first}
	kinds := copies[string(f.agent)+"-"+f.version]
	names := slices.Sorted(maps.Keys(kinds))
	for range f.rnd.IntN(7) {
		of := all[f.rnd.IntN(len(all))]
		kind := names[f.rnd.IntN(len(names))]
		if t := kinds[kind](f, of); t != nil {
			all = append(all, t)
		}
		if f.rnd.IntN(3) == 0 {
			f.more(of, 1) // it goes on beside its fork
		}
	}
	if f.rnd.IntN(2) == 0 { // word for word again
		again := f.begin("rerun", 0)
		for turn := 1; turn <= min(2, first.told); turn++ {
			var lines []string
			for _, r := range first.list {
				if r.turn == turn && !strings.Contains(r.text, "thread_rolled_back") &&
					!strings.HasPrefix(r.text, `{"$`) {
					lines = append(lines, strings.ReplaceAll(r.text, first.id, mine))
				}
			}
			if len(lines) > 0 && first.before == nil {
				f.say(again, lines)
			}
		}
		if again.told > 0 {
			all = append(all, again)
		}
	}
	if f.agent == transcript.Codex { // a thread that a thread has begun, with what that one was told
		sub := f.begin("subagent", 1)
		sub.list[0].text = strings.NewReplacer(`"thread_source":"user"`, `"thread_source":"subagent"`, `"source":"exec"`,
			`"source":{"subagent":{"thread_spawn":{"parent_thread_id":"`+first.id+`","depth":1}}}`,
		).Replace(sub.list[0].text)
		sub.hidden = true
		all = append(all, sub)
	}
	return all
}

// TestPromise19KinAgents: of conversations made of the records of Codex, Droid and Gemini, every fork is found with the
// right parent and turn, and every way that was left within a file, whatever order the files are seen in; and what is
// none is told to be none.
func TestPromise19KinAgents(t *testing.T) {
	var all score
	for i, released := range []struct {
		agent   value.Agent
		version string
	}{
		{transcript.Codex, "0.125.0"},
		{transcript.Codex, "0.169.0"},
		{transcript.Droid, "0.225.2"},
		{transcript.Gemini, "0.61.0"},
	} {
		agent, version := released.agent, released.version
		var one score
		for seed := range uint64(2) {
			if !torture.Today(2*i + int(seed)) {
				continue
			}
			p := enginetest.NewProject(t)
			p.Write("f", enginetest.Big("0"))
			p.Save("first")
			f := &talks{
				families: &families{
					rnd: rand.New(rand.NewPCG(19, seed)),
					now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC),
				},
				cast: castOf(t, agent, version, p.Root), root: p.Root,
			}
			var list []*talk
			for range 60 {
				list = append(list, f.family()...)
			}
			f.see(p, list, 1+int(seed)*3)
			for _, s := range list {
				one.talk(t, p, f, s)
			}
		}
		t.Logf("%s %s: %+v", agent, version, one)
		all.add(one)
	}
	all.must(t)
}

func (s *score) add(more score) {
	s.sessions, s.forks, s.right = s.sessions+more.sessions, s.forks+more.forks, s.right+more.right
	s.missed, s.wrong, s.invented = s.missed+more.missed, s.wrong+more.wrong, s.invented+more.invented
}

// see has the files of sessions seen in any order, by so many imports. Those of one thread come together.
func (f *talks) see(p *enginetest.Project, list []*talk, imports int) {
	p.T.Helper()
	put := func(s *talk) {
		path := filepath.Join(p.User(), filepath.FromSlash(s.name))
		p.Must(os.MkdirAll(filepath.Dir(path), 0o700))
		text := ""
		for _, r := range s.list {
			text += r.text
		}
		p.Must(os.WriteFile(path, []byte(text), 0o600))
	}
	p.Must(os.MkdirAll(filepath.Join(p.User(), ".gemini"), 0o700))
	p.Must(os.WriteFile(filepath.Join(p.User(), ".gemini", "projects.json"),
		[]byte(`{"projects":{"`+p.Root+`":"proj"}}`), 0o600))
	order := f.rnd.Perm(len(list))
	for n := range imports {
		for _, i := range order[n*len(list)/imports : (n+1)*len(list)/imports] {
			if put(list[i]); list[i].before != nil {
				put(list[i].before)
			}
		}
		res, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
		if p.Must(err); len(res.Failed) > 0 && n == imports-1 {
			p.T.Fatalf("import: %v", res.Failed)
		}
	}
}

// talk holds what is known of a session against what is true.
func (s *score) talk(t *testing.T, p *enginetest.Project, f *talks, of *talk) {
	t.Helper()
	name := string(f.agent) + "/" + of.id
	if of.hidden {
		all, err := p.E.Log.Sessions()
		if p.Must(err); slices.ContainsFunc(all, func(s model.Session) bool { return s.Name == name }) {
			t.Errorf("%s %s is taken for a person's session", of.kind, name)
		}
		return
	}
	parent := ""
	if of.parent != nil {
		parent = string(f.agent) + "/" + of.parent.id
	}
	s.judge(t, p, f.version+" "+of.kind, name, parent, of.turn)
	st := p.Session(name)
	src := transcript.Source{ReaderAt: bytes.NewReader(p.Talk(st)), Size: st.Cursor.Length, Name: of.name, Ended: true}
	c, err := transcript.Scan(f.agent, src)
	p.Must(err)
	var ways []way
	for _, b := range transcript.Branches(c.Turns) {
		ways = append(ways, way{b.After, b.Turns})
	}
	if fmt.Sprint(ways) != fmt.Sprint(of.left) {
		t.Errorf("%s %s: ways left within it %v, want %v", of.kind, name, ways, of.left)
	}
}
