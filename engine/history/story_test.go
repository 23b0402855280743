package history_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/objstore"
	"rewind/transcript"
)

var update = flag.Bool("update", false, "write the stories in testdata anew")

// story is a project in which much was said and taken back, and all that this room answers about it.
type story struct {
	*enginetest.Project
	out   bytes.Buffer
	names []string // what stands for what, as strings.NewReplacer takes it
}

func (s *story) say(format string, args ...any) {
	text := strings.NewReplacer(s.names...).Replace(fmt.Sprintf(format, args...))
	s.out.WriteString(strings.TrimRight(text, " ") + "\n")
}

// code is the first byte of each file of a checkpoint.
func (s *story) code(id string) string {
	if id == "" {
		return "-"
	}
	cp, err := s.E.History.Resolve(id)
	if err != nil {
		return err.Error()
	}
	out := ""
	for _, name := range []string{"f", "g", "mine"} {
		if r, _, err := s.E.History.Cat(enginetest.Bg, id, name); err == nil {
			b := make([]byte, 1)
			_, err = r.Read(b)
			s.Must(err)
			s.Must(r.Close())
			out += string(b)
		}
	}
	return cmp.Or(out, cp.ID.Short())
}

func (s *story) id(id objstore.ID) string {
	if id.IsZero() {
		return "-"
	}
	return s.code(id.String())
}

// moment is the code, and how many lines the conversation has, up to which turn.
func (s *story) moment(m *history.Moment, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	code := "-"
	if m.Checkpoint != nil {
		code = s.id(m.Checkpoint.ID)
	}
	said := 0
	if !m.Transcript.IsZero() {
		said = bytes.Count(enginetest.ReadAll(s.T, s.E.Log.Objs, m.Transcript), []byte("\n"))
	}
	out := fmt.Sprintf("code %s, %d lines to turn %d of %s", code, said, m.Turn, m.Session)
	return out + words(map[string]bool{"ended": m.Ended, "start": m.Start, "now": m.Now, "lost": m.Err != nil})
}

func words(is map[string]bool) (out string) {
	for word, is := range is {
		if is {
			out += " " + word
		}
	}
	list := strings.Fields(out)
	slices.Sort(list)
	return strings.TrimRight(" "+strings.Join(list, " "), " ")
}

// turn is one of a list.
func (s *story) turn(t *model.TurnInfo) string {
	is := words(map[string]bool{"gone": t.Gone, "cut": t.Cut})
	return fmt.Sprintf("%d %q %s%s", t.Number, t.Summary, s.code(t.Checkpoint), is)
}

// ask asks all about a session.
func (s *story) ask(name string, turns uint64) {
	h, w := s.E.History, model.SessionChoice{Session: name}
	s.say("## %s", name)
	for _, limit := range []int{0, 2} {
		l, err := h.Turns(enginetest.Bg, w, limit)
		s.Must(err)
		s.say("at most %d turns of %q, at %d, own %d, left %d of %s%s", limit, l.Title, l.At, l.OwnAt, l.LeftTurns,
			l.Left,
			words(map[string]bool{"more": l.More}))
		for i := range l.Turns {
			s.say("- %s", s.turn(&l.Turns[i]))
		}
	}
	fu, err := h.Future(enginetest.Bg, w)
	s.Must(err)
	s.say("future of %d", fu.At)
	for _, a := range fu.Lines {
		s.say("- of %s behind %d: %s", a.Session, a.After, a.Why)
		for i := range a.Turns {
			release := s.E.Log.Hold()
			m, err := h.MomentAhead(&a, &a.Turns[i])
			release()
			s.say("  - %s: %s", s.turn(&a.Turns[i]), s.moment(m, err))
		}
	}
	for n := range turns + 2 {
		for _, kind := range []string{"turn", "before"} {
			if name := fmt.Sprintf("%s:%d", kind, n); name != "before:0" {
				m, err := h.Moment(w.Session, name)
				s.say("%s: %s", name, s.moment(m, err))
				cp, err := h.ResolveIn(w.Session, name)
				if err != nil || m == nil || m.Checkpoint == nil || cp.ID != m.Checkpoint.ID {
					s.say("  but %v, %v", cp, err)
				}
			}
		}
		release := s.E.Log.Hold()
		text := h.PromptOf(name, n)
		release()
		list, why, err := h.Messages(enginetest.Bg, fmt.Sprintf("turn:%d@%s", n, name), 3)
		s.say("  prompt %q, %s", text, s.talk(list, why, err))
	}
	for _, n := range []int{1, 3, 100} {
		p, err := h.Page(enginetest.Bg, w, "", history.Place{}, n)
		s.Must(err)
		s.say("page of %d turns: %s%s", p.Turns, s.talk(p.Messages, p.Why, nil),
			words(map[string]bool{"older": p.Older, "more": p.Next < p.End}))
	}
	release := s.E.Log.Hold()
	tip, err := h.Tip(name)
	s.Must(err)
	cut, err := h.CutOff(name)
	s.Must(err)
	release()
	at := "-"
	if cut != nil {
		at = s.moment(cut, nil)
	}
	end := "-"
	if tip != nil {
		end = s.id(tip.ID)
	}
	s.say("tip %s, cut off %s", end, at)
}

