package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"syscall"

	"rewind/api"
	"rewind/engine/bisect"
	"rewind/engine/compare"
	"rewind/engine/gc"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/engine/project"
	"rewind/engine/restore"
	"rewind/engine/sessions"
	"rewind/internal/kv"
	"rewind/internal/record"
	"rewind/internal/relay"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
	"rewind/tree"
)

// rule maps errors to a word of the API and a remedy.
type rule struct {
	is   func(error) bool
	word string
	hint string
}

func is(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }

func as[T error](err error) bool {
	var t T
	return errors.As(err, &t)
}

// noTrash reports whether the disk has no room for the trash's note.
func noTrash(err error) bool {
	return errors.Is(err, project.ErrTrash) && errors.Is(err, syscall.ENOSPC)
}

const (
	turnsHint = "'rewind turns' lists the turns; turn:<n> is the end of one"
	aheadHint = "'rewind future' lists the turns that going back left behind"
)

// rules are tried in this order: what leaves the worktree unfinished first, then the most particular.
var rules = []rule{
	{
		is(model.ErrHalfDone), api.WordHalfDone,
		"'rewind checkout --continue' finishes it, 'rewind checkout --abort' takes it back",
	},
	{is(context.Canceled), api.WordInterrupted, ""},
	{swept, api.WordFailed, "run it again: gc in the other worktree removed what this read"},
	{corruptBeside, api.WordCorrupt, "'rewind verify' there lists what is damaged"},
	{as[*model.ElsewhereError], api.WordUsage, ""},
	{is(project.ErrNoWorktree), api.WordNotFound, "'rewind worktrees' lists the directories of this project's family"},
	{
		isForeign, api.WordCorrupt,
		"the store is damaged, or somebody prepared it; --code-only sets the files and touches no session file: " +
			"'rewind checkout --abort --code-only'",
	},
	{noHome, api.WordUsage, "give env with the caller's home directory; a command takes it from HOME"},
	{
		as[*model.ForeignFileError], api.WordFailed,
		"set CLAUDE_CONFIG_DIR, CODEX_HOME, ... as the agent has them; --code-only sets the files and touches no " +
			"session file: 'rewind checkout --abort --code-only'",
	},
	{as[*restore.PlanChangedError], api.WordChanged, "--dry-run shows what would be done now, and its plan"},
	{is(restore.ErrMeanwhile), api.WordChanged, "run it again to see the current state"},
	{is(restore.ErrExchanged), api.WordFailed, "put the project's directory back, then try again"},
	{is(model.ErrNotHalfDone), api.WordNotFound, ""},
	{
		is(project.ErrUntrusted), api.WordNoProject,
		"'rewind init' begins a store of your own; 'rewind init --adopt' shows the one that is there, and asks",
	},
	{
		as[*project.StoreTakenError], api.WordNoProject,
		"bring it back: 'git stash pop' if a stash took it, mount the disk, or use a backup; 'rewind init' begins anew",
	},
	{
		is(project.ErrNotMounted), api.WordNoProject,
		"mount the disk; if the directory was emptied or replaced on purpose, 'rewind init' takes it for the project again",
	},
	{
		as[*blindError], api.WordNoProject,
		"run 'rewind init' here to capture it; 'rewind -C <directory>' works on the project around it",
	},
	{
		as[*project.LinkedError], api.WordNoProject,
		"run 'rewind init' in it; with init.worktrees an agent's first event sets it up",
	},
	{is(model.ErrNoProject), api.WordNoProject, "run 'rewind init' in the project's directory"},
	{
		is(model.ErrStoreGone), api.WordNoProject,
		"put the store back, set REWIND_HOME to where it is, or run 'rewind init' to begin a new one; 'rewind stores' lists those " +
			"that are here",
	},
	{noDirectory, api.WordNoProject, "'rewind stores' lists the projects that are known, with their directories"},
	{is(model.ErrBadRoot), api.WordUsage, "run 'rewind init' in the directory of one project"},
	{is(kv.ErrBusy), api.WordBusy, "wait for the other process, or end it; the lock goes with it"},
	{
		is(kv.ErrReadOnly), api.WordCorrupt,
		"check the disk; the store accepts writes again some minutes after the last failure",
	},
	{
		is(kv.ErrUnwritable), api.WordPermission,
		"make the store writable; 'rewind checkout <checkpoint> --into <directory>' writes one to another disk",
	},
	{is(syscall.EROFS), api.WordPermission, "mount it writable"},
	{is(kv.ErrNewerFormat), api.WordNewerFormat, "upgrade rewind; nothing was touched"},
	{
		is(kv.ErrEarlierFormat), api.WordNewerFormat,
		"move that directory away, then 'rewind init' begins a new store; nothing was touched",
	},
	{
		is(kv.ErrForeign), api.WordCorrupt,
		"the store's directory holds something else: set REWIND_HOME to another directory; if it was a store, 'rewind verify --repair'",
	},
	{
		is(objstore.ErrPurged), api.WordNotFound,
		"it was taken out of the store on purpose, for good; 'rewind ops' shows when",
	},
	{
		as[*oplog.LostError], api.WordCorrupt,
		"what is whole can be restored: 'rewind checkout <checkpoint> -- <path>'; 'rewind verify' lists what is lost",
	},
	{
		is(objstore.ErrLost), api.WordCorrupt,
		"it was damaged, and nothing was there to repair it from; 'rewind verify' lists what is lost",
	},
	{as[*objstore.AmbiguousError], api.WordAmbiguous, "give more digits"},
	{
		as[*compare.AmbiguousError], api.WordAmbiguous,
		"write session:<id> for the session, or more digits of the checkpoint",
	},
	{as[*model.CommitsError], api.WordAmbiguous, "give more digits"},
	{
		is(model.ErrNoBranchBefore), api.WordNotFound,
		"'rewind sessions' lists the sessions; 'rewind switch <session>' goes to one",
	},
	{
		is(model.ErrNoRestore), api.WordNotFound,
		"'rewind ops' lists the restores, and which of them were undone",
	},
	{is(model.ErrWhichSession), api.WordAmbiguous, "say which one with --session"},
	{
		as[*model.PathError], api.WordNotFound,
		"paths after '--' are relative to the current directory, that of 'rewind cat' to the " +
			"project; 'rewind diff <checkpoint> --name-only' lists what differs",
	},
	{as[*model.IsSessionError], api.WordNotFound, ""},
	{as[*model.NoTurnError], api.WordNotFound, turnsHint},
	{is(transcript.ErrEmpty), api.WordNotFound, turnsHint},
	{is(transcript.ErrNoTurn), api.WordNotFound, turnsHint},
	{
		is(model.ErrNoConversation), api.WordNotFound,
		"'rewind turns' lists the turns, 'rewind sessions' the sessions, with what is captured of them",
	},
	{is(history.ErrReplaced), api.WordChanged, "ask again without a place to get the newest page"},
	{
		as[*model.WithinCallError], api.WordWithinCall,
		"type it yourself in a terminal of your own; a program that is not the agent's can run it after the call",
	},
	{noTrash, api.WordNoSpace, "nothing was removed; --now deletes it for good, without the trash"},
	{is(model.ErrRunning), api.WordBusy, "close it, or --force"},
	{
		as[*model.NotInPlaceError], api.WordFailed,
		"without --in-place a new session is made, and this one stays as it is",
	},
	{is(model.ErrDependent), api.WordFailed, "without --in-place a new session is made, and this one stays as it is"},
	{
		as[*model.NoStepError], api.WordNotFound,
		"'rewind list' shows the steps; 'rewind checkout <checkpoint>' goes to any of them, 'rewind undo' and 'rewind redo' to " +
			"the next one",
	},
	{
		as[*model.EarlierSessionError], api.WordNotFound,
		"'rewind switch <session>' goes there; 'rewind undo --session <session>' takes back what it did last",
	},
	{
		as[*model.NoForkCodeError], api.WordNotFound,
		"'rewind forks show <fork>' tells what is known of it; 'rewind fork turn:<n>' takes the conversation alone",
	},
	{as[*model.NoTurnAheadError], api.WordNotFound, aheadHint},
	{is(bisect.ErrNone), api.WordNotFound, "'rewind bisect start' begins one; 'rewind bisect run' leads one by itself"},
	{is(bisect.ErrOvertaken), api.WordBusy, "'rewind bisect' shows what is asked now"},
	{
		is(bisect.ErrBroken), api.WordFailed,
		"'rewind bisect reset' removes it; the project and its checkpoints are not affected",
	},
	{is(project.ErrNothingToAdopt), api.WordNotFound, "'rewind stores' lists the stores that are known here"},
	{is(project.ErrNoStore), api.WordNotFound, "'rewind stores' lists the stores that are known here"},
	{noSession, api.WordNotFound, "'rewind sessions' lists the sessions"},
	{
		is(model.ErrNotFound), api.WordNotFound,
		"'rewind list --all', 'rewind turns' and 'rewind ops' list what exists; put paths after '--'",
	},
	{is(refs.ErrNotFound), api.WordNotFound, "'rewind ops --all' lists every operation"},
	{as[*model.UnsavedError], api.WordUnsaved, ""},
	{
		as[*model.LastCopyError], api.WordUnsaved,
		"'rewind forks archive' takes it out of lists and keeps it; --yes deletes it",
	},
	{
		as[*model.NeededError], api.WordUnsaved,
		"delete those first, or 'rewind forks archive' takes it out of lists and keeps it",
	},
	{
		as[*model.ForkLimitError], api.WordNoSpace,
		"'rewind forks prune --unused' deletes those that nobody has used; 'rewind config' shows and sets the limit",
	},
	{is(model.ErrTagExists), api.WordUsage, "--force moves it"},
	{is(model.ErrUsage), api.WordUsage, ""},
	{
		is(gc.ErrClock), api.WordFailed,
		"set the clock; if it is right and the project has rested for long, 'rewind tag <name>' makes an operation of today, " +
			"then try again",
	},
	{is(gc.ErrCollecting), api.WordBusy, "wait for the other gc"},
	{is(model.ErrConfig), api.WordUsage, "'rewind config' lists the settings"},
	{is(refs.ErrBadName), api.WordUsage, ""},
	{
		isNoSpace, api.WordNoSpace,
		"free some space and try again; reading still works: 'rewind checkout <checkpoint> --into <directory>' writes one to " +
			"another disk",
	},
	{
		is(syscall.EFBIG), api.WordFailed,
		"'ulimit -f' shows how large a file can be; raise it, and 'rewind daemon stop'",
	},
	{
		isCorrupt, api.WordCorrupt,
		"'rewind verify' lists what is damaged, 'rewind verify --repair' repairs what can be repaired",
	},
	{is(relay.ErrRelative), api.WordUsage, "set it to an absolute path, or unset it for ~/.rewind"},
	{as[*relay.OwnerError], api.WordPermission, ""},
	{
		is(fs.ErrPermission), api.WordPermission,
		"run rewind as the user who owns the files; 'rewind doctor' names files of others in ~/.rewind",
	},
	{as[*transcript.Error], api.WordFailed, "the session file is the agent's own; rewind left it as it is"},
}

