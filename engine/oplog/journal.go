package oplog

import (
	"errors"

	"rewind/engine/model"
	"rewind/internal/kv"
)

// ReadJournal returns the unfinished restore, or nil.
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

// CheckWhole refuses every change while a restore is unfinished; the log's lock is held.
func (l *Log) CheckWhole() error {
	if l.Whole {
		return nil
	}
	j, err := l.ReadJournal()
	if err == nil && j != nil {
		err = &model.HalfDoneError{Target: j.Target}
	}
	l.Whole = err == nil
	return err
}
