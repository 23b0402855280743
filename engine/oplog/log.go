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

// Notice adds a text to what the command tells the user.
func (l *Log) Notice(text string) {
	if !slices.Contains(l.Project.Notices, text) {
		l.Project.Notices = append(l.Project.Notices, text)
	}
}

// Remark makes notices of what the project's directory says and is not believed. They are no operations of the log.
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

// RecordNotices records that the project was moved or copied since it was opened last.
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

// Record appends an operation without objects, with its updates of refs, durably. It sets op.Time.
func (l *Log) Record(ctx context.Context, op refs.Operation, updates ...refs.Update) error {
	op.Time = l.Now().UnixMilli()
	_, err := l.Begin().Commit(ctx, kv.Durable, func(uint64) (refs.Operation, []refs.Update, error) { return op, updates, nil })
	return err
}

// Root opens the worktree's root directory. The caller closes it.
func (l *Log) Root() (worktreefs.Dir, error) {
	d, err := worktreefs.OpenRoot(l.Project.Root)
	if err != nil {
		return nil, &value.OpError{Op: "open worktree", Subject: l.Project.Root, Err: err}
	}
	// Since the project was found, the directory may have been unmounted or replaced: what is there now is not the
	// project.
	if st, err := d.Stat(); err == nil && l.Project.Ino != 0 && (st.Ino != l.Project.Ino || st.Dev != l.Project.Dev) {
		return nil, errors.Join(&project.NotMountedError{Project: l.Project, Why: "another one has taken its name"}, d.Close())
	}
	if l.Wrap != nil {
		d = l.Wrap(d)
	}
	return d, nil
}

// CheckRoot fails if the project's path no longer leads to the directory of root. Another directory has taken its name
// since Root then, and data read by the project's path may be that one's.
func (l *Log) CheckRoot(root worktreefs.Dir) error {
	held, err := root.Stat()
	if err != nil {
		return &value.OpError{Op: "look at worktree", Subject: l.Project.Root, Err: err}
	}
	st, err := worktreefs.StatRoot(l.Project.Root)
	if err != nil {
		return &value.OpError{Op: "look at worktree", Subject: l.Project.Root, Err: err}
	}
	if st.Ino != held.Ino || st.Dev != held.Dev {
		return &project.NotMountedError{Project: l.Project, Why: "another one has taken its name"}
	}
	return nil
}

// Since is how long ago t was; negative for the zero time.
func (l *Log) Since(t time.Time) time.Duration {
	if t.IsZero() {
		return -1
	}
	return l.Now().Sub(t)
}
