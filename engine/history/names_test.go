package history_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/engine/sessions"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/refs"
	"rewind/tree"
)

// TestFilter: what each word of a filter asks of a checkpoint.
func TestFilter(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_800_000_000_000)
	agents := model.Checkpoint{
		Session: "claude/a", Time: at, By: []string{"claude/a"},
		Cause: model.Cause{Tool: "Bash", Prompt: "Make the Thing", Message: "by hand"},
	}
	persons := model.Checkpoint{Session: model.Manual, Time: at}
	mixed := agents
	mixed.Owned = []model.Owned{{Paths: []string{"mine"}}}
	outside := persons
	outside.Owned = []model.Owned{{By: []string{"claude/a"}, Paths: []string{"its"}}}
	for what, tt := range map[string]struct {
		f    value.Filter
		want [4]bool // of the four above
	}{
		"nothing":           {value.Filter{}, [4]bool{true, true, true, true}},
		"a session":         {value.Filter{Session: "claude/a"}, [4]bool{true, false, true, false}},
		"an agent":          {value.Filter{Agent: "claude"}, [4]bool{true, false, true, false}},
		"another agent":     {value.Filter{Agent: "codex"}, [4]bool{}},
		"a tool":            {value.Filter{Tool: "bash"}, [4]bool{true, false, true, false}},
		"another tool":      {value.Filter{Tool: "Edit"}, [4]bool{}},
		"by agents":         {value.Filter{By: "agent"}, [4]bool{true, false, true, true}},
		"from outside":      {value.Filter{By: "outside"}, [4]bool{false, true, true, true}},
		"since then":        {value.Filter{Since: at}, [4]bool{true, true, true, true}},
		"since later":       {value.Filter{Since: at.Add(1)}, [4]bool{}},
		"until then":        {value.Filter{Until: at}, [4]bool{true, true, true, true}},
		"until before":      {value.Filter{Until: at.Add(-1)}, [4]bool{}},
		"two words":         {value.Filter{Prompt: "THING make"}, [4]bool{true, false, true, false}},
		"a message":         {value.Filter{Prompt: "hand"}, [4]bool{true, false, true, false}},
		"one of two words":  {value.Filter{Prompt: "make it"}, [4]bool{}},
		"half of each text": {value.Filter{Prompt: "make hand"}, [4]bool{}},
	} {
		f := history.Filter{Filter: tt.f}
		if err := f.Check(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		for i, cp := range []*model.Checkpoint{&agents, &persons, &mixed, &outside} {
			if got := f.Has(cp); got != tt.want[i] {
				t.Errorf("%s, %d: %v", what, i, got)
			}
		}
	}
	for _, tt := range []struct {
		f   value.Filter
		bad bool
	}{
		{value.Filter{By: "me"}, true},
		{value.Filter{Since: at, Until: at.Add(-1)}, true},
		{value.Filter{Since: at, Until: at}, false},
		{value.Filter{Since: at}, false},
		{value.Filter{Until: at}, false},
	} {
		f := history.Filter{Filter: tt.f}
		if err := f.Check(); (err != nil) != tt.bad || tt.bad && !errors.Is(err, model.ErrUsage) {
			t.Errorf("%+v: %v", tt.f, err)
		}
	}
}

// A shelf is four saves, a restore to the second, and one more.
type shelf struct {
	*enginetest.Project
	cps []*model.Checkpoint
}

func newShelf(t *testing.T) shelf {
	t.Helper()
	s := shelf{Project: enginetest.NewProject(t)}
	for i := range 4 {
		s.Write("f", fmt.Sprint(i))
		s.Write(fmt.Sprint("d/", i), "x")
		s.cps = append(s.cps, s.Save(fmt.Sprint("save ", i)))
	}
	s.Checkout(s.cps[1].ID.String(), restore.Options{})
	s.Write("f", "last")
	s.cps = append(s.cps, s.Save("save 4"))
	return s
}

// name is what a checkpoint is called here.
func (s shelf) name(l *history.Listed) string {
	switch {
	case l == nil:
		return "-"
	case l.Safety:
		return "safety"
	}
	return strings.TrimPrefix(l.Cause.Message, "save ")
}

