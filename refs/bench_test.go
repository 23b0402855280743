package refs

import (
	"testing"

	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
)

// BenchmarkOperation is the cost of one operation: a step as a hook writes it, and one with every field set.
func BenchmarkOperation(b *testing.B) {
	step := &Operation{
		Kind: KindEvent, Time: 1_800_000_000_000, Session: "claude/0d4c1d84-1f5a-4a3e-9f0e-6d1c2b3a4f5e", Checkpoint: id(1), Turn: 3,
		EventID: 1 << 60,
		Cause:   Cause{Event: "tool-end", Tool: "Bash", Call: "toolu_01A09q90qw90lq917835lq9"}, Transcript: id(2),
	}
	for name, op := range map[string]*Operation{"step": step, "full": full()} {
		raw := op.Encode()
		b.Run(name+"/encode", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				op.Encode()
			}
		})
		b.Run(name+"/decode", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := DecodeOperation(1, raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkNewest reads a log of 10,000 operations whole, as a list does.
func BenchmarkNewest(b *testing.B) {
	db, err := kv.Open(bg, "/store", kv.Options{FS: kvtest.NewCrashFS()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	batch := db.NewBatch()
	var ops []Operation
	for i := range 10_000 {
		op := Operation{
			Seq: uint64(i + 1), Kind: KindCheckpoint, Time: 1_800_000_000_000, Session: "claude/0d4c1d84-1f5a-4a3e-9f0e-6d1c2b3a4f5e",
			Checkpoint: id(i),
			Turn:       uint64(i), EventID: 1 << 60, Cause: Cause{Event: "tool-end"},
		}
		ops = append(ops, op)
	}
	if err := Rewrite(batch, ops); err != nil {
		b.Fatal(err)
	}
	if err := batch.Commit(bg, kv.Durable); err != nil {
		b.Fatal(err)
	}
	r := New(db)
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		if err := r.Newest(0, func(*Operation) error { n++; return nil }); err != nil || n != 10_000 {
			b.Fatal(n, err)
		}
	}
}
