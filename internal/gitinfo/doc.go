// Package gitinfo tells facts about the user's git repository: where it is, where HEAD stands, what is unfinished in
// it, which paths the index holds, and the exclude files outside the working tree.
//
// It never writes: it takes no lock, does not refresh the index and runs nothing that the repository's configuration
// names. Almost everything is read from files. The git program is started, once a question, only for what files do not
// tell:
//
//   - core.excludesFile and core.ignoreCase, if a configuration file mentions one of them or an include. A process
//     costs 2 ms, the search of the files 0.1 ms. A system configuration that systemConfigs does not list is not seen;
//   - an index in a form the reader refuses: split, or one with an unknown mandatory extension;
//   - refs kept in a reftable.
//
// [Reader] looks at a repository that may be broken in any part: it tells what can be read and what cannot, and waits
// for nothing.
//
// Where git is needed and absent the first falls back to git's defaults and the others are [errNoGit]. Processes get
// the git directory on the command line and an environment without GIT_* but the places of configuration files, so that
// a hook's GIT_DIR or GIT_INDEX_FILE misleads neither them nor the reader.
//
// # Why an own index reader
//
// Only the names and types of entries are wanted. go-git's index package decodes every field of an entry: 194 ms, 33 MB
// and 1.6 million allocations for 100,000 paths, where git ls-files takes 64 ms and [decodeIndex] 20 ms with 73
// allocations. (It would cost 0.15 ms of start and 0.9 MB of binary, which decided nothing.) It reads neither SHA-256
// repositories nor an index without checksum (index.skipHash) nor a sparse one; all three occur where repositories are
// large, and each would cost a process instead.
package gitinfo