// TestList: which checkpoints a list has, and what it says of them.
func TestList(t *testing.T) {
	s := newShelf(t)
	_, err := s.E.History.Tag(enginetest.Bg, "works", s.cps[2].ID.String(), false)
	s.Must(err)
	third := s.cps[3].Seq
	for what, tt := range map[string]struct {
		o    history.ListOptions
		want string
	}{
		"plain":      {history.ListOptions{}, "4! 3~ 2~# 1 0"},
		"all":        {history.ListOptions{All: true}, "4! safety 3~ 2~# 1 0"},
		"two":        {history.ListOptions{Limit: 2}, "4! 3~ more"},
		"five":       {history.ListOptions{Limit: 5}, "4! 3~ 2~# 1 0"},
		"before":     {history.ListOptions{Before: third}, "2~# 1 0"},
		"one before": {history.ListOptions{Before: third, Limit: 1}, "2~# more"},
		"words":      {history.ListOptions{Filter: history.Filter{Filter: value.Filter{Prompt: "3"}}}, "3~"},
		"a session":  {history.ListOptions{Filter: history.Filter{Filter: value.Filter{Session: "none"}}}, ""},
		"manual": {
			history.ListOptions{Filter: history.Filter{Filter: value.Filter{Session: "manual"}}, Limit: 1}, "4! more",
		},
	} {
		res, err := s.E.History.List(enginetest.Bg, tt.o)
		s.Must(err)
		var got []string
		for i := range res.Checkpoints {
			l := &res.Checkpoints[i]
			line := s.name(l)
			for mark, is := range map[string]bool{"!": l.Current, "~": l.Aside} {
				if is {
					line += mark
				}
			}
			got = append(got, line+strings.Repeat("#", len(l.Tags)))
		}
		if res.More {
			got = append(got, "more")
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%s: %s, want %s", what, got, tt.want)
		}
	}
}

// TestRowsAside: of rows, as of checkpoints, it is told which a restore has left behind.
func TestRowsAside(t *testing.T) {
	s := newShelf(t)
	for what, o := range map[string]history.RowOptions{"4 3~ 2~ 1 0": {}, "3~ 2~ 1 0": {Before: s.cps[4].Seq}} {
		res, err := s.E.History.Rows(enginetest.Bg, o)
		s.Must(err)
		var got []string
		for i := range res.Rows {
			line := s.name(&res.Rows[i].Listed)
			if res.Rows[i].Aside {
				line += "~"
			}
			got = append(got, line)
		}
		if got := strings.Join(got, " "); got != what {
			t.Errorf("%s, want %s", got, what)
		}
	}
}

// TestOperations: which operations are told, and of a restore from where to where.
func TestOperations(t *testing.T) {
	s := newShelf(t)
	_, err := s.E.History.Tag(enginetest.Bg, "works", "@", false)
	s.Must(err)
	s.Checkout(s.cps[0].ID.String(), restore.Options{})
	_, err = s.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
	s.Must(err)
	for _, tt := range []struct {
		which history.Which
		limit int
		want  string
	}{
		{history.Restoring, 0, "U 0-4, o 4-0 undone, o 3-1"},
		{history.Restoring, 2, "U 0-4, o 4-0 undone"},
		{history.Changing, 4, "U 0-4, o 4-0 undone, t, c"},
		{history.Every, 4, "U 0-4, y, o 4-0 undone, y"},
	} {
		list, err := s.E.History.Operations(enginetest.Bg, tt.limit, tt.which)
		s.Must(err)
		var got []string
		for i := range list {
			o := &list[i]
			line := string(o.Kind)
			if o.From != nil {
				line += " " + s.name(o.From) + "-" + s.name(o.To)
			}
			if o.Undone != 0 {
				line += " undone"
				if o.Undone != list[0].Seq {
					t.Errorf("%s is undone by %d", line, o.Undone)
				}
			}
			got = append(got, line)
		}
		if got := strings.Join(got, ", "); got != tt.want {
			t.Errorf("%d of %d: %s, want %s", tt.limit, tt.which, got, tt.want)
		}
	}
}

