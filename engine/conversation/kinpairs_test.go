package conversation_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/hooks"
	"rewind/internal/osfile"
	"rewind/internal/torture"
)

// A pairKind is how one session was made of another by something that names nothing: it copies records under new ids,
// with what was said when.
type pairKind struct {
	name string
	kept bool   // the files' times were kept when they were brought here (cp -a), else they are those of that day
	here bool   // both files were made here, and the file system says when
	soon bool   // the copy was made within two seconds: of the first record where both were made here, else of the last
	sums bool   // a summary stands in front of the copy, as Claude Code 1.0 puts one
	goes string // who was gone on with behind the copy, in this order: a letter each, of the original and of the copy
	told bool   // some fact tells which is the copy
}

// pairKinds are all kinds. Nothing tells where the times of the files were not kept and nobody has gone on with the
// copy (both files are of one day, and each may be the beginning of the other), where the copy was gone on with before
// the original was, and where the copy was made within two seconds of the original's last record and that alone was
// gone on with.
func pairKinds() (list []pairKind) {
	for _, kept := range []bool{true, false} {
		for _, sums := range []bool{false, true} {
			for _, goes := range []string{"", "o", "c", "oc", "co"} {
				k := pairKind{kept: kept, sums: sums, goes: goes}
				used := strings.Contains(goes, "c")
				k.told = sums || goes != "co" && (kept || used)
				list = append(list, k)
			}
		}
	}
	for _, goes := range []string{"", "o"} {
		list = append(list, pairKind{kept: true, soon: true, goes: goes, told: goes == ""})
	}
	for _, soon := range []bool{false, true} {
		for _, goes := range []string{"", "o", "c", "oc", "co"} {
			list = append(list, pairKind{kept: true, here: true, soon: soon, goes: goes, told: true})
		}
	}
	for i := range list {
		k := &list[i]
		k.name = fmt.Sprintf("kept %t, here %t, soon %t, summary %t, %q", k.kept, k.here, k.soon, k.sums, k.goes)
	}
	return list
}

// A filed is a session with when its file was written last.
type filed struct {
	*branch
	last time.Time
}

// pair makes two sessions. What an agent notes between messages is in neither: it would tell.
func (f *families) pair(k pairKind) (of, made *filed) {
	a := &branch{id: f.id(), kind: "first"}
	turns := 1 + f.rnd.IntN(4)
	if k.here && k.soon {
		turns = 1
	}
	f.goOn(a, turns)
	end := f.now
	b := &branch{id: f.id(), kind: "pair", of: a, parent: a, turn: 1 + f.rnd.IntN(turns)}
	if k.goes == "" || k.soon { // else the original would have more
		b.turn = turns
	}
	ids := map[string]string{"": ""}
	for _, s := range a.said {
		if s.turn > b.turn || s.book {
			continue
		}
		ids[s.id] = f.id()
		s.id, s.parent, s.session = ids[s.id], ids[s.parent], b.id
		b.said = append(b.said, s)
	}
	if k.sums {
		last := a.said[len(a.said)-1].id
		b.front = []string{`{"type":"summary","summary":"A title","leafUuid":"` + last + `"}` + "\n"}
	}
	switch {
	case k.soon:
		f.now = end.Add(time.Duration(100+f.rnd.IntN(1400)) * time.Millisecond)
	default: // seconds to months
		f.now = end.Add(3*time.Second + time.Duration(f.rnd.Int64N(int64(time.Hour)<<f.rnd.IntN(11))))
	}
	of, made = &filed{a, end}, &filed{b, f.now}
	f.now = f.now.Add(3 * time.Second)
	for _, who := range k.goes {
		x := of
		if who == 'c' {
			x = made
		}
		f.goOn(x.branch, 1+f.rnd.IntN(2))
		x.last = f.now
	}
	for _, x := range []*filed{of, made} {
		x.said = slices.DeleteFunc(x.said, func(s saying) bool { return s.book })
		x.last = x.last.Add(time.Duration(f.rnd.IntN(90)) * time.Millisecond)
		if end := x.said[len(x.said)-1].at; x.last.Before(end) {
			x.last = end
		}
	}
	f.later(5_000)
	return of, made
}

// A laying is the pairs of one kind, in a project of their own.
type laying struct {
	pairKind
	f     *families
	p     *enginetest.Project
	pairs [][2]*filed
}

func lay(t *testing.T, n int, k pairKind, pairs int) *laying {
	t.Helper()
	l := &laying{pairKind: k, f: &families{
		rnd: rand.New(rand.NewPCG(39, uint64(n))), now: time.Date(2020, 11, 20, 9, 0, 0, 0, time.UTC),
	}}
	l.p = enginetest.NewProject(t)
	l.p.Write("f", enginetest.Big("0"))
	l.p.Save("first")
	l.p.Must(os.MkdirAll(l.p.Chats(), 0o700))
	for range pairs {
		of, made := l.f.pair(k)
		l.pairs = append(l.pairs, [2]*filed{of, made})
	}
	return l
}

func (l *laying) path(x *filed) string { return filepath.Join(l.p.Chats(), x.id+".jsonl") }

func (l *laying) write(x *filed) {
	l.p.Must(os.WriteFile(l.path(x), []byte(x.lines(l.p.Root)), 0o600))
	l.p.Must(os.Chtimes(l.path(x), x.last, x.last))
}

