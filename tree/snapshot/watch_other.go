//go:build !linux

package snapshot

// canWatch is false: here notification takes a descriptor for every file (kqueue), or does not exist.
const canWatch = false

func reportsChanges(string) error { return ErrNoWatcher }
