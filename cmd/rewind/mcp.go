package main

import (
	"fmt"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/programs"
	"rewind/internal/term"
)

// newMCP is the server that agents start. It is rewindd's: what it links would make every command larger, and slower to
// start.
func newMCP(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Let an agent read checkpoints and conversations (MCP)",
		Long: "Serves the Model Context Protocol on standard input and output, for an agent. It has the tools " +
			"list, show, diff, cat, grep, blame and turns, which only read. The project is that of the " +
			"current directory, or of -C. Answers have a limit, and say if they are cut.\n\n" +
			"'rewind config agents.mcp true --global' registers it with the installed agents, beside their " +
			"hooks. false removes it again.",
		Example: "  rewind config agents.mcp true --global\n  rewind -C ~/src/project mcp",
		Args:    takesNone,
		RunE: func(*cobra.Command, []string) error {
			program := daemonProgram()
			if a.InTTY {
				a.Say("note: an agent starts this, and speaks to it in JSON; ctrl-d ends it")
			}
			// returns only where it failed
			err := syscall.Exec(program, []string{programs.Daemon, "mcp", a.dir}, os.Environ())
			return &api.Error{
				Word: api.WordFailed, Message: fmt.Sprintf("mcp: %s: %v", term.Quote(program), err),
				Hint: "rewind's programs are installed together: " + programs.InstallRemedy,
			}
		},
	}
}
