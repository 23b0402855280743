package restore_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/manage"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/textdiff"
	"rewind/refs"
	"rewind/tree"
)

// ids are those of sessions, which differ by what they are, and others, which differ from run to run.
var ids = regexp.MustCompile(drawn.String() + `|[0-9a-f]{8,}`)

// answered is what a question is answered, or why it is not.
func answered(text string, err error) string {
	if err != nil {
		return "refused: " + ids.ReplaceAllStringFunc(err.Error(), func(id string) string {
			if strings.Contains(id, "-") {
				return id
			}
			return "ID"
		}) + "\n"
	}
	return text
}

// says adds an answer to those told: where as is not "", the lines in which it differs from that.
func (s *places) says(p *enginetest.Project, what, as, text string) {
	p.T.Helper()
	text = steady(p, text)
	s.told = append(s.told, "== "+what+"\n")
	if as == "" || strings.HasPrefix(text, "refused") {
		s.told = append(s.told, text)
		return
	}
	was, is := strings.Split(steady(p, as), "\n"), strings.Split(text, "\n")
	for _, line := range was {
		if !slices.Contains(is, line) {
			s.told = append(s.told, "- "+line+"\n")
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			s.told = append(s.told, "+ "+line+"\n")
		}
	}
}

// asked are the ways in which a restore is asked for.
func asked(o restore.Options) []struct {
	name string
	o    restore.Options
} {
	in := func(set func(o *restore.Options)) restore.Options {
		is := o
		set(&is)
		return is
	}
	return []struct {
		name string
		o    restore.Options
	}{
		{"plain", o},
		{"exact", in(func(o *restore.Options) { o.Exact = true })},
		{"code only", in(func(o *restore.Options) { o.CodeOnly = true })},
		{"conversation only", in(func(o *restore.Options) { o.ContextOnly = true })},
		{"in place", in(func(o *restore.Options) { o.InPlace = true })},
		{"taken back", in(func(o *restore.Options) { o.TakeBack = true })},
		{"taken back of b, but mine", in(func(o *restore.Options) {
			o.TakeBack, o.KeepMine, o.Session.Session = true, true, "b"
		})},
		{"but mine", in(func(o *restore.Options) { o.KeepMine = true })},
		{"merge, ours", in(func(o *restore.Options) { o.Merge, o.Prefer = true, textdiff.Ours })},
		{"merge for b, but mine", in(func(o *restore.Options) {
			o.Merge, o.KeepMine, o.Session.Session = true, true, "b"
		})},
		{"of a", in(func(o *restore.Options) { o.Session.Session = "a" })},
		{"paths", in(func(o *restore.Options) { o.Paths = refs.PathSet{"db/app.db-wal", "f", "g"} })},
		{"paths, exact", in(func(o *restore.Options) {
			o.Paths, o.Exact = refs.PathSet{"d/e", "db/app.db", "lib"}, true
		})},
		{"merge, exact", in(func(o *restore.Options) { o.Merge, o.Exact = true, true })},
		{"merge of what was said", in(func(o *restore.Options) { o.Merge, o.ContextOnly = true, true })},
		{"theirs", in(func(o *restore.Options) { o.Prefer = textdiff.Theirs })},
		{"no such path", in(func(o *restore.Options) { o.Paths = refs.PathSet{"nowhere"} })},
	}
}

