// Package bench measures: its tests and benchmarks run the engine in the process, bench/peers runs the whole program
// beside git. What both work on comes from bench/workload. Nothing here is part of the program.
package bench
