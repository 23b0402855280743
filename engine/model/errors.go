package model

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"rewind/internal/agentfiles"
	"rewind/internal/naming"
	"rewind/internal/value"
	"rewind/objstore"
)

// Before a project is open.
var (
	// ErrNoProject is returned where no project is at or above a directory.
	ErrNoProject = errors.New("not a rewind project")
	// ErrBadRoot is returned for a directory that must not become a project.
	ErrBadRoot = errors.New("this directory cannot be a project")
	// ErrStoreGone is returned for a project whose store is not where its marker says.
	ErrStoreGone = errors.New("the store is missing")
	// ErrConfig is returned for a setting that does not exist or a value it cannot have.
	ErrConfig = errors.New("bad setting")
)

// Naming things.
var (
	// ErrNotFound is returned for a checkpoint, path, tag or operation that does not exist.
	ErrNotFound = errors.New("not found")
	// ErrTagExists is returned for a tag that names another checkpoint.
	ErrTagExists = errors.New("the tag exists")
	// ErrWhichSession is returned when a command could mean several sessions that are at work.
	ErrWhichSession = errors.New("several sessions are at work here")
	// ErrNoBranchBefore is returned where the project has stood on no session before the present one; it is an
	// ErrNotFound.
	ErrNoBranchBefore = fmt.Errorf("%w: the project was on no other session before", ErrNotFound)
	// ErrNoRestore is returned where nothing is left that undo-restore could take back; it is an ErrNotFound.
	ErrNoRestore = fmt.Errorf("%w: no restore is left to undo", ErrNotFound)
	// ErrUsage is returned for a request that makes no sense as it is put.
	ErrUsage = errors.New("bad request")
)

// usageError is an ErrUsage that says only what is wrong.
type usageError struct{ error }

func (e usageError) Is(target error) bool { return target == ErrUsage }
func (e usageError) Unwrap() error        { return e.error }

// Usagef makes an ErrUsage; the text is fmt.Errorf's, without the words of ErrUsage, which are for no person.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// TooShortError is returned for digits that are too few to name a checkpoint by its id; it is an ErrNotFound.
type TooShortError struct {
	Name  string
	Begin []string // ids that begin so, as short as they can be given, the newest first
	More  bool     // and there are others
}

func (e *TooShortError) Error() string {
	text := fmt.Sprintf("checkpoint %q: too short: %d digits at least; ", e.Name, naming.MinDigits)
	switch {
	case len(e.Begin) == 0:
		return text + "no id begins so, and no tag has that name"
	case e.More:
		return text + strings.Join(e.Begin, ", ") + " and others begin so"
	case len(e.Begin) == 1:
		return text + e.Begin[0] + " begins so"
	}
	return text + strings.Join(e.Begin, ", ") + " begin so"
}

// About is its subject.
func (e *TooShortError) About() (op, subject string) { return "checkpoint", e.Name }

// Is makes it an ErrNotFound.
func (e *TooShortError) Is(target error) bool { return target == ErrNotFound }

// IsSessionError is returned for the name of a checkpoint that is a session's; it is an ErrNotFound.
type IsSessionError struct {
	Name    string // as it was asked for
	Session string
	Short   string // the beginning of its id that no other session here has
}

func (e *IsSessionError) Error() string {
	return fmt.Sprintf("checkpoint %q: %v: it is session %s", e.Name, ErrNotFound, e.Session)
}

// About is its subject.
func (e *IsSessionError) About() (op, subject string) { return "checkpoint", e.Name }

// Is makes it an ErrNotFound.
func (e *IsSessionError) Is(target error) bool { return target == ErrNotFound }

// NoTurnError is returned for a turn that a session has not; it is an ErrNotFound.
type NoTurnError struct {
	Session string
	Turn    uint64
	Turns   uint64 // so many it has
	Before  bool   // it was asked for as what is before the turn behind it
	Whose   string // what the session is called beside another one; "": the project has no other one
}

func (e *NoTurnError) Error() string {
	text := fmt.Sprintf("checkpoint %q: %v: ", e.name(), ErrNotFound)
	if e.NoSession() {
		return text + "no agent's session with turns is known here"
	}
	has := fmt.Sprintf("%d turns", e.Turns)
	if e.Turns == 1 {
		has = "1 turn"
	}
	if e.Turn == 0 {
		const none = "no state before the first prompt of session %s was captured; it has %s"
		return text + fmt.Sprintf(none, e.Session, has)
	}
	return text + fmt.Sprintf("session %s has %s", e.Session, has)
}

// name is the turn as it was asked for.
func (e *NoTurnError) name() string {
	if e.Before {
		return fmt.Sprintf("before:%d", e.Turn+1)
	}
	return naming.TurnName(e.Turn, "")
}

// About is its subject.
func (e *NoTurnError) About() (op, subject string) { return "checkpoint", e.name() }

// NoSession reports whether no session was meant, for none here has turns.
func (e *NoTurnError) NoSession() bool { return e.Session == Manual }

// Is makes it an ErrNotFound.
func (e *NoTurnError) Is(target error) bool { return target == ErrNotFound }