// swept: what another worktree lent is not in its store any more.
func swept(err error) bool {
	var b *oplog.BesideError
	return errors.As(err, &b) && b.Swept()
}

// noDirectory: the directory that was asked from is not there.
func noDirectory(err error) bool {
	op, _ := about(err)
	return op == "resolve" &&
		(errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EINVAL))
}

func noSession(err error) bool {
	op, _ := about(err)
	return op == "session" && errors.Is(err, model.ErrNotFound)
}

func corruptBeside(err error) bool { return as[*oplog.BesideError](err) && isCorrupt(err) }

// isForeign: something in the store names a file as a session's that no agent would have.
func isForeign(err error) bool {
	var f *model.ForeignFileError
	return errors.As(err, &f) && f.Foreign()
}

// noHome: the request does not say in which home directory the agents' folders are.
func noHome(err error) bool {
	var f *model.ForeignFileError
	return errors.As(err, &f) && f.NoHome()
}

func isNoSpace(err error) bool {
	return errors.Is(err, kv.ErrNoSpace) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

func isCorrupt(err error) bool {
	corrupt := errors.Is(err, kv.ErrCorrupt) || errors.Is(err, objstore.ErrCorrupt)
	return corrupt || errors.Is(err, refs.ErrCorrupt) ||
		errors.Is(err, kv.ErrPoisoned) || errors.Is(err, record.ErrFormat) || errors.Is(err, objstore.ErrNotFound) ||
		as[*tree.FormatError](err)
}

// clean gives an error's text without what only a developer wants.
func clean(err error) string {
	return strings.ReplaceAll(err.Error(), "\n<corruption detail carrier>", "")
}

// about is what an error says that it is about: the operation and its subject.
func about(err error) (op string, subject api.Text) {
	var e interface{ About() (op, subject string) }
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &e):
		op, on := e.About()
		return op, api.Text(on)
	case errors.As(err, &path):
		return path.Op, api.Text(path.Path)
	case errors.As(err, &link):
		return link.Op, api.Text(link.New)
	}
	return "", ""
}

