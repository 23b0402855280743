package objstore

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"rewind/internal/kv"
)

// benchVersions are 512 versions of a file of 100 KiB, one line edited each.
func benchVersions(b *testing.B) [][]byte {
	rng := rand.New(rand.NewPCG(1, 1))
	versions := [][]byte{source100K(b)}
	for range 511 {
		versions = append(versions, editLine(rng, versions[len(versions)-1]))
	}
	return versions
}

// BenchmarkEdit is one edit of a file of 100 KiB: put on top of its predecessor, and commit.
func BenchmarkEdit(b *testing.B) {
	s := newStore(b)
	raw := source100K(b)
	prev := put(b, s, Blob, raw, Zero)
	rng := rand.New(rand.NewPCG(2, 2))
	b.ReportAllocs()
	var bytes int64
	for b.Loop() {
		b.StopTimer()
		raw = editLine(rng, raw)
		b.StartTimer()
		prev = put(b, s, Blob, raw, prev)
		b.StopTimer()
		info, err := s.Stat(Blob, prev)
		if err != nil {
			b.Fatal(err)
		}
		bytes += info.Stored + int64(keyLen)
		b.StartTimer()
	}
	b.ReportMetric(float64(bytes)/float64(b.N), "stored-B/op")
}

// BenchmarkGet reads versions of a file of 100 KiB at several depths.
func BenchmarkGet(b *testing.B) {
	s := newStore(b)
	var prev ID
	var ids []ID
	for _, raw := range benchVersions(b) {
		prev = put(b, s, Blob, raw, prev)
		ids = append(ids, prev)
	}
	for _, index := range []int{0, 1, 7, 63, 511} {
		b.Run(fmt.Sprintf("index=%d", index), func(b *testing.B) {
			b.SetBytes(100 << 10)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := get(onDisk{s}, Blob, ids[index]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPutNew is a first load: new files of 10 KiB, 1,000 a transaction.
func BenchmarkPutNew(b *testing.B) {
	s := newStore(b)
	text := source100K(b)
	b.SetBytes(1000 * 10 << 10)
	seed := 0
	for b.Loop() {
		tx := s.Begin()
		for range 1000 {
			seed++
			at := seed * 7919 % (90 << 10)
			if _, err := tx.Put(Blob, fmt.Appendf(text[at:at+10<<10:at+10<<10], "%d", seed), Zero); err != nil {
				b.Fatal(err)
			}
		}
		if err := tx.Commit(b.Context(), kv.Written); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPutAgain puts what is there.
func BenchmarkPutAgain(b *testing.B) {
	s := newStore(b)
	v := benchVersions(b)
	var prev ID
	for _, raw := range v {
		prev = put(b, s, Blob, raw, prev)
	}
	tx := s.Begin()
	defer tx.Discard()
	b.SetBytes(int64(len(v[63])))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tx.Put(Blob, v[63], Zero); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPutReader streams 64 MiB, of which every other MiB is text.
func BenchmarkPutReader(b *testing.B) {
	text := source100K(b)
	raw := noise(1, 64<<20)
	for at := 0; at < len(raw); at += 2 << 20 {
		for i := at; i < at+1<<20; i += len(text) {
			copy(raw[i:min(i+len(text), at+1<<20)], text)
		}
	}
	for _, again := range []bool{false, true} {
		b.Run(fmt.Sprintf("again=%v", again), func(b *testing.B) {
			s := newStore(b)
			if again {
				put(b, s, Blob, raw, Zero)
			}
			b.SetBytes(int64(len(raw)))
			for i := uint64(0); b.Loop(); i++ {
				if !again {
					b.StopTimer()
					for at := 1 << 20; at < len(raw); at += 2 << 20 {
						copy(raw[at:at+1<<20], noise(i<<6+uint64(at>>20)+7, 1<<20))
					}
					b.StartTimer()
				}
				tx := s.Begin()
				if _, _, err := tx.PutReader(io.MultiReader(bytes.NewReader(raw)), Zero); err != nil {
					b.Fatal(err)
				}
				if err := tx.Commit(b.Context(), kv.Written); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkGetRecord reads short records at several depths, each with the id of the one before it, as checkpoints have
// it.
func BenchmarkGetRecord(b *testing.B) {
	s := newStore(b)
	var prev ID
	var ids []ID
	for i := range 512 {
		raw := append(fmt.Appendf(nil, "record %d of the session, made at %d; its parent is ", i, i*7919), prev[:]...)
		prev = put(b, s, Checkpoint, append(raw, "; and more, which is the same in all of them, goes on behind"...), prev)
		ids = append(ids, prev)
	}
	for _, index := range []int{0, 7, 511} {
		b.Run(fmt.Sprintf("index=%d", index), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Get(Checkpoint, ids[index]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
