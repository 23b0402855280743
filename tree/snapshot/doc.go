// Package snapshot makes a tree of a worktree.
//
// In go a directory, the rules that decide what is captured, and a store (Source). Out come the id of a tree, of which
// every object was handed to the store, children before parents, and the list of what was not captured, with the reason
// (Result). The worktree is only read: Take opens regular files and directories, reads the text of symlinks, and never
// changes, follows or opens anything else.
//
// What saves work is optional, and none of it decides about the result:
//
//   - A Cache, the stat cache, knows each file by what the system says about it (a stamp), so that what did not change
//     is not read. Take stages what it found; Flush adds that to the batch with the snapshot's objects, Committed
//     makes it what the next one begins with, Discard forgets it.
//   - A Generation, with a Cache, lets directories that did not change since the last snapshot be taken over after one
//     look at each.
//   - A Watcher, with both, is told by the system which names may have changed, and saves that look, too.
//
// Invariants: a file is stored as it was at one moment, or flagged torn. A stamp that the next change could repeat
// proves nothing, so such a file is read again. The tree is the same with and without Cache and Watcher, apart from
// changes that the system does not report (see Watcher). A corrupt cache entry is a missing one.
//
// Concurrency: a Take uses several goroutines and has ended them when it returns. One Cache serves one worktree and one
// Take at a time; others wait. One Watcher is for one Cache. Functions in a Source are called from several goroutines.
//
// The stat cache on disk (docs/format.md#stat-cache-entry), under its path:
//
//	version(1)=1 || kind(1) || perm || size || mtime(8) || ctime-mtime (zigzag) || inode || id(32) || crc32c(4) of all that and the path
package snapshot