// tell makes an error one of the API.
func tell(err error) *api.Error {
	var told *api.Error
	if errors.As(err, &told) {
		return told
	}
	told = &api.Error{Word: api.WordFailed, Message: clean(err)}
	for _, r := range rules {
		if r.is(err) {
			told.Word, told.Hint = r.word, r.hint
			break
		}
	}
	told.Code = api.CodeOf(told.Word)
	told.Op, told.Subject = about(err)
	if told.Word == api.WordInterrupted {
		told.Message = "interrupted"
		if as[*restore.TakenBackError](err) {
			told.Message += "; nothing was changed"
		}
	}
	var back *restore.TakenBackError
	if errors.As(err, &back) {
		told.Message += conflictText(back.Conflicts)
	}
	var many *objstore.AmbiguousError
	if told.Word == api.WordAmbiguous && errors.As(err, &many) {
		for _, id := range many.Candidates {
			told.Candidates = append(told.Candidates, id.String())
		}
	}
	var commits *model.CommitsError
	if errors.As(err, &commits) {
		told.Candidates = append(told.Candidates, commits.Commits...)
	}
	var owner *relay.OwnerError
	if told.Word == api.WordPermission && errors.As(err, &owner) {
		told.Message, told.Hint = ownerText(owner, "rewind")
	} else if owner = ownerOf(err); told.Word == api.WordPermission && owner != nil {
		what, hint := ownerText(owner, "rewind")
		told.Message, told.Hint = told.Message+"\n  "+what, hint
	}
	if hint := hintOf(err); hint != "" {
		told.Hint = hint
	}
	var several *sessions.SeveralSessionsError
	if errors.As(err, &several) {
		severalSessions(told, several)
	}
	near(told, err)
	var changed *restore.PlanChangedError
	if errors.As(err, &changed) {
		told.Changed = &changed.PlanChange
	}
	var unsaved *model.UnsavedError
	if told.Word == api.WordUnsaved && errors.As(err, &unsaved) {
		told.Message, told.Hint = unsavedText(unsaved)
	}
	return told
}

