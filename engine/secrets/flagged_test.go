package secrets_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/purge"
	"rewind/engine/secrets"
	"rewind/internal/kv"
	"rewind/internal/leaks"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// put sets keys of the store, and has what is in memory read again; nil: the key is taken away.
func put(p *enginetest.Project, vals map[string][]byte) {
	p.T.Helper()
	b := p.E.Log.DB.NewBatch()
	for key, val := range vals {
		if val == nil {
			p.Must(b.Delete([]byte(key)))
		} else {
			p.Must(b.Set([]byte(key), val))
		}
	}
	p.Must(b.Commit(enginetest.Bg, kv.Written))
	p.Must(b.Close())
	p.E.Leaks.Forget()
}

// dropped takes an object out of the store, as damage does.
func dropped(p *enginetest.Project, kind objstore.Kind, id objstore.ID) {
	p.T.Helper()
	key := id.Key()
	put(p, map[string][]byte{string(append([]byte{kv.PrefixObject, byte(kind)}, key[:]...)): nil})
	p.Reopen()
}

// TestFlagOfManyPaths: a content is flagged at each of its paths, up to so many, with the checkpoint that had it first.
func TestFlagOfManyPaths(t *testing.T) {
	p := enginetest.NewProject(t)
	content := "TOKEN=" + token(1) + "\n"
	p.Write("c.env", content)
	p.Write("go.sum", content) // no rule is about it
	first := p.Save("one")
	lookForSecrets(p)
	wantLeaks(p, "c.env github-pat:1")
	brought := func() int {
		t.Helper()
		shown, err := p.E.History.Show(enginetest.Bg, first.ID.String(), nil)
		p.Must(err)
		return len(shown.Leaks)
	}
	if n := brought(); n != 1 {
		t.Errorf("the step brought %d", n)
	}
	p.Set("secrets.mode", project.SecretsOff)
	if n := brought(); n != 0 {
		t.Errorf("in mode off the step brought %d", n)
	}
	p.Set("secrets.mode", project.SecretsFlag)
	p.Write("a.env", content)
	p.Write("b.env", content)
	p.Save("two")
	p.Write("b.env", content+"#\n")
	p.Save("three")
	lookForSecrets(p)
	wantLeaks(p, "a.env github-pat:1, b.env github-pat:1 x2, c.env github-pat:1")
	key := objstore.Sum(objstore.Blob, []byte(content)).Key()
	flag := func() (f *secrets.LeakFlag) {
		t.Helper()
		p.Must(p.E.Log.DB.View(secrets.LeakKey(key), func(raw []byte) (err error) {
			f, err = secrets.DecodeLeakFlag(raw)
			return err
		}))
		return f
	}
	if f := flag(); strings.Join(f.Paths, " ") != "a.env b.env c.env" || f.Checkpoint != first.ID {
		t.Errorf("%+v", f)
	}
	for i := range secrets.MaxFlagPaths {
		p.Write(fmt.Sprintf("many/%02d", i), content)
	}
	p.Save("many")
	lookForSecrets(p)
	if f := flag(); len(f.Paths) != secrets.MaxFlagPaths || f.Paths[len(f.Paths)-1] != "many/60" {
		t.Errorf("%d paths, the last is %s", len(f.Paths), f.Paths[len(f.Paths)-1])
	}
}

// TestWhichContentIsTold: of several contents of a file the one that it has is told, else the one with the first line.
func TestWhichContentIsTold(t *testing.T) {
	p := enginetest.NewProject(t)
	for i, lines := range []int{3, 1, 2} {
		p.Write("a.env", strings.Repeat("\n", lines-1)+"TOKEN="+token(i))
		p.Write("b.env", strings.Repeat("\n", 3-lines)+"TOKEN="+token(i))
		p.Save(fmt.Sprint(i))
	}
	lookForSecrets(p)
	wantLeaks(p, "a.env github-pat:2 x3, b.env github-pat:2 x3")
	p.Write("a.env", "none")
	p.Remove("b.env")
	p.Save("clean")
	lookForSecrets(p)
	for range 8 { // in whatever order they come
		p.E.Leaks.Forget()
		wantLeaks(p, "a.env github-pat:1 x3, b.env github-pat:1 x3")
	}
}

