package view

import (
	"cmp"
	"strconv"
	"strings"

	"rewind/api"
	"rewind/internal/naming"
	"rewind/internal/render"
	"rewind/internal/term"
	"rewind/internal/value"
)

// Sheet is what a wish would do, and after it was done what it did.
type Sheet struct {
	Verb, Name       string
	What             string // both, code, conversation
	Exact            bool
	Title, Tag, Dir  string
	Path, Of         string
	Message          string // of a save
	Hunks            []hunk // that can be chosen of a file
	Unchosen         bool   // none is
	Text, Found      string // of a purge
	Purged           []keptGroup
	PurgeText        string // what goes, or went
	Force, Merge     bool
	Plan             string
	Operation        uint64 // 0: nothing was done
	Heading          string
	Branch           string // the session whose branch goes back
	Behind           string // what lies behind the target
	KeptFor          string // how long the state before is kept
	From, FromHref   string // after it was done: where the project stood before, in words
	Target           string
	Changes          []changeLine
	More             int // changes that are not listed
	Tally            tally
	Kept             []keptGroup
	NotCaptured      []keptGroup // what no checkpoint has
	Yours            []keptGroup // a person's, which goes
	Returned         []keptGroup // that a person had removed, and that comes back
	Prompt           string      // in front of which it goes back
	Copy             string      // all of it
	With             []string    // the other prompts that go, each as it begins
	Taken            []keptGroup
	Conflicts        []changeLine
	MoreConflicts    int
	Merges           []changeLine
	AllMerges        int
	Working          []string // agents at work
	Conversation     string
	Resume           string // the command line that opens it
	Notes            []string
	Losses           []string
	Nothing          bool // there is nothing to do
	newSession       bool // the conversation goes on in one
	family           map[string]Branch
	target           string // the state that files are set to; "": of a pick there is none
	room             Room   // of what changes in the files of a preview
	MayExact         bool
	MayTag, MayTitle bool
	MayForce         bool // the name is another moment's
	MayMerge         bool // what collides can be written, with markers
	MayChoose        bool // between code and conversation
	Button           string
	Danger           bool
	Marked           int    // files that get, or got, conflict markers
	MarkedHref       string // of what changed in them, after it was done
}

// changeLine is a path with what becomes of it.
type changeLine struct {
	Status, Path, Note string
	Lines              string    // the address of what changes in it; "": it is not known
	Diff               *fileDiff // what changes, where it is there at once
	Closed             bool      // and seen when it is opened
	Marks              int       // places in it with conflict markers
	raw                api.Text  // the path
}

// keptGroup are paths that stay, or do not, for one reason.
type keptGroup struct {
	Why   string // as it is said of several
	Paths []string
	More  int
	Noun  string // "": file
}

// How many they are.
func (g keptGroup) Count() string { return count(len(g.Paths)+g.More, cmp.Or(g.Noun, "file")) }

// Because is why, as it is said of so many.
func (g keptGroup) Because() string {
	if len(g.Paths)+g.More > 1 {
		return g.Why
	}
	return ofOne.Replace(g.Why)
}

// ofOne says of one path what is said of several.
var ofOne = strings.NewReplacer(
	"they are ", "it is ", "they cannot", "it cannot", "their content", "its content", " them", " it",
	"stay as they are", "stays as it is",
)

const (
	shownChanges = 40
	shownKept    = 12
	shownGroups  = 8 // of paths that stay or go for one reason; those of all further reasons are one
	shownNotes   = 12
)

// sheetWords are what the sheet of each verb is headed, and its button says. %s is what it is done to.
var sheetWords = map[string][2]string{
	"checkout": {"Go back to %s", "Go back"}, "switch": {"Switch to %s", "Switch"},
	"undo-restore": {"Undo: return to %s", "Undo"}, "pick": {"Bring here the change of %s", "Pick"},
	"forward": {"Go forward to %s", "Go forward"}, "fork": {"Fork: make the session “%s”", "Fork"},
	"continue": {"Finish what was begun", "Finish it"}, "abort": {"Take back what was begun", "Take it back"},
	"worktree": {"Fork into another directory: make the session “%s”", "Make it"},
	"clone":    {"Clone “%s”: make a session like it", "Clone"}, "rename": {"Rename “%s”", "Rename"},
	"promote": {"Make “%s” the main session", "Promote"}, "archive": {"Archive “%s”", "Archive"},
	"delete": {"Delete “%s”", "Delete"},
	"hunks":  {"Set parts of a file as at %s", "Set what is chosen"},
	"purge":  {"Purge %s", "Purge for good"}, "revert": {"Take out the change of %s", "Take it out"},
	"save": {"Save the files as they are", "Save"},
	"tag":  {"Name %s", "Name it"}, "untag": {"Take the name “%s” away", "Take it away"},
}

