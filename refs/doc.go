// Package refs holds the mutable part of a store: names that point to checkpoints, and the log of operations.
//
// A name moves only by compare-and-set, and only together with the operation that moved it. Objects, names and
// operation are in one batch: after a crash all of them are there, or none. Operations are numbered without a gap from
// the oldest kept to the newest; the number, never the clock, is the order of everything.
//
// What is written here is read by every later version. Names and formats are in docs/format.md#ref and
// docs/format.md#records-and-the-operation.
package refs
