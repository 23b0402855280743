package bench

import (
	"runtime"
	"testing"
	"time"
)

// What the daemon does while an agent waits for its hook, without the way there and back: an event after a tool that
// edited one line of a file, and one after a tool that changed nothing, in turns. The tree is watched, its watcher has
// been told of the edit before.
func BenchmarkHook(b *testing.B) {
	for _, size := range sizes() {
		b.Run(size, func(b *testing.B) {
			p := shared.project(b, size)
			p.watch()
			t := p.talk(1, 0)
			ed := p.editor(nil)
			var edits, rest []time.Duration
			var allocs, bytes uint64
			for range 10 {
				p.edit(ed)
				t.hook()
			}
			for b.Loop() {
				for range 100 {
					p.edit(ed)
					time.Sleep(time.Millisecond)
					var was, is runtime.MemStats
					runtime.ReadMemStats(&was)
					took := t.hook()
					runtime.ReadMemStats(&is)
					edits = append(edits, took)
					allocs, bytes = allocs+is.Mallocs-was.Mallocs, bytes+is.TotalAlloc-was.TotalAlloc
					rest = append(rest, t.hook())
				}
			}
			n := float64(len(edits))
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(micro(median(edits)), "edit-us")
			b.ReportMetric(micro(median(rest)), "unchanged-us")
			b.ReportMetric(float64(allocs)/n, "allocs/edit")
			b.ReportMetric(float64(bytes)/n/1024, "KiB/edit")
		})
	}
}
