package history_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/transcript"
)

// TestLastMessages: of the last messages tools' answers are not counted, and are told only behind what they answer.
func TestLastMessages(t *testing.T) {
	t.Parallel()
	list := func(who string) (list []transcript.Message) {
		for i, w := range who {
			word := map[rune]string{'u': "user", 'a': "assistant", 't': "tool"}[w]
			list = append(list, transcript.Message{Who: word, Text: fmt.Sprint(i)})
		}
		return list
	}
	for _, tt := range []struct {
		who  string
		n    int
		want string
	}{
		{"", 3, ""},
		{"uatata", 1, "5"},
		{"uatata", 2, "345"},
		{"uatata", 3, "12345"},
		{"uatata", 4, "012345"},
		{"uatata", 9, "012345"},
		{"uatat", 1, "34"},
		{"uatt", 1, "123"},
		{"tta", 1, "2"},
		{"tt", 3, ""},
		{"uau", 0, ""},
	} {
		got := ""
		for _, m := range history.LastMessages(list(tt.who), tt.n) {
			got += m.Text
		}
		if got != tt.want {
			t.Errorf("%d of %s: %s, want %s", tt.n, tt.who, got, tt.want)
		}
	}
}

// TestSaid: the newest prompt, and what was answered last behind it.
func TestSaid(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ said, asked, answered string }{
		{"", "", ""},
		{"u1 a2", "1", "2"},
		{"u1 a2 u3 a4 a5 t6", "3", "5"},
		{"u1 a2 u3 a4 a t6", "3", "4"},
		{"u1 a2 u3", "3", ""},
		{"a1 t2", "", "1"},
	} {
		var list []transcript.Message
		for _, m := range strings.Fields(tt.said) {
			who := map[byte]string{'u': "user", 'a': "assistant", 't': "tool"}[m[0]]
			list = append(list, transcript.Message{Who: who, Text: m[1:]})
		}
		if asked, answered := history.Said(list); asked.Text != tt.asked || answered.Text != tt.answered {
			t.Errorf("%s: %q, %q", tt.said, asked.Text, answered.Text)
		}
	}
}