// heading is that of a verb, of something.
func heading(verb, of string) string {
	words := sheetWords[verb][0]
	if of == "" {
		words = bareWords[verb]
	}
	return strings.Replace(cmp.Or(words, sheetWords[verb][0]), "%s", of, 1)
}

// bareWords are headings where it is not known what it is done to.
var bareWords = map[string]string{
	"checkout": "Go back", "switch": "Switch to another session", "undo-restore": "Undo the last going back",
	"pick": "Bring a change here", "forward": "Go forward", "fork": "Fork", "worktree": "Fork into another directory",
	"clone": "Clone a session", "rename": "Rename a session", "promote": "Make a session the main one",
	"archive": "Archive a session", "delete": "Delete a session", "revert": "Take a change out",
	"hunks": "Set parts of a file as they were",
	"purge": "Purge a secret", "tag": "Name a moment", "untag": "Take a name away",
}

// doneWords are what a notice says of each verb that was done, to %s.
var doneWords = map[string]string{
	"checkout": "Went to %s", "switch": "Switched to %s", "undo-restore": "Undone: back at %s",
	"pick":    "Brought in the change of %s",
	"forward": "Went forward to %s", "continue": "Finished: %s",
	"abort": "Taken back; it had been on the way to %s", "fork": "Forked: “%s”",
	"worktree": "Forked: “%s”",
	"clone":    "Cloned: “%s”", "rename": "Renamed to “%s”", "promote": "Promoted “%s”",
	"archive": "Archived “%s”", "delete": "Deleted “%s”",
	"hunks": "Set parts of a file as at %s",
	"purge": "Purged for good: %s", "revert": "Took out the change of %s",
	"save": "Saved: %s", "tag": "Named: %s", "untag": "Took the name “%s” away",
}

// Restore puts what a restore did, or would do, on a sheet.
func (f Frame) Restore(s *Sheet, r *api.RestoreResponse) {
	s.Plan, s.Operation = r.Plan, r.Operation
	s.Target, _ = f.moments(momentOf(&r.Target))
	if strings.Contains(r.Target.Session, "/") {
		s.Branch = short(r.Target.Session)
	}
	s.KeptFor = ageWords(string(r.KeptFor))
	if c := r.Safety; c != nil && c.Turn > 0 {
		s.From, s.FromHref = naming.TurnWords(c.Turn, naming.Whose(c.Session)), f.Point(api.TurnName(c.Turn, c.Session))
	}
	if b := r.Behind; b != nil {
		s.Branch, s.Behind = short(b.Session), behindWords(b)
	}
	f.changes(s, r)
	s.stays(r)
	s.goes(r)
	f.merges(s, r)
	s.room = roomOfPreview
	s.becomes(r.Becomes)
	if r.Safety != nil {
		s.MarkedHref = with(f.Path("diff"), "from", r.Safety.ID)
	}
	for _, w := range r.AtWork[:min(len(r.AtWork), shownNotes)] {
		s.Working = append(s.Working, f.atWork(&w))
	}
	f.talk(s, r.Conversation, r.DryRun)
	s.Notes = append(s.Notes, r.Notices...)
	if r.GitGone {
		s.Notes = append(s.Notes, render.GitGoneWords(r.GitThen))
	}
	talks := r.Conversation != nil && r.Conversation.Mode != "none"
	s.Nothing = len(r.Changes)+len(r.Merges)+len(r.Managed) == 0 && !talks
	s.MayTag = s.Verb == "checkout" || s.Verb == "switch" || s.Verb == "forward"
	s.MayMerge = s.mayMerge(r)
	s.MayChoose = s.Path == "" && (s.Verb == "checkout" || s.Verb == "undo-restore")
}

