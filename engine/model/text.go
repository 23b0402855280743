package model

import (
	"strings"
)

// maxSummary is how much of a prompt a list shows, in runes, as the summaries of conversations.
const maxSummary = 100

// OneLine is the beginning of a text on one line.
func OneLine(text string) string {
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) > maxSummary {
		return string(line[:maxSummary-1]) + "…"
	}
	return string(line)
}
