// Package storefs is the file system that pebble is given for a store's database. What goes in are pebble's calls; what
// reaches the disk is:
//
//   - Logs are fsynced together, within a time after they were written ([Logs]); what pebble takes for an fsync is a write. Each tells how
//     far it is on disk: in its own chunks, and in a file beside. One whose name does not lead to it any more is found after the next
//     fsync.
//   - A MANIFEST has how far it is on disk noted beside it, too. A marker is made only after the directory's other entries are durable.
//   - Blocks of tables are checked as they are read.
//   - What pebble archives is removed, once the check at open has passed.
//   - Files and directories are the owner's alone, whatever the umask is.
//   - Writes that fail are slowed down: pebble tries again at once, for ever.
//   - Once the store is poisoned ([Poison]) nothing is removed, renamed or written to a MANIFEST: pebble may run on for a moment, and would
//     remove files that the disk's version of the database needs.
package storefs
