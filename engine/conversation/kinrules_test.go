package conversation

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/transcript"
)

var day = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// TestFileTimes: which of two files was there first, by when they were made and written.
func TestFileTimes(t *testing.T) {
	later := day.Add(time.Hour)
	for what, c := range map[string]struct {
		f, g          stamps
		goes, other   bool
		made, written int
	}{
		"nothing is known":         {},
		"one was made live":        {f: stamps{born: later, live: true}, g: stamps{born: day}, made: -1},
		"both were made live":      {f: stamps{born: day, live: true}, g: stamps{born: later, live: true}, made: -1},
		"none was made live":       {f: stamps{born: day}, g: stamps{born: later}},
		"one was written":          {f: stamps{last: day, kept: true}, g: stamps{}},
		"one was put there":        {f: stamps{last: later, kept: true}, g: stamps{last: day}, goes: true, written: -1},
		"and gone on with":         {f: stamps{last: later, kept: true}, g: stamps{last: day}, other: true},
		"both were put there":      {f: stamps{last: day}, g: stamps{last: later}},
		"written one by one":       {f: stamps{last: day, kept: true}, g: stamps{last: later, kept: true}, written: -1},
		"and one gone on with":     {f: stamps{last: day, kept: true}, g: stamps{last: later, kept: true}, goes: true},
		"and both gone on with":    {stamps{last: day, kept: true}, stamps{last: later, kept: true}, true, true, 0, 0},
		"put there, both gone on":  {f: stamps{last: day, kept: true}, g: stamps{last: later}, goes: true, other: true},
		"put there, and none goes": {f: stamps{last: day, kept: true}, g: stamps{last: later}, written: -1},
	} {
		made, back := c.f.made(c.g), c.g.made(c.f)
		if made != c.made || back != -c.made {
			t.Errorf("%s: made %d, and the other way round %d", what, made, back)
		}
		written, back := c.f.written(c.g, c.goes, c.other), c.g.written(c.f, c.other, c.goes)
		if written != c.written || back != -c.written {
			t.Errorf("%s: written %d, and the other way round %d", what, written, back)
		}
	}
	said := &transcript.Trace{First: day, Last: later}
	for born, want := range map[time.Time][2]bool{
		{}:                        {false, false},
		day:                       {true, true},
		day.Add(soon - 1):         {true, true},
		day.Add(soon):             {false, true},
		later.Add(soon - 1):       {false, true},
		later.Add(soon):           {false, false},
		later.Add(24 * time.Hour): {false, false},
	} {
		if got := [2]bool{live(born, said), within(born, said)}; got != want {
			t.Errorf("made at %v: live, and within: %v", born, got)
		}
	}
	if live(day, &transcript.Trace{}) {
		t.Error("live, of a conversation that is of no time")
	}
}

