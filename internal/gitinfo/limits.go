package gitinfo

import "time"

const (
	maxSmallFile   = 1 << 20   // bytes of HEAD, a loose ref, .git and commondir files
	maxConfigFile  = 16 << 20  // bytes of a configuration file that is searched
	maxExcludeFile = 100 << 20 // bytes of an exclude file; git reads no larger one
	maxPackedRefs  = 512 << 20 // bytes
	maxIndexFile   = 2 << 30   // bytes
	maxIndexName   = 8 << 10   // bytes of a path; longer ones are left to git
	maxIndexNames  = 512 << 20 // bytes of all paths together
	maxSymrefs     = 5         // symbolic refs that lead from one to the next, as in git

	gitTimeout = 20 * time.Second // for one process
	settled    = time.Second      // a file younger than this is read again even when its stamp is the same
)
