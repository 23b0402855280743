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
	list, what := r.Merges, "going back"
	heads := [2]string{"merged, what others changed there stays", "others had changed it too, settled as asked"}
	if r.Kind == "pick" || r.Kind == "revert" {
		what, heads = "the change", [2]string{"", "both had changed, settled as asked"}
	}
	already, merged, settled := 0, []api.Text{}, []api.Text{}
	moved := "followed to where the file is now:"
	if heads[0] != "" {
		moved = "merged, " + moved
	}
	for _, head := range []string{"in conflict:", moved} {
		first := true
		for _, m := range list {
			if head == moved && !followed(m) || head != moved && m.Verdict != value.MergeConflict {
				continue
			}
			if first {
				fmt.Fprintln(pr.Out, pr.Styled(term.Warn, head))
				first = false
			}
			fmt.Fprintln(pr.Out, "  "+mergeLine(m, what))
		}
	}
	for _, m := range list {
		if followed(m) {
			continue // it has been named
		}
		switch m.Verdict {
		case value.MergeAlready:
			already++
		case value.MergeSettled:
			settled = append(settled, m.Path)
		case value.MergeApplied, value.MergeMerged:
			merged = append(merged, m.Path)
		}
	}
	if heads[0] != "" {
		pr.Names(heads[0], withoutDeleted(merged, r.Changes))
	}
	pr.Names(heads[1], settled)
	if already > 0 {
		is := "path is"
		if already > 1 {
			is = "paths are"
		}
		fmt.Fprintf(pr.Out, "%d %s so already\n", already, is)
	}
}

// followed reports whether a change was made where the file is now, as it is elsewhere.
func followed(m api.Merge) bool {
	return m.Was != "" && (m.Verdict == value.MergeApplied || m.Verdict == value.MergeMerged)
}

func mergeLine(m api.Merge, what string) string {
	line := term.Quote(string(m.Path))
	if m.Was != "" {
		line += " (was " + term.Quote(string(m.Was)) + ")"
	}
	if m.Verdict != value.MergeConflict {
		return line
	}
	line += ": " + MergeWords(m.Reason, what)
	if m.Places > 0 {
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
