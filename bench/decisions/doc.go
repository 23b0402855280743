// Package decisions measures what was decided against what lost, so that a decision can be taken again when its
// figures no longer hold: what a new file is compressed with, where large files are cut, how commits share a sync, how
// the stat cache is laid out, how a known tree is asked about, what gives memory back. It has benchmarks only; `make
// bench` keeps their figures.
//
// The matcher of ignore rules is beside a library in the directory ignore, a module of its own: `make bench-ignore`.
//
// Two more stand where their alternatives can be reached: internal/kv (BenchmarkLoadMemtable, BenchmarkLoadIngest) and
// objstore (BenchmarkDeltaEncode, BenchmarkEdit).
package decisions