// NoCodeError is returned for a moment of which only the conversation is known; it is an ErrNotFound.
type NoCodeError struct {
	Op     string
	Name   string // as it was asked for
	Moment string // the end of the turn, as a command takes it; "": it is none
}

func (e *NoCodeError) Error() string {
	return fmt.Sprintf("%s %q: no code was captured then", e.Op, e.Name)
}

// About is its subject.
func (e *NoCodeError) About() (op, subject string) { return e.Op, e.Name }

// Is makes it an ErrNotFound.
func (e *NoCodeError) Is(target error) bool { return target == ErrNotFound }

// NoForkCodeError is returned for a fork point of which no code is there; it is an ErrNotFound.
type NoForkCodeError struct {
	Name    string // as it was asked for
	Session string // the fork
	Why     string
}

func (e *NoForkCodeError) Error() string {
	return fmt.Sprintf("checkpoint %q: %v: there is no code of where %s was forked: %s", e.Name, ErrNotFound, e.Session, e.Why)
}

// About is its subject.
func (e *NoForkCodeError) About() (op, subject string) { return "checkpoint", e.Name }

// Is makes it an ErrNotFound.
func (e *NoForkCodeError) Is(target error) bool { return target == ErrNotFound }

// CommitsError is returned for a name with which the hashes of several git commits begin.
type CommitsError struct{ Commits []string } // the newest first

func (e *CommitsError) Error() string { return "several git commits begin so" }

// NoStepError is returned for an undo or a redo of more steps than there are; it is an ErrNotFound.
type NoStepError struct {
	Ahead  bool     // of a redo
	There  int      // so many there are
	Shared []string // other sessions that may have written what the session did, which stays
}

func (e *NoStepError) Error() string {
	text, end, lie := "undo: no step to go back to: ", "this is the first one", "before this one"
	if e.Ahead {
		text, end, lie = "redo: no step to go forward to: ", "none lies ahead", "ahead"
	}
	switch {
	case len(e.Shared) > 0:
		_, id := SplitSession(e.Shared[0])
		return text + "what it did stays, session " + naming.ShortID(id) + " may have written it"
	case e.There == 0:
		return text + end
	case e.There == 1:
		return text + "only one lies " + lie
	}
	return fmt.Sprintf("%sonly %d lie %s", text, e.There, lie)
}

// Is makes it an ErrNotFound.
func (e *NoStepError) Is(target error) bool { return target == ErrNotFound }

// EarlierSessionError is returned for an undo of more steps than a session has, where an earlier one's lie before them;
// it is an ErrNotFound.
type EarlierSessionError struct {
	There   int    // so many the session has, and the person before it
	Session string // the earlier one
}

func (e *EarlierSessionError) Error() string {
	_, id := SplitSession(e.Session)
	const text = "undo: %s of this session: the one before is of session %s"
	switch e.There {
	case 0:
		return fmt.Sprintf(text, "nothing more", naming.ShortID(id))
	case 1:
		return fmt.Sprintf(text, "only one step", naming.ShortID(id))
	}
	return fmt.Sprintf(text, fmt.Sprintf("only %d steps", e.There), naming.ShortID(id))
}

// Is makes it an ErrNotFound.
func (e *EarlierSessionError) Is(target error) bool { return target == ErrNotFound }

// NoTurnAheadError is returned for going forward over more turns than lie ahead; it is an ErrNotFound.
type NoTurnAheadError struct {
	There int
	Whose string // as in NoTurnError
}

func (e *NoTurnAheadError) Error() string {
	switch e.There {
	case 0:
		return "no turn lies behind the one where it stands"
	case 1:
		return "only one turn lies behind the one where it stands"
	}
	return fmt.Sprintf("only %d turns lie behind the one where it stands", e.There)
}

// Is makes it an ErrNotFound.
func (e *NoTurnAheadError) Is(target error) bool { return target == ErrNotFound }

// Conversations.
var (
	// ErrNoConversation is returned for a moment whose conversation there is none of.
	ErrNoConversation = errors.New("there is no conversation")
	// ErrRunning is returned for a session file that must not change while the agent has it open.
	ErrRunning = errors.New("the agent has the session open")
	// ErrDependent is returned for a session file whose end other session files go on from.
	ErrDependent = errors.New("other sessions go on from what would be cut off")
)

// NoConversationError says why a moment has no conversation; it is an ErrNoConversation.
type NoConversationError struct {
	Moment  string
	Why     string
	Cause   error  // may be nil
	Instead string // how the id of a session begins that has one; "": none was looked for, or
	None    bool   // no session of the project has one
	Behind  string // the session whose conversation begins behind the moment; "": that is not why
}

func (e *NoConversationError) Error() string {
	if e.None {
		return fmt.Sprintf("%v yet: no agent's session is known here", ErrNoConversation)
	}
	return fmt.Sprintf("%s: %v: %s", e.Moment, ErrNoConversation, e.Why)
}

// Is makes it an ErrNoConversation.
func (e *NoConversationError) Is(target error) bool { return target == ErrNoConversation }

