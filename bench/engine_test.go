package bench

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rewind/bench/workload"
	"rewind/engine"
	"rewind/engine/history"
	engineproject "rewind/engine/project"
	"rewind/engine/restore"
)

// eachSize runs a benchmark on the project of every size.
func eachSize(b *testing.B, fn func(b *testing.B, p *project)) {
	for _, size := range sizes() {
		b.Run(size, func(b *testing.B) { fn(b, shared.project(b, size)) })
	}
}

// Making the store and storing a whole tree for the first time.
func BenchmarkFirstSnapshot(b *testing.B) {
	for _, size := range sizes() {
		b.Run(size, func(b *testing.B) {
			if p := shared.projects[size]; p != nil {
				p.tb = b
				p.checkout(firstID(p), restore.Options{})
			}
			// Two projects never share a directory: this one has another root.
			root := filepath.Join(b.TempDir(), "tree")
			if err := workload.Copy(b.Context(), root, shared.get(b, size)); err != nil {
				b.Fatal(err)
			}
			stats, err := workload.Measure(b.Context(), root)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(stats.Bytes)
			var disk int64
			for b.Loop() {
				home := engineproject.Home{Dir: filepath.Join(b.TempDir(), "home")}
				e, _, err := engine.Init(b.Context(), home, root, engineproject.ModeGlobal, engineproject.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := e.Worktree.FirstCheckpoint(b.Context(), nil); err != nil {
					b.Fatal(err)
				}
				if err := e.Close(); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				p := project{tb: b, home: home}
				disk = p.disk(nil).Apparent
				if err := os.RemoveAll(home.Dir); err != nil {
					b.Fatal(err)
				}
				if err := os.RemoveAll(filepath.Join(root, ".agent")); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(stats.Files)*float64(b.N)/b.Elapsed().Seconds(), "files/s")
			b.ReportMetric(100*float64(disk)/float64(stats.Bytes), "disk-%")
		})
	}
}

// A checkpoint after one edited line; the engine stays open.
func BenchmarkSaveEdit(b *testing.B) {
	eachSize(b, func(b *testing.B, p *project) {
		ed := p.editor(nil)
		before := p.disk(nil)
		n := int64(0)
		for b.Loop() {
			b.StopTimer()
			p.edit(ed)
			b.StartTimer()
			p.save()
			n++
		}
		grown := p.disk(nil).Sub(before)
		b.ReportMetric(float64(grown.Apparent)/float64(n), "disk-B/ckpt")
		b.ReportMetric(float64(grown.Blocks)/float64(n), "du-B/ckpt")
	})
}

// A save that finds nothing to do.
func BenchmarkSaveUnchanged(b *testing.B) {
	eachSize(b, func(b *testing.B, p *project) {
		for b.Loop() {
			r, err := p.e.Worktree.Save(b.Context(), "", "", nil)
			if err != nil {
				b.Fatal(err)
			}
			if !r.Unchanged {
				b.Fatal("something changed")
			}
		}
	})
}

// Going to and fro between two checkpoints that differ in ten files.
func BenchmarkCheckoutTenFiles(b *testing.B) {
	eachSize(b, func(b *testing.B, p *project) {
		p.checkout(firstID(p), restore.Options{})
		ten, before := differing(b, p, 10), firstID(p)
		ids := [2]string{before, p.save()}
		i := 0
		for b.Loop() {
			if r := p.checkout(ids[i%2], restore.Options{}); r.Changed != ten {
				b.Fatalf("%d paths changed, want %d", r.Changed, ten)
			}
			i++
		}
	})
}

// Laying out a whole tree: all files are new.
func BenchmarkCheckoutTree(b *testing.B) {
	eachSize(b, func(b *testing.B, p *project) {
		full := firstID(p)
		p.checkout(full, restore.Options{})
		stats, err := workload.Measure(b.Context(), p.root)
		if err != nil {
			b.Fatal(err)
		}
		names, err := os.ReadDir(p.root)
		if err != nil {
			b.Fatal(err)
		}
		for _, n := range names {
			if n.Name() == ".agent" {
				continue
			}
			if err := os.RemoveAll(filepath.Join(p.root, n.Name())); err != nil {
				b.Fatal(err)
			}
		}
		empty := p.save()
		b.SetBytes(stats.Bytes)
		for b.Loop() {
			if r := p.checkout(full, restore.Options{}); r.Changed < stats.Files {
				b.Fatalf("%d paths changed, want %d", r.Changed, stats.Files)
			}
			b.StopTimer()
			p.checkout(empty, restore.Options{})
			b.StartTimer()
		}
		b.ReportMetric(float64(stats.Files)*float64(b.N)/b.Elapsed().Seconds(), "files/s")
		p.checkout(full, restore.Options{})
	})
}

// Listing a history of 1,000 checkpoints.
func BenchmarkList1000(b *testing.B) {
	const n = 1000
	root := filepath.Join(b.TempDir(), "tree")
	file, err := workload.BigFile(root, 1)
	if err != nil {
		b.Fatal(err)
	}
	p := newProject(b, root)
	ed := p.editor([]string{file})
	for range n - 1 {
		p.edit(ed)
		p.save()
	}
	for b.Loop() {
		r, err := p.e.History.List(b.Context(), history.ListOptions{})
		if err != nil {
			b.Fatal(err)
		}
		if len(r.Checkpoints) != n || r.More {
			b.Fatalf("%d checkpoints listed", len(r.Checkpoints))
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(b.N)/n, "us/ckpt")
}

// Opening a store that was closed, and closing it again.
func BenchmarkOpen(b *testing.B) {
	eachSize(b, func(b *testing.B, p *project) {
		for b.Loop() {
			b.StopTimer()
			p.close()
			b.StartTimer()
			p.open()
			p.close()
		}
	})
}

// firstID is the id of the checkpoint that the project began with.
func firstID(p *project) string {
	p.tb.Helper()
	r, err := p.e.History.List(p.tb.Context(), history.ListOptions{})
	if err != nil {
		p.tb.Fatal(err)
	}
	return r.Checkpoints[len(r.Checkpoints)-1].ID.String()
}

// differing edits n files.
func differing(b *testing.B, p *project, n int) int {
	b.Helper()
	all, err := workload.Files(p.root)
	if err != nil {
		b.Fatal(err)
	}
	files := workload.Editable(all)
	step := max(1, len(files)/n)
	done := 0
	for f := range slices.Chunk(files, step) {
		if done == n {
			break
		}
		p.edit(p.editor(f[:1]))
		done++
	}
	return done
}
