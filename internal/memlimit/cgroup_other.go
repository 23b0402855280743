//go:build !linux

package memlimit

import "io/fs"

// at: other systems have no groups that are bounded.
func at(fs.FS) Limit { return Limit{} }
