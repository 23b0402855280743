// Package oplog is an open project's log, for the rooms above it. It reads and writes the operations, the checkpoints
// that they name, sessions, squash records, messages, the newest known state, and the notices. It knows records and
// their order, and nothing of what is in a conversation or how a worktree is read.
//
// One lock, Log.Lock, orders everything that changes a project: whoever captures, restores, collects or repairs has it.
// What is known in memory of the log is this room's own. It changes with the store, by a Change.
package oplog

import (
	"sync"
	"sync/atomic"
	"time"

	"rewind/engine/project"
	"rewind/internal/clients"
	"rewind/internal/kv"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/refs"
)

// Log is the log of an open project, as one request sees it: the project and the settings are the request's, State is
// everybody's.
type Log struct {
	Home    project.Home
	Project project.Project
	Config  project.Config
	DB      *kv.DB
	Objs    *objstore.Store
	Refs    *refs.Refs
	Now     func() time.Time // the clock, for people only
	Wrap    func(worktreefs.Dir) worktreefs.Dir
	*state
}

// state is what all views of an open log share.
type state struct {
	mu       sync.Mutex         // held by every change and every capture; guards the next five
	whole    bool               // no restore is unfinished, and none was begun since that was looked up
	noted    StoredNote         // the note of the last capture that was recorded
	known    *Head              // the newest state that the log knows; nil: not looked up yet
	procs    *clients.Processes // the processes, since held; nil: nobody has asked
	loaded   bool               // records has what the store has
	records  sync.Map           // sessions, *model.Session by name: none is changed, another takes its place
	held     atomic.Int64       // since when Hold has mu, unix nanoseconds; 0: it has not
	taking   atomic.Bool        // whether somebody takes events in
	lanes    sync.Map           // names of sessions to that of the session whose subagent each is, or ""
	silent   sync.Map           // names of sessions whose conversations this process has purged from
	tally    tally
	rewrites atomic.Uint64 // how often something was taken out of the log, or changed in it
	skips    skipIndex
	recent   *recent
	squashes atomic.Int32 // whether the store has squash records: one of model.Squashes...
}

// New is the log of an open store.
func New(home project.Home, p *project.Project, c project.Config, db *kv.DB, o project.Options) *Log {
	l := &Log{
		Home: home, Project: *p, Config: c, DB: db, Objs: objstore.New(db), Refs: refs.New(db), Now: o.Now, Wrap: o.Worktree,
		state: &state{recent: newRecent()},
	}
	if l.Now == nil {
		l.Now = time.Now
	}
	return l
}

// View is the log for another request, with the project as it was just found, and the settings that hold now.
func (l *Log) View(p *project.Project, c project.Config) *Log {
	return &Log{
		Home: l.Home, Project: *p, Config: c, DB: l.DB, Objs: l.Objs, Refs: l.Refs,
		Now: l.Now, Wrap: l.Wrap, state: l.state,
	}
}
