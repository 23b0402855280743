package model

import (
	"fmt"

	"rewind/internal/agentfiles"
	"rewind/internal/kv"
	"rewind/internal/record"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// Field tags of a session in a journal, docs/format.md#journal.
const (
	tagNamedName = iota + 1
	tagNamedRecord
)

func namedSession(s *Session) []byte {
	if s == nil {
		return nil
	}
	var e record.Encoder
	e.String(tagNamedName, s.Name)
	e.Bytes(tagNamedRecord, s.Encode())
	return e.Encoded()
}

func decodeNamedSession(raw record.Field) (*Session, error) {
	name, rec := "", record.Field(nil)
	err := record.Decode(raw, func(tag uint64, f record.Field) error {
		switch tag {
		case tagNamedName:
			name = string(f)
		case tagNamedRecord:
			rec = f
		default:
			return record.Unknown(tag)
		}
		return nil
	})
	if err == nil && name == "" {
		err = fmt.Errorf("%w: session without a name", record.ErrFormat)
	}
	if err != nil {
		return nil, err
	}
	return DecodeSession(name, rec)
}

// sessions gives the records that change with the end of the restore, which is operation seq.
func (j *Journal) sessions(seq uint64, set func(*Session) error) error {
	for _, s := range []*Session{j.Made, j.Moved} {
		if s == nil {
			continue
		}
		if s == j.Made {
			s.Began = seq
			if !j.Target.IsZero() { // else no code was captured there
				s.Fork.Checkpoint = j.Target.String()
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
	Steps        []tree.Step
	Made         *Session // the session that a fork makes; nil: none
	Moved        *Session // a session as it is afterwards; nil: none

	// Of this process alone:
	KeptFiles         []refs.File        // with the code alone: session files that were set before, and stay so
	NeedsConversation bool               // without the conversation the restore is of no use
	Folders           agentfiles.Folders // the agents' folders of the person who asks
	Staged            bool               // the stage is there, durably
	Trees             *tree.Memo         // reads what the plan has read already; nil: it was another process that made it
}

// JournalKey is where the journal of the restore lies that is under way.
var JournalKey = []byte{kv.PrefixJournal}

// Field tags of the journal, docs/format.md#journal.
const (
	tagJKind = iota + 1
	tagJTarget
	tagJSafety
	tagJPaths
	tagJExact
	tagJUndoes
	tagJBefore
	tagJAfter
	tagJStage
	tagJKept
	tagJSteps
	tagJSession
	tagJContextOnly
	tagJFiles
	tagJMade
	tagJMoved
	tagJGoes
)

// Field tags of a step, and of an entry in it.
const (
	tagStepPath = iota + 1
	tagStepFrom
	tagStepTo
)

const (
	tagEntryType = iota + 1
	tagEntryPerm
	tagEntryID
	tagEntrySize
)

// Encode gives the bytes of a journal, docs/format.md#journal.
func (j *Journal) Encode() []byte {
	var e record.Encoder
	e.Bytes(tagJKind, []byte{byte(j.Kind)})
	e.NonZero(tagJTarget, j.Target[:])
	e.NonZero(tagJSafety, j.Safety[:])
	e.List(tagJPaths, len(j.Paths), func(i int) []byte { return []byte(j.Paths[i]) })
	e.Bool(tagJExact, j.Exact)
	e.Uint(tagJUndoes, j.Undoes)
	e.NonZero(tagJBefore, j.Before[:])
	e.NonZero(tagJAfter, j.After[:])
	e.String(tagJStage, j.Stage)
	e.Uint(tagJKept, uint64(j.Kept))
	e.List(tagJSteps, len(j.Steps), func(i int) []byte {
		var s record.Encoder
		s.String(tagStepPath, j.Steps[i].Path)
		s.Bytes(tagStepFrom, encodeEntry(j.Steps[i].From))
		s.Bytes(tagStepTo, encodeEntry(j.Steps[i].To))
		return s.Encoded()
	})
	if j.Session != Manual {
		e.String(tagJSession, j.Session)
	}
	e.Bool(tagJContextOnly, j.ContextOnly)
	e.List(tagJFiles, len(j.Files), func(i int) []byte { return j.Files[i].Encode() })
	e.Bytes(tagJMade, namedSession(j.Made))
	e.Bytes(tagJMoved, namedSession(j.Moved))
	e.String(tagJGoes, j.Goes)
	return e.Encoded()
}

func encodeEntry(ent *tree.Entry) []byte {
	if ent == nil {
		return nil
	}
	var e record.Encoder
	e.Bytes(tagEntryType, []byte{ent.Type})
	e.Uint(tagEntryPerm, uint64(ent.Perm))
	e.NonZero(tagEntryID, ent.ID[:])
	e.Uint(tagEntrySize, uint64(ent.Size))
	return e.Encoded()
}

// DecodeJournal reads what encode wrote, and refuses everything else; the error is kv.ErrCorrupt.
func DecodeJournal(raw []byte) (*Journal, error) {
	j := &Journal{Session: Manual}
	err := record.Decode(raw, func(tag uint64, f record.Field) (err error) {
		switch tag {
		case tagJKind:
			if len(f) != 1 || !refs.Kind(f[0]).IsRestore() {
				return fmt.Errorf("%w: kind %q", record.ErrFormat, []byte(f))
			}
			j.Kind = refs.Kind(f[0])
		case tagJTarget:
			err = f.NonZero(j.Target[:])
		case tagJSafety:
			err = f.NonZero(j.Safety[:])
		case tagJPaths:
			err = f.List(func(v record.Field) error {
				j.Paths = append(j.Paths, string(v))
				return nil
			})
		case tagJExact:
			j.Exact, err = f.Bool()
		case tagJUndoes:
			j.Undoes, err = f.Uint()
		case tagJBefore:
			err = f.NonZero(j.Before[:])
		case tagJAfter:
			err = f.NonZero(j.After[:])
		case tagJStage:
			j.Stage = string(f)
		case tagJKept:
			err = DecodeCount(f, &j.Kept)
		case tagJSteps:
			err = f.List(func(v record.Field) error {
				s, err := decodeStep(v)
				j.Steps = append(j.Steps, s)
				return err
			})
		case tagJSession:
			j.Session = string(f)
			if j.Session == Manual {
				err = fmt.Errorf("%w: session", record.ErrFormat)
			}
		case tagJContextOnly:
			j.ContextOnly, err = f.Bool()
		case tagJFiles:
			err = f.List(func(v record.Field) error {
				file, err := refs.DecodeFile(v)
				j.Files = append(j.Files, file)
				return err
			})
		case tagJMade:
			j.Made, err = decodeNamedSession(f)
		case tagJMoved:
			j.Moved, err = decodeNamedSession(f)
		case tagJGoes:
			j.Goes = string(f)
		default:
			return record.Unknown(tag)
		}
		return err
	})
	if err == nil && (j.Kind == 0 || j.Target.IsZero() || j.Safety.IsZero()) {
		err = fmt.Errorf("%w: incomplete", record.ErrFormat)
	}
	if err == nil {
		err = j.checkNames()
	}
	if err != nil {
		return nil, fmt.Errorf("journal: %w: %w", kv.ErrCorrupt, err)
	}
	return j, nil
}

func decodeStep(raw record.Field) (tree.Step, error) {
	var s tree.Step
	err := record.Decode(raw, func(tag uint64, f record.Field) (err error) {
		switch tag {
		case tagStepPath:
			s.Path = string(f)
		case tagStepFrom:
			s.From, err = decodeEntry(f)
		case tagStepTo:
			s.To, err = decodeEntry(f)
		default:
			return record.Unknown(tag)
		}
		return err
	})
	if err == nil && s.Path == "" {
		err = fmt.Errorf("%w: step without a path", record.ErrFormat)
	}
	_, name := tree.Split(s.Path)
	for _, ent := range []*tree.Entry{s.From, s.To} {
		if ent != nil {
			ent.Name = name
		}
	}
	return s, err
}

func decodeEntry(raw record.Field) (*tree.Entry, error) {
	ent := &tree.Entry{}
	err := record.Decode(raw, func(tag uint64, f record.Field) (err error) {
		switch tag {
		case tagEntryType:
			if len(f) != 1 || (f[0] != tree.TypeFile && f[0] != tree.TypeSymlink && f[0] != tree.TypeDir) {
				return fmt.Errorf("%w: entry type %q", record.ErrFormat, []byte(f))
			}
			ent.Type = f[0]
		case tagEntryPerm:
			var perm int
			if err = DecodeCount(f, &perm); err == nil && perm > 0o7777 {
				err = fmt.Errorf("%w: permission bits %o", record.ErrFormat, perm)
			}
			ent.Perm = uint16(perm)
		case tagEntryID:
			err = f.NonZero(ent.ID[:])
		case tagEntrySize:
			err = DecodeCount(f, &ent.Size)
		default:
			return record.Unknown(tag)
		}
		return err
	})
	if err == nil && (ent.Type == 0 || ent.ID.IsZero()) {
		err = fmt.Errorf("%w: entry without type or id", record.ErrFormat)
	}
	return ent, err
}

// StageNameLength is how many digits the name of a stage has.
const StageNameLength = 16

// Changed gives the records that change with the end of the restore, which is operation seq: those that are left or gone on with, and those
// of its own.
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
