//go:build !linux

package snapshot

// canWatch: here notification takes a descriptor for every file (kqueue), or is not there.
const canWatch = false

func reportsChanges(string) error { return ErrNoWatcher }
