package object

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// benchVersions are n versions of a file of 100 KiB, one line edited each.
func benchVersions(n int) [][]byte {
	rng := rand.New(rand.NewPCG(1, 1))
	var raw []byte
	for i := 0; len(raw) < 100<<10; i++ {
		raw = fmt.Appendf(raw, "\tif err := s.step%d(ctx, %d); err != nil {\n\t\treturn %x\n\t}\n", i, rng.IntN(30), rng.Uint64())
	}
	versions := [][]byte{raw}
	for range n - 1 {
		lines := bytes.SplitAfter(versions[len(versions)-1], []byte("\n"))
		lines[rng.IntN(len(lines))] = fmt.Appendf(nil, "\tif err := s.step%d(ctx, %d); err != nil {\n", rng.IntN(1000), rng.IntN(30))
		versions = append(versions, bytes.Join(lines, nil))
	}
	return versions
}

func BenchmarkSum(b *testing.B) {
	raw := noise(1, 100<<10)
	for _, k := range []Kind{Blob, Tree} {
		b.Run(k.String(), func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				Sum(k, raw)
			}
		})
	}
}

func BenchmarkDeltaEncode(b *testing.B) {
	v := benchVersions(64)
	for _, distance := range []int{1, 8, 63} {
		b.Run(fmt.Sprintf("edits=%d", distance), func(b *testing.B) {
			var out []byte
			b.ReportAllocs()
			for b.Loop() {
				out = buildDelta(out[:0], v[0], len(v[0]), v[distance])
			}
			b.ReportMetric(float64(len(out)), "delta-B")
		})
	}
}

func BenchmarkDeltaApply(b *testing.B) {
	v := benchVersions(64)
	for _, distance := range []int{1, 63} {
		b.Run(fmt.Sprintf("edits=%d", distance), func(b *testing.B) {
			delta := buildDelta(nil, v[0], len(v[0]), v[distance])
			room := make([]byte, 0, len(v[distance]))
			b.SetBytes(int64(len(v[distance])))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := applyDelta(room, &Base{Blob, &v[0], Zero}, delta, int64(len(v[distance]))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
