// Package textdiff turns two texts into hunks, hunks into a unified diff, and
// three texts into one ([Merge]). It is pure: bytes in, values or bytes out, no files, no terminal.
//
// A text is a sequence of lines, each ended by a line feed except perhaps the
// last; lines are compared byte by byte, so an encoding is never guessed and a
// carriage return counts. [Diff] decides first whether the two sides are texts of
// a reasonable size at all (limits.go). Applying all hunks to the old text gives
// the new one byte for byte, whatever the input.
//
// The edit script is minimal unless the search runs into its time bound, which
// takes tens of thousands of changed lines.
package textdiff
