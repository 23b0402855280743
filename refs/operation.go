package refs

import (
	"fmt"

	"rewind/internal/record"
	"rewind/internal/value"
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
	KindSwitch      Kind = 'w' // the worktree was set to the newest state of a session
	KindPick        Kind = 'k' // a change was brought into the worktree
	KindRevert      Kind = 'v' // a change was taken out of the worktree
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
	KindRename      Kind = 'T' // a session was given another title
	KindDelete      Kind = 'D' // session files were removed
	KindArchive     Kind = 'A' // sessions were taken out of lists
	KindUnarchive   Kind = 'B' // and put back into them
	KindPromote     Kind = 'P' // a session was made the main line of its family
	KindBringBack   Kind = 'b' // a session file that its agent had lost was laid out again
	KindUndoForks   Kind = 'M' // one of these six was reverted
	KindThinned     Kind = 'd' // a checkpoint was made here, a step or the state before a restore, and gc has removed it
)

var kindWords = map[Kind]string{
	KindInit: "init", KindCheckpoint: "checkpoint", KindSafety: "safety", KindCheckout: "checkout", KindUndo: "undo",
	KindRedo: "redo", KindUndoRestore: "undo-restore", KindAbort: "abort", KindTag: "tag", KindMove: "move",
	KindCopy:  "copy",
	KindEvent: "event", KindFork: "fork", KindImport: "import", KindRepair: "repair", KindLost: "lost",
	KindPurge:  "purge",
	KindSwitch: "switch", KindThinned: "thinned", KindPick: "pick", KindRevert: "revert",
	KindNote: "note", KindRename: "rename", KindDelete: "delete", KindArchive: "archive", KindUnarchive: "unarchive",
	KindPromote: "promote", KindBringBack: "bring-back", KindUndoForks: "undo-forks",
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
	case KindCheckout, KindSwitch, KindUndo, KindRedo, KindUndoRestore, KindPick, KindRevert:
		return true
	}
	return false
}

// Manages reports whether operations of this kind change sessions among others and no file of the worktree; they can be
// reverted.
func (k Kind) Manages() bool {
	switch k {
	case KindRename, KindDelete, KindArchive, KindUnarchive, KindPromote, KindBringBack, KindUndoForks:
		return true
	}
	return false
}

// CanUndo reports whether operations of this kind can be reverted, while the state before them is there.
func (k Kind) CanUndo() bool { return k.IsRestore() || k.Manages() }

// Undoes reports whether an operation of this kind takes another one back.
func (k Kind) Undoes() bool { return k == KindUndoRestore || k == KindUndoForks }

// What an operation that can be reverted went about, in one word: the same in CLI and API.
const (
	whatCode     = "code"     // the worktree alone
	whatContext  = "context"  // the conversation alone
	whatBoth     = "both"     // both
	whatInPlace  = "in-place" // both, and a session file itself was cut or came back
	whatPaths    = "paths"    // some paths of the worktree
	whatMerge    = "merge"    // a change was merged into the worktree, or out of it
	whatSessions = "sessions" // sessions among others
)

