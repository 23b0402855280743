package decisions

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"rewind/bench/workload"
)

// sources are Go's own files, in the order of a walk.
func sources(b *testing.B, limit int) [][]byte {
	b.Helper()
	root, err := workload.GoSource(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	files, err := workload.Files(root)
	if err != nil {
		b.Fatal(err)
	}
	var list [][]byte
	for _, f := range files {
		if filepath.Ext(f.Path) != ".go" || len(list) == limit {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(f.Path)))
		if err != nil {
			b.Fatal(err)
		}
		if len(raw) > 0 {
			list = append(list, raw)
		}
	}
	return list
}

// A first snapshot knows no older version of any file. What could stand in for it: nothing, a dictionary of what all
// files have in common, the file before in the walk. Taken: nothing, at the default level.
func BenchmarkFirstBase(b *testing.B) {
	files := sources(b, 3000)
	common := dictionary(files)
	for _, way := range []struct {
		name  string
		level zstd.EncoderLevel
		base  func(i int) []byte
	}{
		{"alone-fastest", zstd.SpeedFastest, nil},
		{"alone-default", zstd.SpeedDefault, nil},
		{"alone-better", zstd.SpeedBetterCompression, nil},
		{"dictionary-64k", zstd.SpeedDefault, func(int) []byte { return common }},
		{"file-before", zstd.SpeedDefault, func(i int) []byte { return files[max(i-1, 0)] }},
	} {
		b.Run(way.name, func(b *testing.B) {
			enc := encoder(b, way.level, nil)
			if way.name == "dictionary-64k" {
				enc = encoder(b, way.level, common)
			}
			var read, stored int64
			var out []byte
			for b.Loop() {
				read, stored = 0, 0
				for i, raw := range files {
					if way.name == "file-before" {
						enc = encoder(b, way.level, way.base(i))
					}
					out = enc.EncodeAll(raw, out[:0])
					read += int64(len(raw))
					stored += int64(len(out))
				}
			}
			b.SetBytes(read)
			b.ReportMetric(100*float64(stored)/float64(read), "stored-%")
		})
	}
}

func encoder(b *testing.B, level zstd.EncoderLevel, base []byte) *zstd.Encoder {
	b.Helper()
	opts := []zstd.EOption{
		zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true),
		zstd.WithLowerEncoderMem(true),
	}
	if len(base) >= 8 { // what the library takes
		opts = append(opts, zstd.WithEncoderDictRaw(1, base))
	}
	enc, err := zstd.NewWriter(nil, opts...)
	if err != nil {
		b.Fatal(err)
	}
	return enc
}

// dictionary is 64 KiB of the beginnings of files all over the tree: where licences and imports are.
func dictionary(files [][]byte) []byte {
	var d []byte
	for i := 0; len(d) < 64<<10 && i < len(files); i += 41 {
		d = append(d, files[i][:min(len(files[i]), 1<<10)]...)
	}
	return d
}