// TestFlagsOfOtherRules: what other rules have flagged is looked at by these, and is flagged no more; a flag that is
// of other paths too stays.
func TestFlagsOfOtherRules(t *testing.T) {
	p := enginetest.NewProject(t)
	key := map[string][]byte{}
	for _, name := range []string{"alone", "of two"} {
		p.Write(name, enginetest.Big(name))
		key[name] = secrets.LeakKey(objstore.Sum(objstore.Blob, []byte(enginetest.Big(name))).Key())
	}
	p.Save("one")
	lookForSecrets(p)
	wantLeaks(p, "")
	flag := func(paths ...string) []byte {
		return (&secrets.LeakFlag{Paths: paths, Findings: []value.Finding{{Rule: "r", Line: 1}}}).Encode()
	}
	put(p, map[string][]byte{
		string(key["alone"]):        flag("alone"),
		string(key["of two"]):       flag("of two", "other"),
		string(secrets.LeakMarkKey): (&secrets.LeakCursor{Rules: "other", Done: 9}).Encode(),
	})
	wantLeaks(p, "alone r:1, of two r:1, other r:1")
	rules := p.E.Leaks.Scan.Scanner
	p.ReadFails("a look by these rules", math.MaxInt32, func(q *enginetest.Project) (string, error) {
		q.E.Leaks.Scan.Scanner = rules
		q.E.Leaks.Forget()
		if err := q.E.Leaks.ScanForSecrets(enginetest.Bg, false); err != nil {
			return "", err
		}
		return told(q)
	})
	lookForSecrets(p)
	wantLeaks(p, "of two r:1, other r:1")
	p.Reopen()
	wantLeaks(p, "of two r:1, other r:1")
	if err := p.E.Log.DB.View(key["alone"], func([]byte) error { return nil }); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("the flag is in the store: %v", err)
	}
}

// TestLookWithoutWhatIsLost: what damage took out of the store is passed over, and all else is looked at.
func TestLookWithoutWhatIsLost(t *testing.T) {
	for _, what := range []objstore.Kind{objstore.Blob, objstore.Tree, objstore.Checkpoint, objstore.Transcript} {
		p, k := enginetest.Begun(t)
		k.Take("lost "+token(2), nil)
		p.Settle()
		talk := p.Session(k.Name()).Cursor.Transcript
		k.Take("next "+token(3), p.Edits("f", "TOKEN="+token(4)))
		p.Settle()
		p.Write("d/lost", "TOKEN="+token(1)+"\n")
		cp := p.Save("one")
		dropped(p, what, map[objstore.Kind]objstore.ID{
			objstore.Blob: objstore.Sum(objstore.Blob, []byte("TOKEN="+token(1)+"\n")), objstore.Tree: cp.Tree,
			objstore.Checkpoint: cp.ID, objstore.Transcript: talk,
		}[what])
		lookForSecrets(p)
		list, err := p.E.Leaks.Leaks(objstore.ID{})
		p.Must(err)
		want := "f"
		if what == objstore.Transcript {
			want = "d/lost f"
		}
		var paths []string
		for _, l := range list {
			paths = append(paths, string(l.Path))
		}
		if got := strings.Join(paths, " "); got != want {
			t.Errorf("without a %c: %s, want %s", what, got, want)
		}
		if got := said(p); !strings.Contains(got, "turn 2") {
			t.Errorf("without a %c: %s", what, got)
		}
	}
}

