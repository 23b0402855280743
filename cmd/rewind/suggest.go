package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rewind/internal/naming"
)

const (
	shownSuggestions = 3 // at most so many are proposed
	typos            = 2 // how many a word has at most that is still taken for another
)

// suggestions are the words among those of a list that were probably meant: those that begin so, else the nearest ones.
func suggestions(typed string, words []string) []string {
	var begin, near []string
	for _, w := range words {
		switch {
		case strings.HasPrefix(w, typed):
			begin = append(begin, w)
		case naming.Distance(typed, w) <= min(typos, len(typed)/2):
			near = append(near, w)
		}
	}
	if len(begin) > 0 {
		near = begin
	}
	slices.SortFunc(near, func(a, b string) int {
		return cmp.Or(naming.Distance(typed, a)-naming.Distance(typed, b), strings.Compare(a, b))
	})
	return near[:min(len(near), shownSuggestions)]
}

// commandWords are what the commands of one are called, other names included.
func commandWords(cmd *cobra.Command) []string {
	var words []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			words = append(append(words, c.Name()), c.Aliases...)
		}
	}
	return words
}

// didYouMean proposes command lines: the words behind what stands before them.
func didYouMean(before string, words []string) string {
	var lines []string
	for _, w := range words {
		lines = append(lines, "'"+before+" "+w+"'")
	}
	if n := len(lines); n > 1 {
		return "did you mean " + strings.Join(lines[:n-1], ", ") + " or " + lines[n-1] + "?"
	}
	return "did you mean " + strings.Join(lines, "") + "?"
}
