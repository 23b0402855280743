package bench

import (
	"fmt"
	"testing"
	"time"

	"rewind/engine/ledger"
	"rewind/internal/kv"
)

// What turns are is folded from the log once: how long that takes of a history of 10,000 checkpoints when a program
// that knows rows opens it first, what a row takes, and what a question costs then, also of the oldest turn.
func BenchmarkLedger10k(b *testing.B) {
	p := aged(b, "old", 1_000, 10_000)
	session := ""
	for _, s := range p.e.Log.ListSessions() {
		session = s.Name
	}
	anew := func(b *testing.B) {
		batch := p.e.Log.DB.NewBatch()
		if err := ledger.Changed(p.e.Log.DB, batch); err != nil {
			b.Fatal(err)
		}
		if err := batch.Commit(b.Context(), kv.Written); err != nil {
			b.Fatal(err)
		}
		p.e.Log.Rewrote()
	}
	b.Run("fold", func(b *testing.B) {
		began := time.Now()
		for b.Loop() {
			anew(b)
			if _, err := p.e.Ledger.Turns(session); err != nil {
				b.Fatal(err)
			}
		}
		rows, bytes := 0, 0
		if err := p.e.Log.DB.Scan(kv.Range{Prefix: []byte{kv.PrefixLedger}}, func(key, raw []byte) error {
			rows, bytes = rows+1, bytes+len(key)+len(raw)
			return nil
		}); err != nil {
			b.Fatal(err)
		}
		all := float64(b.N) * float64(p.e.Log.DB.LastSeq())
		b.ReportMetric(float64(time.Since(began).Microseconds())/all, "us/operation")
		b.ReportMetric(float64(bytes)/float64(rows), "B/row")
	})
	newest := p.e.Log.Session(session).Turn
	for what, turn := range map[string]uint64{"newest": newest, "oldest": 1} {
		name := fmt.Sprintf("turn:%d@%s", turn, session)
		b.Run(what, func(b *testing.B) {
			for b.Loop() {
				p.e.Log.Rewrote() // what was read before is not known any more
				if cp, err := p.e.History.Resolve(name); err != nil || cp == nil {
					b.Fatal(cp, err)
				}
			}
		})
	}
}
