package find_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rewind/engine/enginetest"
	"rewind/engine/find"
	"rewind/engine/gc"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/torture"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// asked is a project whose history was made at random, and each checkpoint of it read by itself.
type asked struct {
	*enginetest.Project
	t      *rapid.T
	next   int // names of contents, and of lines
	states []askedState
}

type askedState struct {
	*model.Checkpoint
	before, files map[string]string
}

var (
	askedPaths = []string{"a.txt", "b.txt", "d/a.txt", "d/e/c.go", "d.txt", "z.go"}
	askedWords = []string{"needle", "hay", "straw", "Needle"}
)

// line is a line of a content: it tells which content it is of, so that only what was once the same is alike, and there
// is none like it, so that every comparison finds the same.
func (m *asked) line(id int) string {
	m.next++
	return fmt.Sprintf("%d %s %d\n", id, rapid.SampledFrom(askedWords).Draw(m.t, "word"), m.next)
}

func (m *asked) present() []string {
	var out []string
	for _, p := range askedPaths {
		if fi, err := os.Lstat(m.Path(p)); err == nil && fi.Mode().IsRegular() {
			out = append(out, p)
		}
	}
	return out
}

func (m *asked) read(path string) string {
	b, err := os.ReadFile(m.Path(path))
	m.Must(err)
	return string(b)
}

func (m *asked) edit(*rapid.T) {
	paths := m.present()
	if len(paths) == 0 {
		m.create(m.t)
		return
	}
	path := rapid.SampledFrom(paths).Draw(m.t, "edit")
	lines := strings.SplitAfter(strings.TrimSuffix(m.read(path), "\n"), "\n")
	var id int
	_, err := fmt.Sscanf(lines[0], "%d ", &id)
	m.Must(err)
	i := rapid.IntRange(0, len(lines)-1).Draw(m.t, "line")
	switch rapid.IntRange(0, 2).Draw(m.t, "how") {
	case 0:
		lines[i] = m.line(id)
	case 1:
		lines = slices.Insert(lines, i, m.line(id))
	case 2:
		if len(lines) > 8 {
			lines = slices.Delete(lines, i, i+1)
		}
	}
	lines[len(lines)-1] = strings.TrimSuffix(lines[len(lines)-1], "\n") + "\n"
	m.Write(path, strings.Join(lines, ""))
}

func (m *asked) create(*rapid.T) {
	for _, p := range askedPaths {
		if _, err := os.Lstat(m.Path(p)); err != nil {
			m.next++
			id := m.next
			var b strings.Builder
			for range rapid.IntRange(10, 14).Draw(m.t, "lines") {
				b.WriteString(m.line(id))
			}
			m.Write(p, b.String())
			return
		}
	}
}

func (m *asked) move(*rapid.T) {
	paths := m.present()
	if len(paths) == 0 {
		return
	}
	from := rapid.SampledFrom(paths).Draw(m.t, "from")
	to := rapid.SampledFrom(askedPaths).Draw(m.t, "to")
	if slices.Contains(paths, to) {
		return
	}
	m.Must(os.MkdirAll(filepath.Dir(m.Path(to)), 0o755))
	m.Must(os.Rename(m.Path(from), m.Path(to)))
}

func (m *asked) drop(*rapid.T) {
	if paths := m.present(); len(paths) > 2 {
		m.Remove(rapid.SampledFrom(paths).Draw(m.t, "drop"))
	}
}

// hands changes up to three things.
func (m *asked) hands() {
	for range rapid.IntRange(1, 3).Draw(m.t, "changes") {
		rapid.SampledFrom([]func(*rapid.T){m.edit, m.edit, m.edit, m.move, m.drop, m.create}).Draw(m.t, "do")(m.t)
	}
}

// flat reads a whole tree.
func (m *asked) flat(root objstore.ID) map[string]string {
	files := map[string]string{}
	m.Must(tree.Walk(m.E.Log.Objs, root, func(path string, e tree.Entry) error {
		if e.Type == tree.TypeFile {
			raw, err := m.E.Log.Objs.Get(objstore.Blob, e.ID)
			files[path] = string(raw)
			return err
		}
		return nil
	}))
	return files
}

// history reads every checkpoint, the oldest first.
func (m *asked) history() { m.historyOf(false, "") }

