package model_test

import (
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/objstore"
)

// BenchmarkRecord is the cost of a record with every field set, written on a hook's way and read for each line of a
// list.
func BenchmarkRecord(b *testing.B) {
	bench(b, "checkpoint", sampleCheckpoint(), (*model.Checkpoint).Encode,
		func(raw []byte) (*model.Checkpoint, error) { return model.DecodeCheckpoint(objstore.ID{}, raw) })
	bench(b, "session", enginetest.SampleSession(), (*model.Session).Encode,
		func(raw []byte) (*model.Session, error) { return model.DecodeSession("claude/a", raw) })
	bench(b, "squash", sampleSquash(), (*model.Squash).Encode, model.DecodeSquash)
	bench(b, "journal", enginetest.SampleJournal(), (*model.Journal).Encode, model.DecodeJournal)
	bench(b, "messages", &[]string{"first", "second"}, func(l *[]string) []byte { return model.EncodeMessages(*l) },
		func(raw []byte) (*[]string, error) {
			l, err := model.DecodeMessages(raw)
			return &l, err
		})
}

func bench[T any](b *testing.B, name string, v *T, encode func(*T) []byte, decode func([]byte) (*T, error)) {
	raw := encode(v)
	b.Run(name+"/encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			encode(v)
		}
	})
	b.Run(name+"/decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := decode(raw); err != nil {
				b.Fatal(err)
			}
		}
	})
}
