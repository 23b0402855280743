package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/term"
)

// completeSettings completes the name of a setting.
func completeSettings(a *app) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 || a.settle() != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		r, err := api.Call(cmd.Context(), a.client, api.Config, api.ConfigRequest{Project: a.project()}, nil)
		var out []string
		if err == nil {
			for _, s := range r.Settings {
				out = append(out, s.Key+"\t"+s.Help)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

func newConfig(a *app) *cobra.Command {
	global, unset := false, false
	hooks := hooksOptions{}
	cmd := &cobra.Command{
		Use: "config [<key> [value...]] [--global] [--unset] | {--register-hooks | --unregister-hooks} [--agents <agent>,...] " +
			"[--dry-run]",
		Short: "Show and change settings; register agents' hooks",
		Long: "Without a key it lists every setting and where its value comes from. With a key it prints the value, one item a line.\n" +
			"With values it sets them, for this project or with --global for all. The project's settings win.\n\n" +
			"alias.<word> is a command line of your own: 'rewind <word>' runs it, with your further arguments after it. It is cut into\n" +
			"words as by a shell, but no shell runs. It is always --global, and never hides a command.\n\n" +
			"--register-hooks writes the hooks of the installed agents into their own settings at user level, or corrects them.\n" +
			"--unregister-hooks removes them: a file that nobody has changed since gets its old bytes back. The hooks are those of\n" +
			"the widest tier that a project, or the global setting, asks for; setting another tier updates them, too.\n\n" +
			settingsHelp(),
		Example: "  rewind config\n  rewind config --register-hooks --dry-run\n  rewind config --tier aggressive --global\n" +
			"  rewind config limits.file_size 2GiB\n  rewind config --unset limits.file_size\n  rewind config exclude.defaults\n" +
			"  rewind config --global alias.oops 'checkout before:1 --code-only'",
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeSettings(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			if unset && len(args) != 1 {
				return usage("config --unset takes one key")
			}
			if hooks.any() {
				both, setting := hooks.register == hooks.unregister, len(args) > 0 || unset || hooks.tier != ""
				if both || setting || global {
					return usage("config --register-hooks and --unregister-hooks go with --agents and --dry-run only")
				}
				return runHooks(cmd.Context(), a, hooks)
			}
			if hooks.agents != nil || hooks.dryRun {
				return usage("--agents and --dry-run go with --register-hooks or --unregister-hooks")
			}
			if hooks.tier != "" {
				if len(args) > 0 || unset {
					return usage("config --tier takes no key")
				}
				args = []string{"tier", hooks.tier}
			}
			return runConfig(cmd.Context(), a, args, global, unset)
		},
	}
	cmd.Flags().BoolVar(&unset, "unset", false, "take a setting out; the global or default value counts again")
	cmd.Flags().BoolVar(&global, "global", false, "the settings for all projects")
	cmd.Flags().StringVar(&hooks.tier, "tier", "", "set the `tier`: minimal, balanced or aggressive")
	cmd.Flags().BoolVar(&hooks.register, "register-hooks", false, "register the hooks of agents")
	cmd.Flags().BoolVar(&hooks.unregister, "unregister-hooks", false, "take the hooks of agents out")
	cmd.Flags().BoolVarP(&hooks.dryRun, "dry-run", "n", false, "show what would change in agents' settings, as a patch")
	hooks.agents.add(cmd, "only these: some of claude, codex, gemini, droid")
	_ = cmd.RegisterFlagCompletionFunc("tier",
		cobra.FixedCompletions([]string{"minimal", "balanced", "aggressive"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// settingsOfAgents are those that say what stands in agents' own settings.
var settingsOfAgents = []string{"tier", "hooks.enabled", "hooks.guard", "agents.mcp", "agents.commands"}

func runConfig(ctx context.Context, a *app, args []string, global, unset bool) error {
	var r api.ConfigResponse
	var err error
	alias := len(args) > 0 && strings.HasPrefix(args[0], aliasKey)
	if alias && len(args) == 2 {
		if err := a.checkAlias(strings.TrimPrefix(args[0], aliasKey), args[1]); err != nil {
			return err
		}
	}
	writes := len(args) > 1 || unset
	if writes {
		r, err = call(ctx, a, api.SetConfig,
			api.SetConfigRequest{Project: a.project(), Global: global, Key: args[0], Values: args[1:]}, "writing")
	} else {
		r, err = call(ctx, a, api.Config, api.ConfigRequest{Project: a.project(), Global: global}, "reading")
	}
	if err != nil {
		return err
	}
	if writes && slices.Contains(settingsOfAgents, args[0]) {
		a.refreshHooks(ctx)
	}
	if len(args) == 0 {
		if a.json {
			return a.printJSON(r)
		}
		return a.paged(func(w io.Writer) error { return a.settings(w, r.Settings) })
	}
	i := slices.IndexFunc(r.Settings, func(s api.Setting) bool { return s.Key == args[0] })
	if i < 0 && alias && unset {
		return nil
	}
	if i < 0 {
		return &api.Error{
			Word: api.WordUsage, Message: fmt.Sprintf("config: no setting %q", args[0]),
			Hint: "'rewind config' lists the settings",
		}
	}
	return a.printSetting(r.Settings[i])
}

// printSetting prints the value of a setting, one item a line.
func (a *app) printSetting(s api.Setting) error {
	if a.json {
		return a.printJSON(s)
	}
	_, err := fmt.Fprintln(a.Out, strings.Join(values(s), "\n"))
	return err
}

func (a *app) settings(w io.Writer, list []api.Setting) error {
	t := a.Table(term.Column{}, term.Column{Flex: true}, term.Column{}, term.Column{Flex: true})
	for _, s := range list {
		v := values(s)
		text := strings.Join(v, " ")
		if len(v) > 3 {
			text = fmt.Sprintf("%s ... (%d)", strings.Join(v[:3], " "), len(v))
		}
		t.Row(term.Cell{Text: s.Key, Style: term.Bold}, term.Cell{Text: text}, term.Cell{Text: s.From, Style: term.Dim},
			term.Cell{Text: s.Help, Style: term.Dim})
	}
	return t.Flush(w)
}

// values gives a setting's value as text, one item an element.
func values(s api.Setting) []string {
	switch v := s.Value.(type) {
	case []any:
		var out []string
		for _, x := range v {
			out = append(out, term.Sanitize(fmt.Sprint(x)))
		}
		return out
	case float64:
		if s.Unit == "bytes" {
			return []string{term.Size(int64(v))}
		}
		return []string{fmt.Sprint(int64(v))}
	}
	return []string{fmt.Sprint(s.Value)}
}
