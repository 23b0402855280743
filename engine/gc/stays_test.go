package gc_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/objstore"
	"rewind/refs"
)

var update = flag.Bool("update", false, "write what stays in testdata anew")

// lived is a project of twenty days: turns of a conversation and of agents side by side, steps before a first prompt,
// tags, a fork, restores that were taken back or merged, files that two sessions changed, and what was changed back.
func lived(t *testing.T) *enginetest.Project {
	t.Helper()
	text := func(first, last string) string { return first + strings.Repeat("\nbetween", 8) + "\n" + last + "\n" }
	p, k := enginetest.Begun(t)
	p.Set("gc.grace", "0s")
	works := func(prompt, file string) {
		k.Ask(prompt)
		for i := range 3 {
			k.Work(p.Edits(file, fmt.Sprint(prompt, i)))
			k.Work(func() {})
		}
		k.Say("done")
		k.Stop()
	}
	works("one", "f")
	s := p.Agent("s")
	s.Start()
	for _, prompt := range []string{"", "s1", "s2"} {
		if prompt != "" {
			s.Prompt(prompt)
		}
		for i := range 3 {
			s.Run(fmt.Sprint(prompt, i), p.Edits("of-s", fmt.Sprint(prompt, i)))
		}
	}
	s.Stop()
	p.Write("g", text("1", "1"))
	p.Save("by hand")
	later(p, 10*enginetest.ADay)
	a, b := atWork(p)
	a.Run("0", p.Edits("own", "0"))
	target := p.Get(a.Run("1", p.Edits("own", "1")))
	a.Run("2", func() { p.Write("g", text("a's", "1")) })
	b.Run("3", func() { p.Write("g", text("a's", "b's")) })
	p.Checkout(target.ID.String(), restore.Options{Merge: true, Session: model.SessionChoice{Session: "a"}})
	p.Fork("turn:1@"+k.Name(), restore.Options{})
	later(p, 17*enginetest.ADay)
	works("two", "f")
	p.Tagged("stays", a.Run("4", p.Edits("own", "4")))
	p.Tagged("goes", a.Run("5", p.Edits("own", "5")))
	b.Run("6", func() { p.Write("own", enginetest.Big("b")); p.Write("dir/made", enginetest.Big("b")) })
	b.Run("7", func() { p.Write("own", enginetest.Big("5")); p.Remove("dir") })
	b.Before("8")
	a.Edits("9", func() {
		for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
			p.Write(name, enginetest.Big("9"))
		}
	}, "a.txt")
	b.After("8")
	p.Must(p.E.History.Untag(enginetest.Bg, "goes"))
	p.Write("f", enginetest.Big("unsaved"))
	p.Checkout("stays", restore.Options{CodeOnly: true})
	_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
	p.Must(err)
	later(p, 20*enginetest.ADay-12*time.Hour)
	for i := range 3 {
		a.Run(fmt.Sprint("a", i), p.Edits("own", fmt.Sprint("a", i)))
		b.Run(fmt.Sprint("b", i), p.Edits("of-b", fmt.Sprint("b", i)))
	}
	a.Stop()
	later(p, 20*enginetest.ADay)
	works("three", "f")
	p.Settle()
	return p
}

