// Package kv is the ground floor of a store: the only package that knows pebble.
//
// It opens and locks a store directory, owns the format version and the key space, commits batches, and turns every
// error of the layers below into one of the sentinels in errors.go.
//
// What is promised:
//
//   - A batch is applied wholly or not at all, also across a crash.
//   - A commit that returned nil with [Durable] has been fsynced: it survives a power cut. With [Written] it has been handed to
//     the kernel by write(2): it survives the death of every process at once, and a power cut that comes more than
//     Options.GroupSync later.
//   - A failed fsync is never retried. It poisons the store: the reason goes to the file last-fatal, Options.Fatal is called,
//     and no call on this DB answers with anything but [ErrPoisoned] from then on.
//   - A read gives the bytes that were written, or an error. Damage on disk is [ErrCorrupt], and the message names the file.
//   - Nothing is deleted when a store is opened until the check at open has passed.
//   - A store of another format, a directory that is not a store, and a store that another process has open are refused
//     without a byte being touched.
//   - A full disk refuses writes with [ErrNoSpace]; reading goes on, Close returns.
//
// What is not: pebble cannot tell the last, damaged record of a log from one that a crash cut short. A bit flip there,
// in a store that was not closed cleanly, is seen only where a later record or the high-water mark gives it away.
//
// All methods of DB are safe for concurrent use. A Batch belongs to one goroutine at a time.
package kv
