package render

import (
	"fmt"

	"rewind/api"
	"rewind/internal/term"
	"rewind/internal/value"
)

// keptHeads is what is said of paths that were left as they are, by why they stay and in this order: of a restore, and of a directory
// that was laid out.
var keptHeads = []struct {
	reason        value.KeptReason
	restored, new string
}{
	{reason: value.KeptUnsaved, restored: "kept, no checkpoint has them (--exact takes them too)"},
	{reason: value.KeptSkipped, restored: "kept, the checkpoint did not capture them (ignored, too large)"},
	{reason: value.KeptSession, restored: "kept, %s changed them since"},
	{reason: value.KeptHolds, restored: "kept, ignored or kept files are in them"},
	{reason: value.KeptOccupied, restored: "not set, a directory with ignored or kept files stands there"},
	{value.KeptPurged, "left as they are, their content was purged from the store", "not made, their content was purged from the store"},
	{value.KeptLost, "left as they are, their content is lost", "not made, their content is lost"},
	{reason: value.KeptBelow, restored: "not laid out, a kept file is in the way"},
}

// sharedHead is that of value.KeptSession where the session that goes back may have written the path, too.
const sharedHead = "kept, %s may have written them: its call ran at the same time"

// TellKept names the paths that stay, each under its heading; made says that a new directory was laid out.
func (pr *Printer) TellKept(list []api.Kept, made bool) {
	for _, row := range keptHeads {
		var heads []string
		paths := map[string][]api.Text{}
		for _, k := range list {
			if k.Reason != row.reason {
				continue
			}
			head := row.restored
			switch {
			case made:
				head = row.new
			case k.Shared:
				head = sharedHead
			}
			if k.By != "" {
				head = fmt.Sprintf(head, term.Sanitize(ShortSession(k.By)))
			}
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

// hintOthers says what takes what another session changed, too.
func (pr *Printer) hintOthers(r api.RestoreResponse) {
	for _, k := range r.Kept {
		if k.Reason != value.KeptSession {
			continue
		}
		if r.DryRun {
			pr.Say("hint: --merge takes what the session did out of such a file, --exact all that another one changed, too")
		} else {
			pr.Say("hint: 'rewind checkout %s --merge' takes what the session did out of such a file; --exact, all of it", r.Target.Short)
		}
		return
	}
}