// TestAnswers: what a restore would do, and does, as it is asked for in one way or another. testdata/answers.txt has
// it: the first answer of each target, and what others say otherwise.
func TestAnswers(t *testing.T) {
	t.Parallel()
	p, k := planned(t)
	seen := newPlaces()
	env := restore.Options{Env: p.Env()}
	dry := env
	dry.DryRun = true
	r := p.E.Restorer
	named := func(message string) string {
		list := p.Listed()
		i := slices.IndexFunc(list, func(l history.Listed) bool {
			return l.Cause.Message == message || l.Cause.Call == message
		})
		return list[i].ID.String()
	}
	for _, c := range []struct{ name, target string }{
		{"the tag", "target"},
		{"a turn", "turn:1@" + k.Name()},
		{"what was saved", named("one")},
		{"a step of b", named("4")},
		{"here", "@"},
		{"of nobody", named("first")},
	} {
		first := ""
		for _, w := range asked(dry) {
			text := answered(told(r.Checkout(enginetest.Bg, c.target, w.o)))
			seen.says(p, c.name+", "+w.name, first, text)
			if first == "" {
				first = text
			}
		}
	}
	first := ""
	for _, of := range []string{"a", "b", k.Name(), model.Manual} {
		o := dry
		o.Session.Session = of
		mine := o
		mine.TakeBack = true
		for n := 1; n < 5; n++ {
			for _, ask := range []question{
				func(r *restore.Restorer) (*restore.Result, error) { return r.Undo(enginetest.Bg, n, o) },
				func(r *restore.Restorer) (*restore.Result, error) { return r.Undo(enginetest.Bg, n, mine) },
				func(r *restore.Restorer) (*restore.Result, error) { return r.Redo(enginetest.Bg, n, o) },
			} {
				text := answered(told(ask(r)))
				seen.says(p, fmt.Sprint("undo, and redo, ", n, " of ", of), first, text)
				first = text
			}
		}
		for _, pick := range []restore.PickOptions{
			{Options: dry, Of: of},
			{Options: o, Change: "turn:1"},
			{Options: o, Change: "target"},
			{Options: o, Change: named("one") + ".." + named("3")},
		} {
			text := answered(told(r.Revert(enginetest.Bg, pick)))
			seen.says(p, fmt.Sprint("revert of ", of), first, text)
			pick.Prefer, pick.Paths = textdiff.Theirs, refs.PathSet{"g", "db"}
			first = answered(told(r.Pick(enginetest.Bg, pick)))
			seen.says(p, fmt.Sprint("pick of ", of), text, first)
		}
	}
	seen.hold(p, "answers")
}

// whole is what is done, taken back, and taken back again, with what the log has of each.
func whole(p *enginetest.Project, st *standing, do func(q *enginetest.Project) (string, error)) string {
	p.T.Helper()
	q := p.Copied(p.FS.Clone(100, 1), nil)
	defer q.Close()
	text := answered(do(q))
	if strings.HasPrefix(text, "refused") {
		return text
	}
	is := look(q, st.dirs...).text(st.disk)
	text += recorded(q, st.sessions) + is
	back, err := q.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: q.Env()})
	text += "\nback: " + answered(told(back, err))
	if err == nil && back.Operation != nil {
		text += recorded(q, st.sessions)
		again, err := q.E.Restorer.UndoRestore(enginetest.Bg, back.Operation.Seq, restore.Options{Env: q.Env()})
		text += "\nagain: " + answered(told(again, err))
	}
	done := st.done(q)
	return text + strings.TrimSuffix(done, is)
}

