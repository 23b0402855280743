package refs

import (
	"fmt"

	"rewind/internal/record"
	"rewind/objstore"
)

// Kind says what an operation did. Values are stored: never renumber, never reuse.
type Kind byte

// The kinds of operations.
const (
	KindInit        Kind = 'i' // the project was set up
	KindCheckpoint  Kind = 'c' // a step was added to a session's branch
	KindSafety      Kind = 'y' // the state before a restore was kept
	KindCheckout    Kind = 'o' // the worktree was set to a checkpoint
	KindUndo        Kind = 'u' // the worktree went back along the steps
	KindRedo        Kind = 'r' // and forward again
	KindUndoRestore Kind = 'U' // a restore was reverted
	KindAbort       Kind = 'a' // an unfinished restore was taken back
	KindTag         Kind = 't' // a tag was set or deleted
	KindMove        Kind = 'm' // the project was found at another path
	KindCopy        Kind = 'p' // the store began as a copy of another
	KindEvent       Kind = 'e' // an agent's event that found nothing changed
	KindFork        Kind = 'f' // a session was made of the beginning of another
	KindImport      Kind = 'n' // a session that was there before rewind was taken in
	KindRepair      Kind = 'R' // damage was repaired
	KindLost        Kind = 'l' // what this operation was, or what it made, is lost
	KindPurge       Kind = 'x' // contents were taken out of the store for good
	KindNote        Kind = 'N' // a message was put on a checkpoint that was there
	KindThinned     Kind = 'd' // a checkpoint was made here, a step or the state before a restore, and gc has removed it
)

var kindWords = map[Kind]string{
	KindInit: "init", KindCheckpoint: "checkpoint", KindSafety: "safety", KindCheckout: "checkout", KindUndo: "undo",
	KindRedo: "redo", KindUndoRestore: "undo-restore", KindAbort: "abort", KindTag: "tag", KindMove: "move", KindCopy: "copy",
	KindEvent: "event", KindFork: "fork", KindImport: "import", KindRepair: "repair", KindLost: "lost", KindPurge: "purge", KindThinned: "thinned",
	KindNote: "note",
}

// String is the kind's word, the same in CLI and API.
func (k Kind) String() string {
	if w, ok := kindWords[k]; ok {
		return w
	}
	return fmt.Sprintf("kind %q", byte(k))
}

// KindOf is the kind of a word; 0: there is none.
func KindOf(word string) Kind {
	for k, w := range kindWords {
		if w == word {
			return k
		}
	}
	return 0
}

// IsRestore reports whether operations of this kind write the worktree and can be reverted.
func (k Kind) IsRestore() bool {
	switch k {
	case KindCheckout, KindUndo, KindRedo, KindUndoRestore:
		return true
	}
	return false
}

// Operation is one entry of the log.
type Operation struct {
	Seq        uint64 // its place in the log, from 1; the key, not part of the value
	Time       int64  // unix milliseconds; for people, never for order
	Kind       Kind
	Session    string
	Checkpoint objstore.ID // the checkpoint it made (checkpoint, safety), or that already held the state (event)
	Changes    []Change    // refs it moved, except the branch and cursor that a checkpoint moves from its first parent to itself
	Restore    *Restore    // of a restore or abort
	Message    string      // a tag's name, a path, a note's text, ...; untrusted text
	Turn       uint64      // of checkpoint and event: the session's turn; 0: before the first
	EventID    uint64      // of checkpoint and event: the agent's call of the hook, so that it is recorded once; 0: none
	Cause      Cause       // of event; of checkpoint only its event, and absent where an older program wrote it
	Transcript objstore.ID // of event, fork, import and thinned: the session's conversation from now on; zero: as before
	Thinned    bool        // gc has removed something that it named, which is not told any more
}

// Cause is what an agent was doing; untrusted text.
type Cause struct {
	Event string // the word for the event
	Tool  string
	Call  string // the agent's id of the tool call
}

// Change is one moved ref; a zero id stands for "absent".
type Change struct {
	Name     Name
	Old, New objstore.ID
}

// Restore is what a restore did.
type Restore struct {
	Target objstore.ID // the checkpoint whose tree was laid out
	Safety objstore.ID // the state before
	Scope
	Undoes  uint64      // of an undo-restore: the operation it reverts
	Changed int         // paths that were changed
	Kept    int         // paths that were kept although the target differs
	Result  objstore.ID // the tree that was left, where it is not the target's; zero otherwise
	Files   []File      // session files that were changed, in the order in which they were set
	Fork    string      // the session that was made with it
	Goes    string      // the session whose conversation goes on from here; "": the operation's own
}