// mayMerge reports whether what collides with what a revert takes out can be written with markers.
func (s *Sheet) mayMerge(r *api.RestoreResponse) bool {
	collides := r.Mergeable || len(r.Kept)+len(r.Yours) > 0
	return s.Verb == "revert" && (s.Merge || collides)
}

// merging reports whether one change is brought in, or taken out: the sheet names each of its files with what becomes
// of it.
func (s *Sheet) merging() bool { return s.Verb == "pick" || s.Verb == "revert" }

// Merging is merging, for templates.
func (s Sheet) Merging() bool { return s.merging() }

// stays puts on a sheet what is left as it is.
func (s *Sheet) stays(r *api.RestoreResponse) {
	for _, k := range r.Kept {
		s.MayExact = s.MayExact || k.Reason == value.KeptUnsaved || k.Reason == value.KeptSession
		s.Kept = group(s.Kept, render.KeptWhy(k), k.Path)
		if k.Reason == value.KeptHolds {
			s.Kept[len(s.Kept)-1].Noun = "directory"
		}
	}
	for _, u := range r.NotCaptured {
		s.NotCaptured = group(s.NotCaptured, render.UncapturedHead(u), api.Text(render.UncapturedPath(u)))
	}
	for _, c := range r.Conflicts[:min(len(r.Conflicts), shownChanges)] {
		s.Conflicts = append(s.Conflicts, changeLine{
			Status: "kept", Path: pathWords(c.Path),
			Note: brief(c.Reason),
		})
	}
	s.MoreConflicts = len(r.Conflicts) - len(s.Conflicts)
}

const (
	shownDiffs   = 3  // files of a preview, if it has no more, show at once what changes in them
	previewLines = 60 // of each

	// Becoming is of how many merged files a preview has what they become. No checkpoint has it, so that there is no
	// address where more could be asked for.
	Becoming = 12
)

// changes puts on a sheet which files are set. Of a preview each leads to its lines: from the files as they are to the
// target.
func (f Frame) changes(s *Sheet, r *api.RestoreResponse) {
	s.target = r.Target.ID
	merged := map[api.Text]bool{}
	for i := range r.Merges {
		merged[r.Merges[i].Path] = true // what becomes of it is not the target's
	}
	for _, c := range r.Changes {
		switch c.Status {
		case "added":
			s.Tally.Added++
		case "deleted":
			s.Tally.Deleted++
		default:
			s.Tally.Modified++
		}
		if len(s.Changes) == shownChanges || s.merging() { // which names them with what becomes of them
			continue
		}
		line := changeLine{Status: c.Status, Path: pathWords(c.Path), raw: c.Path}
		told := merged[c.Path] || r.Parts
		if r.DryRun && r.Target.ID != "" && !told {
			line.Lines = with(f.Path("diff"), "from", r.Target.ID, "back", "1", "file", string(c.Path), "line", "0")
		}
		s.Changes = append(s.Changes, line)
	}
	if !s.merging() {
		s.More = len(r.Changes) - len(s.Changes)
	}
}

// others reports whether a path has, beside what changes in it, what somebody else changed.
func others(m *api.Merge) bool {
	return m.Verdict != value.MergeAlready && (m.By != "" || m.Verdict != value.MergeApplied)
}

// files are the lines of a preview of which each is a file that is set, and whether they are few.
func (s *Sheet) files() (list []changeLine, few bool) {
	if list = s.Changes; s.merging() {
		list = s.Merges
	}
	return list, len(list)+s.More <= shownDiffs
}

// becomes gives the files of a preview that are merged what becomes of them, as far as there is room.
func (s *Sheet) becomes(files []api.FileDiff) {
	list, few := s.files()
	for i := range list {
		line := &list[i]
		for n := range files {
			if files[n].Path != line.raw {
				continue
			}
			d := diff(&files[n])
			d.lines(files[n].Hunks, "", 0, previewLines, &s.room)
			if len(d.Lines) > 0 || len(files[n].Hunks) == 0 {
				line.Diff, line.Closed, line.Lines = &d, !few, ""
			}
		}
	}
}

