package engine

import (
	"errors"
	"fmt"

	"rewind/internal/agentfiles"
	"rewind/internal/kv"
	"rewind/internal/record"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// journal is an unfinished restore: all that is needed to finish it or to take it back. It is written in the same
// durable batch as the safety checkpoint, before the first change, and deleted in the batch that records the end.
type journal struct {
	Kind    refs.Kind
	Session string // whose cursor moves
	Target  objstore.ID
	Safety  objstore.ID
	Paths   []string
	Exact   bool
	Undoes  uint64
	Before  objstore.ID // the cursor before
	After   objstore.ID // the cursor after
	Stage   string      // name in the stage directory
	Kept    int
	Steps   []tree.Step

	ContextOnly bool
	Files       []refs.File // session files, in the order in which they are set
	Made        *Session    // the session that a fork makes; nil: none
	Moved       *Session    // a session as it is afterwards; nil: none
	Goes        string      // the session whose conversation goes on from here; "": the one whose cursor moves; since store format 5

	// Of this process alone:
	left   []refs.File        // with the code alone: session files that had been set before, and stay so
	must   bool               // without the conversation the restore is of no use
	own    agentfiles.Folders // where the agents' folders of the person who asks are
	staged bool               // the stage is there, durably
	trees  *tree.Memo         // reads what the plan has read already; nil: it was another process that made it
}

var journalKey = []byte{kv.PrefixJournal}

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
	tagJGoes // since store format 5
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

func (j *journal) encode() []byte {
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

func decodeJournal(raw []byte) (*journal, error) {
	j := &journal{Session: Manual}
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
			err = decodeCount(f, &j.Kept)
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
		return nil, fmt.Errorf("engine: journal: %w: %w", kv.ErrCorrupt, err)
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
			if err = decodeCount(f, &perm); err == nil && perm > 0o7777 {
				err = fmt.Errorf("%w: permission bits %o", record.ErrFormat, perm)
			}
			ent.Perm = uint16(perm)
		case tagEntryID:
			err = f.NonZero(ent.ID[:])
		case tagEntrySize:
			err = decodeCount(f, &ent.Size)
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

// readJournal returns the unfinished restore, or nil.
func (e *Engine) readJournal() (*journal, error) {
	var j *journal
	err := e.db.View(journalKey, func(v []byte) (err error) {
		j, err = decodeJournal(v)
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, nil
	}
	return j, err
}

// checkWhole refuses every change while a restore is unfinished; e.mu is held.
func (e *Engine) checkWhole() error {
	if e.whole {
		return nil
	}
	j, err := e.readJournal()
	if err == nil && j != nil {
		err = &HalfDoneError{Target: j.Target}
	}
	e.whole = err == nil
	return err
}