// Scope is how much a restore was to set. The wish, the plan, the journal and the operation have it in common.
type Scope struct {
	Paths       PathSet // limited to these paths; empty: the whole tree
	Exact       bool    // what no checkpoint holds, and what another session changed, too
	ContextOnly bool    // the worktree is left alone
}

// File is a session file of an agent that an operation changed. A zero id stands for "absent".
type File struct {
	Path     string
	From, To objstore.ID // transcripts: the bytes before and after
}

// Field tags of the operation record, docs/format.md#records-and-the-operation.
const (
	tagTime = iota + 1
	tagKind
	tagSession
	tagCheckpoint
	tagChanges
	tagRestore
	tagMessage
	tagTurn
	tagEventID
	tagCause
	tagTranscript
	tagThinned
)

const (
	tagCauseEvent = iota + 1
	tagCauseTool
	tagCauseCall
)

const (
	tagTarget = iota + 1
	tagSafety
	tagPaths
	tagExact
	tagUndoes
	tagChanged
	tagKept
	tagResult
	tagFiles
	tagFork
	tagContextOnly
	tagGoes
)

const (
	tagFilePath = iota + 1
	tagFileFrom
	tagFileTo
)

const (
	tagChangeName = iota + 1
	tagChangeOld
	tagChangeNew
)

// Encode gives the operation's value.
func (o *Operation) Encode() []byte {
	var e record.Encoder
	e.Uint(tagTime, uint64(o.Time))
	e.Bytes(tagKind, []byte{byte(o.Kind)})
	e.String(tagSession, o.Session)
	e.NonZero(tagCheckpoint, o.Checkpoint[:])
	e.List(tagChanges, len(o.Changes), func(i int) []byte {
		var c record.Encoder
		c.String(tagChangeName, string(o.Changes[i].Name))
		c.NonZero(tagChangeOld, o.Changes[i].Old[:])
		c.NonZero(tagChangeNew, o.Changes[i].New[:])
		return c.Encoded()
	})
	if r := o.Restore; r != nil {
		var c record.Encoder
		c.NonZero(tagTarget, r.Target[:])
		c.NonZero(tagSafety, r.Safety[:])
		c.List(tagPaths, len(r.Paths), func(i int) []byte { return []byte(r.Paths[i]) })
		c.Bool(tagExact, r.Exact)
		c.Uint(tagUndoes, r.Undoes)
		c.Uint(tagChanged, uint64(r.Changed))
		c.Uint(tagKept, uint64(r.Kept))
		c.NonZero(tagResult, r.Result[:])
		c.List(tagFiles, len(r.Files), func(i int) []byte { return r.Files[i].Encode() })
		c.String(tagFork, r.Fork)
		c.Bool(tagContextOnly, r.ContextOnly)
		c.String(tagGoes, r.Goes)
		e.Bytes(tagRestore, c.Encoded())
	}
	e.String(tagMessage, o.Message)
	e.Uint(tagTurn, o.Turn)
	e.Uint(tagEventID, o.EventID)
	if o.Cause != (Cause{}) {
		var c record.Encoder
		c.String(tagCauseEvent, o.Cause.Event)
		c.String(tagCauseTool, o.Cause.Tool)
		c.String(tagCauseCall, o.Cause.Call)
		e.Bytes(tagCause, c.Encoded())
	}
	e.NonZero(tagTranscript, o.Transcript[:])
	e.Bool(tagThinned, o.Thinned)
	return e.Encoded()
}

// DecodeOperation reads the value of operation seq.
func DecodeOperation(seq uint64, raw []byte) (*Operation, error) {
	return decodeOperation(seq, raw, nil)
}

// words are texts that come again and again in a log: who reads much of it has each once. nil: none is kept.
type words map[string]string

// mostWords is how many are kept: the texts are untrusted.
const mostWords = 64

func (w words) of(f record.Field) string {
	if known, ok := w[string(f)]; ok {
		return known
	}
	text := string(f)
	if w != nil && len(w) < mostWords {
		w[text] = text
	}
	return text
}