// What says what an operation that can be reverted went about; "" of any other.
func (o *Operation) What() string {
	r := o.Restore
	switch {
	case r == nil || !o.Kind.CanUndo():
		return ""
	case o.Kind.Manages():
		return whatSessions
	case o.Kind == KindPick || o.Kind == KindRevert:
		return whatMerge
	case len(r.Paths) > 0:
		return whatPaths
	case r.ContextOnly:
		return whatContext
	}
	for _, f := range r.Files {
		if !f.From.IsZero() && !f.To.IsZero() {
			return whatInPlace
		}
	}
	if len(r.Files) > 0 || r.Goes != "" || o.Kind == KindSwitch { // after a switch the conversation is the branch's
		return whatBoth
	}
	return whatCode
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
	Undoes    uint64          // of an undo-restore: the operation it reverts
	Changed   int             // paths that were changed
	Kept      int             // paths that were kept although the target differs
	Beside    int             // of an undo-restore, how many of those the restore that it undoes had not set
	Result    objstore.ID     // the tree that was left, where it is not the target's; zero otherwise
	Files     []File          // session files that were changed, in the order in which they were set
	Fork      string          // the session that was made with it
	Goes      string          // the session whose conversation goes on from here; "": the operation's own
	Managed   []value.Managed // of an operation that manages sessions: what became of each
	TakesBack bool            // it took back what a session's line did: redo goes to where one was
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

// headTag is the last field of what who passes over operations chooses them by.
const headTag = 3

// How an operation stands in the log, docs/format.md#records-and-the-operation.
var operationTable = record.New(
	record.Uint(1, func(o *Operation) *int64 { return &o.Time }),
	record.Uint(2, func(o *Operation) *Kind { return &o.Kind }).Required().Must(func(o *Operation) bool { return kindWords[o.Kind] != "" }),
	record.Word(headTag, func(o *Operation) *string { return &o.Session }),
	record.ID(4, func(o *Operation) *objstore.ID { return &o.Checkpoint }),
	record.Records(5, changeTable, func(o *Operation) *[]Change { return &o.Changes }),
	record.Optional(6, restoreTable, func(o *Operation) **Restore { return &o.Restore }),
	record.String(7, func(o *Operation) *string { return &o.Message }),
	record.Uint(8, func(o *Operation) *uint64 { return &o.Turn }),
	record.Uint(9, func(o *Operation) *uint64 { return &o.EventID }),
	record.Record(10, causeTable, func(o *Operation) *Cause { return &o.Cause }),
	record.ID(11, func(o *Operation) *objstore.ID { return &o.Transcript }),
	record.Bool(12, func(o *Operation) *bool { return &o.Thinned }),
)

var changeTable = record.New(
	record.String(1, func(c *Change) *Name { return &c.Name }).Required().Must(func(c *Change) bool { return c.Name.Check() == nil }),
	record.ID(2, func(c *Change) *objstore.ID { return &c.Old }),
	record.ID(3, func(c *Change) *objstore.ID { return &c.New }),
)

var restoreTable = record.New(
	record.ID(1, func(r *Restore) *objstore.ID { return &r.Target }),
	record.ID(2, func(r *Restore) *objstore.ID { return &r.Safety }),
	record.Strings(3,
		func(r *Restore) *PathSet { return &r.Paths }).Must(func(r *Restore) bool { return r.Paths.Valid() }),
	record.Bool(4, func(r *Restore) *bool { return &r.Exact }),
	record.Uint(5, func(r *Restore) *uint64 { return &r.Undoes }),
	record.Count(6, func(r *Restore) *int { return &r.Changed }),
	record.Count(7, func(r *Restore) *int { return &r.Kept }),
	record.ID(8, func(r *Restore) *objstore.ID { return &r.Result }),
	record.Records(9, FileTable, func(r *Restore) *[]File { return &r.Files }),
	record.String(10, func(r *Restore) *string { return &r.Fork }),
	record.Bool(11, func(r *Restore) *bool { return &r.ContextOnly }),
	record.String(12, func(r *Restore) *string { return &r.Goes }),
	record.Records(13, ManagedTable, func(r *Restore) *[]value.Managed { return &r.Managed }),
	record.Bool(14, func(r *Restore) *bool { return &r.TakesBack }),
	record.Count(15, func(r *Restore) *int { return &r.Beside }),
)

// ManagedTable is how what became of a session stands in operations and journals.
var ManagedTable = record.New(
	record.Word(1, func(m *value.Managed) *string { return &m.Session }).Required().Must(
		func(m *value.Managed) bool { return Session(m.Session).Check() == nil }),
	record.Uint(2, func(m *value.Managed) *value.Standing { return &m.Was }).Must(func(m *value.Managed) bool { return m.Was.Valid() }),
	record.Uint(3, func(m *value.Managed) *value.Standing { return &m.Now }).Must(func(m *value.Managed) bool { return m.Now.Valid() }),
	record.String(4, func(m *value.Managed) *value.Text { return &m.WasTitle }),
	record.String(5, func(m *value.Managed) *value.Text { return &m.Title }),
)

// FileTable is how a session file stands in operations and journals.
var FileTable = record.New(
	record.String(1,
		func(f *File) *string { return &f.Path }).Required().Must(func(f *File) bool { return isFilePath(f.Path) }),
	record.ID(2, func(f *File) *objstore.ID { return &f.From }),
	record.ID(3, func(f *File) *objstore.ID { return &f.To }),
).Then(func(f *File) error {
	if f.From == f.To {
		return fmt.Errorf("%w: session file %.100q does not change", record.ErrFormat, f.Path)
	}
	return nil
})

var causeTable = record.New(
	record.Word(1, func(c *Cause) *string { return &c.Event }),
	record.Word(2, func(c *Cause) *string { return &c.Tool }),
	record.String(3, func(c *Cause) *string { return &c.Call }),
)

// Texts puts to(s) in place of every text s of an operation.
func (o *Operation) Texts(to func(string) string) { operationTable.Texts(o, to) }

// Encode gives the operation's value.
func (o *Operation) Encode() []byte { return operationTable.Encode(o) }

// DecodeOperation reads the value of operation seq.
func DecodeOperation(seq uint64, raw []byte) (*Operation, error) {
	return decodeOperation(seq, raw, nil)
}

func decodeOperation(seq uint64, raw []byte, known record.Words) (*Operation, error) {
	o := &Operation{Seq: seq}
	if err := operationTable.DecodeWith(raw, o, known); err != nil {
		return nil, fmt.Errorf("operation %d: %w: %w", seq, ErrCorrupt, err)
	}
	return o, nil
}

// decodeHead reads when the operation was, what it is, and whose.
func (o *Operation) decodeHead(raw []byte, known record.Words) error {
	return operationTable.DecodeHead(headTag, raw, o, known)
}
