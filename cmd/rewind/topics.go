package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/naming"
	"rewind/internal/term"
	"rewind/internal/value"
)

// topics are pages of help that are no commands.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "agents", Short: "What rewind does with each agent", Long: agentsHelp()},
		{Use: "checkpoints", Short: "How checkpoints are named", Long: checkpointsHelp()},
		{Use: "environment", Short: "Environment variables", Long: environmentHelp},
		{Use: "exit-codes", Short: "What exit codes mean", Long: exitCodesHelp()},
	}
}

func exitCodesHelp() string {
	var codes strings.Builder
	for _, c := range api.ExitCodes() {
		fmt.Fprintf(&codes, "  %3d  %-12s  %s\n", c.Code, c.Word, c.Meaning)
	}
	return "Exit codes of rewind:\n\n" + codes.String() + "\n2 is never used: agents read it as \"block\"."
}

func checkpointsHelp() string {
	var forms strings.Builder
	for _, f := range naming.Forms() {
		name, is, _ := strings.Cut(f, "  ")
		fmt.Fprintf(&forms, "  %-18s%s\n", name, is)
	}
	return "Wherever a checkpoint is wanted, it can be named by:\n\n" + forms.String() + `
Times are those of the clock and the zone of whoever types them. A session is
named by its id, or how it begins; 'rewind sessions' lists them. Where agents of
several sessions are at work, turn:5 asks which one: turn:5@1a2b, or --session.

A file as it was: <checkpoint>:<path>, as in 'rewind cat turn:5:src/main.go'.

What was it?
  rewind list                  a row a turn; its id is what turn:N stands for
  rewind list turn:5           its steps, each with a name of its own
  rewind show turn:5 -p        what all of the turn changed
  rewind list -- src/main.go   the checkpoints that changed a file

Back:
  rewind undo                  one step, unsaved changes first
  rewind undo --turn           the whole turn that the project stands in
  rewind checkout before:5     to before the prompt of turn 5, conversation too
  rewind checkout turn:4 -- src   only some files
  rewind revert turn:4         take out what turn 4 changed, and keep what came after
  rewind undo-restore          take any of these back
Forks and fresh starts: 'rewind fork turn:5'. A name of your own: 'rewind tag'.`
}

// agentsText is what a person needs to know of one agent; its name, what starts it and the variable that moves its
// settings.
var agentsText = map[api.Agent][4]string{
	value.Claude: {
		"Claude Code", "claude --resume <session>", "~/.claude/settings.json (CLAUDE_CONFIG_DIR)",
		"Every tool call, subagents' work told as the session's. Forks are in its /resume list.",
	},
	value.Codex: {
		"Codex", "codex resume <session>", "~/.codex/hooks.json (CODEX_HOME)",
		"Every tool call; it asks for trust in each new hook. A session that others go on from is not cut in place.",
	},
	value.Gemini: {
		"Gemini CLI", "gemini --resume <session>", "~/.gemini/settings.json (GEMINI_CLI_HOME)",
		"Every tool call; no event tells of its subagents. minimal or balanced: it has nothing more for aggressive.",
	},
	value.Droid: {
		"Factory Droid", "droid --resume <session>", "~/.factory/settings.json, hooks.json (FACTORY_HOME_OVERRIDE)",
		"Every tool call; a Task is the session's that called it. What it goes on with under a new id is the same family.",
	},
}

func agentsHelp() string {
	var b strings.Builder
	b.WriteString("Of each of these agents rewind keeps the code around every tool call, whoever and\n" +
		"whatever made the change, and the conversation up to there. Both go back together:\n" +
		"the session is forked at the same place, and this opens the fork.\n\n")
	for _, agent := range value.Agents() {
		t := agentsText[agent]
		fmt.Fprintf(&b, "%s (%s)\n  opened by  %s\n  hooks in   %s\n", t[0], agent, t[1], t[2])
		for _, line := range wrap(t[3], helpWidth-2) {
			fmt.Fprintf(&b, "  %s\n", line)
		}
		b.WriteString("\n")
	}
	return b.String() + `Hooks are registered for the agents that are installed, by 'rewind init' or:
  rewind config --register-hooks     --dry-run shows it as a patch first
  rewind config --unregister-hooks   the settings become the bytes that they were
  rewind validate                    do events arrive?
An agent that runs already has to be started anew. 'tier' says how much it tells:
minimal (prompts and stops), balanced (every tool call too), aggressive (also what
comes before its context is compacted). 'hooks.guard true' refuses agents' own
calls of restores, gc and purge.

rewind sessions --import takes in conversations from before. Another agent's work,
and yours, is captured as from outside at the next event, or by 'rewind save'.`
}

// settingsHelp lists the settings with their defaults.
func settingsHelp() string {
	var b strings.Builder
	b.WriteString("Settings, and what holds where nobody has set them:\n\n")
	for _, s := range value.Settings() {
		fmt.Fprintf(&b, "  %s  (%s)\n", s.Key, defaultWord(s))
		for _, line := range wrap(s.Help, helpWidth-6) {
			fmt.Fprintf(&b, "      %s\n", line)
		}
	}
	return b.String() + "\nThey are in $REWIND_HOME/config.json for all projects, in .agent/rewind/config.json\n" +
		"for one. The latter does not count where git tracks it, or it is another user's:\n" +
		"what a commit brings sets nothing. Aliases count from the former alone."
}

func defaultWord(s value.Setting) string {
	switch v := s.Value.(type) {
	case []string:
		if len(v) == 0 && strings.HasSuffix(s.Key, ".allow") {
			return "none"
		}
		return fmt.Sprintf("a list: 'rewind config %s'", s.Key)
	case int64:
		if s.Unit == "bytes" {
			return term.Size(v)
		}
	}
	return fmt.Sprint(s.Value)
}

const environmentHelp = "  REWIND_WATCH      off: every file is looked at at each capture, the project is not watched\n" +
	"  REWIND_HOME       where stores and the global configuration are (default: ~/.rewind)\n" +
	"  REWIND_DAEMON     off: no daemon; each command starts a rewindd of its own\n" +
	"  CLAUDE_CONFIG_DIR, CODEX_HOME, GEMINI_CLI_HOME, FACTORY_HOME_OVERRIDE, GEMINI_CLI_SYSTEM_SETTINGS_PATH\n" +
	"                    where agents keep their settings, as they themselves read it\n" +
	"  PAGER, LESS       the pager for long output on a terminal\n" +
	"  NO_COLOR          no colour; CLICOLOR_FORCE forces it; TERM=dumb: neither colour nor progress"