func (s *story) talk(list []transcript.Message, why string, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	var said []string
	for _, m := range list {
		said = append(said, m.Who+" "+cmp.Or(m.Text, "-"))
	}
	return strings.Join(said, ", ") + why
}

// family tells the tree, the lists of sessions and forks, and the rows.
func (s *story) family() {
	h := s.E.History
	tree, err := h.FamilyTree(enginetest.Bg, "", true, nil)
	s.Must(err)
	s.say("## tree of %s at %s, %d others", tree.Of, tree.Current, tree.Others)
	for _, b := range tree.Branches {
		s.say("- %s %q in %q, depth %d, tip %s: %d steps, %d files +%d -%d, %d not%s", b.Branch, b.Title, b.Parent,
			b.Depth, s.id(b.Tip),
			b.Work.Steps, b.Work.Files, b.Work.Added, b.Work.Removed, b.Work.Uncounted,
			words(map[string]bool{"current": b.Current, "running": b.Running, "rewound": b.Rewound}))
		if l := b.Fork; l != nil {
			s.say("  fork of %s at %d, %d of both, depth %d, %s %s %s", l.Session, l.Turn, l.Both, l.Depth, l.How,
				s.code(l.Checkpoint), l.NoCode)
		}
		for _, c := range b.Conflicts {
			s.say("  clashes with %s in %d: %s", c.With, c.Files, c.Paths)
		}
	}
	sessions, left, err := h.SessionList(enginetest.Bg, true, 0)
	s.Must(err)
	s.say("## sessions, %+v", left)
	for i := range sessions {
		info := &sessions[i]
		s.say("- %s %q, %d turns, %d messages, newest %s%s", info.Name, info.Title, info.Turns, info.Messages,
			s.code(info.Newest),
			words(map[string]bool{
				"current": info.Current, "running": info.Running, "missing": info.Missing,
				"imported": info.Imported,
			}))
	}
	forks, err := h.Forks(enginetest.Bg, s.Env(), "")
	s.Must(err)
	s.say("## forks")
	for i := range forks {
		f := &forks[i]
		s.say("- %s %q, own %d, newest %s", f.Branch, f.Title, f.Own, s.code(f.Newest))
		for _, l := range f.Lineage {
			s.say("  of %s at %d, %s", l.Session, l.Turn, s.code(l.Checkpoint))
		}
	}
	s.rows()
	s.steps()
}

func (s *story) rows() {
	h := s.E.History
	res, err := h.Rows(enginetest.Bg, history.RowOptions{Past: true, All: true})
	s.Must(err)
	s.say("## rows")
	for i := range res.Rows {
		r := &res.Rows[i]
		end := ""
		if r.Checkpoint != nil {
			end = r.ID.String()
		}
		s.say("- %s %d %q %s: %d steps, %d found, %+v yours %s%s", r.Of, r.Turn, r.Prompt, s.code(end), len(r.Steps),
			len(r.Found),
			r.Counts, r.Yours, words(map[string]bool{
				"aside": r.Aside, "cut": r.Cut, "current": r.Current,
				"safety": r.Safety, "no-code": r.NoCode,
			}))
		if r.Turn == 0 {
			continue
		}
		shown, again, err := h.ShowTurn(enginetest.Bg, fmt.Sprintf("turn:%d@%s", r.Turn, r.Of), end, nil)
		if err != nil {
			s.say("  error: %v", err)
			continue
		}
		s.say("  changes %s, %d skipped, %d gone, %d said, not captured %d, the same %t", paths(shown.Changes),
			len(shown.Skips),
			len(shown.Gone), len(shown.Said), len(shown.Uncaptured), again != nil && again.Prompt == r.Prompt &&
				len(again.Steps) == len(r.Steps))
	}
}

