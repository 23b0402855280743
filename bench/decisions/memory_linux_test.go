package decisions

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// What a process still holds of 64 MiB in pieces of 64 KiB that it has used and needs no more (rss-MB above what it had
// before). Taken: a collection and debug.FreeOSMemory, after three quiet seconds: ns/op is what it would cost each
// piece of work.
func BenchmarkMemoryReturn(b *testing.B) {
	for _, way := range []struct {
		name string
		do   func()
	}{
		{"nothing", func() {}},
		{"collect", runtime.GC},
		{"collect-twice-and-free", func() { runtime.GC(); debug.FreeOSMemory() }},
	} {
		b.Run(way.name, func(b *testing.B) {
			debug.FreeOSMemory()
			before := resident(b)
			var left int64
			for b.Loop() {
				b.StopTimer()
				use()
				b.StartTimer()
				way.do()
				left = resident(b) - before
			}
			b.ReportMetric(float64(left)/1e6, "rss-MB")
		})
	}
}

func use() {
	pieces := make([][]byte, 1024)
	for i := range pieces {
		pieces[i] = make([]byte, 64<<10)
		for at := 0; at < len(pieces[i]); at += 4096 {
			pieces[i][at] = 1
		}
	}
}

func resident(b *testing.B) int64 {
	b.Helper()
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(raw))[1], 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}