// wanted are the lines of a preview that lead to what changes, where all of them are shown at once.
func (s *Sheet) wanted() (all []*changeLine) {
	list, few := s.files()
	if !few {
		return nil
	}
	for i := range list {
		if list[i].Lines != "" {
			all = append(all, &list[i])
		}
	}
	return all
}

// Wants returns the paths whose changes a preview shows at once, and the state that they are set to. "": the changes
// are those of the turn that is picked.
func (s *Sheet) Wants() (target string, paths []api.Text) {
	for _, line := range s.wanted() {
		paths = append(paths, "./"+line.raw)
	}
	if s.merging() {
		return "", paths
	}
	return s.target, paths
}

// Show gives a preview what changes in its files.
func (s *Sheet) Show(files []api.FileDiff) {
	for _, line := range s.wanted() {
		for i := range files {
			if files[i].Path == line.raw {
				d := diff(&files[i])
				d.lines(files[i].Hunks, line.Lines, 0, previewLines, &s.room)
				line.Diff = &d
			}
		}
	}
}

// merges puts on a sheet which files are merged. Of a change that is brought in each leads to its lines.
func (f Frame) merges(s *Sheet, r *api.RestoreResponse) {
	change := "going back"
	if s.merging() {
		change = "the change"
	}
	for _, m := range r.Merges {
		if !s.merging() && !others(&m) {
			continue
		}
		if s.AllMerges++; s.AllMerges > shownChanges {
			continue
		}
		line := changeLine{
			Status: string(m.Verdict), Path: pathWords(m.Path), Note: render.MergeWords(m.Reason, change),
			raw: m.Path,
		}
		switch {
		case m.Verdict == value.MergeConflict:
			line.Marks = m.Places
		case m.By != "":
			line.Note = render.StaysOf(m)
		}
		if s.merging() && r.DryRun {
			line.Lines = with(f.Point(s.Name), "file", string(m.Path), "line", "0")
		}
		s.Merges = append(s.Merges, line)
	}
}

// firstChanges is how many files a sheet lists before those that are opened: what is a person's own stays in sight.
const firstChanges = 8

// First are the files that are listed at once.
func (s Sheet) First() []changeLine { return s.Changes[:min(len(s.Changes), firstChanges)] }

// Rest are those that are opened.
func (s Sheet) Rest() []changeLine { return behind(s.Changes, firstChanges) }

// TakenHead heads the files that are set.
func (s Sheet) TakenHead() string {
	switch s.Verb {
	case "pick":
		return "Brought here"
	case "revert":
		return "Taken out"
	case "save":
		return "Changed since the newest checkpoint"
	case "switch", "forward":
		return "Set"
	}
	return "Taken back"
}

// maxCopied is how much of a prompt a notice gives back.
const maxCopied = 80_000

// goes puts on a sheet what goes of a person's and of others, and the prompt that is taken back.
func (s *Sheet) goes(r *api.RestoreResponse) {
	for _, p := range r.Yours {
		s.Yours = group(s.Yours, "the checkpoint of the state before has it", p)
	}
	for _, p := range r.Returned {
		s.Returned = group(s.Returned, "", p)
	}
	s.Copy = cut(strings.TrimSpace(string(r.TakenBack)), maxCopied)
	s.Prompt, s.With = prose(s.Copy), taken(r)
	for _, t := range r.Taken {
		s.MayExact = s.MayExact || s.Exact
		whose := "no checkpoint has"
		if t.By != "" {
			whose = short(t.By) + " changed since"
		}
		for _, p := range t.Paths {
			s.Taken = group(s.Taken, whose, p)
		}
	}
}

// takenPrompts is how many of the other prompts a sheet names.
const takenPrompts = 8

// taken are the prompts that go beside the first.
func taken(r *api.RestoreResponse) (list []string) {
	first := r.TakenToo[:min(len(r.TakenToo), takenPrompts)]
	for _, p := range first {
		list = append(list, clip(render.Words(string(p)), titleWeight))
	}
	if more := len(r.TakenToo) - len(first) + r.TakenMore; more > 0 {
		list = append(list, "and "+term.Count(more)+" more")
	}
	return list
}