// steps tells each checkpoint, its moment, and that of an undo from it.
func (s *story) steps() {
	h := s.E.History
	list, err := h.List(enginetest.Bg, history.ListOptions{All: true, Steps: true})
	s.Must(err)
	s.say("## steps")
	for i := range list.Checkpoints {
		l := &list.Checkpoints[i]
		m, err := h.MomentOf(l.Checkpoint)
		s.say("- %s %s %d: %s", l.Session, l.Cause.Event, l.Cause.Turn, s.moment(m, err))
		if i+1 < len(list.Checkpoints) {
			m, err = h.Undone(list.Checkpoints[i+1].Checkpoint, l.Checkpoint)
			s.say("  undone: %s", s.moment(m, err))
		}
	}
}

// ticking has no two moments of a project be the same.
func ticking(p *enginetest.Project) {
	var ticks atomic.Int64
	p.E.Log.Now = func() time.Time { return time.UnixMilli(1_800_000_000_000 + 1000*ticks.Add(1)) }
}

// reopened has the agent go on from where its session's file ends.
func reopened(p *enginetest.Project, k *enginetest.Talker) {
	all := p.Slurp(k.File)
	i := strings.LastIndex(all, `"uuid":"`) + len(`"uuid":"`)
	k.Parent = all[i : i+36]
	k.Start()
}

// TestStory: a file is cut in place, a person goes back in the agent, forks are made of what was left and of what was
// not, two of them change the same file, and the code goes back. testdata/story.txt is what the room says of it.
func TestStory(t *testing.T) {
	p, first := enginetest.Begun(t)
	ticking(p)
	s := &story{Project: p, names: []string{first.Name(), "first", first.ID, "first"}}
	old := p.Talker(2)
	for _, text := range []string{"long ago", "later"} {
		old.Used(text)
		old.Say("done: " + text)
	}
	_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	p.Must(err)
	first.Take("one", p.Edits("f", "1"))
	p.Write("mine", "x")
	first.Take("two", p.Edits("f", "2"))
	first.Take("three", p.Edits("f", "3"))
	p.Back("turn:1", restore.Options{InPlace: true})
	s.say("# cut to its first turn")
	s.ask(first.Name(), 3)

	reopened(p, first)
	p.Write("mine", "y")
	first.Take("two again", p.Edits("f", "4"))
	at := first.Parent
	first.Take("three again", p.Edits("g", "5"))
	first.Parent = at
	first.Take("only talk", nil)
	first.Take("five", p.Edits("f", "6"))
	s.say("# gone back in the agent")
	s.ask(first.Name(), 5)

	of := restore.Options{Session: model.SessionChoice{Session: first.Name()}}
	kid := p.Opened(p.Fork("turn:2", of).Fork)
	kid.Take("a kid's", func() { p.Write("f", "7"); p.Write("g", "7\n7\n") })
	kid.Take("another of it", p.Edits("f", "8"))
	other := p.Opened(p.Fork("turn:2", of).Fork)
	other.Take("other", p.Edits("f", "9"))
	unused := p.Fork("turn:4", of).Fork
	p.Must(os.Remove(p.Fork("turn:1", of).Fork.Path)) // nobody knows of it
	silent := p.Agent("silent")
	silent.Start()
	silent.Prompt("without a file")
	silent.Run("call", func() { p.Write("g", "b") })
	silent.Stop()
	p.Agent("idle").Start()
	grand := p.Opened(p.Fork("turn:3", restore.Options{Session: model.SessionChoice{Session: kid.Name()}}).Fork)
	grand.Take("grand", p.Edits("g", "a"))
	for name, k := range map[string]string{
		"kid": kid.Name(), "other": other.Name(), "unused": unused.Session, "grand": grand.Name(),
		"old": old.Name(),
	} {
		_, id := model.SplitSession(k)
		s.names = append(s.names, k, name, id, name)
	}
	p.Checkout("turn:3", restore.Options{CodeOnly: true, Session: model.SessionChoice{Session: kid.Name()}})
	s.say("# forked, and back")
	s.ask(first.Name(), 5)
	s.ask(kid.Name(), 4)
	s.ask(unused.Session, 4)
	s.ask(grand.Name(), 4)
	s.ask(old.Name(), 2)
	s.ask(silent.Name(), 1)
	s.ask("claude/idle", 0)
	s.family()
	for _, name := range []string{
		"one", "[fork @4]", "[fork @1] one", "[fork @3] one", "-", "turn:3@" + first.ID, "turn:4@" + first.ID,
	} {
		release := p.E.Log.Hold()
		got, err := p.E.History.BranchNamed(name)
		release()
		way, lost := p.E.History.Way(enginetest.Bg, name)
		s.say("branch %s: %s, %v, way %s, %v", name, got, err, way, lost)
	}
	s.hold("story")
}

