package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rewind/api"
	"rewind/internal/term"
	"rewind/internal/value"
)

// bothWords say why two changes of a path collide, whichever of them is here.
var bothWords = map[value.MergeReason]string{
	value.ReasonText:     "both changed the same lines",
	value.ReasonBinary:   "both changed it, and it is no text",
	value.ReasonTooLarge: "both changed it, and it is too large to compare",
	value.ReasonLink:     "both changed where the link leads",
	value.ReasonType:     "a file, a link or a directory: the two do not agree",
	value.ReasonMode:     "both changed the permissions",
}

// mergeWords say it where one is here; %s is what would change the path.
var mergeWords = map[value.MergeReason]string{
	value.ReasonDeleted:    "%s alters it, and it is not here",
	value.ReasonModified:   "%s removes it, and it was changed since",
	value.ReasonAdded:      "%s adds it, and another one is here",
	value.ReasonBlocked:    "a directory above it is not there, or is none",
	value.ReasonUncaptured: "what is here is not captured",
	value.ReasonMoved:      "%s moves it to a path where it cannot be made",
	value.ReasonGone:       "its content is not in the store any more",
}

// collideWords say it of two sides that are compared, A and B.
var collideWords = map[value.MergeReason]string{
	value.ReasonDeleted:  "A removed it, B changed it",
	value.ReasonModified: "A changed it, B removed it",
	value.ReasonAdded:    "both added it, and not the same",
	value.ReasonBlocked:  "it is below what the other made a file of",
	value.ReasonGone:     "its content is not in the store any more, so that it cannot be told",
}

// MergeWords says why what is here and what would change it collide in a path.
func MergeWords(why value.MergeReason, change string) string {
	return strings.Replace(cmp.Or(bothWords[why], mergeWords[why]), "%s", change, 1)
}

// CollideWords says why two sides that are compared collide in a path.
func CollideWords(why value.MergeReason) string { return cmp.Or(bothWords[why], collideWords[why]) }

// withoutDeleted are those of paths that changes do not delete: of those nothing of what others changed stays.
func withoutDeleted(paths []api.Text, changes []api.Change) []api.Text {
	gone := map[api.Text]bool{}
	for _, c := range changes {
		gone[c.Path] = c.Status == "deleted"
	}
	return slices.DeleteFunc(paths, func(p api.Text) bool { return gone[p] })
}

// TellMerges names what is in conflict, what was settled, what was followed to another path, and counts what was there
// already. Of a pick and a revert all else is the change.
func (pr *Printer) TellMerges(r api.RestoreResponse) {
	would := ""
	if r.DryRun {
		would = "would be "
	}
	change := bringsChange(r)
	moved, settledBy := would+"merged, followed", "others had changed it too, settled as asked"
	if change {
		moved, settledBy = would+"followed", "both had changed, settled as asked"
	}
	pr.mergeLines("in conflict:", r, func(m api.Merge) bool { return m.Verdict == value.MergeConflict })
	pr.mergeLines(moved+" to where the file is now:", r, followed)
	of := map[value.MergeVerdict][]api.Text{}
	for _, m := range r.Merges {
		if !followed(m) { // else it has been named
			of[m.Verdict] = append(of[m.Verdict], m.Path)
		}
	}
	if !change {
		pr.tellMerged(would, r)
	}
	pr.Names(settledBy, of[value.MergeSettled])
	if already := len(of[value.MergeAlready]); already > 0 {
		has := "path has"
		if already > 1 {
			has = "paths have"
		}
		fmt.Fprintf(pr.Out, "%d %s it already\n", already, has)
	}
}

// tellMerged names what is merged, by whose changes stay there.
func (pr *Printer) tellMerged(would string, r api.RestoreResponse) {
	var heads []string
	paths := map[string][]api.Text{}
	for _, m := range r.Merges {
		merged := m.Verdict == value.MergeMerged || m.Verdict == value.MergeApplied
		if !merged || followed(m) {
			continue
		}
		head := would + "merged, " + StaysOf(m)
		if paths[head] == nil {
			heads = append(heads, head)
		}
		paths[head] = append(paths[head], m.Path)
	}
	for _, head := range heads {
		pr.Names(head, withoutDeleted(paths[head], r.Changes))
	}
}

// StaysOf says whose changes of a merged path stay.
func StaysOf(m api.Merge) string {
	who := "others"
	switch m.By {
	case "":
	case value.Person:
		who = "you"
	default:
		who = term.Sanitize(ShortSession(string(m.By)))
	}
	return "what " + who + " changed there stays"
}

// bringsChange reports whether an answer is of a pick or a revert.
func bringsChange(r api.RestoreResponse) bool { return r.Kind == "pick" || r.Kind == "revert" }

// mergeLines has a line for each path of some.
func (pr *Printer) mergeLines(head string, r api.RestoreResponse, some func(api.Merge) bool) {
	what := "going back"
	if bringsChange(r) {
		what = "the change"
	}
	for _, m := range r.Merges {
		if !some(m) {
			continue
		}
		if head != "" {
			fmt.Fprintln(pr.Out, pr.Styled(term.Warn, head))
			head = ""
		}
		fmt.Fprintln(pr.Out, "  "+mergeLine(m, what, r.DryRun))
	}
}

// followed reports whether a change was made where the file is now, as it is elsewhere.
func followed(m api.Merge) bool {
	return m.Was != "" && (m.Verdict == value.MergeApplied || m.Verdict == value.MergeMerged)
}

func mergeLine(m api.Merge, what string, dryRun bool) string {
	line := term.Quote(string(m.Path))
	if m.Was != "" {
		line += " (was " + term.Quote(string(m.Was)) + ")"
	}
	if m.Verdict != value.MergeConflict {
		return line
	}
	line += ": " + MergeWords(m.Reason, what)
	switch {
	case m.Places > 0 && dryRun:
		return line + ", " + Count(m.Places, "place") + " would be marked"
	case m.Places > 0:
		return line + ", " + Count(m.Places, "place") + " marked"
	}
	return line + "; it stays as it is"
}

// conflicts is how many paths of a merge are in conflict.
func conflicts(list []api.Merge) (n int) {
	for _, m := range list {
		if m.Verdict == value.MergeConflict {
			n++
		}
	}
	return n
}
