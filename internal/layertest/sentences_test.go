package layertest

import (
	"regexp"
	"strings"
	"testing"
)

var (
	sentenceEnd = regexp.MustCompile("[.!?][\"')*`_\\]]*\\s+")
	listItem    = regexp.MustCompile(`^\s*([-*#]+|\d+\.) `)
)

// longSentences counts the sentences of a Markdown text, or of a comment, that have more than maxWords words.
func longSentences(text string) (n int) {
	for _, block := range prose(text) {
		for _, s := range sentenceEnd.Split(block, -1) {
			if len(strings.Fields(s)) > maxWords {
				n++
			}
		}
	}
	return n
}

// prose returns the paragraphs, list items and table cells of a text, without its code blocks.
func prose(text string) []string {
	blocks := []string{""}
	fenced := false
	for line := range strings.Lines(text) {
		last := &blocks[len(blocks)-1]
		indented := *last == "" && (strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t"))
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
			blocks = append(blocks, "")
		case fenced, indented:
		case strings.TrimSpace(line) == "":
			blocks = append(blocks, "")
		case strings.HasPrefix(line, "|"):
			blocks = append(append(blocks, strings.Split(line, "|")...), "")
		case listItem.MatchString(line):
			blocks = append(blocks, line)
		default:
			*last += line
		}
	}
	return blocks
}

func TestLongSentences(t *testing.T) {
	words := func(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }
	long := words(maxWords + 1)
	for _, c := range []struct {
		text string
		n    int
	}{
		{words(maxWords) + ".", 0},
		{long + ".", 1},
		{words(20) + ". " + words(21) + ".", 0},
		{words(20) + ",\n" + words(21) + ".\n", 1},
		{words(20) + "\n\n" + words(21), 0},
		{"- " + words(20) + "\n- " + words(21) + "\n1. " + words(21), 0},
		{"- " + words(20) + "\n  " + words(21), 1},
		{"| " + words(20) + " | " + words(21) + " |\n| " + long + " |", 1},
		{"a:\n\n    " + long + "\n    " + long + "\n\n```\n" + long + "\n```\n" + long, 1},
		{"a:\n\n\t" + long + "\n\n" + long, 1},
	} {
		if n := longSentences(c.text); n != c.n {
			t.Errorf("%q: %d, want %d", c.text, n, c.n)
		}
	}
}
