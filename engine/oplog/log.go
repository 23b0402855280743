package oplog

import (
	"context"
	"errors"
	"slices"
	"time"

	"rewind/engine/project"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/refs"
)

// Notice adds something the user should know to what the command says.
func (l *Log) Notice(text string) {
	if !slices.Contains(l.Project.Notices, text) {
		l.Project.Notices = append(l.Project.Notices, text)
	}
}

// Remark tells what was not believed; that is no event of the project's.
func (l *Log) Remark() {
	for _, p := range l.Project.Passed {
		l.Notice(p.String() + "; 'rewind init' begins one of your own")
	}
	if why := l.Config.Passed(); why != "" {
		l.Notice(why)
	}
}

// Damage is why the store can only be read; nil: it can be written.
func (l *Log) Damage() error { return l.DB.Damage() }

// RecordNotices writes a move or copy into the log, so that it can be seen later what happened when.
func (l *Log) RecordNotices(ctx context.Context) error {
	for _, n := range l.Project.Notices {
		kind := refs.KindMove
		if l.Project.Copied {
			kind = refs.KindCopy
		}
		if err := l.Record(ctx, refs.Operation{Kind: kind, Message: n}); err != nil {
			return err
		}
	}
	return nil
}

// Record appends an operation that brings no objects, and moves names with it, durably. op.Time is filled in.
func (l *Log) Record(ctx context.Context, op refs.Operation, updates ...refs.Update) error {
	op.Time = l.Now().UnixMilli()
	tx := l.Objs.Begin()
	_, err := l.Refs.Commit(ctx, tx, kv.Durable, func(uint64) (refs.Operation, []refs.Update, error) { return op, updates, nil })
	if err != nil {
		tx.Discard()
	}
	return err
}

// Root opens the working tree.
func (l *Log) Root() (worktreefs.Dir, error) {
	d, err := worktreefs.OpenRoot(l.Project.Root)
	if err != nil {
		return nil, &value.OpError{Op: "open worktree", Subject: l.Project.Root, Err: err}
	}
	// It may have been unmounted, or another put in its place, since it was found: that is not what the project looks like now.
	if st, err := d.Stat(); err == nil && l.Project.Ino != 0 && (st.Ino != l.Project.Ino || st.Dev != l.Project.Dev) {
		return nil, errors.Join(&project.NotMountedError{Project: l.Project, Why: "another one has taken its name"}, d.Close())
	}
	if l.Wrap != nil {
		d = l.Wrap(d)
	}
	return d, nil
}

// Since is how long ago t was; less than zero for never.
func (l *Log) Since(t time.Time) time.Duration {
	if t.IsZero() {
		return -1
	}
	return l.Now().Sub(t)
}
