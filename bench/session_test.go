package bench

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rewind/bench/workload"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/value"
	"rewind/transcript"
)

// Reading a session file of 50 MB, of every agent: records of a small one over and over. encoding-json decodes the same
// lines into maps, and makes nothing of them.
func BenchmarkScanSession(b *testing.B) {
	for _, s := range workload.Samples() {
		sample, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(s.Path)))
		if err != nil {
			b.Fatal(err)
		}
		one := scan(b, s.Agent, filepath.Join("..", filepath.FromSlash(s.Path)))
		path := filepath.Join(b.TempDir(), "session.jsonl")
		if err := os.WriteFile(path, workload.Repeat(sample, one.ID, s.Head, 50<<20), 0o600); err != nil {
			b.Fatal(err)
		}
		fi, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(string(s.Agent)+"/scan", func(b *testing.B) {
			each(b, fi.Size(), func() {
				if c := scan(b, s.Agent, path); c.ID != one.ID || len(c.Turns) < len(one.Turns)*int(50<<20/int64(len(sample)+100)) {
					b.Fatalf("%d turns of %s", len(c.Turns), c.ID)
				}
			})
		})
		b.Run(string(s.Agent)+"/encoding-json", func(b *testing.B) {
			each(b, fi.Size(), func() { decodeAll(b, path) })
		})
	}
}

// each times rounds of size bytes. Other work on the machine changes two of the numbers less than the mean: that of the
// best round, and bytes for a second of the processor.
func each(b *testing.B, size int64, round func()) {
	b.SetBytes(size)
	cpu, best := cpuTime(), time.Duration(math.MaxInt64)
	for b.Loop() {
		began := time.Now()
		round()
		best = min(best, time.Since(began))
	}
	b.ReportMetric(float64(size)/1e6/best.Seconds(), "best-MB/s")
	if used := cpuTime() - cpu; used > 0 {
		b.ReportMetric(float64(size)*float64(b.N)/1e6/used.Seconds(), "MB/cpu-s")
	}
}

// scan reads a session file.
func scan(tb testing.TB, agent transcript.Agent, path string) *transcript.Conversation {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		tb.Fatal(err)
	}
	c, err := transcript.Scan(agent, transcript.Source{ReaderAt: f, Size: fi.Size(), Name: path})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func decodeAll(tb testing.TB, path string) {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	d := json.NewDecoder(bufio.NewReaderSize(f, 1<<20))
	for {
		var v map[string]any
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			tb.Fatal(err)
		}
	}
}

// indexed makes the sessions of a project: 71 whose sizes are log-normal with a median of 1 MB, and three of 20 MB.
func (p *project) indexed() (total int64) {
	p.tb.Helper()
	const n = 71
	for i := range n + 3 {
		size := int64(20 << 20)
		if i < n {
			size = int64(math.Exp(quantile((float64(i)+0.5)/n)) * (1 << 20))
		}
		t := p.talk(i+1, size)
		fi, err := t.f.Stat()
		if err != nil {
			p.tb.Fatal(err)
		}
		total += fi.Size()
	}
	return total
}

// quantile is that of the normal distribution.
func quantile(u float64) float64 { return math.Sqrt2 * math.Erfinv(2*u-1) }

// The 74 sessions of a project are found and read: one after the other, and as 'rewind sessions' does it when it knows
// them all.
func BenchmarkIndexSessions(b *testing.B) {
	p := conversing(b)
	total := p.indexed()
	root := filepath.Join(p.user(), ".claude")
	b.Run("find-scan", func(b *testing.B) {
		each(b, total, func() {
			found, _, err := transcript.Find(transcript.Claude, os.DirFS(root), p.root)
			if err != nil || len(found) != 74 {
				b.Fatal(len(found), err)
			}
			for _, rel := range found {
				scan(b, transcript.Claude, filepath.Join(root, rel))
			}
		})
	})
	env := value.AgentEnv{Home: value.Text(p.user())}
	began := time.Now()
	if r, err := p.e.Talks.Import(b.Context(), env, nil); err != nil || len(r.Sessions) != 74 || len(r.Failed) > 0 {
		b.Fatal(r, err)
	}
	imported := time.Since(began)
	b.Run("list", func(b *testing.B) {
		each(b, total, func() {
			if list, _, err := p.e.History.SessionList(b.Context(), true, 0); err != nil || len(list) != 74 {
				b.Fatal(len(list), err)
			}
		})
		b.ReportMetric(imported.Seconds(), "import-s")
	})
}

// A fork at the turn before the last of a session of 10 MB and of 100 MB: from its file, and when that is gone, from
// the store.
func BenchmarkForkSession(b *testing.B) {
	for i, size := range []int64{10 << 20, 100 << 20} {
		p := conversing(b)
		t := p.talk(i+1, size)
		t.hook()
		p.settle()
		t.captured()
		fork := func(b *testing.B) {
			o := restore.Options{Session: model.SessionChoice{Session: t.id}, Env: value.AgentEnv{Home: value.Text(p.user())}}
			var made []string
			each(b, size, func() {
				f, err := p.e.Restorer.Fork(b.Context(), fmt.Sprintf("turn:%d", t.turn-1), o)
				if err != nil {
					b.Fatal(err)
				}
				if f.Bytes < size-200<<10 {
					b.Fatalf("the fork has %d bytes", f.Bytes)
				}
				made = append(made, f.Path)
			})
			for _, path := range made {
				if err := os.Remove(path); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.Run(fmt.Sprintf("%dMB/live", size>>20), fork)
		if err := os.Remove(t.path); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%dMB/store", size>>20), fork)
	}
}

// What a fork, at the turn before the last, adds to the store of a conversation of 4 MB: B/fork as it is made,
// B/resumed when the agent goes on with it by a turn of 3 KB. B/whole is what all of the conversation takes. All are
// compacted.
func BenchmarkForkDisk(b *testing.B) {
	const forks, size = 8, 4 << 20
	for b.Loop() {
		p := conversing(b)
		p.compacted(nil)
		p.watch()
		empty := p.disk(nil)
		t := p.talk(1, size)
		t.hook()
		p.settle()
		t.captured()
		p.compacted(nil)
		whole := p.disk(nil)
		p.watch()
		o := restore.Options{Session: model.SessionChoice{Session: t.id}}
		o.Env.Home = value.Text(p.user())
		var made []*restore.Forked
		for range forks {
			f, err := p.e.Restorer.Fork(b.Context(), fmt.Sprintf("turn:%d", t.turn-1), o)
			if err != nil {
				b.Fatal(err)
			}
			if f.Bytes < size-200<<10 {
				b.Fatalf("the fork has %d bytes", f.Bytes)
			}
			made = append(made, f)
		}
		p.compacted(nil)
		grown := p.disk(nil)
		p.watch()
		for n, f := range made {
			k := &talk{p: p, s: t.s, id: strings.TrimPrefix(f.Session, "claude/"), path: f.Path, nth: uint64(n + 2)}
			var err error
			if k.f, err = os.OpenFile(k.path, os.O_APPEND|os.O_WRONLY, 0); err != nil {
				b.Fatal(err)
			}
			k.append(3 << 10)
			k.hook()
			p.settle()
			k.captured()
			_ = k.f.Close()
		}
		p.compacted(nil)
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(grown.Sub(whole).Apparent)/forks, "B/fork")
		b.ReportMetric(float64(p.disk(nil).Sub(grown).Apparent)/forks, "B/resumed")
		b.ReportMetric(float64(whole.Sub(empty).Apparent), "B/whole")
	}
}
