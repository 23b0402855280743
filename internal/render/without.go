package render

import (
	"fmt"
	"slices"
	"strings"

	"rewind/api"
	"rewind/internal/term"
)

// shownMissing is how many paths that were never captured are named on the terminal.
const shownMissing = 10

// withoutWords say what a path does not have that was set, in the order in which they are told.
var withoutWords = []struct{ what, head string }{
	{"setuid", "without setuid, which a restore gives to nothing that has not got it"},
	{"setgid", "without setgid, which a restore gives to nothing that has not got it"},
	{"sticky", "without the sticky bit, which a restore gives to no file that has not got it"},
	{"owner", "the owner of the file that is replaced is not kept: only root can"},
	{"group", "the group is not kept: it is not one of yours"},
	{"capabilities", "without the capabilities of the file that is replaced: only root can give them"},
	{"attributes", "without extended attributes of the file that is replaced"},
	{"permissions", "with other permissions: the file system does not keep them"},
	{"links", "no longer one file with their other names, which stay as they are"},
}

// TellWithout names what was set without something.
func (pr *Printer) TellWithout(list []api.Without) {
	for _, w := range withoutWords {
		var paths []api.Text
		for _, x := range list {
			if slices.Contains(x.What, w.what) {
				paths = append(paths, x.Path)
			}
		}
		pr.Names(w.head, paths)
	}
}

// tellMissing names what was there at the checkpoint and is not now, and was never captured: first, each in a line,
// what somebody will miss; then in one line what can mostly be made again.
func (pr *Printer) tellMissing(list []api.Skip) {
	const head = "was there then, never captured: "
	var other []string
	shown := 0
	for _, s := range list {
		asked := s.Reason == "ignored" || s.Reason == "pipe"
		if asked || s.Reason == "socket" || s.Reason == "device" {
			other = append(other, term.Quote(string(s.Path)))
			continue
		}
		if shown++; shown <= shownMissing {
			fmt.Fprintf(pr.Out, head+"%s (%s)\n", term.Quote(string(s.Path)), s.Reason)
		}
	}
	if shown > shownMissing {
		fmt.Fprintf(pr.Out, head+"and %d more\n", shown-shownMissing)
	}
	if n := len(other) - shownMissing; n > 0 {
		other = append(other[:shownMissing:shownMissing], "and "+Count(n, "other"))
	}
	if len(other) > 0 {
		fmt.Fprintf(pr.Out, head+"%s (ignored)\n", strings.Join(other, ", "))
	}
}
