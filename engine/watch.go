package engine

import (
	"fmt"

	"rewind/tree/snapshot"
)

// ErrNoWatcher says that this system has no notification of changes that costs nothing per file. Every capture scans.
var ErrNoWatcher = snapshot.ErrNoWatcher

// watching is a watcher and the directory it is for.
type watching struct {
	*snapshot.Watcher
	root string
}

// Watch has the worktree watched from now on, so that captures need not look at what did not change. It is worth it only for an engine that
// stays open. After an error, ErrNoWatcher among them, captures scan as before.
func (e *Engine) Watch() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.watch != nil && e.watch.root == e.project.Root {
		return nil
	}
	if err := e.unwatch(); err != nil {
		return err
	}
	w, err := snapshot.Watch(e.project.Root)
	if err != nil {
		return fmt.Errorf("engine: watch %s: %w", e.project.Root, err)
	}
	e.watch = &watching{w, e.project.Root}
	return nil
}

func (e *Engine) unwatch() error {
	if e.watch == nil {
		return nil
	}
	w := e.watch
	e.watch = nil
	if err := w.Close(); err != nil {
		return fmt.Errorf("engine: end watch of %s: %w", w.root, err)
	}
	return nil
}

// Watching says how the watcher is; nil: there is none.
func (e *Engine) Watching() *snapshot.WatchStatus {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.watch == nil {
		return nil
	}
	s := e.watch.Status()
	return &s
}

// watcher is the watcher of this view's worktree; nil where there is none. e.mu is held.
func (e *Engine) watcher() *snapshot.Watcher {
	if e.watch == nil || e.watch.root != e.project.Root {
		return nil
	}
	return e.watch.Watcher
}