// brought writes the files as they lie where they were brought from elsewhere, in no order.
func (l *laying) brought() {
	day := l.f.now.Add(24 * time.Hour)
	for _, pair := range l.pairs {
		order := []*filed{pair[0], pair[1]}
		if l.f.rnd.IntN(2) == 0 {
			slices.Reverse(order)
		}
		for _, x := range order {
			if !l.kept {
				day = day.Add(time.Duration(l.f.rnd.IntN(40)) * time.Millisecond)
				x.last = day
			}
			l.write(x)
		}
	}
}

// begun makes the originals, whose first record is of when their file was made. late is when a file that is made is of
// no conversation that begins with it.
func (l *laying) begun() (late time.Time) {
	for _, pair := range l.pairs {
		l.p.Must(os.WriteFile(l.path(pair[0]), nil, 0o600))
		late = osfile.Born(l.path(pair[0]))
		for l.soon && !osfile.Born(l.path(pair[1])).After(late) { // the clock goes on every 4 ms
			l.p.Must(os.RemoveAll(l.path(pair[1])))
			l.p.Must(os.WriteFile(l.path(pair[1]), nil, 0o600))
		}
		shift := late.Sub(pair[0].said[0].at)
		for _, x := range pair {
			for i := range x.said {
				x.said[i].at = x.said[i].at.Add(shift)
				x.said[i].text += pair[0].id // other pairs say theirs at the same time
			}
			x.last = x.last.Add(shift)
		}
		l.write(pair[0])
	}
	return late.Add(2 * time.Second)
}

// TestKinPairs: of two sessions, one a copy of the other that names nothing, the copy is told by what there is: when
// the files were made and written, a summary in front, and who has gone on. 1,600 pairs of the kinds that some fact
// tells; the others are named, and told to be some pair all the same.
func TestKinPairs(t *testing.T) {
	kinds := pairKinds()
	told := 0
	for _, k := range kinds {
		if k.told {
			told++
		}
	}
	want := torture.Points(400, 1600)
	each := (want + told - 1) / told
	var all score
	var list []*laying
	var late time.Time
	for n, k := range kinds {
		l := lay(t, n, k, each)
		if list = append(list, l); k.here {
			late = l.begun()
		}
	}
	for time.Now().Before(late) { // when a file was made cannot be set
		time.Sleep(time.Until(late))
	}
	for _, l := range list {
		p, k := l.p, l.pairKind
		switch {
		case !k.here:
			l.brought()
		default:
			for _, pair := range l.pairs {
				l.write(pair[1])
			}
		}
		res, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
		if p.Must(err); len(res.Failed) > 0 {
			t.Fatalf("import: %v", res.Failed)
		}
		var s score
		for _, pair := range l.pairs {
			of, made := pair[0], pair[1]
			s.judge(t, p, k.name, "claude/"+of.id, "", 0)
			s.judge(t, p, k.name, "claude/"+made.id, "claude/"+of.id, made.turn)
		}
		t.Logf("%s: %d of %d are right, %d originals are told to be copies", k.name, s.right, s.forks, s.invented)
		if k.told {
			all.forks, all.right, all.invented = all.forks+s.forks, all.right+s.right, all.invented+s.invented
		}
	}
	t.Logf("%d pairs of %d kinds: %.4f right", all.forks, told, all.forksRight())
	if all.forks < want || all.forksRight() < 0.99 || all.invented > all.forks/100 {
		t.Errorf("of %d pairs %d are right, and %d originals are told to be copies", all.forks, all.right, all.invented)
	}
}

// TestKinDecidedAgain: what was told of two sessions, one of which had nothing of its own, is decided again as soon as
// that one goes on, by however little.
func TestKinDecidedAgain(t *testing.T) {
	for seed := range 4 {
		l := lay(t, seed, pairKind{kept: true, soon: true, goes: "o"}, 1)
		p, of, made := l.p, l.pairs[0][0], l.pairs[0][1]
		l.brought()
		_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
		p.Must(err)
		if f := p.Session("claude/" + of.id).Fork; f == nil || f.Session != "claude/"+made.id {
			t.Fatalf("nothing tells the copy, and the original is made of %+v", f)
		}
		l.f.now = of.last.Add(time.Minute)
		l.f.goOn(made.branch, 1)
		made.said = slices.DeleteFunc(made.said, func(s saying) bool { return s.book })
		made.last = l.f.now
		l.write(made)
		tier, err := hooks.LoadTier("balanced")
		p.Must(err)
		_, err = p.E.Worktree.Handle(enginetest.Bg, hooks.Event{
			Agent: hooks.Claude, Session: made.id, Cwd: p.Root, Kind: hooks.Stop, Transcript: l.path(made),
		}, capture.HandleOptions{Tier: tier})
		p.Must(err)
		p.Settle()
		if f := p.Session("claude/" + of.id).Fork; f != nil {
			t.Errorf("the original is still told to be made of %s", f.Session)
		}
		if f := p.Session("claude/" + made.id).Fork; f == nil || f.Session != "claude/"+of.id || f.Turn != made.turn {
			t.Errorf("the copy is told to be made of %+v", f)
		}
	}
}
