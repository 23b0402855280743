package gc_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
)

// TestPromise05NeededMeanwhile: what gets a name while gc is at work stays, wherever gc has come to.
func TestPromise05NeededMeanwhile(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	named := 0
	for n := 1; ; n++ {
		for i := range 5 {
			p.Write("f", enginetest.Big(fmt.Sprint(n, i)))
			p.Save("")
		}
		old := p.Listed()[3]
		calls, kept := 0, false
		_, err := p.E.Collector.GC(enginetest.Bg, gc.Options{Keep: 2, Progress: func(int, int64) {
			if calls++; calls != n || !p.E.Log.TryLock() {
				return
			}
			p.E.Log.Unlock()
			_, err := p.E.History.Tag(enginetest.Bg, fmt.Sprint("t", n), old.ID.String(), false)
			if kept = err == nil; err != nil && !errors.Is(err, model.ErrNotFound) {
				t.Error(err)
			}
		}})
		p.Must(err)
		if p.Sound(); kept {
			named++
			cp, err := p.E.History.Resolve(old.ID.String())
			if err != nil || p.Cat(cp, "f") != enginetest.Big(fmt.Sprint(n, 1)) {
				t.Fatalf("named at call %d, and gone: %v", n, err)
			}
		}
		if calls < n {
			break
		}
	}
	if named < 3 {
		t.Errorf("%d were named", named)
	}
}

// What only the grace keeps is counted for a person who asks for more to go than the settings say.
func TestYoung(t *testing.T) {
	p := enginetest.NewProject(t)
	for i := range 5 {
		p.Write("f", enginetest.Big(fmt.Sprint(i)))
		p.Save(fmt.Sprint(i))
	}
	for _, c := range []struct {
		o     gc.Options
		young int
	}{{gc.Options{}, 0}, {gc.Options{Keep: 2}, 3}, {gc.Options{Older: time.Nanosecond}, 4}} {
		if r := p.Gc(c.o); r.Young != c.young || r.Checkpoints != 0 {
			t.Errorf("%+v: %+v", c.o, r)
		}
	}
	// What the settings alone would take is not counted.
	for _, key := range []string{"gc.keep_all", "gc.keep_turns", "gc.keep_daily", "gc.keep_safety"} {
		p.Set(key, "0s")
	}
	if r := p.Gc(gc.Options{}); r.Young != 0 || r.Checkpoints != 0 {
		t.Errorf("by the settings: %+v", r)
	}
}

// saved is a project of which gc may take all but what is kept, and n checkpoints of it, each with another f.
func saved(t *testing.T, n int) (*enginetest.Project, []*model.Checkpoint) {
	t.Helper()
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	var cps []*model.Checkpoint
	for i := range n {
		p.Write("f", enginetest.Big(fmt.Sprint(i)))
		cps = append(cps, p.Save(fmt.Sprint(i)))
	}
	return p, cps
}

// A log that says that a tag was taken away does not keep what it named, nor names it when it is gone. What was read of
// the log before is read again.
func TestUntaggedGoes(t *testing.T) {
	p, cps := saved(t, 4)
	_, err := p.E.History.Tag(enginetest.Bg, "x", cps[1].ID.String(), false)
	p.Must(err)
	p.Gc(gc.Options{Keep: 1})
	if !p.Has(cps[1]) {
		t.Fatal("a tag keeps nothing")
	}
	p.Must(p.E.History.Untag(enginetest.Bg, "x"))
	p.Write("f", enginetest.Big("newest"))
	p.Save("newest")
	p.Set("gc.keep_safety", "1d")
	later(p, 2*enginetest.ADay)
	before := p.E.Log.Rewrites()
	p.Gc(gc.Options{Keep: 1})
	if p.Has(cps[1]) || p.E.Log.Rewrites() == before {
		t.Errorf("there: %v, rewritten %d times", p.Has(cps[1]), p.E.Log.Rewrites()-before)
	}
	p.Must(p.E.Log.Refs.Newest(0, func(op *refs.Operation) error {
		if len(op.Changes) > 0 {
			t.Errorf("operation %d names it: %v", op.Seq, op.Changes)
		}
		return nil
	}))
}

