package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/term"
)

// aliasKey is what the keys of the user's own words for command lines begin with.
const aliasKey = "alias."

// expand puts what an alias stands for in place of its word. A command is never an alias, nor is a topic: settings are
// asked only for a word that is none. No shell reads it. Where a word is looked for, aliases are in the list of
// commands.
func (a *app) expand(ctx context.Context, root *cobra.Command, args []string) ([]string, error) {
	if len(args) > 1 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		addAliases(root, a.aliases(ctx))
		last := len(args) - 1 // is being typed
		line, err := a.expand(ctx, newRoot(newApp(a.Streams), nil), args[1:last])
		return slices.Concat(args[:1], line, args[last:]), err
	}
	if len(args) > 1 && args[0] == "help" && !isCommand(root, args[1]) {
		addAliases(root, a.aliases(ctx))
	}
	var own map[string]string
	var went []string
	for {
		at := firstWord(args)
		if at < 0 || isCommand(root, args[at]) {
			return args, nil
		}
		word := args[at]
		if own == nil {
			if own = a.aliases(ctx); len(own) == 0 {
				return args, nil
			}
		}
		text, known := own[word]
		if !known {
			if len(went) > 0 {
				return args, usage("alias %s: %q is no command", went[0], word)
			}
			addAliases(root, own)
			return args, nil
		}
		if slices.Contains(went, word) {
			return args, &api.Error{
				Word: api.WordUsage, Message: "aliases that go in a circle: " + strings.Join(append(went, word), ", "),
				Hint: fmt.Sprintf("'rewind config --global --unset %s%s' takes one out", aliasKey, word),
			}
		}
		went = append(went, word)
		words, err := splitWords(text)
		if err != nil {
			return args, usage("alias %s: %v", word, err)
		}
		args = slices.Concat(args[:at], words, args[at+1:])
	}
}

// addAliases puts aliases beside the commands, for lists of them; expand has put what they stand for in their place
// before one runs.
func addAliases(root *cobra.Command, own map[string]string) {
	for name, text := range own {
		if isCommand(root, name) {
			continue
		}
		root.AddCommand(&cobra.Command{
			Use: name, Short: term.Sanitize(text), Long: "An alias of yours for: rewind " + term.Sanitize(text), DisableFlagParsing: true,
			RunE: func(*cobra.Command, []string) error { return nil },
		})
	}
}

// aliases are the user's, by name. Where they cannot be read there are none: a word is then no command.
func (a *app) aliases(ctx context.Context) map[string]string {
	if a.dir == "" {
		a.dir = workingDir()
	}
	own := map[string]string{}
	r, err := api.Call(ctx, a.client, api.Config, api.ConfigRequest{Project: a.project(), Global: true}, nil)
	if err != nil {
		return own
	}
	for _, s := range r.Settings {
		if name, is := strings.CutPrefix(s.Key, aliasKey); is {
			own[name], _ = s.Value.(string)
		}
	}
	return own
}

// firstWord is where the command stands in a command line; -1: there is none.
func firstWord(args []string) int {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--":
			return -1
		case arg == "-C" || arg == "--directory" || arg == "--color": // with a value
			i++
		case !strings.HasPrefix(arg, "-"):
			return i
		}
	}
	return -1
}

// isCommand reports whether a word is a command, another name of one, a topic, or what completion calls.
func isCommand(root *cobra.Command, word string) bool {
	if strings.HasPrefix(word, cobra.ShellCompRequestCmd) || word == "help" || word == "" {
		return true
	}
	return slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == word || c.HasAlias(word) })
}

// unescaped is what a character behind a backslash means: in double quotes the backslash stays in front of most.
func unescaped(c, quote rune) string {
	if quote == '"' && !strings.ContainsRune(`"\$`+"`", c) {
		return `\` + string(c)
	}
	return string(c)
}

// splitWords cuts a text into words as a shell does: at blanks, but not in quotes, nor behind a backslash. Nothing else
// means anything.
func splitWords(text string) (words []string, err error) {
	var word strings.Builder
	begun, quote, escaped := false, rune(0), false
	for _, c := range text {
		switch {
		case escaped:
			word.WriteString(unescaped(c, quote))
			escaped = false
		case c == '\\' && quote != '\'':
			escaped, begun = true, true
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				word.WriteRune(c)
			}
		case c == '\'' || c == '"':
			quote, begun = c, true
		case strings.ContainsRune(" \t\n", c):
			if begun {
				words = append(words, word.String())
			}
			begun = false
			word.Reset()
		default:
			begun = true
			word.WriteRune(c)
		}
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("a quote without its end: %s", term.Sanitize(text))
	case escaped:
		return nil, fmt.Errorf("a backslash with nothing behind it: %s", term.Sanitize(text))
	case begun:
		words = append(words, word.String())
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("no words in %q", term.Sanitize(text))
	}
	return words, nil
}

// checkAlias refuses to set an alias that would never run.
func (a *app) checkAlias(name, text string) error {
	if a.isCommand(name) {
		return usage("config: %q is a command, which no alias can be", name)
	}
	words, err := splitWords(text)
	if err != nil {
		return usage("config: %s%s: %v", aliasKey, name, err)
	}
	if words[0] == "rewind" {
		return usage("config: %s%s: leave out the word rewind", aliasKey, name)
	}
	return nil
}
