package main

import (
	"fmt"
	"strings"
)

// A wish is what other programs have a word for and rewind has another.
type wish struct{ line, does string }

var (
	searching = []wish{
		{"grep <words>", "in files of all checkpoints, and what was said"},
		{"list --grep <words>", "turns by their prompt"},
		{"list -S <text>", "when a text came into a file, or went"},
	}
	asking = []wish{
		{"blame <file>", "which turn and prompt wrote each line"},
		{"list -- <file>", "all that changed a file"},
	}
	going = []wish{
		{"checkout before:<n>", "to where prompt n was typed, conversation too"},
		{"undo --turn", "take back the last turn, and keep what you did"},
	}
	sizes = []wish{
		{"status -v", "how much disk the store takes"},
		{"gc --dry-run", "what could go"},
	}
)

// wishes are the commands that are meant by words that are none.
var wishes = map[string][]wish{
	"search": searching, "find": searching,
	"why": asking, "annotate": asking, "praise": asking,
	"history": {{"list", "turns, the newest first"}, {"list -- <file>", "all that changed a file"}},
	"goto":    going, "reset": going, "rollback": going, "back": going,
	"resume": {
		{"sessions", "all conversations, and what opens each"},
		{"fork turn:<n>", "a new conversation that goes on behind turn n"},
	},
	"branch": {
		{"fork turn:<n>", "a new conversation that goes on behind turn n"},
		{"tree", "what was forked from what"},
	},
	"du": sizes, "size": sizes, "disk": sizes,
	"stash": {
		{"save <message>", "keep the files as they are"},
		{"undo", "take back what is not saved; redo brings it"},
	},
}

// wishHelp is the page of a word that is no command.
func wishHelp(word string) (page string, known bool) {
	list, known := wishes[word]
	if !known {
		return "", false
	}
	var b strings.Builder
	width := 0
	for _, w := range list {
		width = max(width, len(w.line))
	}
	for _, w := range list {
		fmt.Fprintf(&b, "  rewind %-*s  %s\n", width, w.line, w.does)
	}
	return b.String(), true
}

// wished proposes the commands that are meant by a word that is none; "": nothing is known of it.
func wished(word string) string {
	var words []string
	for _, w := range wishes[word] {
		words = append(words, w.line)
	}
	if len(words) == 0 {
		return ""
	}
	return didYouMean("rewind", words)
}
