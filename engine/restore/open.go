// Package restore sets the worktree and the conversation to another state and back: checkout, undo, redo, undo-restore,
// fork, and the rest of an interrupted one. It also carries out the plans of engine/merge and engine/manage. Each that
// writes the user's files follows docs/restore.md#the-transaction: plan, safety checkpoint with a journal, apply,
// verify, operation with the end of the journal.
package restore

import (
	"context"

	"rewind/engine/authorship"
	"rewind/engine/capture"
	"rewind/engine/conversation"
	"rewind/engine/history"
	"rewind/engine/manage"
	"rewind/engine/merge"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/engine/secrets"
	"rewind/engine/sessions"
	"rewind/internal/value"
)

// Restorer goes to where one asks to be, in each way of asking: checkout, switch, forward, parts, pick, revert, fork.
// Its commands hold the log's lock until they return, and what they call wants it held. Below it is a layer for each
// part of that, and a layer asks only those below:
//
//	undoer         takes back what was done, and restores themselves; manages forks
//	runner         plans files, carries out, records, and goes on with what was killed
//	talkPlanner    plans what becomes of the conversation
//	stager         holds the root, and the directories in which files wait
type Restorer struct{ *undoer }

type (
	undoer struct{ *runner }
	runner struct {
		*talkPlanner
		worktree *capture.Worktree
		authors  *authorship.Authors
		merger   *merge.Merger
		manager  *manage.Manager
		shown    shownPlan // the log's lock orders who uses it
	}
	talkPlanner struct {
		*stager
		leaks         *secrets.Leaks
		sessions      *sessions.Sessions
		conversations *conversation.Conversations
		history       *history.History
	}
	stager struct {
		log   *oplog.Log
		state *State
	}
)

// New makes a Restorer of the rooms that it works with.
func New(
	log *oplog.Log, k *secrets.Leaks, s *sessions.Sessions, c *conversation.Conversations, h *history.History,
	w *capture.Worktree, a *authorship.Authors, g *merge.Merger, m *manage.Manager, st *State,
) *Restorer {
	talks := &talkPlanner{&stager{log, st}, k, s, c, h}
	return &Restorer{&undoer{&runner{talkPlanner: talks, worktree: w, authors: a, merger: g, manager: m}}}
}

// progress is the function that tells how far a restore's steps are: to who waits for the restore, and to who asks for
// the state meanwhile.
func (rs *runner) progress(ctx context.Context) func(phase string, done, total int) {
	told := model.AskerOf(ctx).Told
	return func(phase string, done, total int) {
		r := value.Progress{Phase: phase, Files: done, Total: total}
		if now := rs.worktree.Busy.Load(); now != nil {
			now.Reach(r)
		}
		if told != nil {
			told(r)
		}
	}
}

// withTakeBackPhase is ctx with a progress that names each phase as part of taking the restore back.
func withTakeBackPhase(ctx context.Context) context.Context {
	a := model.AskerOf(ctx)
	if told := a.Told; told != nil {
		a.Told = func(r value.Progress) {
			r.Phase = "taking it back: " + r.Phase
			told(r)
		}
	}
	return model.WithAsker(ctx, a)
}