// Unwrap is the cause.
func (e *NoConversationError) Unwrap() error { return e.Cause }

// RunningError says which session an agent has open; it is an ErrRunning.
type RunningError struct {
	Session string
	How     string // by what that was seen
}

func (e *RunningError) Error() string {
	return fmt.Sprintf("session %s: %v (%s)", e.Session, ErrRunning, e.How)
}

// About is its subject.
func (e *RunningError) About() (op, subject string) { return "session", e.Session }

// Is makes it an ErrRunning.
func (e *RunningError) Is(target error) bool { return target == ErrRunning }

// ElsewhereError is returned for going to a session that goes on in another worktree of the family; nothing was
// touched.
type ElsewhereError struct{ Session, Root string } // Session "": to the worktree

func (e *ElsewhereError) Error() string {
	if e.Session == "" {
		return fmt.Sprintf("%s is another worktree, with sessions of its own", e.Root)
	}
	return fmt.Sprintf("session %s: it goes on in another worktree, %s", e.Session, e.Root)
}

// About is its subject.
func (e *ElsewhereError) About() (op, subject string) { return "session", e.Session }

// NotInPlaceError says why a session file cannot be cut where it is asked for; nothing was touched.
type NotInPlaceError struct {
	Session string
	Why     string
}

func (e *NotInPlaceError) Error() string {
	return fmt.Sprintf("session %s: it cannot be cut in place: %s", e.Session, e.Why)
}

// About is its subject.
func (e *NotInPlaceError) About() (op, subject string) { return "session", e.Session }

// DependentError names the session files that go on from the end of another; it is an ErrDependent.
type DependentError struct {
	Session string
	Paths   []string
}

func (e *DependentError) Error() string {
	return fmt.Sprintf("session %s: %v: %s", e.Session, ErrDependent, strings.Join(e.Paths, ", "))
}

// About is its subject.
func (e *DependentError) About() (op, subject string) { return "session", e.Session }

// Is makes it an ErrDependent.
func (e *DependentError) Is(target error) bool { return target == ErrDependent }

// ForeignFileError says that something in the store names a session file that is none of the person's: nothing was
// touched. Its cause is an agentfiles.ErrForeign, ErrElsewhere or ErrNotPlain.
type ForeignFileError struct {
	In    string // what names it
	Cause error
}

func (e *ForeignFileError) Error() string {
	if e.NoHome() {
		return e.In + ": where its agent has its folder is not known: no home directory was given"
	}
	return fmt.Sprintf("%s names a session file that is not yours to change: %v", e.In, e.Cause)
}

// Unwrap is the cause.
func (e *ForeignFileError) Unwrap() error { return e.Cause }

// NoHome reports whether it was not said in which home directory the agent's folder is.
func (e *ForeignFileError) NoHome() bool { return errors.Is(e.Cause, agentfiles.ErrNoFolder) }

// Foreign reports whether no agent has a session file of such a name: the store was prepared by somebody, or is
// damaged.
func (e *ForeignFileError) Foreign() bool { return errors.Is(e.Cause, agentfiles.ErrForeign) }

// Restoring.
var (
	// ErrHalfDone is returned by every change while a checkout is unfinished.
	ErrHalfDone = errors.New("a checkout is half done")
	// ErrNotHalfDone is returned by Continue and Abort when there is nothing to continue.
	ErrNotHalfDone = errors.New("no checkout is half done")
)

// PathError says that a checkpoint does not hold a path.
type PathError struct {
	Checkpoint objstore.ID
	Path       string
}

func (e *PathError) Error() string {
	return fmt.Sprintf("%q in checkpoint %s: not found", e.Path, e.Checkpoint.Short())
}

// About is its subject.
func (e *PathError) About() (op, subject string) { return "path", e.Path }

// Is makes a PathError an ErrNotFound.
func (e *PathError) Is(target error) bool { return target == ErrNotFound }

// UnsavedError says which paths a restore would have overwritten although their bytes cannot be stored. Nothing was
// touched.
type UnsavedError struct{ Paths []Blocked }

// Blocked is a path and the reason, a note reason of docs/format.md#tree-and-note.
type Blocked struct {
	Path   string
	Reason byte
}

func (e *UnsavedError) Error() string {
	return fmt.Sprintf("%d paths would be overwritten although they cannot be stored, first %q", len(e.Paths), e.Paths[0].Path)
}

// HalfDoneError describes the unfinished checkout; it is an ErrHalfDone.
type HalfDoneError struct{ Target objstore.ID }

func (e *HalfDoneError) Error() string {
	return fmt.Sprintf("%v: to %s", ErrHalfDone, e.Target.Short())
}

// Is makes a HalfDoneError an ErrHalfDone.
func (e *HalfDoneError) Is(target error) bool { return target == ErrHalfDone }

// UndoError is why an operation cannot be taken back.
func UndoError(seq uint64, err error) error {
	return &value.OpError{Op: "undo-restore", Subject: strconv.FormatUint(seq, 10), Err: err}
}