// TestFreedPaths: a file that is skipped is captured again when it is small and has no secret, and not when it is
// large, is no file or is gone. All paths of one content are told apart.
func TestFreedPaths(t *testing.T) {
	p := enginetest.NewProject(t)
	content := "TOKEN=" + token(1) + "\n"
	names := []string{"clean.env", "clean too.env", "dir.env", "gone.env", "large.env", "link.env", "same.env"}
	for _, name := range names {
		p.Write(name, content)
	}
	p.Save("one")
	lookForSecrets(p)
	p.Set("secrets.mode", project.SecretsSkip)
	before, err := p.E.Leaks.SkippedPaths()
	p.Must(err)
	p.Remove("dir.env", "gone.env", "link.env")
	p.Write("clean.env", "")
	p.Write("clean too.env", "none")
	p.Write("dir.env/f", "none")
	p.Write("large.env", strings.Repeat("\n", leaks.MaxSize+1))
	p.Must(os.Symlink("clean.env", p.Path("link.env")))
	held := func(when, want string) {
		t.Helper()
		secret, err := p.E.Leaks.SecretFiles()
		p.Must(err)
		var got []string
		for _, name := range names {
			if secret(name) {
				got = append(got, name)
			}
		}
		if is := strings.Join(got, " "); is != want {
			t.Errorf("%s: %q are skipped, want %q", when, is, want)
		}
	}
	held("before a look", strings.Join(names, " "))
	lookForSecrets(p)
	held("then", "dir.env gone.env large.env link.env same.env")
	after, err := p.E.Leaks.SkippedPaths()
	p.Must(err)
	for _, c := range []struct {
		a, b *secrets.Flagged
		same bool
	}{{before, after, false}, {after, after, true}, {after, nil, false}, {nil, after, false}, {nil, nil, true}} {
		if c.a.Same(c.b) != c.same {
			t.Errorf("%v and %v are told to be the same: %v", c.a, c.b, !c.same)
		}
	}
	p.Write("large.env", strings.Repeat("\n", leaks.MaxSize))
	p.Must(os.Remove(p.Path("link.env")))
	p.Write("link.env", "none")
	first := asks(p)
	held("small again", "dir.env gone.env same.env")
	if again := asks(p); again > first/8 {
		t.Errorf("the rules are asked about what was judged: %d and %d times", first, again)
	}
	p.Save("two")
	// With another secret a file that was freed is skipped again, and no other.
	p.Write("clean.env", content)
	p.Agent("s").Run("1", func() {})
	lookForSecrets(p)
	held("again", "clean.env dir.env gone.env same.env")
	p.Reopen()
	held("reopened", "clean.env dir.env gone.env same.env")
	p.Set("secrets.allow", "dir.env")
	held("allowed", "clean.env gone.env same.env")
	p.Set("secrets.mode", project.SecretsFlag)
	if skipped, err := p.E.Leaks.SkippedPaths(); err != nil || skipped != nil {
		t.Errorf("in mode flag: %v, %v", skipped, err)
	}
	held("in mode flag", "")
}

// asks is a look, and how often it asked whether it is ended: once for each rule that is asked about a text.
func asks(p *enginetest.Project) int64 {
	p.T.Helper()
	n := int64(0)
	p.Must(p.E.Leaks.ScanForSecrets(&counted{Context: enginetest.Bg, n: &n}, false))
	return n
}

// TestLookOnce: a content that comes back, and a conversation's part that stays, is not looked at again.
func TestLookOnce(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	write := func(name, content string) int64 {
		t.Helper()
		p.Write(name, content)
		p.Save(content)
		return asks(p)
	}
	first := write("f", "one")
	write("f", "two")
	if again := write("f", "one"); again > first/2 {
		t.Errorf("a content is asked about %d times, and %d times when it comes back", first, again)
	}
	if elsewhere := write("g", "one"); elsewhere < first { // the path decides, too
		t.Errorf("a content is asked about %d times, and %d times at another path", first, elsewhere)
	}
	// Of a conversation of two blocks the second is another one.
	begin := strings.Repeat(spokenLine("none"), 20)
	begin += spokenLine(strings.Repeat("x", conversation.TranscriptBlock-len(begin)-len(spokenLine(""))))
	said := func(session, text string) int64 {
		t.Helper()
		taken(p, session, begin, text)
		return asks(p)
	}
	all := said("claude/1", spokenLine("two"))
	if again := said("claude/1", spokenLine("another")); again > all/2 {
		t.Errorf("a conversation is asked about %d times, and %d times when its end is another", all, again)
	}
	if other := said("claude/2", spokenLine("two")); other < all {
		t.Errorf("a conversation is asked about %d times, and another %d times", all, other)
	}
}

// TestLookWithoutItsDirectory: files that were left out cannot be judged where the project's directory is gone.
func TestLookWithoutItsDirectory(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("a", "TOKEN="+token(1))
	p.Save("one")
	lookForSecrets(p)
	p.Set("secrets.mode", project.SecretsSkip)
	p.Must(os.Rename(p.Root, p.Root+" moved"))
	if err := p.E.Leaks.ScanForSecrets(enginetest.Bg, false); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a look: %v", err)
	}
	p.Must(os.Rename(p.Root+" moved", p.Root))
	lookForSecrets(p)
	// Where none was left out there is none to be judged.
	q := enginetest.NewProject(t)
	q.Write("a", "none")
	q.Save("one")
	q.Set("secrets.mode", project.SecretsSkip)
	q.Must(os.Rename(q.Root, q.Root+" moved"))
	lookForSecrets(q)
	q.Must(os.Rename(q.Root+" moved", q.Root))
}

