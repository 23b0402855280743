package decisions

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	chunkers "github.com/PlakarKorp/go-cdc-chunkers"
	_ "github.com/PlakarKorp/go-cdc-chunkers/chunkers/fastcdc" // the library keeps its algorithms in a registry
)

// A line is put into a file of 64 MiB at 16 places, one after the other. new-KB: of chunks that were not there before,
// which are read, hashed and made a delta of; list-B: the list of chunks, written anew for each edit. Taken: 1 MiB,
// from 8 MiB on: small lists and no chunk that takes long.
func BenchmarkChunkSize(b *testing.B) {
	const size, edits = 64 << 20, 16
	original := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(original)
	for _, normal := range []int{64 << 10, 256 << 10, 1 << 20, 4 << 20} {
		b.Run(fmt.Sprintf("%dKiB", normal>>10), func(b *testing.B) {
			var fresh, list int
			for b.Loop() {
				b.StopTimer()
				fresh, list = 0, 0
				r := rand.New(rand.NewPCG(1, 1))
				file := slices.Clone(original)
				seen := map[[32]byte]bool{}
				cutUp(b, file, normal, func(c []byte) { seen[sha256.Sum256(c)] = true })
				b.StartTimer()
				for range edits {
					at := r.IntN(len(file))
					file = slices.Insert(file, at, []byte("a line that an agent put here\n")...)
					cutUp(b, file, normal, func(c []byte) {
						list += 35
						if id := sha256.Sum256(c); !seen[id] {
							seen[id] = true
							fresh += len(c)
						}
					})
				}
			}
			b.ReportMetric(float64(fresh)/edits/1000, "new-KB")
			b.ReportMetric(float64(list)/edits, "list-B")
		})
	}
}

func cutUp(b *testing.B, file []byte, normal int, fn func([]byte)) {
	b.Helper()
	c, err := chunkers.NewChunker("fastcdc-v1.0.0", bytes.NewReader(file),
		&chunkers.ChunkerOpts{MinSize: normal / 4, NormalSize: normal, MaxSize: normal * 4})
	if err != nil {
		b.Fatal(err)
	}
	for {
		raw, err := c.Next()
		if len(raw) > 0 {
			fn(raw)
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
