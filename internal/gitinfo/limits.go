package gitinfo

import (
	"time"

	"rewind/internal/gitcmd"
)

const (
	maxSmallFile   = 1 << 20   // bytes of HEAD, a loose ref, .git and commondir files
	maxConfigFile  = 16 << 20  // bytes of a configuration file that is searched
	maxExcludeFile = 100 << 20 // bytes of an exclude file; git reads no larger one
	maxPackedRefs  = 512 << 20 // bytes, of which linePiece are held
	maxIndexFile   = 512 << 20 // bytes, some 4 million paths
	maxIndexName   = 8 << 10   // bytes of a path; longer ones are left to git
	maxIndexNames  = 512 << 20 // bytes of all paths together
	maxSymrefs     = 5         // symbolic refs that lead from one to the next, as in git
	linePiece      = 1 << 20   // bytes of a file that is searched by lines

	slackIndex = 64 << 20 // bytes of an index besides its entries
	roomyEntry = 1 << 10  // bytes of an entry, more than one has on the average

	gitTimeout = time.Second            // for one process
	gitHurry   = 400 * time.Millisecond // while an agent waits
	gitGrace   = gitcmd.Grace           // from its kill to its end
	slow       = time.Second            // for files that may lie on a disk that does not answer
	refusedFor = 5 * time.Minute        // for so long git is not asked again what it refused, unless its files change
	racyWindow = time.Second            // a file younger than this is read again even when its stamp is the same
)
