package conversation_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/internal/torture"
	"rewind/transcript"
)

// score is how what was found compares with what is true.
type score struct{ sessions, forks, right, missed, wrong, invented int }

func (s *score) forksRight() float64 { return float64(s.right) / float64(max(s.forks, 1)) }

// judge holds what is known of a session against the session that it was made of, and the last turn that both have.
func (s *score) judge(t *testing.T, p *enginetest.Project, what, name, of string, turn int) {
	t.Helper()
	s.sessions++
	got, at := "", 0
	if l := p.Session(name).Fork; l != nil {
		got, at = l.Session, l.Turn
	}
	if of != "" {
		s.forks++
	}
	switch {
	case got == of && at == turn:
		if of != "" {
			s.right++
		}
		return
	case of == "":
		s.invented++
	case got == "":
		s.missed++
	default:
		s.wrong++
	}
	t.Logf("%s: %s is told to be of %q at turn %d, and was made of %q at turn %d", what, name, got, at, of, turn)
}

// must holds a score against what is asked for.
func (s *score) must(t *testing.T) {
	t.Helper()
	t.Logf("%d sessions, %d forks: %d with the right parent and turn (%.2f %%), %d missed, %d wrong, %d invented",
		s.sessions, s.forks, s.right, 100*s.forksRight(), s.missed, s.wrong, s.invented)
	if s.forksRight() < 0.99 || s.invented > 0 {
		t.Error("99 % of the forks are to be right, and none invented")
	}
}

// moreDriven, where it is set, is a list of directories with what further runs of TestDriven have kept.
const moreDriven = "REWIND_DRIVEN"

func driven(t *testing.T) map[string]*enginetest.Driven {
	t.Helper()
	all := map[string]*enginetest.Driven{}
	for n, from := range append([]string{filepath.Join("testdata", "driven")},
		filepath.SplitList(os.Getenv(moreDriven))...) {
		dirs, err := os.ReadDir(from)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range dirs {
			set, err := enginetest.ReadDriven(filepath.Join(from, d.Name()))
			if err != nil {
				t.Fatal(err)
			}
			all[fmt.Sprintf("%s (%d)", d.Name(), n)] = set
		}
	}
	return all
}

// TestPromise19DrivenMany: of the sessions that TestDrivenMany had the agents make at random, every fork is found with
// the right parent and turn, and every way that was left within one.
func TestPromise19DrivenMany(t *testing.T) {
	sets, err := enginetest.ReadDrivenSets(filepath.Join("testdata", "many.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if more := os.Getenv(moreDriven); more != "" {
		maps.Copy(sets, driven(t))
	}
	var all score
	ways := 0
	for i, name := range slices.Sorted(maps.Keys(sets)) {
		if !torture.Today(i) {
			continue
		}
		set := sets[name]
		p := enginetest.NewProject(t)
		p.Write("f", enginetest.Big("0"))
		p.Save("first")
		set.Move(p.Root)
		p.Must(set.Aside(p.User()))
		rnd := rand.New(rand.NewPCG(19, 0))
		for i, n := range rnd.Perm(len(set.Sessions)) {
			for _, s := range set.Sessions { // those of one thread of Codex come together
				if s.ID == set.Sessions[n].ID {
					p.Must(set.Put(p.User(), s))
				}
			}
			if rnd.IntN(60) == 0 || i == len(set.Sessions)-1 {
				_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
				p.Must(err)
			}
		}
		var one score
		for _, s := range set.Sessions {
			if strings.HasPrefix(s.Kind, "before a backtrack") {
				continue // goes on in its segment
			}
			one.judge(t, p, name+": "+s.Kind, s.Name(), s.Of(), map[bool]int{true: s.Turn}[s.Of() != ""])
			if s.Left != nil {
				ways += len(s.Left)
				if left := leftIn(t, p, s.Name(), s.File); fmt.Sprint(left) != fmt.Sprint(s.Left) {
					t.Errorf("%s: %s %s: ways left within it %v, want %v", name, s.Kind, s.Name(), left, s.Left)
				}
			}
		}
		t.Logf("%s: %+v", name, one)
		all.add(one)
		if one.forks > 0 && one.forksRight() < 0.99 || one.invented > 0 {
			t.Errorf("%s: 99 %% of the forks are to be right, and none invented", name)
		}
	}
	t.Logf("%d ways were left within sessions", ways)
	t.Logf("%d sessions, %d forks, %d right", all.sessions, all.forks, all.right)
}

// leftIn are the ways that were left within a session.
func leftIn(t *testing.T, p *enginetest.Project, session, file string) []enginetest.DrivenWay {
	t.Helper()
	st := p.Session(session)
	src := transcript.Source{ReaderAt: bytes.NewReader(p.Talk(st)), Size: st.Cursor.Length, Name: file, Ended: true}
	c, err := transcript.Scan(st.Agent, src)
	p.Must(err)
	ways := []enginetest.DrivenWay{}
	for _, b := range transcript.Branches(c.Turns) {
		ways = append(ways, enginetest.DrivenWay{After: b.After, Turns: b.Turns})
	}
	return ways
}

// TestPromise19Driven: of session files that the agents themselves wrote, every fork is found with the right parent and
// turn, in whatever order the files are seen. The truth is what the agents were driven to do.
func TestPromise19Driven(t *testing.T) {
	var all score
	for name, set := range driven(t) {
		for round := range uint64(3) {
			p := enginetest.NewProject(t)
			p.Write("f", enginetest.Big("0"))
			p.Save("first")
			set.Move(p.Root)
			p.Must(set.Aside(p.User()))
			rnd := rand.New(rand.NewPCG(19, round))
			for i, n := range rnd.Perm(len(set.Sessions)) {
				p.Must(set.Put(p.User(), set.Sessions[n]))
				if round > 0 && rnd.IntN(3) == 0 || i == len(set.Sessions)-1 {
					res, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
					if p.Must(err); len(res.Failed) > 0 && i == len(set.Sessions)-1 {
						t.Errorf("%s: %v", name, res.Failed)
					}
				}
			}
			for _, s := range set.Sessions {
				if strings.HasPrefix(s.Kind, "before a backtrack") {
					continue // goes on in its segment
				}
				all.judge(t, p, name+": "+s.Kind, s.Name(), s.Of(), map[bool]int{true: s.Turn}[s.Of() != ""])
			}
		}
	}
	all.must(t)
}

// TestPromise19DetectOff: where forks.detect is off an import records no fork, and once it is on all are found.
func TestPromise19DetectOff(t *testing.T) {
	var all score
	for name, set := range driven(t) {
		p := enginetest.NewProject(t)
		p.Write("f", enginetest.Big("0"))
		p.Save("first")
		set.Move(p.Root)
		p.Must(set.Aside(p.User()))
		for _, s := range set.Sessions {
			p.Must(set.Put(p.User(), s))
		}
		for _, on := range []bool{false, true} {
			p.Set("forks.detect", fmt.Sprint(on))
			p.Reopen()
			_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
			p.Must(err)
			for _, s := range set.Sessions {
				switch l := p.Session(s.Name()).Fork; {
				case strings.HasPrefix(s.Kind, "before a backtrack"):
				case on:
					all.judge(t, p, name+": "+s.Kind, s.Name(), s.Of(), map[bool]int{true: s.Turn}[s.Of() != ""])
				case l != nil:
					t.Errorf("%s: %s is recorded to be of %s where no forks are looked for", name, s.Name(), l.Session)
				}
			}
		}
	}
	all.must(t)
}
