package history_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/restore"
	"rewind/internal/torture"
)

// TestRowsOfEnds: a list that reads only the ends of long turns says what one that reads all steps does, over random
// histories of two sessions, a person, restores into the middle of turns, tags and messages.
func TestRowsOfEnds(t *testing.T) {
	dir, run, left := t.TempDir(), 0, 0
	enginetest.SetChecks(t, 20, torture.Seed())
	rapid.Check(t, func(t *rapid.T) {
		run++
		base := filepath.Join(dir, fmt.Sprint(run))
		if err := os.MkdirAll(base+"/project", 0o755); err != nil {
			t.Fatal(err)
		}
		enginetest.ScribeUnique = 0
		p := enginetest.OpenProject(t, base+"/project", base+"/home")
		defer func() { p.Close(); _ = os.RemoveAll(base) }()
		p.Write("x", "0")
		p.Save("begin")
		agents := []*enginetest.Agent{p.Agent("a"), p.Agent("b")}
		n, open := 0, map[*enginetest.Agent]bool{}
		write := func(a *enginetest.Agent, tool string) {
			path := rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "path")
			n++
			if rapid.IntRange(0, 7).Draw(t, "a hand meanwhile") == 0 {
				both := func() { p.Write(path, fmt.Sprint(n)); p.Write("hand", fmt.Sprint(n)) }
				a.Edits(tool+fmt.Sprint(n), both, path)
				return
			}
			a.Run(tool+fmt.Sprint(n), func() { p.Write(path, fmt.Sprint(n)) })
		}
		// most of what is done is done by the first agent: else no turn is alone
		who := func() *enginetest.Agent { return agents[rapid.SampledFrom([]int{0, 0, 0, 0, 1}).Draw(t, "agent")] }
		step := func() string {
			list := p.Listed()
			return list[rapid.IntRange(0, len(list)-1).Draw(t, "checkpoint")].ID.String()
		}
		turn := func(*rapid.T) {
			a := who()
			if !open[a] {
				a.Start()
				open[a] = true
			}
			n++
			if rapid.Bool().Draw(t, "hand") {
				p.Write("hand", fmt.Sprint(n))
			}
			a.Prompt(fmt.Sprint("prompt ", n))
			for range rapid.IntRange(0, 6).Draw(t, "steps") {
				write(a, "c")
				if odd := rapid.IntRange(0, 15).Draw(t, "between"); odd == 0 {
					p.Write("hand", fmt.Sprint(n))
				} else if b := agents[1]; odd == 1 && open[b] {
					write(b, "d")
				}
			}
			if rapid.Bool().Draw(t, "stops") {
				a.Stop()
			}
		}
		goTo := func(*rapid.T) { _, _ = p.E.Restorer.Checkout(enginetest.Bg, step(), restore.Options{}) }
		t.Repeat(map[string]func(*rapid.T){
			"turn": turn, "turn2": turn, "turn3": turn, "checkout": goTo,
			"undo": func(*rapid.T) { _, _ = p.E.Restorer.Undo(enginetest.Bg, 1, restore.Options{}) },
			"save": func(*rapid.T) { n++; p.Write("hand", fmt.Sprint(n)); p.Save(fmt.Sprint("saved ", n)) },
			"note": func(*rapid.T) { n++; p.Save(fmt.Sprint("nothing new ", n)) },
			"tag": func(*rapid.T) {
				n++
				_, err := p.E.History.Tag(enginetest.Bg, fmt.Sprint("tag", n), step(), false)
				p.Must(err)
			},
			"gc": func(t *rapid.T) {
				if rapid.IntRange(0, 3).Draw(t, "now") == 0 {
					p.Gc(gc.Options{})
				}
			},
		})
		left += p.SameRows()
		p.Verify()
	})
	if left == 0 {
		t.Error("no list left out a step")
	}
}
