package bench

import (
	"path/filepath"
	"testing"
	"time"

	"rewind/bench/history"
	"rewind/bench/workload"
	"rewind/engine"
	enginehistory "rewind/engine/history"
	engineproject "rewind/engine/project"
)

// aged gives a watched project of that many files and checkpoints, made once a process.
func aged(b *testing.B, name string, files, checkpoints int) *project {
	b.Helper()
	return agedBy(b, name, files, checkpoints, 1)
}

// agedBy is aged by so many agents at once.
func agedBy(b *testing.B, name string, files, checkpoints, writers int) *project {
	b.Helper()
	p := shared.projects[name]
	if p == nil {
		root := filepath.Join(shared.dir, name)
		if err := workload.Generate(b.Context(), root, workload.Spec{Files: files, Seed: 1}); err != nil {
			b.Fatal(err)
		}
		p = &project{tb: b, root: root, home: engineproject.Home{Dir: root + "-home"}}
		p.init()
		shared.projects[name] = p
		p.watch()
		if err := history.FillBy(b.Context(), p.e, root, checkpoints, writers, nil); err != nil {
			b.Fatal(err)
		}
	}
	p.tb = b
	return p
}

// reopened is the cost of a first answer: the store is opened, asked once and closed.
func (p *project) reopened(b *testing.B, ask func(b *testing.B)) {
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			p.close()
			b.StartTimer()
			p.open()
			ask(b)
		}
		p.watch()
	})
}

// What a person asks of a history of 10,000 checkpoints: again and again, and first after the store was opened.
func old10k(b *testing.B, ask func(b *testing.B, p *project)) {
	p := aged(b, "old", 1_000, 10_000)
	ask(b, p)
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			ask(b, p)
		}
	})
	p.reopened(b, func(b *testing.B) { ask(b, p) })
}

func BenchmarkList10k(b *testing.B) {
	old10k(b, func(b *testing.B, p *project) {
		r, err := p.e.History.List(b.Context(), enginehistory.ListOptions{Limit: 100})
		if err != nil || len(r.Checkpoints) != 100 || !r.More {
			b.Fatal(r, err)
		}
	})
}

// What 'rewind list' shows: the newest turns, and every one.
func BenchmarkTurns10k(b *testing.B) {
	for name, limit := range map[string]int{"newest": 30, "all": 0} {
		b.Run(name, func(b *testing.B) {
			old10k(b, func(b *testing.B, p *project) {
				o := enginehistory.RowOptions{Limit: limit, Changes: 128, Ends: true}
				r, err := p.e.History.Rows(b.Context(), o)
				if err != nil || len(r.Rows) < 30 || r.Rows[0].Prompt == "" || r.Rows[0].Counts.Modified == 0 {
					b.Fatal(r, err)
				}
			})
		})
	}
}

// The newest turns of two agents that write by turns, in one run beside those of one alone: x is how many times as long
// they take.
func BenchmarkTurnsOfTwo(b *testing.B) {
	one, two := agedBy(b, "one", 1_000, 2_000, 1), agedBy(b, "two", 1_000, 2_000, 2)
	ask := func(p *project) time.Duration {
		began := time.Now()
		r, err := p.e.History.Rows(b.Context(), enginehistory.RowOptions{Limit: 30, Changes: 128})
		if err != nil || len(r.Rows) < 30 {
			b.Fatal(r, err)
		}
		return time.Since(began)
	}
	ask(one)
	ask(two)
	var alone, both time.Duration
	for b.Loop() {
		alone += ask(one)
		both += ask(two)
	}
	b.ReportMetric(float64(both)/float64(alone), "x")
}

func BenchmarkShow10k(b *testing.B) {
	old10k(b, func(b *testing.B, p *project) {
		if s, err := p.e.History.Show(b.Context(), "@", nil); err != nil || len(s.Changes) == 0 {
			b.Fatal(s, err)
		}
	})
}

func BenchmarkStatus10k(b *testing.B) {
	old10k(b, func(b *testing.B, p *project) {
		if s, err := p.e.Status(b.Context(), nil); err != nil || s.Checkpoints < 10_000 || len(s.Changes) > 0 {
			b.Fatal(s, err)
		}
	})
}

// The worktree against the newest state, one line of 28,000 files changed: again and again, and with another line each
// time.
func BenchmarkDiff28k(b *testing.B) {
	p := aged(b, "wide", 28_000, 10)
	ed := p.editor(nil)
	p.edit(ed)
	ask := func(b *testing.B) {
		n := 0
		_, err := p.e.Diff(b.Context(), engine.DiffOptions{Context: 3}, func(engine.FileDiff) error { n++; return nil })
		if err != nil || n == 0 {
			b.Fatal(n, err)
		}
	}
	ask(b)
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			ask(b)
		}
	})
	b.Run("edited", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			p.edit(ed)
			b.StartTimer()
			ask(b)
		}
	})
	p.reopened(b, ask)
}
