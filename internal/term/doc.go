// Package term is everything that knows about a terminal: the three streams
// and whether each is a terminal, colour, width, paging, progress, and the
// rendering of untrusted text.
//
// Two rules hold for every caller. Text that somebody else wrote (a path, a
// prompt, a title, the content of a file) passes through [Sanitize],
// [SanitizeText] or [Quote] before it reaches a stream; cells of a [Table] do so
// by themselves. And what is decided by "is this a terminal" (colour,
// truncation, relative times, pager, progress) is decided here, per stream, so
// that a pipe always gets complete and stable text.
//
// The package imports nothing of ours and keeps no global state: a test makes
// its own streams with [Test].
package term