// TestRestores: what was taken back, and brought again, is in effect.
func TestRestores(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.Checkout(s.cps[0].ID.String(), restore.Options{})
	for range 2 {
		var newest uint64
		s.Must(s.E.History.Restores(func(op *refs.Operation, _ uint64) error {
			newest = op.Seq
			return kv.ErrStop
		}))
		_, err := s.E.Restorer.UndoRestore(enginetest.Bg, newest, restore.Options{})
		s.Must(err)
	}
	var got []string
	var newer uint64
	s.Must(s.E.History.Restores(func(op *refs.Operation, undone uint64) error {
		word := op.Kind.String()
		switch undone {
		case 0:
		case newer:
			word += " undone by the one behind it"
		default:
			word += fmt.Sprint(" undone by ", undone)
		}
		got, newer = append(got, word), op.Seq
		return nil
	}))
	want := []string{"undo-restore", "undo-restore undone by the one behind it", "checkout"}
	enginetest.Equal(t, "the newest restores", got[:3], want)
}

// TestOperationsUpTo: so many operations are the first of all, and the same is told of them.
func TestOperationsUpTo(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.Checkout(s.cps[0].ID.String(), restore.Options{})
	_, err := s.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
	s.Must(err)
	told := func(limit int, which history.Which) (out []string) {
		t.Helper()
		list, err := s.E.History.Operations(enginetest.Bg, limit, which)
		s.Must(err)
		for i := range list {
			o := &list[i]
			out = append(out, fmt.Sprint(o.Seq, o.Kind, o.Undone, s.name(o.From), s.name(o.To)))
		}
		return out
	}
	for _, which := range []history.Which{history.Changing, history.Restoring, history.Every} {
		all := told(0, which)
		for limit := 1; limit <= len(all)+1; limit++ {
			enginetest.Equal(t, fmt.Sprint(limit, " of ", which), told(limit, which), all[:min(limit, len(all))])
		}
	}
}

// TestTags: a tag is made once, moved if that is forced, and taken away.
func TestTags(t *testing.T) {
	s := newShelf(t)
	h, one, two := s.E.History, s.cps[1].ID.String(), s.cps[2].ID.String()
	for _, tt := range []struct {
		tag, name string
		force     bool
		want      error
	}{
		{"works", one, false, nil},
		{"works", one, false, nil},
		{"works", two, false, model.ErrTagExists},
		{"works", two, true, nil},
		{"a b", two, false, model.ErrUsage},
		{"turn:1", two, false, model.ErrUsage},
		{"other", "nothing", false, model.ErrNotFound},
	} {
		before := s.E.Log.DB.LastSeq()
		cp, err := h.Tag(enginetest.Bg, tt.tag, tt.name, tt.force)
		if !errors.Is(err, tt.want) || err == nil && cp.ID.String() != tt.name {
			t.Errorf("%+v: %v", tt, err)
		}
		at, _ := h.Resolve("works")
		if err == nil && (at == nil || at.ID.String() != tt.name) || err != nil && s.E.Log.DB.LastSeq() != before {
			t.Errorf("%+v: works is %v", tt, at)
		}
	}
	before := s.E.Log.DB.LastSeq()
	_, err := h.Tag(enginetest.Bg, "works", two, false)
	if s.Must(err); s.E.Log.DB.LastSeq() != before {
		t.Error("a tag that is there was made again")
	}
	for tag, want := range map[string]error{"works": model.ErrTagExists, "free": nil, "a b": model.ErrUsage} {
		if err := h.FreeTag(tag); !errors.Is(err, want) {
			t.Errorf("%s is free: %v", tag, err)
		}
	}
	_, err = h.Tag(enginetest.Bg, "first", one, false)
	s.Must(err)
	tags, err := h.Tags(enginetest.Bg)
	s.Must(err)
	if len(tags) != 2 || tags[0].Tag != "first" || tags[1].Tag != "works" || tags[1].Checkpoint.ID != s.cps[2].ID {
		t.Errorf("%+v", tags)
	}
	for name, want := range map[string]string{"work": "works", "fist": "first", "save": "", "works": "", "turn:9": ""} {
		if got := strings.Join(h.Near(enginetest.Bg, name, false), " "); got != want {
			t.Errorf("near %s: %s", name, got)
		}
	}
	if got := h.Near(enginetest.Bg, "work", true); len(got) > 0 {
		t.Errorf("sessions near a tag's name: %s", got)
	}
	id := s.cps[4].ID.String()
	wrong := id[:9] + string("0123456789abcdef"[(strings.IndexByte("0123456789abcdef", id[9])+1)%16])
	if got := h.Near(enginetest.Bg, wrong, false); !slices.Contains(got, s.cps[4].ID.Short()) {
		t.Errorf("near %s: %s", wrong, got)
	}
	s.Must(h.Untag(enginetest.Bg, "works"))
	if err := h.Untag(enginetest.Bg, "works"); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("taken away twice: %v", err)
	}
}

