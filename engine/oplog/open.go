// Package oplog is an open project's log as the rooms above it read and write it: its operations, the checkpoints that
// they name, sessions, squash records, messages, the newest state that is known, and the notices. It knows records and
// their order, and nothing of what is in a conversation or how a worktree is read.
//
// One lock, Log.Mu, orders everything that changes a project: whoever captures, restores, collects or repairs holds it.
// What State keeps besides is guarded by this lock, unless a field has one of its own.
package oplog

import (
	"sync"
	"sync/atomic"
	"time"

	"rewind/engine/model"
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
	Mu      sync.Mutex                // held by every change and every capture; guards what follows
	Whole   bool                      // no restore is unfinished, and none was begun since that was looked up
	Noted   StoredNote                // the note of the last capture that was recorded
	Known   *Head                     // the newest state that the log knows; nil: not looked up yet
	Records map[string]*model.Session // agents' sessions by name; nil: not loaded yet
	held    atomic.Int64              // since when Hold has Mu, unix nanoseconds; 0: it has not
	procs   *clients.Processes        // the processes, since held; nil: nobody has asked
	Taking  atomic.Bool               // whether somebody takes events in
	Heard   sync.Map                  // names of sessions that are known to have a record
	Lanes   sync.Map                  // names of sessions to that of the session whose subagent each is, or ""
	// names of sessions whose conversations this process has purged from: for who captures one outside of Mu
	Silent    sync.Map
	Tally     tally
	rewrites  atomic.Uint64 // how often something was taken out of the log, or changed in it
	SkipIndex skipIndex
	recent    *recent
	Squashes  atomic.Int32 // whether the store has squash records: one of model.Squashes...
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
	v := *l
	v.Project, v.Config = *p, c
	return &v
}
