// Package worktreefs is the only way the user's tree is touched: reads and writes by directory handle.
//
// A Dir is an open directory. Every method takes a name, one path component, and works on that entry of that very
// directory. No symbolic link is ever followed, and no path is ever resolved. Nothing outside the root can be reached,
// whatever is renamed or swapped in meanwhile. Depth is limited by handles alone, never by PATH_MAX. Names are raw
// bytes: newlines and bytes that are not UTF-8 are names like any other.
//
// The handles are file descriptors and every call is one *at system call. os.Root is not used for three reasons. It
// resolves symbolic links that stay inside the root: the user's link would be written through. It opens, stats and
// re-opens several times for one entry. Its results are os.FileInfo values, which cost an allocation or three per file
// in a scan of a million.
//
// What writes hold to, on every system:
//
//   - No spelling of .git is written, in the root or below: git's own list (case, trailing dots and spaces, NTFS
//     short names and alternate streams, ignorable code points of HFS+) gives errDotGit. A directory that was
//     reached through such a name can be read, but refuses every write.
//   - Move never replaces. Exchange is one atomic step. Both are ErrUnsupported where the file system cannot, and only there is Rename
//     called, which looks first (MoveOrRename, Probe).
//   - Remove and Rmdir take one entry; nothing here deletes a tree.
//
// Errors read `worktreefs: operation path: cause` and match the sentinels of errors.go with errors.Is. All methods are
// safe for concurrent use, Close aside.
package worktreefs
