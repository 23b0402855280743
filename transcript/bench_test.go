package transcript

import (
	"bytes"
	"io"
	"testing"

	"rewind/internal/value"
)

// big is a session file of about size bytes, made by repeating a sample's records.
func big(tb testing.TB, agent Agent, size int) Source {
	tb.Helper()
	var lines []byte
	for _, s := range samples(tb) {
		if s.agent == agent && bytes.Count(s.data, []byte{'\n'}) > len(s.data)/8192 && s.data[0] == '{' && s.data[1] != '\n' {
			lines = append(lines, s.data...)
		}
	}
	data := bytes.Repeat(lines, size/len(lines)+1)
	return Source{ReaderAt: bytes.NewReader(data), Size: int64(len(data)), Name: string(agent)}
}

func bench(b *testing.B, run func(Agent, Source) error) {
	for _, agent := range value.Agents() {
		b.Run(string(agent), func(b *testing.B) {
			src := big(b, agent, 50<<20)
			b.SetBytes(src.Size)
			b.ReportAllocs()
			for b.Loop() {
				if err := run(agent, src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	bench(b, func(agent Agent, src Source) error { return Read(agent, src, 0, func(*Record) error { return nil }) })
}

func BenchmarkScan(b *testing.B) {
	bench(b, func(agent Agent, src Source) error {
		_, err := Scan(agent, src)
		return err
	})
}

func BenchmarkWriteFork(b *testing.B) {
	bench(b, func(agent Agent, src Source) error {
		return WriteFork(io.Discard, agent, src, Fork{Cut: src.Size, ID: forkID, Title: "t", From: forkID})
	})
}