// historyOf reads every checkpoint of a session, or of all; safety checkpoints, too, where all are asked for.
func (m *asked) historyOf(all bool, session string) {
	m.states = nil
	m.Must(m.E.Log.Made(func(op *refs.Operation) error {
		if op.Kind == refs.KindSafety && !all || session != "" && op.Session != session {
			return nil
		}
		cp, err := m.E.Log.Checkpoint(op.Checkpoint)
		if err != nil {
			return err
		}
		before, err := m.E.Log.Before(cp)
		m.states = append(m.states, askedState{cp, m.flat(before), m.flat(cp.Tree)})
		return err
	}))
	slices.Reverse(m.states)
}

// origin is the file that one which appeared was: the one of which contents tell that they were one.
func (s *askedState) origin(path string) string {
	if _, was := s.before[path]; was {
		return ""
	}
	id, _, _ := strings.Cut(s.files[path], " ")
	for from, content := range s.before {
		if _, is := s.files[from]; !is && strings.HasPrefix(content, id+" ") {
			return from
		}
	}
	return ""
}

// checkPaths holds the history of a path against every checkpoint's.
func (m *asked) checkPaths(path string, follow bool) {
	meant := map[string]bool{path: true}
	var want []string
	for i := len(m.states) - 1; i >= 0; i-- {
		s := &m.states[i]
		names := slices.Sorted(maps.Keys(meant))
		changed := false
		for _, p := range names {
			was, had := s.before[p]
			is, has := s.files[p]
			changed = changed || had != has || was != is
			if from := s.origin(p); has && from != "" && follow {
				meant[from] = true
			}
		}
		if changed {
			want = append(want, s.ID.Short())
		}
	}
	r, err := m.E.Finder.Paths(context.Background(), find.PathsOptions{Paths: []string{path}, NoFollow: !follow})
	if len(want) == 0 {
		if err == nil {
			m.t.Fatalf("%s: found, and no checkpoint has it", path)
		}
		return
	}
	m.Must(err)
	var got []string
	for _, c := range r.Checkpoints {
		got = append(got, c.ID.Short())
	}
	enginetest.Equal(m.t, fmt.Sprintf("history of %s, follow %v", path, follow), got, want)
}

// checkText holds -S and -G against every checkpoint's contents.
func (m *asked) checkText(word string) {
	var want, must []string
	for i := len(m.states) - 1; i >= 0; i-- {
		s := &m.states[i]
		here, lines := false, false
		left := map[string]bool{}
		for path := range s.files {
			left[s.origin(path)] = true
		}
		for path := range maps.Keys(bothOf(s.before, s.files)) {
			was := s.before[path]
			if from := s.origin(path); from != "" && s.files[path] != "" {
				was = s.before[from]
			}
			if _, is := s.files[path]; !is && left[path] {
				continue
			}
			here = here || strings.Count(was, word) != strings.Count(s.files[path], word)
			lines = lines || linesWith(was, word) != linesWith(s.files[path], word)
		}
		if here {
			want = append(want, s.ID.Short())
		}
		if lines {
			must = append(must, s.ID.Short())
		}
	}
	short := func(o find.PathsOptions) (got []string) {
		r, err := m.E.Finder.Paths(context.Background(), o)
		m.Must(err)
		for _, c := range r.Checkpoints {
			got = append(got, c.ID.Short())
		}
		return got
	}
	enginetest.Equal(m.t, "-S "+word, short(find.PathsOptions{Text: word}), want)
	got := short(find.PathsOptions{Changed: find.Pattern{Text: word}})
	for _, id := range must {
		if !slices.Contains(got, id) {
			m.t.Fatalf("-G %s: %s changed a line with it, and is not among %v", word, id, got)
		}
	}
}

