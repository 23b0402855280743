//go:build !rewind_bug

package bug

// Built reports whether this build can be wrong.
const Built = false

// Is reports whether the code shall be wrong in this way.
func Is(string) bool { return false }