// TestStoryTakenUp: a file that was cut in place and gone on with is made what it was before, and gone on with again.
func TestStoryTakenUp(t *testing.T) {
	p, first := enginetest.TwoTurns(t)
	s := &story{Project: p, names: []string{first.Name(), "first", first.ID, "first"}}
	three := first.Take("three", p.Edits("f", "3"))
	p.Back("turn:1", restore.Options{InPlace: true})
	reopened(p, first)
	first.Take("two again", p.Edits("f", "4"))
	p.Back(three.Checkpoint.String(), restore.Options{InPlace: true})
	s.say("# as it was with three turns")
	s.ask(first.Name(), 3)
	reopened(p, first)
	first.Take("four", p.Edits("f", "5"))
	s.say("# gone on with")
	s.ask(first.Name(), 4)
	s.rows()
	s.steps()
	s.hold("takenup")
}

// TestStoryKilled: an agent is killed before it has written a prompt, which is typed again in the same words; it writes
// a reply, and even a prompt, behind its stop; two prompts are one turn; and another agent works in the same files.
func TestStoryKilled(t *testing.T) {
	p, first := enginetest.Begun(t)
	other := p.Talker(2)
	s := &story{Project: p, names: []string{
		first.Name(), "first", first.ID, "first", other.Name(), "other", other.ID, "other",
	}}
	prompt := func(text string) { first.Send(hooks.Event{Kind: hooks.Prompt, Prompt: text}, capture.HandleOptions{}) }
	first.Take("one", p.Edits("f", "1"))
	prompt("same words") // killed
	first.Start()
	first.Take("same words", p.Edits("f", "2"))
	prompt("killed, too")
	p.Edits("f", "3")()
	first.Start()
	first.Ask("late reply")
	first.Work(p.Edits("f", "4"))
	first.Stop()
	first.Say("done: late reply")
	s.say("# killed twice")
	s.ask(first.Name(), 5)

	prompt("late prompt")
	p.Edits("g", "5")()
	first.Stop()
	first.Used("late prompt")
	first.Say("done: late prompt")
	other.Ask("beside")
	first.Ask("twice")
	other.Work(p.Edits("g", "6"))
	first.Ask("the rest of it")
	first.Work(p.Edits("f", "7"))
	other.Work(p.Edits("f", "8"))
	first.Stop()
	other.Say("done: beside")
	other.Stop()
	first.Say("done: twice")
	first.Take("last", p.Edits("f", "9"))
	first.Send(hooks.Event{Kind: hooks.SessionEnd}, capture.HandleOptions{})
	s.say("# late, and side by side")
	s.ask(first.Name(), 9)
	s.ask(other.Name(), 1)
	s.rows()
	s.steps()
	s.hold("killed")
}

// TestStoryTangled, and the next ones: what is told of the projects of which it is also told while reads fail.
func TestStoryTangled(t *testing.T) {
	t.Parallel()
	p, of := tangled(t)
	tell(p, of, 10, "tangled", "first")
}

