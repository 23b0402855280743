package term

import (
	"strings"

	"github.com/rivo/uniseg"
)

// ellipsis marks what was cut off; one column wide.
const ellipsis = "…"

// Width returns the number of columns that sanitised text of one line takes:
// two for a wide rune or an emoji, none for a combining mark.
func Width(s string) int {
	if isPlainASCII(s) {
		return len(s)
	}
	return uniseg.StringWidth(s)
}

// Truncate shortens sanitised text of one line to at most width columns, the
// last of which is an ellipsis when something was cut. It never splits what a
// reader takes for one character. A width of 0 or less gives the empty string.
func Truncate(s string, width int) string {
	if width <= 0 {
		return ""
	}
	if Width(s) <= width {
		return s
	}
	used, rest, state := 0, s, -1
	var b strings.Builder
	for rest != "" {
		var cluster string
		var w int
		cluster, rest, w, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used+w > width-1 {
			break
		}
		b.WriteString(cluster)
		used += w
	}
	return strings.TrimRight(b.String(), " ") + ellipsis
}