// TestNearest: of many names that are like one the five most alike are told.
func TestNearest(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("f", "0")
	p.Save("first")
	for n := range 7 {
		_, err := p.E.History.Tag(enginetest.Bg, fmt.Sprint("works-", n), "@", false)
		p.Must(err)
	}
	if got := p.E.History.Near(enginetest.Bg, "works", false); len(got) != 5 || got[0] != "works-0" {
		t.Errorf("%q", got)
	}
}

// TestNames: what a name stands for.
func TestNames(t *testing.T) {
	s := newShelf(t)
	agent := s.Agent("abcdef")
	agent.Start()
	agent.Prompt("do it")
	agent.Run("c", func() { s.Write("f", "agent") })
	agent.Stop()
	h := s.E.History
	for name, want := range map[string]string{
		s.cps[2].ID.String():                     "save 2",
		strings.ToUpper(s.cps[2].ID.Short()[:7]): "save 2",
		s.cps[2].ID.Short() + "~1":               "save 1",
		s.cps[2].ID.Short() + "~2":               "save 0",
		"@~1":                                    "save 4",
		"@{2100-01-01}":                          "do it",
		"session:abcdef":                         "do it",
		"turn:1":                                 "do it",
	} {
		cp, err := h.Resolve(name)
		s.Must(err)
		if got := cp.Cause.Prompt + cp.Cause.Message; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if cp, err := h.Resolve("@{2001-01-01}"); err != nil || cp.ID != s.cps[0].ID {
		t.Errorf("a time before the first checkpoint: %v, %v", cp, err)
	}
	var short *model.TooShortError
	if _, err := h.Resolve("no"); errors.As(err, &short) {
		t.Errorf("a word that is no id: %v", err)
	}
	var is *model.IsSessionError
	for name, want := range map[string]error{
		s.cps[0].ID.Short() + "~1": model.ErrNotFound, "none": model.ErrNotFound,
		"turn:9": model.ErrNotFound, "session:none": model.ErrNotFound, "@{x}": model.ErrUsage,
		"0123456789": model.ErrNotFound,
	} {
		if _, err := h.Resolve(name); !errors.Is(err, want) || errors.As(err, &is) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := h.Resolve("claude/abc"); !errors.As(err, &is) || is.Session != "claude/abcdef" {
		t.Errorf("a session's name: %v", err)
	}
	for _, tt := range []struct{ session, name, want string }{
		{"", "", ""},
		{"", "@", "@"},
		{"", "works", "works"},
		{"abcdef", "works", "works"},
		{"abcdef", "turn:1", "turn:1@claude/abcdef"},
		{"", "turn:1", "turn:1@claude/abcdef"},
		{"", "before:1", "before:1@claude/abcdef"},
		{"manual", "@~1", s.cps[4].ID.String() + "~1"},
		{"manual", "", s.cps[4].ID.String() + "~0"},
	} {
		got, err := h.Named(model.SessionChoice{Session: tt.session}, tt.name)
		if err != nil || got != tt.want {
			t.Errorf("%q of %q: %s, %v; want %s", tt.name, tt.session, got, err, tt.want)
		}
	}
	list, err := h.Names(enginetest.Bg)
	s.Must(err)
	if len(list) != 1 || list[0].Name != "claude/abcdef" || list[0].Checkpoint.IsZero() {
		t.Errorf("%+v", list)
	}
	several := &sessions.SeveralSessionsError{Names: []string{"claude/abcdef", "claude/none"}}
	h.Describe(enginetest.Bg, several)
	if len(several.Sessions) != 1 || several.Sessions[0].Short != "abcdef" || several.Sessions[0].Turns != 1 {
		t.Errorf("%+v", several.Sessions)
	}
}

// TestFiles: what a checkpoint has, in pages, and what is like a path that it has not.
func TestFiles(t *testing.T) {
	p := enginetest.NewProject(t)
	for _, name := range []string{"a", "d/b", "d/e/chapter", "d/f", "g"} {
		p.Write(name, name)
	}
	p.Must(os.Symlink("a", p.Path("link")))
	cp := p.Save("")
	h := p.E.History
	for _, tt := range []struct {
		o    history.FilesOptions
		want string
	}{
		{history.FilesOptions{}, ".agent a d g link"},
		{history.FilesOptions{Deep: true}, ".agent a d d/b d/e d/e/chapter d/f g link"},
		{history.FilesOptions{Dir: "d"}, "d/b d/e d/f"},
		{history.FilesOptions{Dir: "d", Deep: true}, "d/b d/e d/e/chapter d/f"},
		{history.FilesOptions{Limit: 2}, ".agent a more"},
		{history.FilesOptions{Limit: 5}, ".agent a d g link"},
		{history.FilesOptions{After: "a"}, "d g link"},
		{history.FilesOptions{After: "d/e", Deep: true}, "d/e/chapter d/f g link"},
		{history.FilesOptions{After: "d/e/chapter", Deep: true, Limit: 1}, "d/f more"},
		{history.FilesOptions{After: "d/x", Deep: true}, "g link"},
		{history.FilesOptions{After: "e", Deep: true}, "g link"},
	} {
		r, err := h.Files("@", tt.o)
		p.Must(err)
		var got []string
		for _, f := range r.Files {
			got = append(got, f.Path)
		}
		if r.More {
			got = append(got, "more")
		}
		if got := strings.Join(got, " "); got != tt.want || r.Checkpoint.ID != cp.ID || r.Dir != tt.o.Dir {
			t.Errorf("%+v: %s, want %s", tt.o, got, tt.want)
		}
	}
	if _, err := h.Files("@", history.FilesOptions{Dir: "a"}); !errors.Is(err, model.ErrUsage) {
		t.Errorf("below a file: %v", err)
	}
	for dir, want := range map[string]string{"": ".agent/ a d/ g link", "d": "b e/ f", "a": ""} {
		list, err := h.Entries("@", dir)
		if p.Must(err); strings.Join(list, " ") != want {
			t.Errorf("in %q: %s", dir, list)
		}
	}
	for path, want := range map[string]string{"a": "a", "d/e/chapter": "d/e/chapter", "link": "a"} {
		r, size, err := h.Cat(enginetest.Bg, "@", path)
		p.Must(err)
		b, err := io.ReadAll(r)
		p.Must(err)
		if p.Must(r.Close()); string(b) != want || size != int64(len(want)) {
			t.Errorf("%s: %q, %d", path, b, size)
		}
	}
	var missing *model.PathError
	for path, want := range map[string]error{
		"d": model.ErrUsage, "../x": model.ErrUsage, "d/e/chaptr": model.ErrNotFound,
	} {
		_, _, err := h.Cat(enginetest.Bg, "@", path)
		if !errors.Is(err, want) || errors.As(err, &missing) != (path == "d/e/chaptr") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if got := h.NearPath(missing); !slices.Equal(got, []string{"d/e/chapter"}) {
		t.Errorf("near: %s", got)
	}
	p.Write("d/b", "2")
	p.Remove("g")
	p.Must(os.Mkdir(p.Path("new"), 0o755))
	p.Save("")
	p.Write("a", "2")
	p.Write("d/b", "3")
	p.Save("")
	for _, tt := range []struct {
		most, checkpoints int
		want              string
	}{{9, 9, "a d/b g"}, {9, 1, "a d/b"}, {2, 9, "a d/b"}, {1, 9, "a"}, {9, 2, "a d/b g"}, {9, 0, ""}} {
		list, err := h.Touched(enginetest.Bg, tt.most, tt.checkpoints)
		if p.Must(err); strings.Join(list, " ") != tt.want {
			t.Errorf("%+v: %s", tt, list)
		}
	}
}

// TestShow: what a checkpoint changed, limited to paths, and the secret files that changed with it.
func TestShow(t *testing.T) {
	s := newShelf(t)
	for name, want := range map[string]string{"": "d/3 f", "f": "f", "d": "d/3", "none": ""} {
		var only []string
		if name != "" {
			only = []string{name}
		}
		shown, err := s.E.History.Show(enginetest.Bg, s.cps[3].ID.String(), only)
		s.Must(err)
		if got := strings.Join(paths(shown.Changes), " "); got != want || len(shown.Gone)+len(shown.Secrets) > 0 {
			t.Errorf("%q: %s", name, got)
		}
	}
	secret := func(path string, hash byte) tree.Skip {
		return tree.Skip{Path: path, Reason: tree.ReasonSecret, Hash: [32]byte{hash}}
	}
	before := []tree.Skip{secret("same", 1), secret("other", 1), {Path: "big", Reason: tree.ReasonSize}}
	now := []tree.Skip{
		secret("same", 1),
		secret("other", 2),
		secret("new", 1),
		{Path: "large", Reason: tree.ReasonSize},
	}
	if got := history.ChangedSecrets(before, now); len(got) != 2 || !got["other"] || !got["new"] {
		t.Errorf("%v", got)
	}
}

// TestListFolded: of small steps that follow each other fast the last is listed, and those that have a tag, or on which
// the worktree stands.
func TestListFolded(t *testing.T) {
	p := enginetest.NewProject(t)
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	p.E.Log.Now = func() time.Time { return now }
	p.Write("f", "0")
	p.Save("first")
	a := p.Agent("a")
	a.Prompt("x")
	var cps []*model.Checkpoint
	for i := range 6 {
		cps = append(cps, p.Get(a.Run(fmt.Sprint("c", i), func() { p.Write("f", fmt.Sprint(i+1)) })))
		now = now.Add(time.Second)
	}
	a.Stop()
	listed := func(o history.ListOptions) string {
		res, err := p.E.History.List(enginetest.Bg, o)
		p.Must(err)
		var got strings.Builder
		for _, l := range res.Checkpoints {
			got.WriteString(p.Cat(l.Checkpoint, "f"))
		}
		return fmt.Sprint(got.String(), " ", res.Folded)
	}
	for _, tt := range []struct {
		do   func()
		want string
	}{
		{func() {}, "60 5"},
		{func() { _, err := p.E.History.Tag(enginetest.Bg, "two", cps[1].ID.String(), false); p.Must(err) }, "620 4"},
		{func() { p.Checkout(cps[2].ID.String(), restore.Options{CodeOnly: true}) }, "6320 3"},
	} {
		tt.do()
		if got := listed(history.ListOptions{}); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
		if got := listed(history.ListOptions{Steps: true}); got != "6543210 0" {
			t.Errorf("steps: %s", got)
		}
	}
}

// TestTurnsAround: the state before the first turn is the newest that was found before its prompt. The list of turns
// says in which one the project stands.
func TestTurnsAround(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "0")
	p.Save("first")
	a := p.Agent("a")
	for _, found := range []string{"1", "2"} {
		p.Write("f", found)
		a.Start()
	}
	for _, made := range []string{"3", "4", "5"} {
		a.Prompt("write " + made)
		a.Run(made, func() { p.Write("f", made) })
		a.Stop()
	}
	at := func(name, want string) {
		t.Helper()
		cp, err := p.E.History.Resolve(name)
		p.Must(err)
		if got := p.Cat(cp, "f"); got != want {
			t.Errorf("%s has %s, want %s", name, got, want)
		}
	}
	for name, want := range map[string]string{
		"turn:0": "2", "before:1": "2", "turn:1": "3", "before:2": "3", "turn:2": "4", "before:3": "4", "turn:3": "5",
	} {
		at(name, want)
	}
	stands := func(what string, want uint64) {
		t.Helper()
		l, err := p.E.History.Turns(enginetest.Bg, model.SessionChoice{Session: "claude/a"}, 0)
		p.Must(err)
		if l.At != want || len(l.Turns) != 3 {
			t.Errorf("%s: it stands in turn %d of %d, want %d", what, l.At, len(l.Turns), want)
		}
	}
	stands("now", 3)
	for _, n := range []uint64{1, 2, 0, 3} {
		name := fmt.Sprint("turn:", n)
		p.Checkout(name, restore.Options{CodeOnly: true})
		stands(name, n)
	}
	p.Write("f", "mine")
	p.Save("mine")
	stands("behind a save", 3)
	o := restore.Options{CodeOnly: true}
	o.Session = model.SessionChoice{Session: model.Manual}
	p.Checkout("turn:0@claude/a", o)
	p.Write("f", "more")
	p.Save("more")
	stands("behind a person's own save", 0)
}