// hintOf is the remedy of an error that says itself what there is; "": it is another one.
func hintOf(err error) string {
	var elsewhere *model.ElsewhereError
	var silent *model.NoConversationError
	var noCode *model.NoCodeError
	var session *model.IsSessionError
	var turn *model.NoTurnError
	var ahead *model.NoTurnAheadError
	switch {
	case errors.As(err, &session):
		const text = "'rewind switch %[1]s' goes there; session:%[1]s is its newest checkpoint, " +
			"turn:<n>@%[1]s the end of a turn"
		return fmt.Sprintf(text, session.Short)
	case errors.As(err, &noCode) && noCode.Moment != "":
		const text = "'rewind show %[1]s' shows what was said; 'rewind fork %[1]s' goes on from there, " +
			"the conversation alone"
		return fmt.Sprintf(text, noCode.Moment)
	case noCode != nil:
		return "--context-only goes there in the conversation alone"
	case errors.As(err, &silent) && silent.None, errors.As(err, &turn) && turn.NoSession():
		return "'rewind sessions --import' imports the agents' sessions of this project"
	case turn != nil && turn.Whose != "": // of several the command asks which
		return strings.Replace(turnsHint, "turns'", "turns "+turn.Whose+"'", 1)
	case errors.As(err, &ahead) && ahead.Whose != "":
		return strings.Replace(aheadHint, "future'", "future "+ahead.Whose+"'", 1)
	case silent != nil && silent.Instead != "":
		const text = "'rewind turns %s' lists those of the newest session that has some, 'rewind sessions' the sessions"
		return fmt.Sprintf(text, silent.Instead)
	case errors.As(err, &elsewhere):
		return "go on there: cd " + printable(elsewhere.Root)
	}
	return ""
}

