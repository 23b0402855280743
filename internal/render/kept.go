package render

import (
	"fmt"
	"slices"
	"strings"

	"rewind/api"
	"rewind/internal/term"
	"rewind/internal/value"
)

// keptWords has the words for paths that stay, by reason and in this order. A row says what became of them, in a
// restore and in a new directory, why, and what takes them, too.
var keptWords = []struct {
	reason       value.KeptReason
	became, made string
	why, takes   string
}{
	{reason: value.KeptUnsaved, became: "kept", why: "no checkpoint has them", takes: " (--exact takes them too)"},
	{reason: value.KeptSkipped, became: "kept", why: "the checkpoint did not capture them (ignored, too large)"},
	{reason: value.KeptHidden, became: "kept", why: "ignored until now, and captured by no checkpoint since"},
	{reason: value.KeptUnread, became: "kept", why: "they cannot be read: no checkpoint has them"},
	{reason: value.KeptSession, became: "kept", why: "%s changed them since"},
	{reason: value.KeptSince, became: "kept", why: "changed since it went back", takes: " (--exact takes them too)"},
	{reason: value.KeptHolds, became: "kept", why: "ignored or kept files are in them"},
	{reason: value.KeptOccupied, became: "not set", why: "a directory with ignored or kept files stands there"},
	{
		reason: value.KeptPurged, became: "left as they are", made: "not made",
		why: "their content was purged from the store",
	},
	{reason: value.KeptLost, became: "left as they are", made: "not made", why: "their content is lost"},
	{reason: value.KeptBelow, became: "not written", why: "a kept file is in the way"},
	{reason: value.KeptGit, became: "left as they are", made: "not made", why: "they are git's own"},
	{
		reason: value.KeptTree, became: "kept", made: "not made",
		why: "a repository or worktree of git's of its own is there",
	},
	{
		reason: value.KeptDatabase, became: "left as they are", made: "not made",
		why: "the database has a file beside it that cannot be set with it: not captured, kept, or written to meanwhile",
	},
	{
		reason: value.KeptNoLinks, became: "not set", made: "not made",
		why: "the file system there has no symbolic links",
	},
	{
		reason: value.KeptNoName, became: "not set", made: "not made",
		why: "the file system there cannot have such names, or not all",
	},
}

// sharedWhy is that of value.KeptSession where the session that goes back may have written the path, too.
const sharedWhy = "%s may have written them: its call ran at the same time"

// goneWhy is that of what somebody has removed.
var goneWhy = map[value.KeptReason]string{
	value.KeptSession: "%s removed them since", value.KeptSince: "removed since it went back",
}

// KeptWhy says why a restore leaves a path as it is.
func KeptWhy(k api.Kept) string {
	why := ""
	for _, row := range keptWords {
		if row.reason == k.Reason {
			why = row.why
		}
	}
	if k.Gone {
		why = goneWhy[k.Reason]
	}
	if k.Shared {
		why = sharedWhy
	}
	if k.By == value.Person && k.Gone {
		return "yours, removed since"
	}
	if k.By == value.Person {
		return "yours, changed since"
	}
	if k.Conflict != "" {
		why += "; " + MergeWords(k.Conflict, "going back")
	}
	if k.By != "" {
		why = fmt.Sprintf(why, term.Sanitize(ShortSession(k.By)))
	}
	return why
}

// TellKept names the paths that stay, each under its heading. how says of what: what would be done, was done, or a new
// directory that was made.
func (pr *Printer) TellKept(list []api.Kept, how Staying) {
	for _, row := range keptWords {
		var heads []string
		paths := map[string][]api.Text{}
		for _, k := range list {
			if k.Reason != row.reason {
				continue
			}
			became, takes := row.became, row.takes
			if how == StaysApart {
				became = row.made
			}
			if k.Gone {
				became, takes = "not brought back", strings.Replace(takes, "takes them", "brings them back", 1)
			}
			takes = pr.exactly(takes, how == Stayed)
			head := became + ", " + KeptWhy(k) + takes
			if paths[head] == nil {
				heads = append(heads, head)
			}
			if k.Dir {
				k.Path += "/"
			}
			paths[head] = append(paths[head], k.Path)
		}
		for _, head := range heads {
			pr.Names(head, paths[head])
		}
	}
}

// Staying is what a list of paths that stay is of.
type Staying uint8

// Of a preview, of a restore that was done, and of a new directory.
const (
	WouldStay Staying = iota
	Stayed
	StaysApart
)

// StayingOf is the Staying of a restore.
func StayingOf(r api.RestoreResponse) Staying {
	if r.DryRun {
		return WouldStay
	}
	return Stayed
}

// exactly is what --exact takes, in the words of the command or the picker. A command can be given again with the flag.
// The picker's key is one of its previews: once that is done it says what the key would have done.
func (pr *Printer) exactly(takes string, done bool) string {
	if !pr.Keys {
		return takes
	}
	if done {
		takes = strings.NewReplacer("takes ", "would have taken ", "brings ", "would have brought ").Replace(takes)
	}
	return strings.Replace(takes, "--exact", "x", 1)
}

// HintOthers says what takes what another session changed, too. again is the command that merges; "": there is none.
func (pr *Printer) HintOthers(r api.RestoreResponse, again string) {
	others := slices.ContainsFunc(r.Kept, func(k api.Kept) bool {
		return k.Reason == value.KeptSession && k.By != value.Person
	})
	reverts := r.Kind == "revert" // it names what goes
	switch none := again == "" || !r.Mergeable; {
	case !others, reverts && none:
	case reverts:
		pr.Say("hint: '%s' takes what the session did out of such a file, with markers in it", again)
	case none:
		pr.Say("hint: %s", pr.exactly("--exact takes what another one changed, too", !r.DryRun))
	default:
		pr.Say("hint: '%s' takes what the session did out of such a file; --exact, all of it", again)
	}
}