// The first checkpoint of the log ends a turn, too: that of before a prompt.
func TestFirstCheckpointEndsATurn(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", enginetest.Big("0"))
	a := p.Agent("a")
	first := p.Get(a.Start())
	for turn := range 2 {
		a.Prompt("go on")
		for i := range 3 {
			a.Run(fmt.Sprint(turn, i), func() { p.Write("f", enginetest.Big(fmt.Sprint(turn, i))) })
		}
		a.Stop()
	}
	later(p, 5*enginetest.ADay)
	if r := p.Gc(gc.Options{}); r.Checkpoints != 4 || !p.Has(first) {
		t.Errorf("%+v; the first is there: %v", r, p.Has(first))
	}
	if cp, err := p.E.History.ResolveIn("claude/a", "turn:0"); err != nil || cp.ID != first.ID {
		t.Errorf("turn:0: %v", err)
	}
}

// What a restore replaced in a session file stays as long as the restore can be taken back.
func TestReplacedConversationStays(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	p.Set("gc.grace", "0s")
	k.Ask("three")
	k.Say("that changed no file")
	k.Stop()
	p.Settle()
	before := p.Slurp(k.File)
	p.Back("turn:1@"+k.Name(), restore.Options{InPlace: true})
	if p.Slurp(k.File) == before {
		t.Fatal("nothing was cut")
	}
	p.Gc(gc.Options{Keep: 50})
	_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
	p.Must(err)
	if p.Slurp(k.File) != before {
		t.Errorf("back is %q", p.Slurp(k.File))
	}
}

// The state that a merge made is named by the restore alone once that was taken back, and stays as long as it.
func TestMergedStateStays(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	text := func(first, last string) string { return first + enginetest.Big("between") + last + "\n" }
	p.Write("f", text("1", "1"))
	p.Save("before")
	a, b := atWork(p)
	target := p.Get(a.Run("1", func() { p.Write("own", enginetest.Big("1")) }))
	a.Run("2", func() { p.Write("f", text("a's", "1")) })
	b.Run("3", func() { p.Write("f", text("a's", "b's")) })
	p.Checkout(target.ID.String(), restore.Options{Merge: true, Session: model.SessionChoice{Session: "a"}})
	if p.Read("f") != text("1", "b's") {
		t.Fatalf("merged is %q", p.Read("f"))
	}
	back, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
	p.Must(err)
	p.Gc(gc.Options{Keep: 50})
	_, err = p.E.Restorer.UndoRestore(enginetest.Bg, back.Operation.Seq, restore.Options{})
	p.Must(err)
	if p.Read("f") != text("1", "b's") {
		t.Errorf("redone is %q", p.Read("f"))
	}
}

