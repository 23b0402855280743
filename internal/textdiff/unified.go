package textdiff

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// Header names one side of a diff.
type Header struct {
	// Name is written as it is: "a/dir/file", quoted by the caller where the path
	// needs it, or "/dev/null" for a side that does not exist.
	Name string
}

// Unified writes hunks as a unified diff that patch and git apply read. Without
// hunks it writes nothing. The lines are written byte for byte: they are not
// safe for a terminal.
func Unified(w io.Writer, old, new Header, hunks []Hunk) error {
	if len(hunks) == 0 {
		return nil
	}
	b := bufio.NewWriter(w)
	b.WriteString("--- " + old.line() + "+++ " + new.line())
	for _, h := range hunks {
		b.WriteString(h.Header())
		b.WriteByte('\n')
		for _, l := range h.Lines {
			b.WriteByte(byte(l.Op))
			b.Write(l.Text)
			b.WriteByte('\n')
			if l.NoEOL {
				b.WriteString(noEOLText)
				b.WriteByte('\n')
			}
		}
	}
	return b.Flush() // a bufio.Writer keeps the first error
}

// noEOLText is the line behind a line that does not end in a line feed.
const noEOLText = `\ No newline at end of file`

// Header returns the line that begins a hunk, "@@ -1,3 +1,4 @@", without a line
// feed.
func (h Hunk) Header() string {
	return "@@ -" + span(h.OldStart, h.OldLines) + " +" + span(h.NewStart, h.NewLines) + " @@"
}

func span(start, lines int) string {
	if lines == 1 {
		return strconv.Itoa(start)
	}
	return strconv.Itoa(start) + "," + strconv.Itoa(lines)
}

// line ends a name that holds spaces with a tab, so that nobody takes what
// follows a space for a date.
func (h Header) line() string {
	if strings.Contains(h.Name, " ") && !strings.HasPrefix(h.Name, `"`) {
		return h.Name + "\t\n"
	}
	return h.Name + "\n"
}
