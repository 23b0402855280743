// Package workload makes what is measured: trees of files that look like source code, and edits as an agent makes them.
//
// Everything is a function of a seed: the same seed gives the same bytes on every machine and in every run. The
// generator is math/rand/v2's PCG, whose sequence is fixed.
package workload