// behindWords says what lies behind a moment, and that it stays.
func behindWords(b *api.Behind) string {
	var what []string
	if b.Turns > 0 {
		what = append(what, count(b.Turns, "turn"))
	}
	if b.Checkpoints > 0 {
		what = append(what, count(b.Checkpoints, "checkpoint"))
	}
	verb := " lie"
	if b.Turns+b.Checkpoints == 1 {
		verb = " lies"
	}
	return strings.Join(what, " and ") + verb + " behind it, and can be gone forward to."
}

// ageWords is an age as a setting has it, in words.
func ageWords(age string) string {
	if age == "" || age == "forever" {
		return age
	}
	n, err := strconv.Atoi(age[:len(age)-1])
	unit := map[byte]string{'s': "second", 'm': "minute", 'h': "hour", 'd': "day", 'w': "week"}[age[len(age)-1]]
	if err != nil || unit == "" {
		return age
	}
	return count(n, unit)
}

func group(list []keptGroup, why string, path api.Text) []keptGroup {
	at := -1
	for i := range list {
		if list[i].Why == brief(why) {
			at = i
		}
	}
	if at < 0 && len(list) == shownGroups {
		why, at = "for other reasons", len(list)-1
		list[at].Why = why
	}
	if at < 0 {
		list, at = append(list, keptGroup{Why: brief(why)}), len(list)
	}
	if len(list[at].Paths) < shownKept {
		list[at].Paths = append(list[at].Paths, pathWords(path))
	} else {
		list[at].More++
	}
	return list
}

// atWork says what an agent is doing, and what would change under it.
func (f Frame) atWork(w *api.AtWork) string {
	text := short(w.Session)
	switch w.Known {
	case value.WorkCall:
		text += " is at work"
		if len(w.Tools) > 0 {
			text += ": " + string(w.Tools[0].Name) + " runs"
		}
	case value.WorkTurn:
		text += " is at work on a turn"
	default:
		text += " is still open"
	}
	if w.Files > 0 && w.Known != value.WorkOpen {
		text += "; " + count(w.Files, "file") + " change under it"
	}
	if w.Type != "" {
		text += ". There, type " + string(w.Type)
	}
	return brief(text)
}

func (f Frame) talk(s *Sheet, c *api.Conversation, dryRun bool) {
	if c == nil {
		return
	}
	switch c.Mode {
	case "fork":
		s.newSession = true
		s.Conversation = "goes on in a new session"
		if c.Fork != nil {
			s.Conversation += " “" + brief(string(c.Fork.Title)) + "”, up to " + naming.TurnWords(uint64(c.Turn),
				c.Whose)
		}
	case "original":
		s.Conversation = "stays as it is: it ends there"
	case "back":
		s.Conversation = "is as it was before"
	case "in-place":
		s.Conversation = "ends with " + naming.TurnWords(uint64(c.Turn), c.Whose)
	default:
		s.Conversation = "stays as it is"
		if c.Why != "" {
			s.Conversation += ": " + string(c.Why)
		}
	}
	if !dryRun {
		s.Resume = render.ShellLine(c.Resume)
	}
	if c.Fork != nil {
		s.Notes = append(s.Notes, render.ForkNotes(*c.Fork)...)
	}
}

// Fork puts a fork or clone on a sheet.
func (f Frame) Fork(s *Sheet, r *api.ForkResponse) {
	s.Target = brief(string(r.Title))
	if r.Messages > 0 {
		s.Conversation = "goes on there after " + count(r.Messages, "message")
	}
	s.Resume = render.ShellLine(r.Resume)
	if r.Worktree != "" {
		s.Notes = append(s.Notes, "The directory is "+term.Quote(string(r.Worktree))+".")
		if r.Cwd != "" {
			s.Resume = render.ShellLine([]string{"cd", string(r.Cwd)}) + " && " + s.Resume
		}
	}
	s.Notes = append(s.Notes, render.ForkNotes(r.Fork)...)
	if r.Reused {
		s.Notes = append(s.Notes, "It was there, and nobody had used it.")
	}
}