// TestSaidSecretNames: a finding is named by the beginning of its name, in letters of either case, when that is one's
// alone; what is not in the store any more is told of as such.
func TestSaidSecretNames(t *testing.T) {
	p, _ := spoken(t)
	lookForSecrets(p)
	list, err := p.E.Leaks.Said()
	p.Must(err)
	newest := list[0]
	names := map[string]bool{
		newest.Found: true, strings.ToUpper(newest.Found): true, newest.Found[:9]: true, "": false,
		newest.Found[:3]: false, newest.Found + "0": false, "x" + newest.Found: false,
	}
	short := newest.Found[:4]
	if !slices.ContainsFunc(list[1:], func(l value.SaidLeak) bool { return strings.HasPrefix(l.Found, short) }) {
		names[short] = true
	}
	for name, right := range names {
		secret, err := p.E.Leaks.SaidSecret(enginetest.Bg, name)
		if right && secret != token(5) || !right && !errors.Is(err, model.ErrNotFound) {
			t.Errorf("%q: %d bytes, %v", name, len(secret), err)
		}
	}
	// The same look in two places: the name is not one's alone.
	var key, look []byte
	p.Must(p.E.Log.DB.Scan(kv.Range{Prefix: []byte{kv.PrefixLeak, 's'}}, func(k, raw []byte) error {
		if len(k) > 2 {
			key, look = bytes.Clone(k), bytes.Clone(raw)
		}
		return nil
	}))
	twice := bytes.Clone(key)
	twice[len(twice)-1]++
	put(p, map[string][]byte{string(twice): look})
	if _, err := p.E.Leaks.SaidSecret(enginetest.Bg, newest.Found); !errors.Is(err, model.ErrUsage) {
		t.Errorf("of two findings: %v", err)
	}
	put(p, map[string][]byte{string(twice): nil})
	dropped(p, objstore.Transcript, p.Session(newest.Session).Cursor.Transcript)
	if _, err := p.E.Leaks.SaidSecret(enginetest.Bg, newest.Found); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("of a conversation that is lost: %v", err)
	}
	if got := said(p); strings.Contains(got, "record 12") || !strings.Contains(got, "record 9") {
		t.Errorf("of a conversation that is lost: %s", got)
	}
}

// TestSaidOfAnImport: of a conversation that is taken in at once, without a turn, the turns are the conversation's.
func TestSaidOfAnImport(t *testing.T) {
	p, k := enginetest.Begun(t)
	for _, text := range []string{"one", "two " + token(1), "three " + token(2), "four"} {
		k.Take(text, nil)
	}
	p.Settle()
	const session = "claude/imported"
	op := refs.Operation{
		Kind: refs.KindImport, Session: session, Transcript: p.Session(k.Name()).Cursor.Transcript,
		Turn: 4, // the last one, as an import has it
	}
	p.Must(p.E.Log.Record(enginetest.Bg, op))
	lookForSecrets(p)
	want := "d turn 2 record 3 prompt github-pat, d turn 2 record 4 reply github-pat, " +
		"d turn 3 record 5 prompt github-pat, d turn 3 record 6 reply github-pat"
	if got := said(p); !strings.HasSuffix(got, want) {
		t.Errorf("said: %s", got)
	}
	for turn, want := range []int{0, 0, 2, 2, 0} {
		if list, err := p.E.Leaks.SaidIn(session, uint64(turn)); err != nil || len(list) != want {
			t.Errorf("in turn %d: %+v, %v", turn, list, err)
		}
	}
}

// TestSaidBehindAPurge: a conversation of which a purge took blocks is looked at in what is left.
func TestSaidBehindAPurge(t *testing.T) {
	p, k := enginetest.Begun(t)
	k.Take("one "+token(1), nil)
	fill := strings.Repeat("words ", conversation.TranscriptBlock/6)
	k.Say(fill)
	k.Take("purged purple", nil)
	k.Say(fill)
	k.Take("last "+token(2), nil)
	p.Settle()
	p.Purge(purge.Options{Texts: [][]byte{[]byte("purple")}})
	lookForSecrets(p)
	got := said(p)
	for _, want := range []string{"turn 1 record 1 prompt", "turn 1 record 2 reply", "turn 3 record"} {
		if !strings.Contains(got, want) {
			t.Errorf("said: %s", got)
		}
	}
}

