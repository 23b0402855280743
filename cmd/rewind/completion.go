package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

// completionOf makes the command that prints a shell's script say which shells it knows.
func completionOf(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Args = func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usage("completion %s: no such shell: want bash, zsh, fish or powershell", args[0])
		}
		c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		for _, shell := range c.Commands() {
			if shell.Name() == "bash" {
				shell.RunE = func(cmd *cobra.Command, _ []string) error { return bashCompletion(cmd) }
				shell.Long = strings.Replace(shell.Long, "This script depends on the 'bash-completion' package.\n"+
					"If it is not installed already, you can install it via your OS's package manager.\n",
					"It needs nothing but bash; where the bash-completion package is loaded, it uses that.\n", 1)
			}
		}
	}
}

// bashWords finds the words of a command line where the bash-completion package is not there to do it: bash ends words
// at : and =, of which the names of checkpoints have some.
const bashWords = `
__rewind_words()
{
    if declare -F _get_comp_words_by_ref >/dev/null; then
        _get_comp_words_by_ref "$@"
        return
    fi
    local i word line="$COMP_LINE" near
    words=() cword=0
    for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
        word="${COMP_WORDS[i]}" near=1
        if [[ $line == [[:space:]]* ]]; then
            near=
            line="${line#"${line%%[![:space:]]*}"}"
        fi
        if [[ $i -gt 0 && $near && ( $word == [:=]* || ${COMP_WORDS[i-1]} == *[:=] ) ]]; then
            words[${#words[@]}-1]+="$word"
        else
            words+=("$word")
        fi
        [[ $i -eq $COMP_CWORD ]] && cword=$((${#words[@]} - 1))
        line="${line#"$word"}"
    done
    cur="${words[cword]}" prev=
    [[ $cword -gt 0 ]] && prev="${words[cword-1]}"
    return 0
}
`

// bashCompletion prints cobra's script for bash with what it needs of the bash-completion package.
func bashCompletion(cmd *cobra.Command) error {
	describe := true
	if f := cmd.Flag("no-descriptions"); f != nil {
		describe = f.Value.String() != "true"
	}
	var script bytes.Buffer
	if err := cmd.Root().GenBashCompletionV2(&script, describe); err != nil {
		return err
	}
	text := strings.Replace(script.String(), "    _get_comp_words_by_ref \"$@\" cur prev words cword\n",
		"    __rewind_words \"$@\" cur prev words cword\n", 1)
	_, err := fmt.Fprint(cmd.OutOrStdout(), text+bashWords)
	return err
}

// completePlaces offers the turns of a session, their ends and where their prompts were typed, then checkpoints; the
// newest first. A word that begins with a directory is offered worktrees, and behind the colon what is so called there.
func completePlaces(a *app, most int, session *string) cobra.CompletionFunc {
	checkpoints := completeCheckpoints(a)
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if a.dashed {
			return a.completePaths(cmd, word)
		}
		if len(args) >= most || a.settle() != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		in, typed := a.project(), ""
		if dir, rest, ok := a.splitPlace(word); ok {
			if typed = strings.TrimSuffix(word, rest); !strings.HasSuffix(typed, ":") {
				return a.completeWorktrees(cmd.Context(), word)
			}
			in = api.Project{Dir: api.Text(dir)}
		}
		list, how := checkpoints(cmd.Context(), in)
		r, err := api.Call(cmd.Context(), a.client, api.Turns,
			api.TurnsRequest{Project: in, Walk: api.Walk{Session: *session, Choose: true}, Limit: toldTurns}, nil)
		if err != nil {
			return behind(typed, list), how
		}
		var ends, before []string
		for _, t := range slices.Backward(r.Turns) {
			ends = append(ends, fmt.Sprintf("turn:%d\t%s", t.Turn, term.Sanitize("the end of: "+string(t.Prompt))))
			before = append(before, fmt.Sprintf("before:%d\t%s", t.Turn, term.Sanitize("before: "+string(t.Prompt))))
		}
		return behind(typed, append(append(ends, before...), list...)), how | cobra.ShellCompDirectiveKeepOrder
	}
}

// behind are choices with what was typed before them.
func behind(typed string, list []string) []string {
	for i := range list {
		list[i] = typed + list[i]
	}
	return list
}

// completeWorktrees offers the other worktrees of the project's family, in the way that the word begins.
func (a *app) completeWorktrees(ctx context.Context, word string) (out []string, how cobra.ShellCompDirective) {
	how = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace // a colon may come next
	r, err := api.Call(ctx, a.client, api.Worktrees, api.WorktreesRequest{Project: a.project()}, nil)
	if err != nil {
		return nil, how
	}
	for _, w := range r.Worktrees {
		dir := string(w.Root)
		if rel, err := filepath.Rel(a.dir, dir); err == nil && !filepath.IsAbs(word) {
			if dir = rel; !strings.HasPrefix(dir, "..") {
				dir = "./" + dir
			}
		}
		isOther := !w.Here && w.Wrong == ""
		if isOther && strings.HasPrefix(dir, word) && term.Sanitize(dir) == dir {
			out = append(out, dir+"\tworktree")
		}
	}
	return out, how
}

// completeTurns offers the turns of a session, the newest first.
func completeTurns(a *app, session *string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if a.dashed {
			return a.completePaths(cmd, word)
		}
		if len(args) > 0 || a.settle() != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		r, err := api.Call(cmd.Context(), a.client, api.Turns,
			api.TurnsRequest{Project: a.project(), Walk: api.Walk{Session: *session, Choose: true}, Limit: toldTurns}, nil)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []string
		for _, t := range slices.Backward(r.Turns) {
			out = append(out, fmt.Sprintf("turn:%d\t%s", t.Turn, term.Sanitize(string(t.Prompt))))
		}
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// completeCheckpoints offers checkpoints with what they are.
func completeCheckpoints(a *app) func(context.Context, api.Project) ([]string, cobra.ShellCompDirective) {
	return func(ctx context.Context, in api.Project) ([]string, cobra.ShellCompDirective) {
		r, err := api.Call(ctx, a.client, api.List, api.ListRequest{Project: in, Limit: 30}, nil)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []string
		for _, c := range r.Checkpoints {
			out = append(out, c.Short+"\t"+term.Sanitize(fmt.Sprintf("%s %s", term.Ago(a.Now(), c.Time), render.What(c))))
			for _, t := range c.Tags {
				out = append(out, t+"\ttag of "+c.Short)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}
