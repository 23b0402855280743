package model

import (
	"fmt"

	"rewind/internal/agentfiles"
	"rewind/internal/kv"
	"rewind/internal/record"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// sessions gives the records that change with the end of the restore, which is operation seq.
func (j *Journal) sessions(seq uint64, set func(*Session) error) error {
	for _, s := range []*Session{j.Made, j.Moved} {
		if s == nil {
			continue
		}
		if s == j.Made {
			s.Began = seq
			if at := j.Aim(); !at.IsZero() { // else no code was captured there
				s.Fork.Checkpoint = at.String()
			}
		}
		if err := set(s); err != nil {
			return err
		}
	}
	return nil
}

// Journal is an unfinished restore: all that is needed to finish it or to take it back. It is written in the same
// durable batch as the safety checkpoint, before the first change, and deleted in the batch that records the end.
type Journal struct {
	Kind         refs.Kind
	Session      string      // whose cursor moves
	refs.Restore             // as its operation will tell it; what is known at its end alone (Changed, Result, Fork) is not written
	Before       objstore.ID // the cursor before
	After        objstore.ID // the cursor after
	Stage        string      // name in the stage directory
	Steps        []tree.Change
	Made         *Session // the session that a fork makes; nil: none
	Moved        *Session // a session as it is afterwards; nil: none
	ByItself     bool     // nobody asked for it: the settings did

	// Of this process alone:
	KeptFiles         []refs.File        // with the code alone: session files that were set before, and stay so
	NeedsConversation bool               // without the conversation the restore is of no use
	Folders           agentfiles.Folders // the agents' folders of the person who asks
	Staged            bool               // the stage is there, durably
	Trees             *tree.Memo         // reads what the plan has read already; nil: it was another process that made it
}

// Message is that of its operation.
func (j *Journal) Message() string {
	if j.ByItself {
		return ByItself
	}
	return ""
}

// Aim returns the checkpoint of the log that the restore goes to. That is the target. If the target is a state that was
// made for the restore (restore.Options.Merge), it is the one that the cursor comes to.
func (j *Journal) Aim() objstore.ID {
	switch j.Kind {
	case refs.KindCheckout, refs.KindSwitch, refs.KindUndo, refs.KindRedo:
		if len(j.Paths) == 0 && !j.ContextOnly {
			return j.After
		}
	}
	return j.Target
}

// JournalKey is where the journal of the restore lies that is under way.
var JournalKey = []byte{kv.PrefixJournal}

// How a journal stands in the store, docs/format.md#journal.
var journalTable = record.New(
	record.Uint(1, func(j *Journal) *refs.Kind { return &j.Kind }).Required().Must(
		func(j *Journal) bool { return j.Kind.IsRestore() || j.Kind.Manages() }),
	record.ID(2, func(j *Journal) *objstore.ID { return &j.Target }).Required(),
	record.ID(3, func(j *Journal) *objstore.ID { return &j.Safety }).Required(),
	record.Strings(4,
		func(j *Journal) *refs.PathSet { return &j.Paths }).Must(func(j *Journal) bool { return j.Paths.Valid() }),
	record.Bool(5, func(j *Journal) *bool { return &j.Exact }),
	record.Uint(6, func(j *Journal) *uint64 { return &j.Undoes }),
	record.ID(7, func(j *Journal) *objstore.ID { return &j.Before }),
	record.ID(8, func(j *Journal) *objstore.ID { return &j.After }),
	record.String(9, func(j *Journal) *string { return &j.Stage }).Required().Must(func(j *Journal) bool { return IsStageName(j.Stage) }),
	record.Count(10, func(j *Journal) *int { return &j.Kept }),
	record.Records(11, stepTable, func(j *Journal) *[]tree.Change { return &j.Steps }),
	record.String(12,
		func(j *Journal) *string { return &j.Session }).Unless(func(j *Journal) bool { return j.Session == Manual }),
	record.Bool(13, func(j *Journal) *bool { return &j.ContextOnly }),
	record.Records(14, refs.FileTable, func(j *Journal) *[]refs.File { return &j.Files }),
	record.Optional(15, namedTable, func(j *Journal) **Session { return &j.Made }),
	record.Optional(16, namedTable, func(j *Journal) **Session { return &j.Moved }),
	record.String(17, func(j *Journal) *string { return &j.Goes }),
	record.Records(18, refs.ManagedTable, func(j *Journal) *[]value.Managed { return &j.Managed }),
	record.Bool(19, func(j *Journal) *bool { return &j.ByItself }),
	record.Bool(20, func(j *Journal) *bool { return &j.TakesBack }),
	record.Count(21, func(j *Journal) *int { return &j.Beside }),
).Then((*Journal).checkNames)

var stepTable = record.New(
	record.String(1, func(s *tree.Change) *string { return &s.Path }).Required().Must(
		func(s *tree.Change) bool { return refs.IsPath(s.Path) }),
	record.Optional(2, entryTable, func(s *tree.Change) **tree.Entry { return &s.Old }),
	record.Optional(3, entryTable, func(s *tree.Change) **tree.Entry { return &s.New }),
).Then(func(s *tree.Change) error {
	_, name := tree.Split(s.Path)
	for _, ent := range []*tree.Entry{s.Old, s.New} {
		if ent != nil {
			ent.Name = name
		}
	}
	return nil
})

var entryTable = record.New(
	record.Uint(1, func(e *tree.Entry) *byte { return &e.Type }).Required().Must(func(e *tree.Entry) bool {
		return e.Type == tree.TypeFile || e.Type == tree.TypeSymlink || e.Type == tree.TypeDir
	}),
	record.Uint(2,
		func(e *tree.Entry) *uint16 { return &e.Perm }).Must(func(e *tree.Entry) bool { return e.Perm <= 0o7777 }),
	record.ID(3, func(e *tree.Entry) *objstore.ID { return &e.ID }).Required(),
	record.Count(4, func(e *tree.Entry) *int64 { return &e.Size }),
)

// namedTable is a session with its name, which elsewhere is its key.
var namedTable = record.New(
	record.String(1, func(s *Session) *string { return &s.Name }).Required(),
	record.Record(2, sessionTable, func(s *Session) *Session { return s }),
)

// Encode gives the bytes of a journal, docs/format.md#journal.
func (j *Journal) Encode() []byte { return journalTable.Encode(j) }

// DecodeJournal reads what encode wrote, and refuses everything else; the error is kv.ErrCorrupt.
func DecodeJournal(raw []byte) (*Journal, error) {
	j := &Journal{Session: Manual}
	if err := journalTable.Decode(raw, j); err != nil {
		return nil, fmt.Errorf("journal: %w: %w", kv.ErrCorrupt, err)
	}
	return j, nil
}

// StageNameLength is how many digits the name of a stage has.
const StageNameLength = 16

// Changed gives the records that change with the end of the restore, which is operation seq: those that are left or
// gone on with, and those of its own.
func (j *Journal) Changed(seq uint64, left []*Session, set func(*Session) error) error {
	for _, s := range left {
		if j.Moved != nil && j.Moved.Name == s.Name {
			j.Moved = s
			continue
		}
		if err := set(s); err != nil {
			return err
		}
	}
	return j.sessions(seq, set)
}
