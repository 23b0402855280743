// Package tree turns a working tree into tree objects and back.
//
// Capturing: Snapshot scans a directory in parallel, reads only files that the stat cache does not vouch for, and writes
// blobs and trees through a Putter, bottom-up. It never changes, follows or opens anything but regular files,
// directories and the text of symlinks. What it does not capture it lists, with the reason, in the snapshot's note.
//
// Reading: Lookup, Walk and Diff work on stored trees through a Getter, which has verified every byte.
//
// Writing: Apply brings a working tree from one state to another, step by step.
//
// Paths are relative to the root, components joined by '/', "" for the root itself; they are bytes, not text. Order is
// that of ComparePaths; a note is sorted by the bytes of its paths instead.
//
// Formats (DESIGN.md 5.6 and 5.9), a promise across versions:
//
//	tree    version(1)=1 || entries ascending by name
//	entry   type(1) || perm (uvarint) || name length (uvarint) || name || id(32) || size (uvarint; files only)
//	note    version(1)=1 || entries ascending by (path, reason)
//	entry   reason(1) || path length (uvarint) || path || size (uvarint) || keyed hash(32; secrets only)
//	cache   version(1)=1 || kind(1) || perm || size || mtime(8) || ctime-mtime (zigzag) || inode || id(32) || crc32c(4)
package tree
