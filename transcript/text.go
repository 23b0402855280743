package transcript

import (
	"strings"
	"unicode"

	"rewind/internal/jsonscan"
)

// oneLine makes s fit a line for people: control characters and runs of white space become one space, and it ends after limit bytes.
func oneLine(s string, limit int) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	return string(jsonscan.Fit([]byte(s), limit))
}