// TestShared: how far two conversations are the same is what they have in common, or what the child's file says.
func TestShared(t *testing.T) {
	some := transcript.Same{Turn: 2, Turns: []int{1, 4}}
	for what, c := range map[string]struct {
		same    transcript.Same
		shown   int
		want    string // turns of both, the last one's number in the parent, those of all, those in a summary, a word
		summary bool   // the child begins with one
		before  int    // so many turns the parent has as a summary
	}{
		"nothing":                     {transcript.Same{}, 0, "0 0 [] 0 its own", false, 0},
		"as far as they are":          {transcript.Same{Turn: 2, Message: "m"}, 0, "2 2 [] 0 m", false, 0},
		"the parent was cut":          {transcript.Same{Turn: 1, Message: "m"}, 3, "3 3 [] 0 m", false, 0},
		"the file says less":          {transcript.Same{Turn: 3, Message: "m"}, 2, "3 3 [] 0 m", false, 0},
		"behind a turn":               {transcript.Same{Behind: 4, Message: "m"}, 0, "0 4 [4] 0 m", false, 0},
		"behind a turn, and shown":    {transcript.Same{Behind: 4, Message: "m"}, 2, "2 2 [] 0 m", false, 0},
		"behind a turn, and more":     {transcript.Same{Turn: 1, Behind: 4, Message: "m"}, 0, "1 1 [] 0 m", false, 0},
		"without some turns":          {some, 0, "2 4 [1 4] 0 its own", false, 0},
		"without some turns, and cut": {some, 4, "4 6 [1 4 5 6] 0 its own", false, 0},
		"a summary":                   {transcript.Same{Behind: 4, Message: "m"}, 0, "4 4 [] 4 m", true, 0},
		"a summary of nothing":        {transcript.Same{}, 0, "0 0 [] 0 its own", true, 0},
		"a summary of a summary":      {transcript.Same{Behind: 4}, 0, "7 7 [] 7 its own", true, 3},
		"a summary of a summary only": {transcript.Same{}, 0, "3 3 [] 3 its own", true, 3},
		"nothing, of one with such":   {transcript.Same{}, 0, "0 0 [] 0 its own", false, 3},
		"behind a turn of such":       {transcript.Same{Behind: 4}, 0, "0 7 [7] 0 its own", false, 3},
		"made of one with a summary":  {transcript.Same{Turn: 2}, 0, "5 5 [] 3 its own", true, 3},
		"made of one, without some":   {some, 0, "5 7 [1 2 3 4 7] 3 its own", true, 3},
	} {
		l := &model.Lineage{}
		l.Message = "its own"
		parent := &model.Session{Fork: &model.Lineage{Unsaid: c.before}}
		share(l, parent, &transcript.Trace{Summary: c.summary}, c.same, c.shown)
		if got := fmt.Sprint(l.Both, " ", l.Turn, " ", l.Turns, " ", l.Unsaid, " ", l.Message); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}

// A member is a session of a made-up family of Claude's.
type member struct {
	s    *model.Session
	t    *transcript.Trace
	lost bool // what was captured of it
}

// idOf is the id of a session that is called a letter.
func idOf(letter string) string { return "0000000" + letter + "-0000-4000-8000-000000000000" }

// toldAs makes a session of words. A word is a turn, of which all sessions that have it say the same: a letter and the
// minute when it was said. What is behind it says how it stands there: "@a" it says that it is the session a's, "<a" it
// says that it was copied from a, "~" under ids of this session's own, "~a" under those that a gave. "+a1" is a summary
// that names what was said there. The first word is the session's id; "!" behind it: the store has not what it says.
func toldAs(t *testing.T, text string) member {
	t.Helper()
	words := strings.Fields(text)
	letter, lost := strings.CutSuffix(words[0], "!")
	id := idOf(letter)
	var b strings.Builder
	parent := "null"
	for _, w := range words[1:] {
		if of, ok := strings.CutPrefix(w, "+"); ok {
			fmt.Fprintf(&b, `{"type":"summary","summary":"x","leafUuid":%q}`+"\n", of+"-assistant")
			continue
		}
		said, as, more := w, id, ""
		if at := strings.IndexAny(w, "@<~"); at > 0 {
			said = w[:at]
		}
		uuid := said
		if _, of, ok := strings.Cut(w, "@"); ok {
			as = idOf(of)
		}
		if _, ids, ok := strings.Cut(w, "~"); ok {
			if uuid = letter + said; ids != "" && ids[0] != '<' {
				uuid = ids[:1] + said
			}
		}
		_, of, copied := strings.Cut(w, "<")
		for n, role := range []string{"user", "assistant"} {
			if copied {
				more = fmt.Sprintf(`,"forkedFrom":{"sessionId":%q,"messageUuid":%q}`, idOf(of), said+"-"+role)
			}
			minute := int(said[1]-'0')*2 + n
			at := day.Add(time.Duration(minute) * time.Minute).Format("2006-01-02T15:04:05.000Z")
			fmt.Fprintf(&b, `{"parentUuid":%s,"type":%q,"message":{"id":%q,"role":%q,"content":%q},"uuid":%q,`+
				`"timestamp":%q,"cwd":"/p","sessionId":%q%s}`+"\n",
				parent, role, map[int]string{1: "msg_" + said}[n], role, "say "+said, uuid+"-"+role, at, as, more)
			parent = fmt.Sprintf("%q", uuid+"-"+role)
		}
	}
	s := &model.Session{Name: "claude/" + id, Agent: transcript.Claude, ID: id, Imported: true}
	s.Cursor.Transcript = objstore.ID{1}
	of, err := transcript.TraceOf(s.Agent, transcript.Source{
		ReaderAt: strings.NewReader(b.String()), Size: int64(b.Len()), Name: id, Ended: true,
	}, id)
	if err != nil {
		t.Fatal(err)
	}
	return member{s, of, lost}
}

// TestOriginOf: what a session was made of, of those that begin as it does, in whatever order they are asked.
func TestOriginOf(t *testing.T) {
	for _, c := range []struct {
		what   string
		family string // the first one is asked for
		made   string // pairs of sessions, the first of which rewind made of the second
		want   string
	}{
		{"alone", "b b1 b2", "", "none"},
		{"unlike all", "b b1 b2, a a1 a2", "", "none"},
		{"a copy of its file", "b a1@a a2@a b3, a a1 a2 a3", "", "a at 2 by header"},
		{"a copy of all of it", "b a1@a a2@a, a a1 a2", "", "a at 2 by header, open"},
		{"a copy of all of it, gone on", "b a1@a a2@a, a a1 a2 a3", "", "a at 2 by header, open"},
		{"of which one is gone", "b a1@a a2@a b3", "", "a at 2 by header"},
		{"the named was cut", "b a1@a a2@a b3, a a1", "", "a at 2 by header"},
		{"the named was cut, another has as much", "b a1@a a2@a b5, a a1, c a1@c a2@c c3", "", "a at 2 by header"},
		{"the named is gone, another has as much", "b a1@a a2@a b5, c a1@c a2@c c3", "", "a at 2 by header"},
		{"the named is gone, another has more", "b a1@a a2 b5, c a1@c a2@c c3", "", "c at 2 by ids"},
		{"the named is gone, nothing own, another has", "b a1@a a2@a, c a1@c a2@c c3", "", "none, open"},
		{"the named has other ids", "b a1~<a a2~<a b3, a a1 a2 a3", "", "a at 2 by header"},
		{"branch", "b a1<a a2<a b3, a a1 a2 a3", "", "a at 2 by header"},
		{"branch, nothing own", "b a1<a a2<a, a a1 a2 a3", "", "a at 2 by header"},
		{"tool's copy", "b a1~ a2~ b4, a a1 a2 a3", "", "a at 2 by content"},
		{"tool, what it was made of", "a a1 a2 a3, b a1~ a2~ b4", "", "none"},
		{"tool, nothing own", "b a1~ a2~, a a1 a2 a3", "", "none, open"},
		{"tool, the other has nothing own", "b a1~ a2~ b3, a a1 a2", "", "a at 2 by content, open"},
		{"tool, both nothing own", "b a1~ a2~, a a1 a2", "", "a at 2 by content, open"},
		{"tool, what it was made of, both nothing own", "a a1 a2, b a1~ a2~", "", "none, open"},
		{"same ids", "b a1 a2 b4, a a1 a2 a3", "", "a at 2 by ids"},
		{"same ids, the first", "a a1 a2 a3, b a1 a2 b4", "", "none"},
		{"that which has most", "b a1 a2 a3 b5, a a1 a2 a3 a4, c a1 a2 c3", "", "a at 3 by ids"},
		{"that which has most, not all by ids", "b a1 a2~ a3~ b5, a a1 a2 a3 a4, c a1 c3", "", "a at 3 by ids"},
		{"ids before words", "c a1 a2 c4, a a1 a2 a3, b a1~ a2~ b5", "", "a at 2 by ids"},
		{"behind a summary", "b +a2 a1~ a2~ b3, a a1 a2", "", "a at 2 by content, open"},
		{"of which a copy has a summary", "a a1 a2, b +a2 a1~ a2~ b3", "", "none, open"},
		{"behind a summary of what is gone", "b +x9 a1~ a2~ b3, a a1 a2", "", "a at 2 by content, open"},
		{"of which a copy has a summary of what is gone", "a a1 a2, b +x9 a1~ a2~", "", "none, open"},
		{"branch of one turn", "c a1~<a, a a1 a2", "", "a at 1 by header"},
		{"made through", "a a1 a2 a3, b a1@a a2@a b4, c a1@a a2@a b4@b c5", "b:a", "none"},
		{"copy of a copy, which it names", "c a1@a a2@a b4@b c5, b a1@a a2@a b4, a a1 a2 a3", "", "b at 3 by header"},
		{"copy of a fork, of what its parent has", "c a1 a2 c5, b a1 a2 b4, a a1 a2 a3", "b:a", "a at 2 by ids"},
		{"copy of a fork", "c a1 a2 b4 c5, b a1 a2 b4, a a1 a2 a3", "b:a", "b at 3 by ids, open"},
		{"its own child", "a a1 a2 a3, b a1 a2 b4", "b:a", "none"},
		{"copy of a copy", "c a1~b<a a2~b<a c5, b a1~<a a2~<a b4, a a1 a2 a3", "", "b at 2 by ids"},
		{"one more copy", "d a1~b<a a2~b<a d6, c a1~b<a a2~b<a c5, b a1~<a a2~<a b4, a a1 a2 a3", "", "b at 2 by ids"},
		{"copy beside a copy", "c a1~b<a a2~b<a a3~b<a c5, b a1~<a b4, a a1 a2 a3", "", "a at 3 by header"},
		{"copy, and one beside it", "c a1<a a2<a c5, b a1<a a2<a b4, a a1 a2 a3", "", "a at 2 by header"},
		{"copy of what says nothing", "c a1~b<a a2~b<a c5, b a1~ a2~ b4, a a1 a2 a3", "", "a at 2 by header"},
		{"its child's child", "a a1 a2 a7, c a1 a2 c4, d a1 a2 c4 d6", "c:a", "none"},
		{"two, and names one", "b a1 a2@a b5, a a1 a2 a4, c a1 a2 c3", "", "a at 2 by header"},
		{"two, and names none", "b a1 a2 b5, a a1 a2 a4, c a1 a2 c3", "", "c at 2 by ids"},
		{"names one that came later", "b a1 a2@a b3, a a1 a2 a4", "", "a at 2 by header"},
		{"names none, and came first", "b a1 a2 b3, a a1 a2 a4", "", "none"},
		{"names one that has less", "b a1@a a2 b5, a a1 a4, c a1 a2 c3", "", "c at 2 by ids"},
		{"names one that goes on with it", "b a1@a a2@a b3, a a1 a2 c4 a6, c a1 a2 c4", "c:b", "a at 2 by header"},
		{"grandchild", "a a1 a2 a3, b b1, c a1 a2 c4", "b:a c:b", "none"},
		{"as much as its child", "m a1 a2 m5, n a1 a2 n6, a a1 a2 a3", "n:m", "a at 2 by ids"},
		{"as much as what its own is of", "e a1 a2 e5, b a1 a2 b3, z a1 a2 z4", "b:z", "z at 2 by ids"},
		{"fewer words, more ids", "d a1 a2 a5~ d7, a a1 a2 a4, c a1 a2~ a5~ c6", "", "a at 2 by ids"},
		{"the named is gone, an older has as much", "d a1@a a2@a d5, b a1@b a2@b b3", "", "a at 2 by header"},
		{"the named is gone, an older has more", "d a1@a a2 d5, b a1@b a2@b b3", "", "b at 2 by ids"},
		{"the named is gone, of one turn", "d a1@a d5", "", "a at 1 by header"},
		{"its parent has less by ids", "c a1 a2 c5, b a1 a2 b4, a a1 a2~ a3", "b:a", "b at 2 by ids"},
		{"of a fork of what is gone", "c a1 a2 c5, b a1 a2 b4", "b:x", "b at 2 by ids"},
		{"of a fork of what is lost", "c a1 a2 c5, b a1 a2 b4, a! a1 a2 a3", "b:a", "b at 2 by ids"},
		{"its child is lost", "a a1 a2 a3, b! a1@a a2@a b4", "b:a", "none"},
		{"one beside is lost", "c a1~b<a a2~b<a c5, b a1~<a a2~<a b4, a a1 a2 a3, d! d1", "", "b at 2 by ids"},
	} {
		var list []member
		for text := range strings.SplitSeq(c.family, ", ") {
			list = append(list, toldAs(t, text))
		}
		of := map[string]*model.Session{}
		r := newTracer(getter{err: objstore.ErrNotFound}, 0)
		for _, m := range list {
			if of[m.s.Name] = m.s; !m.lost {
				r.is[m.s.Name] = m.t
			}
		}
		for _, pair := range strings.Fields(c.made) {
			by, from, _ := strings.Cut(pair, ":")
			of["claude/"+idOf(by)].Fork = &model.Lineage{Lineage: value.Lineage{Session: "claude/" + idOf(from)}}
		}
		k := kin{of: func(name string) *model.Session { return of[name] }}
		for _, m := range list[1:] {
			if k.comesFrom(m.s, list[0].s.Name) {
				k.below = append(k.below, m.s)
			} else {
				k.list = append(k.list, m.s)
			}
		}
		for range 2 {
			l, open, err := k.origin(r, list[0].s, list[0].t)
			got := "none"
			if l != nil {
				got = fmt.Sprintf("%c at %d by %s", l.Session[len("claude/0000000")], l.Turn, l.How)
			}
			if open {
				got += ", open"
			}
			if err != nil || got != c.want {
				t.Errorf("%s: %s, want %s (%v)", c.what, got, c.want, err)
			}
			slices.Reverse(k.list)
		}
	}
}

// TestBegunInOrder: where ids are made in order of time they tell which of two was there first, whoever went on first.
func TestBegunInOrder(t *testing.T) {
	copied, of := toldAs(t, "b a1~ a2~ b3"), toldAs(t, "a a1 a2 a4")
	precedes := func() bool { return precedes(of.s, copied.s, of.t, copied.t, copied.t.Common(of.t)) }
	if precedes() {
		t.Error("who goes on later is first, and no id says so")
	}
	for _, m := range []member{copied, of} {
		m.s.ID = strings.Replace(m.s.ID, "-4000-", "-7000-", 1)
	}
	if !precedes() {
		t.Error("who has the older id is not first")
	}
}

// TestReadsNoMore: conversations are read up to a limit, and what was read is not read again.
func TestReadsNoMore(t *testing.T) {
	const text = `{"type":"x"}` + "\n"
	src := transcript.Source{ReaderAt: strings.NewReader(text), Size: int64(len(text)), Name: "x", Ended: true}
	a, b := toldAs(t, "a a1").s, toldAs(t, "b b1").s
	r := newTracer(getter{err: objstore.ErrNotFound}, int64(len(text)))
	if _, err := r.read(a, src); err != nil {
		t.Errorf("as much as may be: %v", err)
	}
	if _, err := r.trace(a); err != nil {
		t.Errorf("what was read: %v", err)
	}
	if _, err := r.read(b, src); !errors.Is(err, ErrLater) {
		t.Errorf("more than may be: %v", err)
	}
	if _, err := r.trace(b); !errors.Is(err, objstore.ErrNotFound) {
		t.Errorf("what is not there: %v", err)
	}
}

// getter fails.
type getter struct {
	objstore.Getter
	err error
}

func (g getter) Get(objstore.Kind, objstore.ID) ([]byte, error) { return nil, g.err }

// TestLookFails: what could not be read for the moment is no reason to tell the origin without it; what is damaged is.
func TestLookFails(t *testing.T) {
	for _, c := range []struct {
		err    error
		passes bool
	}{
		{&transcript.Error{Name: "x", Cause: fmt.Errorf("read: %w", syscall.EMFILE)}, true},
		{syscall.ENOMEM, true},
		{ErrLater, false},
		{objstore.ErrCorrupt, false},
		{objstore.ErrNotFound, false},
		{objstore.ErrPurged, false},
		{&transcript.Error{Name: "x", Cause: errors.New("unexpected end of JSON input")}, false},
	} {
		if model.MayPass(c.err) != c.passes {
			t.Errorf("%v: passes %v", c.err, !c.passes)
		}
		p := &model.Session{Name: "claude/p", Agent: transcript.Claude, ID: "p"}
		p.Cursor.Transcript = objstore.ID{1}
		k := kin{of: func(string) *model.Session { return p }, list: []*model.Session{p}}
		r := newTracer(getter{err: c.err}, maxOrigin)
		s := &model.Session{Name: "claude/s", Agent: transcript.Claude, ID: "s"}
		_, _, err := k.nearest(r, s, &transcript.Trace{}, "")
		if (err != nil) != (c.passes || errors.Is(c.err, ErrLater)) {
			t.Errorf("%v: the nearest is told with %v", c.err, err)
		}
		// what its file names is not told without that one
		for _, named := range []transcript.Trace{{Header: true}, {Own: true, Shown: 1}} {
			named.Parent.Session = p.ID
			if _, _, err := k.origin(r, s, &named); !errors.Is(err, c.err) {
				t.Errorf("%v: the origin that %+v names is told with %v", c.err, named.Parent, err)
			}
		}
	}
}

// TestLookIsRepeated: a look that failed is repeated after a while, each time after twice as long, at once when all are
// asked for, and by another process, which does not know that the session was looked at.
func TestLookIsRepeated(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	p := &points{
		of: map[string]*model.Points{}, learnt: map[string]*model.Points{"a": {}}, again: map[string]bool{"a": true},
	}
	p.fail("a", now)
	if kept, stored := p.learnt["a"]; kept != nil || !stored || p.again["a"] {
		t.Errorf("behind a look that failed: %+v", p)
	}
	if next := p.failed["a"].next; !next.Equal(now.Add(2 * time.Second)) {
		t.Errorf("it is repeated %v later", next.Sub(now))
	}
	p.fail("a", now)
	if next := p.failed["a"].next; !next.Equal(now.Add(4 * time.Second)) {
		t.Errorf("the second time it is repeated %v later", next.Sub(now))
	}
	for range 40 {
		p.fail("a", now)
	}
	if d := p.failed["a"].next.Sub(now); d != time.Second<<12 {
		t.Errorf("at last it is repeated %v later", d)
	}
	p.retry()
	if !p.again["a"] || len(p.failed) > 0 {
		t.Errorf("when all are asked for: %+v", p)
	}
	p.fail("a", now)
	p.settle("a", false)
	if len(p.failed) > 0 || p.again["a"] {
		t.Errorf("behind a look that told: %+v", p)
	}
}