// logText is all that the log says, an operation a line: checkpoints by the operations that made them.
func logText(p *enginetest.Project) []string {
	p.T.Helper()
	known := map[string]bool{model.Manual: true, "claude/s": true, "claude/a": true, "claude/b": true}
	named := func(session string) string {
		if known[session] || strings.HasSuffix(session, "-0000-4000-8000-000000000000") {
			return session
		}
		return "the fork"
	}
	var ops []*refs.Operation
	made := map[objstore.ID]string{}
	p.Must(p.E.Log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Kind == refs.KindCheckpoint || op.Kind == refs.KindSafety {
			made[op.Checkpoint] = fmt.Sprint("#", op.Seq)
		}
		is := *op
		ops = append(ops, &is)
		return nil
	}))
	slices.Reverse(ops)
	name := func(id objstore.ID) string {
		if id.IsZero() {
			return "-"
		}
		if made[id] != "" {
			return made[id]
		}
		cp, err := p.E.Log.Checkpoint(id)
		if err != nil {
			return "gone"
		}
		return "state " + cp.Tree.Short()
	}
	var lines []string
	for _, op := range ops {
		var b strings.Builder
		fmt.Fprintf(&b, "%d %s of %s, turn %d, %+v, %s, thinned %v, talk %v", op.Seq, op.Kind, named(op.Session),
			op.Turn, op.Cause, name(op.Checkpoint), op.Thinned, !op.Transcript.IsZero())
		for _, c := range op.Changes {
			kind, _, _ := strings.Cut(string(c.Name), "/")
			fmt.Fprint(&b, ", ", kind, " from ", name(c.Old), " to ", name(c.New))
		}
		if r := op.Restore; r != nil {
			fmt.Fprint(&b, ", goes to ", name(r.Target), " from ", name(r.Safety))
		}
		if cp, err := p.E.Log.Checkpoint(op.Checkpoint); err == nil && made[cp.ID] == fmt.Sprint("#", op.Seq) {
			fmt.Fprintf(&b, ", after")
			for _, id := range cp.Parents {
				fmt.Fprint(&b, " ", name(id))
			}
			fmt.Fprintf(&b, ", from %s to %s by %v %v, %+v, took in %d, aside %v, back %v, talk %v", cp.Base.Short(),
				cp.Tree.Short(), cp.By, cp.Owned, cp.Counts, cp.Merged, cp.Aside, cp.Reverted,
				!cp.Conversation.Transcript.IsZero())
		}
		lines = append(lines, b.String())
	}
	return lines
}

// TestWhatStays: what of a long life stays as one asks for it or the settings say, operation by operation.
// testdata/stays.txt has the lines of the log that gc makes others, as they are then.
func TestWhatStays(t *testing.T) {
	p := lived(t)
	before := logText(p)
	disk := p.FS.Clone(100, 1)
	out := strings.Join(before, "\n") + "\n"
	for _, c := range []struct {
		later    time.Duration
		settings string // of all, turns, daily and safety; "": the default ones
		runs     []gc.Options
	}{
		{0, "", []gc.Options{{}}},
		{0, "", []gc.Options{{Keep: 1}}},
		{0, "", []gc.Options{{Keep: 4}, {Keep: 2}, {Keep: 1}}},
		{0, "", []gc.Options{{Older: 5 * enginetest.ADay}, {Older: enginetest.ADay}}},
		{0, "1d 2d 0s 1d", []gc.Options{{}}},
		{0, "0s 4d 0s 4d", []gc.Options{{}}},
		{0, "0s 0s 5d 0s", []gc.Options{{}}},
		{5 * enginetest.ADay, "0s 30d 0s 0s", []gc.Options{{}}},
		{5 * enginetest.ADay, "0s 0s 0s 30d", []gc.Options{{}}},
	} {
		q := p.Copied(disk, nil)
		for i, key := range []string{"all", "turns", "daily", "safety"} {
			ages := strings.Fields(c.settings)
			if len(ages) == 0 {
				ages = []string{"1d", "30d", "forever", "180d"}
			}
			q.Set("gc.keep_"+key, ages[i])
		}
		later(q, 20*enginetest.ADay+c.later)
		out += fmt.Sprintf("\n== %v later, %q, %+v\n", c.later, c.settings, c.runs)
		for _, o := range c.runs {
			dry := o
			dry.DryRun = true
			would, r := q.Collect(dry), q.Gc(o)
			if would.Checkpoints != r.Checkpoints || would.Safety != r.Safety || would.Kept != r.Kept {
				t.Errorf("%+v: announced is %+v, done %+v", o, would, r)
			}
			out += fmt.Sprintln(r.Checkpoints, "and", r.Safety, "go,", r.Kept, "stay,", r.Young, "too young")
		}
		q.SameTurns("claude/a")
		for i, line := range logText(q) {
			if line != before[i] {
				out += line + "\n"
			}
		}
		q.Close()
	}
	p.Golden(*update, "stays", out)
}
