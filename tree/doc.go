// Package tree is what is stored of a worktree: trees, and notes of what was left out of them.
//
// A tree is the list of one directory's entries; an entry names a blob (a file's content, a symlink's target) or
// another tree. Encode and Decode turn entries into an object's bytes and back, EncodeNote and DecodeNote the lines of
// a note. Lookup, List, Walk and Diff read stored trees through a Getter, which has verified every byte; a Memo is such
// a Getter that remembers directories. Edit makes of a stored tree another. Renames pairs what Diff gives.
//
// A Change is how one path differs, old and new: what Diff gives, and what a plan, a journal and an undo are made of.
// Package tree/snapshot makes trees of a worktree, package tree/apply carries changes out in one. Neither knows the
// other, and nothing here opens a file.
//
// Paths are relative to the root, components joined by '/', "" for the root itself; they are bytes, not text. Order is
// that of ComparePaths; a note is sorted by the bytes of its paths instead. The zero id is the empty tree.
//
// What decodes encodes to the same bytes, and limits are checked before memory is taken, so a hostile object costs an
// error: *FormatError for bytes, *LimitError for sizes and depths. An object that the store lacks is
// objstore.ErrNotFound, a path that the tree lacks ErrNotFound.
//
// Functions keep no state and are safe for concurrent use if the Getter is; so is a Memo.
//
// Formats (docs/format.md#tree-and-note), a promise across versions:
//
//	tree    version(1)=1 || entries ascending by name
//	entry   type(1) || perm (uvarint) || name length (uvarint) || name || id(32) || size (uvarint; files only)
//	note    version(1)=1 || entries ascending by (path, reason)
//	entry   reason(1) || path length (uvarint) || path || size (uvarint) || keyed hash(32; secrets only)
package tree