// TestWholeRestores: what restores of files do, record and leave, also when they are taken back.
// testdata/whole.txt has it.
func TestWholeRestores(t *testing.T) {
	t.Parallel()
	p, k := planned(t)
	seen, st := newPlaces(), standingOf(p)
	o := restore.Options{Env: p.Env(), Tag: "before", Title: "named"}
	for _, c := range []struct{ target, how string }{
		{"target", "plain"},
		{"target", "exact"},
		{"target", "taken back of b, but mine"},
		{"target", "merge, ours"},
		{"target", "paths"},
		{"target", "of a"},
		{"turn:1@" + k.Name(), "plain"},
		{"turn:1@" + k.Name(), "in place"},
		{"turn:1@" + k.Name(), "conversation only"},
		{"turn:1@" + k.Name(), "code only"},
	} {
		for _, w := range asked(o) {
			if w.name != c.how {
				continue
			}
			do := askOf(func(r *restore.Restorer) (*restore.Result, error) {
				return r.Checkout(enginetest.Bg, c.target, w.o)
			})
			seen.says(p, c.target+", "+c.how, "", whole(p, st, do))
		}
	}
	of := func(session string) restore.Options {
		return restore.Options{Env: p.Env(), Session: model.SessionChoice{Session: session}}
	}
	for i, do := range []question{
		func(r *restore.Restorer) (*restore.Result, error) { return r.Undo(enginetest.Bg, 2, of("a")) },
		func(r *restore.Restorer) (*restore.Result, error) { return r.Undo(enginetest.Bg, 2, of(k.Name())) },
		func(r *restore.Restorer) (*restore.Result, error) {
			return r.Revert(enginetest.Bg, restore.PickOptions{Options: of("b"), Change: "turn:1"})
		},
		func(r *restore.Restorer) (*restore.Result, error) { return r.Switch(enginetest.Bg, "claude/a", of("")) },
	} {
		seen.says(p, fmt.Sprint("step ", i), "", whole(p, st, askOf(do)))
	}
	is := func(name string) *tree.Entry {
		text := p.Read(name)
		return &tree.Entry{Type: tree.TypeFile, Perm: 0o644, Size: int64(len(text)), ID: enginetest.TestID(text)}
	}
	for i, part := range []restore.Part{
		{Path: "f", Was: is("f"), Mode: true},
		{Path: "f", Was: is("f"), Whole: true},
		{Path: "f", Was: is("g"), Whole: true},
		{Path: "f", Whole: true},
		{Path: "new", Was: is("new"), Mode: true},
		{Path: "new", Was: is("new"), Whole: true},
		{Path: "away/own", Mode: true},
		{Path: "away/own", Was: is("f"), Whole: true},
		{Path: "d", Whole: true},
		{Path: "dist/js/x.js", Whole: true},
		{Path: ".env", Whole: true},
		{Path: "d/e/h", Was: is("d/e/h"), Hunks: textdiff.Diff([]byte("other\n"), []byte("g\n"), 1).Hunks},
	} {
		seen.says(p, fmt.Sprint("part ", i), "", whole(p, st, askOf(func(r *restore.Restorer) (*restore.Result, error) {
			return r.CheckoutParts(enginetest.Bg, "target", []restore.Part{part}, restore.Options{})
		})))
	}
	seen.hold(p, "whole")
}

