//go:build rewind_bug

package bug

import "os"

// Built reports whether this build can be wrong.
const Built = true

var name = os.Getenv("REWIND_BUG")

// Is reports whether the code shall be wrong in this way.
func Is(fault string) bool { return name != "" && fault == name }