// TestAlike: names are alike by themselves, by their ids and by their titles, each once, the most alike first.
func TestAlike(t *testing.T) {
	t.Parallel()
	list := []history.Name{
		{Kind: "tag", Name: "works"},
		{Kind: "session", Name: "claude/abcdef", Title: "repair the parser"},
		{Kind: "session", Name: "claude/works-too", Title: ""},
	}
	for name, want := range map[string]string{
		"work":             "works claude/works-too",
		"abcdeg":           "claude/abcdef",
		"repair the parse": "claude/abcdef",
		"claude/abcdeg":    "claude/abcdef",
		"nothing like it":  "",
	} {
		var got []string
		for _, n := range history.Alike(list, name) {
			got = append(got, n.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// said are the texts of a page.
func said(p *history.SaidPage) (out []string) {
	for _, m := range p.Messages {
		if m.Text != "" {
			out = append(out, m.Text)
		}
	}
	return out
}

// TestPages: a conversation is read page by page, from its end to its beginning and back.
func TestPages(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	k.Take("three", p.Edits("f", "3"))
	w := model.SessionChoice{Session: k.Name()}
	page := func(name string, at history.Place, n int) *history.SaidPage {
		t.Helper()
		out, err := p.E.History.Page(enginetest.Bg, w, name, at, n)
		p.Must(err)
		return out
	}
	all := page("", history.Place{}, 100)
	whole := "one done done: one two done done: two three done done: three"
	if got := strings.Join(said(all), " "); got != whole || all.Older || all.Turns != 3 {
		t.Errorf("%s: %+v", got, all)
	}
	if all.End != p.Session(k.Name()).Cursor.Length || all.Next != all.End {
		t.Errorf("it ends at %d, the next is at %d", all.End, all.Next)
	}
	least := int64(-1)
	if got := strings.Join(said(page("", history.Place{From: &least}, 100)), " "); got != whole {
		t.Errorf("from before the beginning: %s", got)
	}
	if got := page("", history.Place{Before: &least}, 100); len(got.Messages) > 0 || got.Older {
		t.Errorf("before the beginning: %+v", got)
	}
	var forth []string
	for at := int64(0); at < all.End; {
		some := page("", history.Place{From: &at, Generation: all.Generation}, 2)
		if forth = append(forth, said(some)...); some.Next <= at {
			t.Fatalf("behind %d comes %d", at, some.Next)
		}
		at = some.Next
	}
	if got := strings.Join(forth, " "); got != whole {
		t.Errorf("page by page: %s", got)
	}
}

// TestMessagesBeforeManyAnswers: the last messages are told with what they are from, however many tools have answered
// between them.
func TestMessagesBeforeManyAnswers(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	k.Ask("many")
	const calls = 100
	var uses []string
	for n := range calls {
		uses = append(uses, fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":"Bash","input":{"command":"x"}}`, n))
	}
	k.Line("assistant", fmt.Sprintf(`{"id":"msg_many","type":"message","role":"assistant","content":[%s],`+
		`"stop_reason":"tool_use"}`, strings.Join(uses, ",")))
	for n := range calls {
		k.Line("user", fmt.Sprintf(
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":"done"}]}`, n))
	}
	k.Stop()
	for n, want := range map[int]string{2: "many", 3: "done: two"} {
		list, why, err := p.E.History.Messages(enginetest.Bg, "turn:3@"+k.Name(), n)
		p.Must(err)
		if len(list) != n+calls || list[0].Text != want || why != "" {
			t.Errorf("the last %d: %d, %q, %q", n, len(list), list[0].Text, why)
		}
	}
}

// TestPageOfAMoment: up to a moment, a conversation ends there.
func TestPageOfAMoment(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	page := func(name string) *history.SaidPage {
		t.Helper()
		out, err := p.E.History.Page(enginetest.Bg, model.SessionChoice{Session: k.Name()}, name, history.Place{}, 100)
		p.Must(err)
		return out
	}
	first := page("turn:1@" + k.Name())
	if got := strings.Join(said(first), " "); got != "one done done: one" || first.End >= page("").End {
		t.Errorf("to the end of the first turn: %s, %+v", got, first)
	}
	if none := page("turn:0@" + k.Name()); none.Why == "" || len(none.Messages) > 0 {
		t.Errorf("before the first turn: %+v", none)
	}
}

// TestPageOfATurn: a conversation begins with the prompt of a moment's own turn where that is asked for, also where the
// moment lies within it, and a long text is whole.
func TestPageOfATurn(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	long := strings.Repeat("word ", 20_000)
	k.Ask("three")
	k.Say(long)
	k.Work(p.Edits("f", "3"))
	k.Say("done: three")
	k.Stop()
	page := func(name string, at history.Place, n int) *history.SaidPage {
		t.Helper()
		out, err := p.E.History.Page(enginetest.Bg, model.SessionChoice{Session: k.Name()}, name, at, n)
		p.Must(err)
		return out
	}
	for name, want := range map[string]string{"turn:1": "one done done: one", "turn:2": "two done done: two"} {
		got := page(name+"@"+k.Name(), history.Place{Begin: true}, 100)
		if text := strings.Join(said(got), " "); text != want || got.Next != got.End {
			t.Errorf("%s: %s, %+v", name, text, got)
		}
	}
	third := page("turn:3@"+k.Name(), history.Place{Begin: true}, 2)
	if len(third.Messages) != 2 || third.Messages[0].Text != "three" || third.Next >= third.End {
		t.Fatalf("the third: %+v", third)
	}
	at := third.Messages[1].At
	whole := page("", history.Place{From: &at, Whole: true}, 1)
	if m := whole.Messages[0]; m.Text != long || m.Cut {
		t.Errorf("it is not whole: %d bytes of %d", len(m.Text), len(long))
	}
	if part := page("", history.Place{From: &at}, 1).Messages[0]; !strings.HasPrefix(long, part.Text) || !part.Cut {
		t.Errorf("the part is %d bytes", len(part.Text))
	}
}

// TestRowsAreDressed: a row has the tags and messages of all its steps; the worktree stands on one row.
func TestRowsAreDressed(t *testing.T) {
	t.Parallel()
	p, k := enginetest.Begun(t)
	k.Ask("one")
	k.Work(p.Edits("f", "1"))
	k.Work(p.Edits("f", "2"))
	k.Say("done")
	k.Stop()
	k.Take("only talk", nil)
	other := p.Agent("other")
	other.Prompt("beside")
	other.Run("c", func() { p.Write("g", "1") })
	other.Stop()
	h := p.E.History
	rows := func() []history.Row {
		t.Helper()
		res, err := h.Rows(enginetest.Bg, history.RowOptions{})
		p.Must(err)
		return res.Rows
	}
	for _, cp := range rows()[2].Steps {
		_, err := h.Tag(enginetest.Bg, "tag-"+cp.ID.Short(), cp.ID.String(), false)
		p.Must(err)
		_, err = p.E.Log.PutMessage(enginetest.Bg, cp, "about "+cp.ID.Short())
		p.Must(err)
	}
	list := rows()
	var got []string
	for i := range list {
		r := &list[i]
		got = append(got, fmt.Sprintf("%s %q %d steps %d tags %d messages %t %s", strings.Split(r.Of, "/")[0], r.Prompt,
			len(r.Steps), len(r.Tags), len(r.Messages), r.Current, r.ID.String()[:len(r.Short)]))
		if r.Short == "" || !strings.HasPrefix(r.ID.String(), r.Short) || (r.Whose == "") != (r.Of == model.Manual) {
			t.Errorf("row %d is called %q, of %q", i, r.Short, r.Whose)
		}
	}
	want := []string{
		`claude "beside" 1 steps 0 tags 0 messages true `, `claude "only talk" 0 steps 0 tags 0 messages false `,
		`claude "one" 2 steps 2 tags 2 messages false `, `manual "" 1 steps 0 tags 0 messages false `,
	}
	for i := range want {
		want[i] += list[i].Short
	}
	enginetest.Equal(t, "rows", got, want)
	p.Checkout("turn:1@"+k.Name(), restore.Options{CodeOnly: true, Session: model.SessionChoice{Session: k.Name()}})
	var current []string
	for i, r := range rows() {
		if r.Current {
			current = append(current, fmt.Sprint(i, r.Prompt))
		}
	}
	if len(current) != 1 {
		t.Errorf("the worktree stands on rows %q", current)
	}
	one, err := h.Paths(list[2].Steps[1], 9)
	p.Must(err)
	none, err := h.Paths(list[2].Steps[1], 0)
	if p.Must(err); !slices.Equal(one, []string{"f"}) || len(none) > 0 {
		t.Errorf("paths %q, at most 0: %q", one, none)
	}
}

// TestTreeOfWorktrees: a session of another worktree is in the tree as it is there, and is found by how its id begins;
// what this log has of it gives way.
func TestTreeOfWorktrees(t *testing.T) {
	t.Parallel()
	p, first := enginetest.TwoTurns(t)
	q := p.Beside(t.TempDir())
	t.Cleanup(q.Close)
	k := q.Talker(5)
	k.Take("beside", q.Edits("f", "9"))
	there, err := q.E.History.LocalBranches(enginetest.Bg)
	p.Must(err)
	if len(there) != 1 {
		t.Fatalf("%+v", there)
	}
	its := fmt.Sprint(there[0].Branch, there[0].Worktree, there[0].Title, there[0].Work.Steps, there[0].Tip.IsZero())
	if want := fmt.Sprint(k.Name(), q.Root, "beside", 1, false); its != want {
		t.Errorf("there is %s, want %s", its, want)
	}
	if root, known := q.E.History.Whereabouts("session:" + first.ID); root != p.Root || !known {
		t.Errorf("the first session is in %q, %t", root, known)
	}
	for _, tt := range []struct {
		session string
		all     bool
		want    string
		others  int
	}{
		{"", true, "first k", 0},
		{"", false, "first", 1},
		{k.ID[:8], false, "k", 1},
		{k.Name()[:len("claude/")+8], false, "k", 1},
		{k.Name(), true, "k first", 0},
		{first.ID, false, "first", 1},
	} {
		tree, err := p.E.History.FamilyTree(enginetest.Bg, tt.session, tt.all, there)
		p.Must(err)
		var got []string
		for i := range tree.Branches {
			b := &tree.Branches[i]
			called := map[string]string{first.Name(): "first", k.Name(): "k"}[b.Branch]
			got = append(got, called)
			if (b.Worktree != "") != (called == "k") || b.Current != (called == "first") {
				t.Errorf("%s goes on in %q, current %t", called, b.Worktree, b.Current)
			}
		}
		if strings.Join(got, " ") != tt.want || tree.Others != tt.others {
			t.Errorf("of %q: %s, %d others", tt.session, got, tree.Others)
		}
	}
	if _, err := p.E.History.FamilyTree(enginetest.Bg, "none", false, there); err == nil {
		t.Error("a session that nobody has")
	}
}

// TestTreeOfAlikeNames: of sessions of another worktree whose ids begin alike none is meant; what this worktree has
// itself stays as it is here.
func TestTreeOfAlikeNames(t *testing.T) {
	t.Parallel()
	p, _ := enginetest.TwoTurns(t)
	q := p.Beside(t.TempDir())
	t.Cleanup(q.Close)
	for _, n := range []int{0x50000001, 0x50000002} {
		q.Talker(n).Take(fmt.Sprintf("alike %x", n), nil)
	}
	there, err := q.E.History.LocalBranches(enginetest.Bg)
	p.Must(err)
	for _, name := range []string{"none", "5000", "claude/5000"} {
		if _, err := p.E.History.FamilyTree(enginetest.Bg, name, false, there); err == nil {
			t.Errorf("%s: a session that nobody has, or several", name)
		}
	}
	here, err := p.E.History.LocalBranches(enginetest.Bg)
	p.Must(err)
	tree, err := p.E.History.FamilyTree(enginetest.Bg, "50000002", true, append(here, there...))
	p.Must(err)
	var got []string
	for i := range tree.Branches {
		b := &tree.Branches[i]
		got = append(got, fmt.Sprintf("%.15s %t %s %t", b.Branch, b.Worktree == q.Root, b.Title, b.Running))
	}
	enginetest.Equal(t, "with its own", got[:1], []string{"claude/50000002 true alike 50000002 false"})
	if mine := "claude/00000001 false one false"; len(got) != 3 || !slices.Contains(got, mine) || tree.Others != 0 {
		t.Errorf("%q, %d others", got, tree.Others)
	}
}

// TestTreeAcrossWorktrees: a fork that was made in another worktree hangs below its original as that is where it goes
// on, and clashes with what that did since.
func TestTreeAcrossWorktrees(t *testing.T) {
	t.Parallel()
	p, first := enginetest.TwoTurns(t)
	p.Settle()
	q := p.Beside(t.TempDir())
	t.Cleanup(q.Close)
	of := restore.Options{Session: model.SessionChoice{Session: first.Name()}}
	kid := q.Opened(q.Fork("turn:1", of).Fork)
	kid.Take("kid's", q.Edits("f", "8"))
	first.Take("three", p.Edits("f", "3"))
	there, err := p.E.History.LocalBranches(enginetest.Bg)
	p.Must(err)
	tree, err := q.E.History.FamilyTree(enginetest.Bg, kid.Name(), true, there)
	p.Must(err)
	var got []string
	for i := range tree.Branches {
		b := &tree.Branches[i]
		line := fmt.Sprintf("%s below %q, %d steps, here %t", b.Branch, b.Parent, b.Work.Steps, b.Worktree == "")
		for _, c := range b.Conflicts {
			line += fmt.Sprintf(", clashes with %s in %s", c.With, c.Paths)
		}
		got = append(got, line)
	}
	enginetest.Equal(t, "branches", got, []string{
		first.Name() + ` below "", 3 steps, here false`,
		fmt.Sprintf("%s below %q, 1 steps, here true, clashes with %[2]s in [f]", kid.Name(), first.Name()),
	})
}

// TestPageOfADocument: a conversation that its agent keeps as one document ends at a moment, too.
func TestPageOfADocument(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	const id = "0265b072-f42b-4976-8ecb-d8dde31bd890"
	k := p.Scribe(hooks.Gemini, id)
	p.Must(os.Remove(k.File))
	k.File = strings.TrimSuffix(k.File, "l")
	p.Must(os.WriteFile(k.File, p.Sample(hooks.Gemini, "0.26.0-3turns.json"), 0o600))
	k.Tell(hooks.SessionStart, map[string]any{"source": "resume"})
	p.Settle()
	one := "TURN-1 please Writing alpha. TURN-1 complete."
	two := one + " TURN-2 please Second turn. TURN-2 complete."
	for name, want := range map[string]string{
		"": two + " TURN-3 please TURN-3 complete.", "turn:1@" + k.Name(): one, "turn:2@" + k.Name(): two,
	} {
		page, err := p.E.History.Page(enginetest.Bg, model.SessionChoice{Session: k.Name()}, name, history.Place{}, 99)
		p.Must(err)
		var got []string
		for _, m := range page.Messages {
			if m.Who != "tool" && m.Text != "" {
				got = append(got, m.Text)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("up to %q: %q", name, got)
		}
	}
}