// TestSessionAnswers: what is made of sessions, or refused: forks, clones, ways back and forward, what is lost.
// testdata/made.txt has it.
func TestSessionAnswers(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	k.Take("three", p.Edits("f", "3"))
	k.Take("four", nil)
	p.Agent("a").Prompt("without a conversation")
	p.Settle()
	of := func(session string) restore.Options {
		return restore.Options{Env: p.Env(), Session: model.SessionChoice{Session: session}}
	}
	unused := p.Fork("turn:1", of(k.Name()))
	used := p.Opened(p.Fork("turn:2", of(k.Name())).Fork)
	used.Take("in the fork", p.Edits("f", "fork"))
	used.Take("more in it", p.Edits("g", "fork"))
	p.Write("f", "unsaved")
	p.Settle()
	names := map[string]string{
		"": "", "k": k.Name(), "a": "claude/a", "unused": unused.Session, "used": used.Name(),
		"manual": model.Manual, "nobody": "claude/nobody",
	}
	seen, st := newPlaces(), standingOf(p)
	plain := func(text string) string {
		_, id := model.SplitSession(unused.Session)
		return strings.NewReplacer(unused.Session, "claude/UNUSED", used.Name(), "claude/USED",
			" of "+id[:8], " of UNUSED", " of "+used.ID[:8], " of USED").Replace(text)
	}
	for _, who := range []string{"", "k", "a", "unused", "used", "manual", "nobody"} {
		o := of(names[who])
		dry := o
		dry.DryRun = true
		tested, titled := o, dry
		tested.SelfTest, titled.Title = true, "titled"
		for _, name := range []string{"turn:0", "turn:1", "turn:3", "turn:9", "@", "first"} {
			text := answered(forkedText(p.E.Restorer.Fork(enginetest.Bg, name, titled)))
			seen.says(p, "fork of "+who+" at "+name, "", plain(text))
		}
		f, err := p.E.Restorer.Fork(enginetest.Bg, "turn:1", tested)
		text := answered(forkedText(f, err))
		if err == nil {
			text += fmt.Sprintln(f.Checks)
		}
		seen.says(p, "tested fork of "+who, "", plain(text))
		seen.says(p, "clone of "+who, "", plain(answered(forkedText(p.E.Restorer.Clone(enginetest.Bg, dry)))))
		for n := range 3 {
			seen.says(p, fmt.Sprint("forward ", n, " of ", who), "",
				plain(answered(told(p.E.Restorer.Forward(enginetest.Bg, n, dry)))))
		}
		seen.says(p, "switch to "+who, "", plain(answered(told(p.E.Restorer.Switch(enginetest.Bg, names[who], dry)))))
		b, err := p.E.Restorer.BringBack(enginetest.Bg, names[who], dry)
		if err != nil {
			b = &restore.BroughtBack{}
		}
		seen.says(p, "bring back "+who, "", plain(answered(fmt.Sprintln(b.Session, b.Path, b.Turns), err)))
		cut := o
		cut.InPlace = true
		goes := askOf(func(r *restore.Restorer) (*restore.Result, error) {
			return r.Switch(enginetest.Bg, names[who], o)
		})
		seen.says(p, "switched to "+who, "", plain(whole(p, st, goes)))
		seen.says(p, "cut "+who, "", plain(whole(p, st, askOf(func(r *restore.Restorer) (*restore.Result, error) {
			return r.Checkout(enginetest.Bg, "turn:2", cut)
		}))))
	}
	m := manage.Request{Kind: refs.KindDelete, Sessions: []string{unused.Session}, Env: p.Env()}
	seen.says(p, "delete", "", plain(whole(p, st, func(q *enginetest.Project) (string, error) {
		r, err := q.E.Restorer.Manage(enginetest.Bg, m)
		if err != nil {
			return "", err
		}
		return fmt.Sprintln(r.Sessions, r.Losses, r.Kept, r.Problem), nil
	})))
	cut := of(k.Name())
	cut.InPlace, cut.ContextOnly = true, true
	p.Back("turn:3", cut)
	_, err := p.E.Restorer.Manage(enginetest.Bg, m)
	p.Must(err)
	m.Kind, m.Sessions, m.Title = refs.KindRename, []string{used.Name()}, "renamed"
	_, err = p.E.Restorer.Manage(enginetest.Bg, m)
	p.Must(err)
	undoable := func() string {
		list, err := p.E.History.Operations(enginetest.Bg, 0, history.Restoring)
		p.Must(err)
		can, err := p.E.Restorer.Undoable(enginetest.Bg, list, p.Env())
		var text string
		for i, op := range list {
			alone := p.E.Restorer.CanUndo(enginetest.Bg, &op.Operation, p.Env())
			text += fmt.Sprintln(op.Kind, op.Undone, can[i], alone)
		}
		return answered(text, err)
	}
	seen.says(p, "undoable", "", undoable())
	k.Used("on in what was cut")
	p.Must(os.WriteFile(unused.Path, []byte("another's"), 0o600))
	p.Settle()
	seen.says(p, "undoable, where their files have changed", "", undoable())
	seen.hold(p, "made")
}

// TestGitIsTold: where git's repository stood at the target and stands now, and that it is gone.
func TestGitIsTold(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Must(os.MkdirAll(p.Path(".git/objects"), 0o755))
	p.Write(".git/HEAD", "ref: refs/heads/main\n")
	at := func(digit string) {
		p.Write(".git/refs/heads/main", strings.Repeat(digit, 40)+"\n")
		p.Write("f", digit)
	}
	at("1")
	one := p.Save("one")
	at("2")
	p.Write(".git/MERGE_HEAD", strings.Repeat("3", 40)+"\n")
	p.Save("two")
	told := func() string {
		return fmt.Sprintf("%+v", p.Checkout(one.ID.String(), restore.Options{DryRun: true}).Plan.Git)
	}
	head := func(digit string) string { return "{Commit:" + strings.Repeat(digit, 40) + " Branch:main}" }
	if got, want := told(), "{Then:"+head("1")+" Now:"+head("2")+" State:merge Gone:false}"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	p.Must(os.RemoveAll(p.Path(".git")))
	if got, want := told(), "{Then:"+head("1")+" Now:{Commit: Branch:} State: Gone:true}"; got != want {
		t.Errorf("without it: %s, want %s", got, want)
	}
}
