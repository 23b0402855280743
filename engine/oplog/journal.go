package oplog

import (
	"errors"

	"rewind/engine/model"
	"rewind/internal/kv"
)

// ReadJournal is the journal of the unfinished restore; nil: there is none.
func (l *Log) ReadJournal() (*model.Journal, error) {
	var j *model.Journal
	err := l.DB.View(model.JournalKey, func(v []byte) (err error) {
		j, err = model.DecodeJournal(v)
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, nil
	}
	return j, err
}

// CheckWhole fails with a *model.HalfDoneError while a restore is unfinished. The log's lock is held.
func (l *Log) CheckWhole() error {
	if l.whole {
		return nil
	}
	j, err := l.ReadJournal()
	if err == nil && j != nil {
		err = &model.HalfDoneError{Target: j.Target}
	}
	l.whole = err == nil
	return err
}

// BeginRestore says that a restore begins: until CheckWhole finds it done it counts as unfinished. The log's lock is
// held.
func (l *Log) BeginRestore() { l.whole = false }
