package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rewind/internal/term"
)

// helpWidth is how wide the pages of help are, in columns. Text is filled; what is indented stays line for line.
const helpWidth = 80

// shownExamples are how many examples stand in front; the others come last.
const shownExamples = 3

// helpPage is the page of a command or a topic: how it is called, examples, what it does, its flags. What is asked most
// stands first.
func helpPage(cmd *cobra.Command) string {
	var parts []string
	add := func(title, text string) {
		if text = strings.TrimRight(text, "\n"); text != "" {
			parts = append(parts, title+text)
		}
	}
	long := cmd.Long
	if long == "" {
		long = cmd.Short + "."
	}
	examples := strings.Split(cmd.Example, "\n")
	shown := min(len(examples), shownExamples)
	if cmd.Runnable() && cmd.HasParent() {
		add("Usage: ", usageLine(cmd))
	}
	add("Examples:\n", strings.Join(examples[:shown], "\n"))
	add("", filled(long))
	for _, g := range cmd.Groups() {
		add(g.Title+"\n", commandList(cmd, func(c *cobra.Command) bool { return c.GroupID == g.ID }))
	}
	title := "Commands:\n"
	if len(cmd.Groups()) > 0 {
		title = "Others:\n"
	}
	add(title, commandList(cmd, func(c *cobra.Command) bool { return c.GroupID == "" && c.IsAvailableCommand() }))
	if cmd.Runnable() {
		add("Flags:\n", cmd.LocalFlags().FlagUsagesWrapped(helpWidth))
		add("Flags of every command:\n", cmd.InheritedFlags().FlagUsagesWrapped(helpWidth))
	}
	add("More examples:\n", strings.Join(examples[shown:], "\n"))
	add("Also called: ", strings.Join(cmd.Aliases, ", "))
	add("Topics:\n", commandList(cmd, (*cobra.Command).IsAdditionalHelpTopicCommand))
	switch {
	case !cmd.HasParent():
		add("", "'rewind help <command>' tells more of one, or of a topic.")
	case cmd.HasAvailableSubCommands():
		add("", fmt.Sprintf("'%s <command> --help' tells more of one.", cmd.CommandPath()))
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// usageLine is how a command is called, in one line: of its flags, and of what is called with a flag instead, the list
// below tells.
func usageLine(cmd *cobra.Command) string {
	line := cmd.CommandPath()
	_, args, _ := strings.Cut(cmd.Use, " ")
	first, _, _ := strings.Cut(args, "\n")
	words := groupsOf(first)
	if cmd.HasAvailableSubCommands() {
		words = []string{"<command>"}
	}
	for _, word := range words {
		if before, _, either := strings.Cut(word, " | --"); either { // and the bracket stays closed
			word = before + word[len(word)-1:]
		}
		if inner, one := strings.CutPrefix(word, "{"); one {
			word = strings.TrimSuffix(inner, "}")
		}
		flag := strings.HasPrefix(word, "[-") || strings.HasPrefix(word, "--")
		if !flag || strings.HasPrefix(word, "[-- ") || word == "--" {
			line += " " + word
		}
	}
	if cmd.HasAvailableLocalFlags() {
		line += " [flags]"
	}
	return line
}

// groupsOf are the words of a usage line; what stands in brackets is one.
func groupsOf(line string) (words []string) {
	depth, from := 0, 0
	for i, r := range line + " " {
		switch r {
		case '[', '{', '<':
			depth++
		case ']', '}', '>':
			depth--
		case ' ':
			if depth == 0 {
				if from < i {
					words = append(words, line[from:i])
				}
				from = i + 1
			}
		}
	}
	return words
}

// commandList lists the commands below one that are asked for, a line each.
func commandList(cmd *cobra.Command, is func(*cobra.Command) bool) string {
	var b strings.Builder
	for _, c := range cmd.Commands() {
		if is(c) {
			fmt.Fprintf(&b, "  %-12s  %s\n", c.Name(), c.Short)
		}
	}
	return b.String()
}

// filled sets a text in lines of helpWidth: paragraphs, and what is indented as it is.
func filled(text string) string {
	var out, open []string
	flush := func() {
		out = append(out, wrap(strings.Join(open, " "), helpWidth)...)
		open = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" && line[0] != ' ' {
			open = append(open, line)
			continue
		}
		flush()
		out = append(out, hanging(line)...)
	}
	flush()
	return strings.Join(out, "\n")
}

// hanging sets a line of a list: what does not fit goes on below the last column of it.
func hanging(line string) []string {
	if term.Width(line) <= helpWidth {
		return []string{line}
	}
	text := strings.TrimLeft(line[strings.LastIndex(line, "  "):], " ")
	before := strings.TrimSuffix(line, text)
	lines := wrap(text, helpWidth-term.Width(before))
	for i := range lines {
		lines[i] = before + lines[i]
		before = strings.Repeat(" ", term.Width(before))
	}
	return lines
}

// wrap sets a text in lines of at most so many columns; a longer word has one of its own.
func wrap(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && term.Width(line)+1+term.Width(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