// Family puts on a sheet what the session is called that something is done with, and which of its family are at work.
func (f Frame) Family(s *Sheet, list []api.Branch) {
	s.family = map[string]Branch{}
	for _, b := range f.Branches(list, "") {
		s.family[b.ID] = b
	}
	s.Target = s.family[s.Name].Title
}

// Managed puts what becomes of sessions on a sheet.
func (f Frame) Managed(s *Sheet, r *api.ManageResponse) {
	s.Operation = r.Operation
	for i := range r.Managed {
		if m := &r.Managed[i]; m.Session == s.Name {
			s.Target = cmp.Or(brief(string(m.Title)), s.Target)
		}
	}
	for i := range r.Managed[:min(len(r.Managed), shownNotes)] {
		m := &r.Managed[i]
		b := s.family[m.Session]
		s.Notes = append(s.Notes, managedWords(m, b.Title, r.DryRun))
		if b.Running && r.DryRun {
			s.Working = append(s.Working, b.Short+" is running: its agent is at work, or has it open")
		}
	}
	for _, l := range r.Losses[:min(len(r.Losses), shownNotes)] {
		if l.Turns > 0 {
			s.Losses = append(s.Losses, brief(string(l.Title))+": "+count(l.Turns, "turn")+" that no other session has")
		}
	}
}

// managedWords says what becomes of a session, or became.
func managedWords(m *api.Managed, title string, yet bool) string {
	words := short(m.Session)
	if title = cmp.Or(brief(string(m.Title)), title); title != "" && title != words {
		words = "“" + title + "” (" + words + ")"
	}
	now, called, back := " is now ", " was called “", " is among the others again"
	if yet {
		now, called, back = " will be ", " is called “", " will be among the others again"
	}
	switch {
	case m.WasTitle != m.Title:
		return words + called + brief(string(m.WasTitle)) + "”" + map[bool]string{true: " until now"}[yet]
	case m.Now.String() != "":
		return words + now + m.Now.String()
	}
	return words + back
}

// Ask is the sheet before it is done.
func Ask(f Frame, s Sheet) Page {
	s.Notes = briefs(s.Notes, shownNotes, briefWeight)
	s.Heading, s.Button = heading(s.Verb, s.Target), sheetWords[s.Verb][1]
	if s.Path != "" && s.Verb == "checkout" {
		s.Heading, s.Button = "Bring back "+pathWords(api.Text(s.Path))+" as at "+s.Target, "Bring it back"
	}
	if s.Verb == "hunks" {
		s.Heading = "Set parts of " + pathWords(api.Text(s.Path)) + " as at " + s.Target
	}
	if s.Marked = s.marks(); s.Marked > 0 {
		s.Button += " with conflict markers"
	}
	s.MayTitle = s.newSession || s.Verb == "fork" || s.Verb == "clone" || s.Verb == "worktree" || s.Verb == "rename"
	s.Danger = s.Verb == "delete" || s.Verb == "purge"
	if s.Verb == "purge" && s.Plan == "" {
		s.Button, s.Danger = "Look for it", false
	}
	return Page{Frame: f, Data: s, name: "ask"}
}

// marks is in how many files conflict markers are, or would be.
func (s *Sheet) marks() (n int) {
	for _, m := range s.Merges {
		if m.Marks > 0 {
			n++
		}
	}
	return n
}

// Done is what was done.
func Done(f Frame, s Sheet) Page {
	s.Notes = briefs(s.Notes, shownNotes, briefWeight)
	s.Heading = strings.Replace(doneWords[s.Verb], "%s", s.Target, 1)
	if s.Target == "" {
		s.Heading = strings.TrimRight(doneWords[s.Verb][:strings.IndexAny(doneWords[s.Verb], ":;“%")], " ")
	}
	if s.Path != "" && s.Verb == "checkout" { // the project stands where it stood
		s.Heading, s.From = "Brought back "+pathWords(api.Text(s.Path))+" as at "+s.Target, ""
	}
	if s.Verb == "hunks" {
		s.Heading, s.From = "Set parts of "+pathWords(api.Text(s.Path))+" as at "+s.Target, ""
	}
	s.Marked = s.marks()
	return Page{Frame: f, Data: s, name: "done"}
}
