package transcript

import (
	"strings"
	"unicode"

	"rewind/internal/jsonscan"
)

// Limits of what is kept of a session file, whatever it holds. A text is cut in front of the character that does not
// fit.
const (
	bufferSize = 256 << 10 // bytes of a file that are held at a time

	maxWord        = 64             // bytes of a type, a role, a version
	maxID          = 128            // bytes of an id; one that does not fit is no id
	maxPath        = 4096           // bytes of a path
	maxName        = 128            // bytes of a tool's name
	maxTarget      = 200            // bytes of what a call is about
	maxTitle       = 200            // bytes of a title
	maxSummary     = 100            // bytes of how a prompt begins, in one line
	maxText        = 4 << 10        // bytes of what a record says
	maxSummaryText = 4 * maxSummary // bytes of it that make a summary
	maxCalls       = 256            // calls, and results, that are kept of one record
	maxOpen        = 256            // calls without a result that are kept; the oldest are forgotten
	maxBroken      = 16             // lines that are no JSON that are named
	maxMarks       = 64 << 10       // places that a fork rewrites in one record
	maxTurns       = 64 << 10       // turns that one record names again
	maxLeft        = 256 << 10      // lines that a fork leaves out whose children find their ancestor
	maxHeld        = 4 << 10        // lines behind the newest message that a fork holds back
	maxHead        = 4 << 20        // bytes at the front of a file within which it must say what it is
)

// oneLine makes s fit a line for people: control characters and runs of white space become one space, and it ends after
// limit bytes.
func oneLine(s string, limit int) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	return string(jsonscan.Fit([]byte(s), limit))
}