// A log that lacks an operation is not thinned: nothing is known of what that named.
func TestMissingOperation(t *testing.T) {
	p, cps := saved(t, 5)
	dropOperation(p, cps[2].Seq)
	want := fmt.Sprintf("operations %d to %d are missing", cps[2].Seq, cps[2].Seq)
	_, err := p.E.Collector.GC(enginetest.Bg, gc.Options{Keep: 1})
	if !errors.Is(err, kv.ErrCorrupt) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	for _, i := range []int{0, 1, 3, 4} {
		if _, err := p.E.Log.Checkpoint(cps[i].ID); err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// A checkpoint that is known to be lost leads nowhere, and is in nobody's way.
func TestLostCheckpoint(t *testing.T) {
	p, cps := saved(t, 5)
	tx := p.E.Log.Objs.BeginAlone()
	for _, cp := range cps {
		if cp.ID != cps[2].ID {
			p.Must(tx.Unbase(objstore.Checkpoint, cp.ID.Key()))
		}
	}
	p.Must(tx.Expunge(objstore.Checkpoint, cps[2].ID.Key(), objstore.Tombstone{Reason: objstore.Lost}))
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
	if r := p.Collect(gc.Options{Keep: 2}); r.Checkpoints != 2 || r.Kept != 2 {
		t.Errorf("%+v", r)
	}
	for i, cp := range cps {
		if _, err := p.E.Log.Checkpoint(cp.ID); (err == nil) != (i >= 3) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// What a note names stays as long as safety steps do. Then it goes, with the messages on it and what it said of others.
func TestNotedStays(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	for _, key := range []string{"gc.keep_all", "gc.keep_turns", "gc.keep_daily"} {
		p.Set(key, "0s")
	}
	p.Set("gc.keep_safety", "10d")
	p.Write("f", enginetest.Big("0"))
	a := p.Agent("a")
	a.Start()
	a.Prompt("go")
	var cps []*model.Checkpoint
	for i := range 6 {
		h := a.Run(fmt.Sprint(i), func() { p.Write("f", enginetest.Big(fmt.Sprint("a", i))) })
		cps = append(cps, p.Get(h))
	}
	p.E.Log.Lock()
	_, err := p.E.Log.PutMessage(enginetest.Bg, cps[3], "the one that works")
	p.E.Log.Unlock()
	p.Must(err)
	records := func() (squashes, messages int) {
		p.Must(p.E.Log.DB.Scan(kv.Range{Prefix: []byte{kv.PrefixSquash}}, func(_, _ []byte) error {
			squashes++
			return nil
		}))
		all, err := p.E.Log.AllMessages()
		p.Must(err)
		return squashes, len(all)
	}
	later(p, 6*enginetest.ADay)
	for i := range 2 {
		p.Gc(gc.Options{})
		if squashes, messages := records(); squashes != 2 || messages != 1 || !p.Has(cps[3]) || p.Has(cps[4]) {
			t.Fatalf("%d: %d squash records, %d with messages, %d are left", i, squashes, messages, len(p.Listed()))
		}
	}
	later(p, 0)
	p.Write("f", enginetest.Big("on"))
	p.Save("on")
	p.Set("gc.keep_safety", "1d")
	later(p, 2*enginetest.ADay)
	p.Gc(gc.Options{})
	if squashes, messages := records(); squashes != 1 || messages != 0 || p.Has(cps[3]) {
		t.Errorf("%d squash records, %d with messages, there: %v", squashes, messages, p.Has(cps[3]))
	}
}

// The state before a restore goes when it is old enough, is counted apart, and no step takes it in.
func TestOldSafetyGoes(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	p.Set("gc.keep_safety", "1d")
	p.Write("f", enginetest.Big("1"))
	one := p.Save("one")
	p.Write("f", enginetest.Big("2"))
	p.Save("two")
	for i := range 2 {
		p.Write("g", enginetest.Big(fmt.Sprint("unsaved ", i)))
		p.Checkout(one.ID.String(), restore.Options{})
	}
	p.Write("f", enginetest.Big("3"))
	three := p.Save("three")
	later(p, 2*enginetest.ADay)
	dry := p.Gc(gc.Options{DryRun: true})
	r := p.Gc(gc.Options{})
	if r.Safety != 2 || dry.Safety != 2 || r.Kept != len(p.Listed()) || r.Checkpoints != dry.Checkpoints {
		t.Errorf("announced %+v, did %+v, %d are left", dry, r, len(p.Listed()))
	}
	if cp, err := p.E.Log.Checkpoint(three.ID); err != nil || slices.ContainsFunc(p.Listed(),
		func(l history.Listed) bool { return l.Merged > uint64(r.Checkpoints) }) {
		t.Errorf("%+v, %v", cp, err)
	}
}

// A state before a restore that was taken back is no step: the next step takes in the steps before, and not that.
func TestSafetyIsNotMerged(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	p.Set("gc.keep_safety", "0s")
	p.Write("f", enginetest.Big("0"))
	p.Save("start")
	a := p.Agent("a")
	a.Prompt("go")
	p.Tagged("before", a.Run("0", p.Edits("f", "1")))
	gone := p.Get(a.Run("1", p.Edits("f", "2")))
	p.Write("g", enginetest.Big("unsaved"))
	p.Checkout("before", restore.Options{})
	_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
	p.Must(err)
	p.Remove("g")
	last := a.Run("2", p.Edits("f", "3"))
	r := p.Gc(gc.Options{Keep: 1})
	cp, err := p.E.Log.Checkpoint(last.Checkpoint)
	p.Must(err)
	if r.Safety == 0 || p.Has(gone) || cp.Merged != 1 || !slices.Equal(cp.Authors(), []string{a.Name()}) {
		t.Errorf("%+v; it took in %d, by %v", r, cp.Merged, cp.Authors())
	}
}

// A step takes in what another session did before it, whether the step before it on its own line goes or stays.
func TestMergedFromAnotherLine(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	p.Write("f", enginetest.Big("0"))
	p.Save("start")
	a, b := atWork(p)
	first := a.Run("1", func() { p.Write("mine", enginetest.Big("1")) })
	gone := p.Get(b.Run("2", func() { p.Write("theirs", enginetest.Big("2")) }))
	second := a.Run("3", func() { p.Write("mine", enginetest.Big("3")) })
	b.Run("4", func() { p.Write("theirs", enginetest.Big("4")) })
	p.Tagged("first", first)
	p.Tagged("second", second)
	p.Gc(gc.Options{Keep: 1})
	cp, err := p.E.Log.Checkpoint(second.Checkpoint)
	p.Must(err)
	both := []string{a.Name(), b.Name()}
	if p.Has(gone) || cp.Merged != 1 || cp.Base != p.Get(first).Tree || !slices.Equal(cp.Authors(), both) {
		t.Errorf("there: %v; it took in %d, by %v", p.Has(gone), cp.Merged, cp.Authors())
	}
	if len(cp.Parents) != 1 || cp.Parents[0] != first.Checkpoint || cp.Counts.Added != 1 || cp.Counts.Modified != 1 {
		t.Errorf("its parents are %v, its counts %+v", cp.Parents, cp.Counts)
	}
	if of := cp.AuthorsOf(); of("mine")[0] != a.Name() || of("theirs")[0] != b.Name() || len(of("mine")) != 1 {
		t.Errorf("mine is of %v, theirs of %v", of("mine"), of("theirs"))
	}
}

// Whose a path is that two sessions have changed in one step is known after that step has taken in others, and after it
// was taken in itself.
func TestOwnedIsMerged(t *testing.T) {
	for _, stays := range []bool{true, false} {
		p := enginetest.NewProject(t)
		p.Set("gc.grace", "0s")
		p.Write("start", enginetest.Big("0"))
		p.Save("start")
		a, b := p.Agent("a"), p.Agent("b")
		a.Prompt("x")
		b.Prompt("y")
		p.Tagged("before", a.Run("0", func() { p.Write("more", enginetest.Big("0")) }))
		a.Run("1", func() { p.Write("more", enginetest.Big("1")) })
		b.Before("b1")
		h := a.Edits("a1", func() {
			for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
				p.Write(name, enginetest.Big("1"))
			}
		}, "a.txt")
		b.After("b1")
		last := a.Run("2", func() { p.Write("more", enginetest.Big("2")) })
		if stays {
			p.Tagged("owned", h)
			last = h
		}
		b.Run("b2", func() { p.Write("other", enginetest.Big("1")) })
		p.Gc(gc.Options{Keep: 1})
		cp, err := p.E.Log.Checkpoint(last.Checkpoint)
		p.Must(err)
		of := cp.AuthorsOf()
		whose := fmt.Sprint(of("a.txt"), of("b.txt"), of("c.txt"), of("more"))
		want := fmt.Sprintf("[%[1]s] [%[2]s] [%[2]s] [%[1]s]", a.Name(), b.Name())
		if cp.Merged == 0 || p.Has(p.Get(h)) != stays || whose != want {
			t.Errorf("stays %v: it took in %d, and they are %s, want %s", stays, cp.Merged, whose, want)
		}
	}
}

// Of what was said within an old turn the beginning and the end stay, and the log names nothing of what lies between.
func TestConversationsBetweenGo(t *testing.T) {
	p, k := enginetest.Begun(t)
	p.Set("gc.grace", "0s")
	k.Ask("go")
	for range 5 {
		k.Work(func() {})
	}
	k.Say("done")
	k.Stop()
	k.Take("again", p.Edits("f", "1"))
	p.Settle()
	named := func() (n int) {
		p.Must(p.E.Log.Refs.Newest(0, func(op *refs.Operation) error {
			if !op.Transcript.IsZero() {
				n++
			}
			return nil
		}))
		return n
	}
	all := named()
	p.Gc(gc.Options{})
	young := named()
	later(p, 2*enginetest.ADay)
	p.Gc(gc.Options{})
	if old := named(); all <= 4 || young != all || old != 4 {
		t.Errorf("%d operations name what was said, %d after a day, then %d", all, young, old)
	}
	if got := string(p.Talk(p.Session(k.Name()))); got != p.Slurp(k.File) {
		t.Errorf("%d bytes are left of %d", len(got), len(p.Slurp(k.File)))
	}
}

// What an import took in stays with its operation, also an old one: no event of a turn names it.
func TestImportedConversationStays(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	p.Set("gc.grace", "0s")
	p.Settle()
	op := refs.Operation{
		Kind: refs.KindImport, Session: k.Name(), Transcript: p.Session(k.Name()).Cursor.Transcript,
	}
	p.Must(p.E.Log.Record(enginetest.Bg, op))
	seq := p.E.Log.DB.LastSeq()
	k.Take("again", p.Edits("f", "1"))
	later(p, 60*enginetest.ADay)
	p.Gc(gc.Options{})
	got, err := p.E.Log.Refs.Operation(seq)
	p.Must(err)
	if got.Transcript != op.Transcript {
		t.Errorf("%+v", got)
	}
}

// What a scan found behind a turn is not its end: the turn's own last step stays, and the scan's goes.
func TestScanEndsNoTurn(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	p.Write("f", enginetest.Big("0"))
	a := p.Agent("a")
	a.Start()
	a.Prompt("go")
	a.Run("1", p.Edits("f", "1"))
	end := p.Get(a.Run("2", p.Edits("f", "2")))
	a.Stop()
	p.Write("f", enginetest.Big("a person's"))
	p.Settle()
	found := p.Listed()[0].Checkpoint
	if found.Cause.Event != model.EventScan || found.Cause.Turn != 1 {
		t.Fatalf("found by %+v", found.Cause)
	}
	a.Prompt("go on")
	for i := range 3 {
		a.Run(fmt.Sprint("on", i), p.Edits("f", fmt.Sprint("on", i)))
	}
	later(p, 5*enginetest.ADay)
	p.Gc(gc.Options{})
	if !p.Has(end) || p.Has(found) {
		t.Errorf("the end of the turn is there: %v; what was found later: %v", p.Has(end), p.Has(found))
	}
}

// A gc has changed the log's past, and rows of it are folded anew by that gc: nobody who asks afterwards waits.
func TestRowsAreThereAfterGC(t *testing.T) {
	p, _ := saved(t, 60)
	r, err := p.E.Collector.GC(enginetest.Bg, gc.Options{Keep: 40})
	if p.Must(err); r.Checkpoints != 20 {
		t.Fatalf("%+v", r)
	}
	before := p.E.Log.DB.Reads()
	_, err = p.E.Sessions.Position()
	p.Must(err)
	if n := p.E.Log.DB.Reads() - before; n > 10 {
		t.Errorf("%d keys are read", n)
	}
}

// Of too many paths, those deepest down become their directory, and no others.
func TestCoarseByExample(t *testing.T) {
	for _, c := range []struct {
		paths []string
		most  int
		want  []string
	}{
		{[]string{"x", "a/b/d", "a/b/c"}, 3, []string{"a/b/c", "a/b/d", "x"}},
		{[]string{"x", "a/b/d", "a/b/c"}, 2, []string{"a/b/", "x"}},
		{[]string{"x", "a/b/d", "a/b/c", "a/c"}, 2, []string{"a/", "x"}},
		{[]string{"x", "a/b"}, 1, []string{"/"}},
		{[]string{"a/b/", "a/b/c/d", "a/b/c/e"}, 2, []string{"a/b/", "a/b/c/"}},
	} {
		if got := gc.Coarse(c.paths, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%q as %d: %q, want %q", c.paths, c.most, got, c.want)
		}
	}
}

// A path is listed as of those who changed it, if those are not all; one that stands for all below it is everybody's,
// and one that nobody is known to have changed. Of too many, the shortest lists are given.
func TestOwned(t *testing.T) {
	all := []string{"a", "b", "c"}
	by := map[string][]string{
		"f": {"a"}, "d/": {"b"}, "d/g": {"a"}, "d/e/": {"c"}, "d/e/x": {"a"}, "all": all, "z": {"a"}, "y": {"c"},
		"fg": {"b"},
	}
	top := map[string][]string{"/": {"b"}, "f": {"a"}, "g": {"b"}}
	paths := []string{"z", "f", "d/", "d/g", "d/h", "d/e/x", "all", "unknown", "y", "fg"}
	for _, c := range []struct {
		by    map[string][]string
		paths []string
		all   []string
		most  int
		want  string
	}{
		{by, paths, all, 9, "[{[a b] [d/g]} {[c] [y]} {[a] [f z]} {[b] [d/h fg]}]"}, // d/e/x is everybody's
		{by, paths, all, 6, "[{[a b] [d/g]} {[c] [y]} {[a] [f z]} {[b] [d/h fg]}]"},
		{by, paths, all, 5, "[{[a b] [d/g]} {[c] [y]} {[a] [f z]}]"},
		{by, paths, all, 2, "[{[a b] [d/g]} {[c] [y]}]"},
		{by, paths, []string{"a"}, 9, "[]"}, // of one session alone
		{top, []string{"f", "g", "h/i"}, []string{"a", "b"}, 9, "[{[b] [g h/i]}]"},
	} {
		if got := fmt.Sprint(gc.Own(c.by, c.paths, c.all, c.most)); got != c.want {
			t.Errorf("%d of %q, %q: %s, want %s", c.most, c.paths, c.all, got, c.want)
		}
	}
}
