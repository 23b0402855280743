// Package decisions measures what was decided against what lost, so that a decision can be taken again when its figures
// no longer hold. It covers compressing a new file, cutting large files, and commits that share a sync. It also covers
// the layout of the stat cache, questions about a known tree, and giving memory back. It has benchmarks only;
// `make bench` keeps their figures.
//
// The matcher of ignore rules is beside a library in the directory ignore, a module of its own: `make bench-ignore`.
//
// Two more stand where their alternatives can be reached: internal/kv (BenchmarkLoadMemtable, BenchmarkLoadIngest) and
// objstore (BenchmarkDeltaEncode, BenchmarkEdit).
package decisions