// TestAddedByChanges: what changes brought is told of the paths that were asked for and are not allowed, and only where
// there is another content.
func TestAddedByChanges(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	write := func(content string) tree.Entry {
		p.Write("d/f", content)
		p.Write("g", content)
		p.Save(content)
		return tree.Entry{Name: "f", Type: tree.TypeFile, ID: objstore.Sum(objstore.Blob, []byte(content)), Perm: 0o644}
	}
	none, one, two := write("none\n"), write("TOKEN="+token(1)+"\n"), write("\nTOKEN="+token(2)+"\n")
	exec, dir := one, one
	exec.Perm, dir.Type = 0o755, tree.TypeDir
	lookForSecrets(p)
	for _, c := range []struct {
		name     string
		path     string
		old, new *tree.Entry
		only     refs.PathSet
		want     string
	}{
		{"new", "d/f", nil, &one, nil, "1"},
		{"gone", "d/f", &one, nil, nil, ""},
		{"clean", "d/f", &one, &none, nil, ""},
		{"dirty", "d/f", &none, &one, nil, "1"},
		{"a directory", "d/f", nil, &dir, nil, ""},
		{"another mode", "d/f", &one, &exec, nil, ""},
		{"another secret", "d/f", &one, &two, nil, "2"},
		{"of a path without a flag", "h", nil, &one, nil, ""},
		{"asked for", "d/f", nil, &one, refs.PathSet{"d"}, "1"},
		{"not asked for", "d/f", nil, &one, refs.PathSet{"g"}, ""},
		{"allowed", "g", nil, &one, nil, ""},
	} {
		p.Set("secrets.allow", "g")
		change := []tree.Change{{Path: c.path, Old: c.old, New: c.new}}
		list, err := p.E.Leaks.Added(enginetest.Bg, change, c.only)
		p.Must(err)
		var got []string
		for _, l := range list {
			if string(l.Path) != c.path || l.Contents != 1 {
				t.Errorf("%s: %+v", c.name, l)
			}
			for _, f := range l.Findings {
				got = append(got, fmt.Sprint(f.Line))
			}
		}
		if is := strings.Join(got, " "); is != c.want {
			t.Errorf("%s: lines %q, want %q", c.name, is, c.want)
		}
	}
	// A content that is lost has no secret of another, neither before it nor behind it.
	dropped(p, objstore.Blob, one.ID)
	for _, ch := range []tree.Change{{Path: "d/f", Old: &one, New: &two}, {Path: "d/f", Old: &two, New: &one}} {
		list, err := p.E.Leaks.Added(enginetest.Bg, []tree.Change{ch}, nil)
		if p.Must(err); len(list) != 1 {
			t.Errorf("with a lost content: %+v", list)
		}
	}
}

// TestSaidWhere: what was said is listed of one session, of a turn of it, and of a range of operations with its end.
func TestSaidWhere(t *testing.T) {
	t.Parallel()
	p, k := enginetest.Begun(t)
	other := p.Talker(2)
	for n := range 3 {
		k.Take(fmt.Sprint("k ", token(2*n)), nil)
		other.Take(fmt.Sprint("o ", token(2*n+1)), nil)
	}
	p.Settle()
	lookForSecrets(p)
	all, err := p.E.Leaks.Said()
	p.Must(err)
	if len(all) != 12 {
		t.Fatalf("said: %+v", all)
	}
	if !slices.IsSortedFunc(all, func(a, b value.SaidLeak) int { return cmp.Compare(b.Operation, a.Operation) }) {
		t.Errorf("the newest is not first: %+v", all)
	}
	only := func(list []value.SaidLeak, want func(l value.SaidLeak) bool) []value.SaidLeak {
		return slices.DeleteFunc(slices.Clone(list), func(l value.SaidLeak) bool { return !want(l) })
	}
	own := only(all, func(l value.SaidLeak) bool { return l.Session == k.Name() })
	first, last := own[len(own)-1].Operation, own[0].Operation
	for _, c := range []struct{ behind, upTo uint64 }{
		{0, last}, {0, last - 1}, {0, first}, {first - 1, first}, {first, last}, {first - 1, last + 9}, {last, last},
	} {
		got, err := p.E.Leaks.SaidBy(k.Name(), c.behind, c.upTo)
		p.Must(err)
		want := only(own, func(l value.SaidLeak) bool { return l.Operation > c.behind && l.Operation <= c.upTo })
		if !slices.Equal(got, want) {
			t.Errorf("behind %d up to %d: %+v, want %+v", c.behind, c.upTo, got, want)
		}
	}
	for turn, n := range []int{0, 2, 2, 2, 0} {
		got, err := p.E.Leaks.SaidIn(k.Name(), uint64(turn))
		p.Must(err)
		want := only(own, func(l value.SaidLeak) bool { return l.Turn == uint64(turn) })
		if len(got) != n || !slices.Equal(got, want) {
			t.Errorf("in turn %d: %+v, want %+v", turn, got, want)
		}
	}
}

