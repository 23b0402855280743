//go:build !linux

package treecopy

import "os"

// Reflink says that there are none.
func Reflink(*os.File, *os.File) error { return ErrNoReflink }