func TestStoryOrigins(t *testing.T) {
	t.Parallel()
	p, of := origins(t)
	tell(p, of, 2, "origins", "first", "old", "kid", "grand", "silent")
}

func TestStoryForked(t *testing.T) {
	t.Parallel()
	p, of := forkedAbout(t)
	tell(p, of, 3, "forked", "first", "kid")
}

func TestStoryCutShort(t *testing.T) {
	t.Parallel()
	p, of := cutShort(t)
	tell(p, of, 5, "cutshort", "first", "other")
}

// tell holds all that is told of a project, whose sessions are called so and have at most so many turns; 0: each as
// many as it has.
func tell(p *enginetest.Project, of about, turns uint64, file string, called ...string) {
	p.T.Helper()
	s := &story{Project: p}
	for i, name := range of.sessions {
		_, id := model.SplitSession(name)
		s.names = append(s.names, name, called[i], id, called[i])
	}
	for _, name := range of.sessions {
		n := turns
		if n == 0 {
			n = s.E.Log.Session(name).Turn
		}
		s.ask(name, n)
	}
	s.family()
	s.told(of.sessions)
	s.hold(file)
}

// told tells of each session what else is told of it, and from which row each row goes on.
func (s *story) told(sessions []string) {
	h := s.E.History
	kin, err := h.Kin()
	s.Must(err)
	s.say("## told")
	for _, name := range sessions {
		_, id := model.SplitSession(name)
		title, forks := kin(name, 1)
		root, known := h.Whereabouts("session:" + id)
		s.say("- %s %q, %d forked at its first turn, here %t", name, title, forks, root == "" && known)
		for _, name := range []string{"@", "turn:1", "before:2~1"} {
			got, err := h.Named(model.SessionChoice{Session: id}, name)
			s.say("  %s: %s %v", name, s.called(got), err)
		}
		if cp, err := h.Resolve("fork:" + id); err == nil || !strings.Contains(err.Error(), "is no fork") {
			s.say("  fork point: %s, %v", s.code(idOf(cp)), err)
		}
	}
	names, err := h.Names(enginetest.Bg)
	s.Must(err)
	for _, n := range names {
		s.say("- %s %s %q of %s, %s", n.Kind, n.Name, n.Title, n.Session, s.id(n.Checkpoint))
	}
	points, err := h.ForkPoints(enginetest.Bg)
	s.Must(err)
	for i := range points {
		l := &points[i]
		s.say("- %s of %s at %d, %s %s", l.Child, l.Session, l.Both, s.code(l.Checkpoint), l.NoCode)
	}
	rows, err := h.Rows(enginetest.Bg, history.RowOptions{Past: true})
	s.Must(err)
	links, err := h.Graph(enginetest.Bg, rows.Rows)
	s.Must(err)
	for i, l := range links {
		if l != nil {
			s.say("- row %d goes on from %d, %d between, forked %t", i, l.Row, l.Elided, l.Fork != nil)
		}
	}
	s.targets()
}

// targets tells what calls were about, by turn, and what turns said last.
func (s *story) targets() {
	h := s.E.History
	list := s.Listed()
	var steps []*model.Checkpoint
	for i := range list {
		steps = append(steps, list[i].Checkpoint)
	}
	about := h.Targets(steps)
	for _, cp := range steps {
		list, why, err := h.Messages(enginetest.Bg, cp.ID.String(), 9)
		asked, answered := history.Said(list)
		s.say("- %s %d: about %q, asked %q, answered %q %s %v", cp.Session, cp.Cause.Turn, about[cp.Cause.Call],
			asked.Text, answered.Text, why, err)
	}
}

// called is a name with the code in place of an id.
func (s *story) called(name string) string {
	id, back, _ := strings.Cut(name, "~")
	if _, err := objstore.ParseID(id); err == nil {
		return s.code(id) + "~" + back
	}
	return name
}

func idOf(cp *model.Checkpoint) string {
	if cp == nil {
		return ""
	}
	return cp.ID.String()
}

// hold compares with the file of that name.
func (s *story) hold(name string) { s.Golden(*update, name, s.out.String()) }