func bothOf(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// linesWith are the lines of a text that have a word, in order.
func linesWith(text, word string) string {
	var list []string
	for l := range strings.Lines(text) {
		if strings.Contains(l, word) {
			list = append(list, l)
		}
	}
	slices.Sort(list)
	return strings.Join(list, "")
}

// checkGrep holds each match and its spans against every checkpoint.
func (m *asked) checkGrep(word string, all bool, session string) {
	var want []string
	paths := map[string]string{}
	for _, s := range m.states {
		maps.Copy(paths, s.files)
	}
	for _, path := range slices.SortedFunc(maps.Keys(paths), tree.ComparePaths) {
		lines := map[string][]int{}
		numbers := map[string]int{}
		for i, s := range m.states {
			n := 0
			for l := range strings.Lines(s.files[path]) {
				n++
				l = strings.TrimSuffix(l, "\n")
				if at := lines[l]; strings.Contains(l, word) && (len(at) == 0 || at[len(at)-1] != i) {
					lines[l] = append(at, i)
					numbers[l] = n
				}
			}
		}
		for _, l := range slices.Sorted(maps.Keys(lines)) {
			text := fmt.Sprintf("%s:%d:%s", path, numbers[l], l)
			at := lines[l]
			for i, first := 0, 0; i < len(at); i++ {
				if i+1 < len(at) && at[i+1] == at[i]+1 {
					continue
				}
				text += fmt.Sprintf(" %s-%s", m.states[at[first]].ID.Short(), m.states[at[i]].ID.Short())
				if at[i]+1 < len(m.states) {
					text += "|" + m.states[at[i]+1].ID.Short()
				}
				first = i + 1
			}
			want = append(want, text)
		}
	}
	r, err := m.E.Finder.Grep(context.Background(),
		find.GrepOptions{Pattern: find.Pattern{Text: word}, All: all, Session: session})
	m.Must(err)
	var got []string
	for _, h := range r.Matches {
		text := fmt.Sprintf("%s:%d:%s", h.Path, h.Line, h.Text)
		for _, s := range h.Spans {
			text += fmt.Sprintf(" %s-%s", s.First.ID.Short(), s.Last.ID.Short())
			if s.Gone != nil {
				text += "|" + s.Gone.ID.Short()
			}
		}
		got = append(got, text)
	}
	slices.Sort(got)
	slices.Sort(want)
	enginetest.Equal(m.t, fmt.Sprintf("grep %s, all %v, session %q", word, all, session), got, want)
}

// checkBlame holds each line against its origin: it is there at its number, and was not there before.
func (m *asked) checkBlame(path string) {
	b, err := m.E.Finder.Blame(context.Background(), find.BlameOptions{Path: path})
	if err != nil {
		return // not in the current checkpoint
	}
	var text strings.Builder
	for _, l := range b.Lines {
		text.WriteString(string(l.Text) + "\n")
		o := b.Origins[l.Origin]
		i := slices.IndexFunc(m.states, func(s askedState) bool { return s.ID == o.ID })
		if i < 0 {
			m.t.Fatalf("blame %s: %s is no step", path, o.ID.Short())
		}
		s := &m.states[i]
		lines := strings.Split(s.files[o.Path], "\n")
		if l.Line > len(lines) || lines[l.Line-1] != string(l.Text) {
			m.t.Fatalf("blame %s: line %q is not line %d of %s at %s", path, l.Text, l.Line, o.Path, o.ID.Short())
		}
		before := s.before[o.Path]
		if from := s.origin(o.Path); from != "" {
			before = s.before[from]
		}
		// Of a step that others were merged into, the states between are not known any more.
		if s.Merged == 0 && !o.Older && strings.Contains(before, string(l.Text)+"\n") {
			m.t.Fatalf("blame %s: %s had line %q already", path, o.ID.Short(), l.Text)
		}
	}
	if want := m.states[slices.IndexFunc(m.states,
		func(s askedState) bool { return s.ID == b.Checkpoint.ID })].files[path]; text.String() != want {
		m.t.Fatalf("blame %s: the lines are not those of the file:\n%s\n%s", path, text.String(), want)
	}
}

// Path history, -S, -G, grep and blame equal a reading of every checkpoint, with edits, renames, undo, checkouts and
// two sessions.
func TestFindAgainstEveryCheckpoint(t *testing.T) {
	enginetest.SetChecks(t, torture.Points(60, 2000), 0)
	rapid.Check(t, func(t *rapid.T) {
		root, home, remove := dirs(t)
		defer remove()
		m := &asked{Project: enginetest.OpenProject(t, root, home), t: t}
		defer m.Close()
		m.Set("gc.grace", "0s")
		for range 3 {
			m.create(t)
		}
		m.Save("begin")
		sessions := []*enginetest.Talker{m.Talker(1), m.Talker(2)}
		for _, k := range sessions {
			k.Ask("go")
		}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 7).Draw(t, "step") {
			case 0, 1:
				m.hands()
				m.Save("saved")
			case 2, 3:
				rapid.SampledFrom(sessions).Draw(t, "session").Work(m.hands)
			case 4:
				_, _ = m.E.Restorer.Undo(context.Background(), 1,
					restore.Options{Session: model.SessionChoice{Choose: true}})
			case 5:
				m.history()
				s := rapid.SampledFrom(m.states).Draw(t, "to")
				_, _ = m.E.Restorer.Checkout(context.Background(), s.ID.String(), restore.Options{})
			case 6: // what is asked now is not to be believed for ever
				_, _ = m.E.Finder.Paths(context.Background(), find.PathsOptions{Paths: askedPaths[:1]})
				_, _ = m.E.Finder.Paths(context.Background(), find.PathsOptions{Text: "nothing has this"})
			case 7:
				m.Collect(gc.Options{Keep: rapid.IntRange(1, 4).Draw(t, "keep")})
			}
		}
		m.history()
		for _, path := range askedPaths {
			m.checkPaths(path, true)
			m.checkPaths(path, false)
			m.checkBlame(path)
		}
		for _, word := range askedWords {
			m.checkText(word)
			m.checkGrep(word, false, "")
		}
		for i := range sessions {
			m.historyOf(false, "claude/"+enginetest.ClaudeID(i+1))
			m.checkGrep(askedWords[0], false, "claude/"+enginetest.ClaudeID(i+1))
		}
		m.historyOf(true, "")
		m.checkGrep(askedWords[1], true, "")
	})
}