// nearError is what was not found, with names that are like it.
type nearError struct {
	error
	names []string
}

func (e *nearError) Unwrap() error { return e.error }

// near says of what is not found what there is.
func near(told *api.Error, err error) {
	var like *nearError
	if errors.As(err, &like) && len(like.names) > 0 {
		told.Nearest = like.names
		var names []string
		for _, n := range like.names {
			names = append(names, "'"+printable(n)+"'")
		}
		told.Hint = strings.TrimSuffix("did you mean "+strings.Join(names, ", ")+"? "+told.Hint, " ")
	}
	var turn *model.NoTurnError
	var ahead *model.NoTurnAheadError
	switch {
	case errors.As(err, &turn):
		told.Turns = &turn.Turns
	case errors.As(err, &ahead):
		there := uint64(ahead.There)
		told.Turns = &there
	}
}

// conflictText names what a failed restore could not put back as it was.
func conflictText(list []value.Conflict) string {
	text := ""
	for _, c := range list {
		text += fmt.Sprintf("\n  %q: %s", c.Path, c.Reason)
		if c.SavedAs != "" {
			text += fmt.Sprintf(", bytes kept as %q", c.SavedAs)
		}
	}
	return text
}

// severalSessions names the sessions that could be meant, and how one of them is.
func severalSessions(told *api.Error, e *sessions.SeveralSessionsError) {
	told.Message, told.Candidates = e.What(), e.Names
	if e.Prefix != "" {
		told.Message, told.Hint = fmt.Sprintf("session %q: several ids begin like that", e.Prefix), "give more of the id"
	}
	if e.Title != "" {
		told.Message, told.Hint = fmt.Sprintf("session %q: several sessions have this title", e.Title), "give the id of one"
	}
	for _, s := range e.Sessions {
		told.Sessions = append(told.Sessions, api.Candidate{
			Session: s.Name, ID: s.ID, Short: s.Short, Agent: s.Agent, Title: api.Text(s.Title), Turns: s.Turns,
			Last: s.Last.UTC(),
		})
	}
	if len(told.Sessions) > 0 && e.Prefix == "" && e.Title == "" {
		told.Hint += ", as in --session " + told.Sessions[0].Short
	}
}

func unsavedText(e *model.UnsavedError) (message, hint string) {
	message = "the restore would overwrite files that cannot be stored; nothing was touched"
	secret, unread := false, false
	for i, b := range e.Paths {
		if i == 10 {
			message += fmt.Sprintf("\n  and %d more", len(e.Paths)-i)
			break
		}
		message += fmt.Sprintf("\n  %q (%s)", b.Path, tree.ReasonWord(b.Reason))
		secret, unread = secret || b.Reason == tree.ReasonSecret, unread || b.Reason == tree.ReasonUnreadable
	}
	hint = "move them away first, or name other paths"
	if secret {
		hint += "; 'rewind config secrets.store true' stores the content of secret files too"
	}
	if unread {
		hint += "; 'chmod u+rwX' makes a file or a directory readable"
	}
	return message, hint
}

func httpStatus(word string) int {
	switch word {
	case api.WordUsage:
		return http.StatusBadRequest
	case api.WordNoProject, api.WordNotFound:
		return http.StatusNotFound
	case api.WordAmbiguous, api.WordUnsaved, api.WordHalfDone, api.WordChanged:
		return http.StatusConflict
	case api.WordBusy:
		return http.StatusLocked // 503 is a daemon that ends
	case api.WordPermission, api.WordWithinCall:
		return http.StatusForbidden
	case api.WordNoSpace:
		return http.StatusInsufficientStorage
	}
	return http.StatusInternalServerError
}
