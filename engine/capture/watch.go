package capture

import (
	"rewind/internal/value"
	"rewind/tree/snapshot"
)

// ErrNoWatcher says that this system has no notification of changes that costs nothing per file, so that every capture
// scans.
var ErrNoWatcher = snapshot.ErrNoWatcher

// watching is a watcher with the directory that it watches.
type watching struct {
	*snapshot.Watcher
	root string
}

// Watch has the worktree watched from now on, so that captures need not look at what did not change; for an engine that
// stays open. After an error, ErrNoWatcher among them, captures scan.
func (wt *Worktree) Watch() error {
	wt.log.Lock()
	defer wt.log.Unlock()
	if wt.WatchState != nil && wt.WatchState.root == wt.log.Project.Root {
		return nil
	}
	if err := wt.unwatch(); err != nil {
		return err
	}
	w, err := snapshot.Watch(wt.log.Project.Root)
	if err != nil {
		return &value.OpError{Op: "watch", Subject: wt.log.Project.Root, Err: err}
	}
	wt.WatchState = &watching{w, wt.log.Project.Root}
	return nil
}

func (wt *Worktree) unwatch() error {
	if wt.WatchState == nil {
		return nil
	}
	w := wt.WatchState
	wt.WatchState = nil
	if err := w.Close(); err != nil {
		return &value.OpError{Op: "end watch of", Subject: w.root, Err: err}
	}
	return nil
}

// Watching says how the watcher is; nil: there is none.
func (wt *Worktree) Watching() *value.Watcher {
	wt.log.Lock()
	defer wt.log.Unlock()
	if wt.WatchState == nil {
		return nil
	}
	s := wt.WatchState.Status()
	return &s
}

// watcher is the watcher of the project's root; nil: there is none. The log's lock is held.
func (wt *Worktree) watcher() *snapshot.Watcher {
	if wt.WatchState == nil || wt.WatchState.root != wt.log.Project.Root {
		return nil
	}
	return wt.WatchState.Watcher
}