func decodeOperation(seq uint64, raw []byte, w words) (*Operation, error) {
	o := &Operation{Seq: seq}
	err := record.Decode(raw, func(tag uint64, f record.Field) (err error) {
		switch tag {
		case tagTime:
			var v uint64
			v, err = f.Uint()
			o.Time = int64(v)
			if o.Time < 0 {
				return fmt.Errorf("%w: time", record.ErrFormat)
			}
		case tagKind:
			if len(f) != 1 || kindWords[Kind(f[0])] == "" {
				return fmt.Errorf("%w: operation kind %q", record.ErrFormat, []byte(f))
			}
			o.Kind = Kind(f[0])
		case tagSession:
			o.Session = w.of(f)
		case tagCheckpoint:
			err = f.NonZero(o.Checkpoint[:])
		case tagChanges:
			err = f.List(func(v record.Field) error {
				c, err := decodeChange(v)
				o.Changes = append(o.Changes, c)
				return err
			})
		case tagRestore:
			o.Restore, err = decodeRestore(f)
		case tagMessage:
			o.Message = string(f)
		case tagTurn:
			o.Turn, err = f.Uint()
		case tagEventID:
			o.EventID, err = f.Uint()
		case tagCause:
			o.Cause, err = decodeCause(f, w)
		case tagTranscript:
			err = f.NonZero(o.Transcript[:])
		case tagThinned:
			o.Thinned, err = f.Bool()
		default:
			return record.Unknown(tag)
		}
		return err
	})
	if err == nil && o.Kind == 0 {
		err = fmt.Errorf("%w: no operation kind", record.ErrFormat)
	}
	if err != nil {
		return nil, fmt.Errorf("operation %d: %w: %w", seq, ErrCorrupt, err)
	}
	return o, nil
}

func decodeCause(raw record.Field, w words) (Cause, error) {
	var c Cause
	err := record.Decode(raw, func(tag uint64, f record.Field) error {
		switch tag {
		case tagCauseEvent:
			c.Event = w.of(f)
		case tagCauseTool:
			c.Tool = w.of(f)
		case tagCauseCall:
			c.Call = string(f)
		default:
			return record.Unknown(tag)
		}
		return nil
	})
	return c, err
}

func decodeChange(raw record.Field) (Change, error) {
	var c Change
	err := record.Decode(raw, func(tag uint64, f record.Field) error {
		switch tag {
		case tagChangeName:
			c.Name = Name(f)
			return c.Name.Check()
		case tagChangeOld:
			return f.NonZero(c.Old[:])
		case tagChangeNew:
			return f.NonZero(c.New[:])
		}
		return record.Unknown(tag)
	})
	if err == nil && c.Name == "" {
		err = fmt.Errorf("%w: change without a name", record.ErrFormat)
	}
	return c, err
}

func decodeRestore(raw record.Field) (*Restore, error) {
	r := &Restore{}
	err := record.Decode(raw, func(tag uint64, f record.Field) (err error) {
		switch tag {
		case tagTarget:
			err = f.NonZero(r.Target[:])
		case tagSafety:
			err = f.NonZero(r.Safety[:])
		case tagPaths:
			err = f.List(func(v record.Field) error {
				if len(v) > 0 && !IsPath(string(v)) {
					return fmt.Errorf("%w: path %.100q", record.ErrFormat, []byte(v))
				}
				r.Paths = append(r.Paths, string(v))
				return nil
			})
		case tagExact:
			r.Exact, err = f.Bool()
		case tagUndoes:
			r.Undoes, err = f.Uint()
		case tagChanged:
			r.Changed, err = smallInt(f)
		case tagKept:
			r.Kept, err = smallInt(f)
		case tagResult:
			err = f.NonZero(r.Result[:])
		case tagFiles:
			err = f.List(func(v record.Field) error {
				file, err := DecodeFile(v)
				r.Files = append(r.Files, file)
				return err
			})
		case tagFork:
			r.Fork = string(f)
		case tagContextOnly:
			r.ContextOnly, err = f.Bool()
		case tagGoes:
			r.Goes = string(f)
		default:
			return record.Unknown(tag)
		}
		return err
	})
	return r, err
}

func smallInt(f record.Field) (int, error) {
	v, err := f.Uint()
	if err == nil && v > 1<<40 {
		err = fmt.Errorf("%w: count %d", record.ErrFormat, v)
	}
	return int(v), err
}