// spokenLine is a prompt as a session file of Claude Code has it.
func spokenLine(text string) string {
	return `{"parentUuid":null,"type":"user","uuid":"u","message":{"role":"user","content":"` + text + `"}}` + "\n"
}

// taken stores a conversation by its blocks, which an operation takes in at once. It gives the last block, too.
func taken(p *enginetest.Project, session string, blocks ...string) (last, id objstore.ID) {
	p.T.Helper()
	tx := p.E.Log.Objs.Begin()
	var node conversation.Node
	for _, text := range blocks {
		var err error
		last, err = tx.Put(objstore.Blob, []byte(text), objstore.ID{})
		p.Must(err)
		node = conversation.Node{Length: node.Length + int64(len(text)), Tail: last, Parent: id}
		id, err = tx.Put(objstore.Transcript, node.Encode(), objstore.ID{})
		p.Must(err)
	}
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
	p.Must(p.E.Log.Record(enginetest.Bg, refs.Operation{Kind: refs.KindImport, Session: session, Transcript: id}))
	return last, id
}

// TestSaidPassesDamage: a conversation that breaks off, is damaged or of an agent that is not known is passed over, and
// those behind it are looked at.
func TestSaidPassesDamage(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	taken(p, "gemini/broken", `{"sessionId":"x","messages":[{"id":"p","type":"user","content":"hi"} 7`)
	lost, _ := taken(p, "claude/1", spokenLine(token(1)))
	taken(p, "other/2", spokenLine(token(2)))
	taken(p, "claude/3", "no record\n"+spokenLine(token(3)))
	_, talk := taken(p, "claude/4", spokenLine(token(4)))
	dropped(p, objstore.Blob, lost)
	lookForSecrets(p)
	wantSaid(p, "3 turn 1 record 2 prompt github-pat", "4 turn 1 record 1 prompt github-pat")
	// What comes where the conversation was that is lost since is looked at from its beginning.
	dropped(p, objstore.Transcript, talk)
	taken(p, "claude/4", spokenLine("none")+spokenLine(token(5)))
	lookForSecrets(p)
	wantSaid(p, "3 turn 1 record 2 prompt github-pat", "4 turn 2 record 2 prompt github-pat")
}

// TestSaidInItsPlace: each finding has the secret of its rule and place, also where a conversation is another one
// since, as long as the one before, longer, or shorter.
func TestSaidInItsPlace(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	lab := "gl" + "pat-" + token(7)[4:24]
	for _, c := range []struct {
		name, text string
		want       map[string]string // by record and rule
	}{
		{"one", spokenLine(token(1)), map[string]string{"1 github-pat": token(1)}},
		{"another one", spokenLine(token(2)), map[string]string{"1 github-pat": token(2)}},
		{
			"it goes on", spokenLine(token(2)) + spokenLine(token(3)),
			map[string]string{"1 github-pat": token(2), "2 github-pat": token(3)},
		},
		{"shorter", spokenLine(token(4)), map[string]string{"1 github-pat": token(4), "2 github-pat": token(3)}},
		{
			"two in a line", spokenLine(lab + " and " + token(5)),
			map[string]string{"1 github-pat": token(5), "1 gitlab-pat": lab, "2 github-pat": token(3)},
		},
	} {
		taken(p, "claude/1", c.text)
		lookForSecrets(p)
		list, err := p.E.Leaks.Said()
		p.Must(err)
		got := map[string]string{}
		inOrder := func(a, b value.SaidLeak) int {
			return cmp.Or(cmp.Compare(b.Operation, a.Operation), b.Record-a.Record, cmp.Compare(a.Rule, b.Rule))
		}
		if !slices.IsSortedFunc(list, inOrder) {
			t.Errorf("%s: not in order: %+v", c.name, list)
		}
		for _, l := range list {
			got[fmt.Sprint(l.Record, " ", l.Rule)], err = p.E.Leaks.SaidSecret(enginetest.Bg, l.Found)
			p.Must(err)
		}
		if !maps.Equal(got, c.want) {
			t.Errorf("%s: %d findings %q, want %q", c.name, len(list), got, c.want)
		}
	}
}