// Blame is git's on the same history: of unique lines both comparisons find the same.
func TestBlameEqualsGits(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("missing tool: git")
	}
	enginetest.SetChecks(t, 15, 0)
	rapid.Check(t, func(t *rapid.T) {
		root, home, remove := dirs(t)
		defer remove()
		m := &asked{Project: enginetest.OpenProject(t, root, home), t: t}
		defer m.Close()
		git := func(args ...string) string {
			cmd := exec.Command("git",
				append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"},
					args...)...)
			cmd.Dir = root
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("git %v: %v\n%s", args, err, out)
			}
			return strings.TrimSpace(string(out))
		}
		git("init", "-q")
		for range 3 {
			m.create(t)
		}
		commits := map[string]string{} // to checkpoints
		for range rapid.IntRange(2, 8).Draw(t, "steps") {
			m.hands()
			cp := m.Save("saved")
			git("add", "-A", "--", ".", ":!.agent")
			git("commit", "-q", "--allow-empty", "-m", "x")
			commits[git("rev-parse", "HEAD")] = cp.ID.Short()
		}
		for _, path := range m.present() {
			b, err := m.E.Finder.Blame(context.Background(), find.BlameOptions{Path: path})
			m.Must(err)
			var got, want []string
			for i, l := range b.Lines {
				got = append(got,
					fmt.Sprintf("%d %s %s %d", i+1, b.Origins[l.Origin].ID.Short(), b.Origins[l.Origin].Path, l.Line))
			}
			var commit, name string
			var line, number int
			for text := range strings.Lines(git("blame", "--line-porcelain", "--", path)) {
				switch fields := strings.Fields(text); {
				case strings.HasPrefix(text, "\t"):
					want = append(want, fmt.Sprintf("%d %s %s %d", number, commits[commit], name, line))
				case fields[0] == "filename":
					name = fields[1]
				case len(fields[0]) == 40:
					commit = fields[0]
					_, err := fmt.Sscanf(fields[1]+" "+fields[2], "%d %d", &line, &number)
					m.Must(err)
				}
			}
			enginetest.Equal(t, "blame "+path, got, want)
		}
	})
}

// dirs are a project's directory and home; what lies beside the home, its person's, is removed with it.
func dirs(t enginetest.Fataler) (root, home string, remove func()) {
	t.Helper()
	dir, err := os.MkdirTemp("", "find")
	root, home = filepath.Join(dir, "root"), filepath.Join(dir, "home")
	if err = errors.Join(err, os.Mkdir(root, 0o755), os.Mkdir(home, 0o700)); err != nil {
		t.Fatalf("%v", err)
	}
	return root, home, func() { _ = os.RemoveAll(dir) }
}
