package project

import (
	"time"

	"rewind/internal/kv"
	"rewind/internal/worktreefs"
)

// Options open an engine; the zero value is the default.
type Options struct {
	LockWait time.Duration    // how long to wait for another process that has the store open
	Salvage  bool             // open a damaged store, too, and only to read what can be read; Damage says what is wrong
	Now      func() time.Time // the clock, for people only
	KV       kv.Options       // for tests: file system, fatal handler
	Worktree func(worktreefs.Dir) worktreefs.Dir
}

// StoreOptions are the options for the store itself.
func (o Options) StoreOptions() kv.Options {
	k := o.KV
	k.LockWait, k.Salvage = o.LockWait, o.Salvage
	return k
}

// Clock is what time it is.
func (o Options) Clock() time.Time {
	if o.Now != nil {
		return o.Now().UTC().Truncate(time.Second)
	}
	return time.Now().UTC().Truncate(time.Second)
}
