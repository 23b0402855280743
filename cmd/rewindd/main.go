// Command rewindd is the daemon of rewind, and the process that answers one command where no daemon is wanted: all that
// opens a store is in it. 'rewind' and the hooks' client start it.
package main

import (
	"os"

	"rewind/internal/mcpserver"
	"rewind/internal/picker"
	"rewind/internal/programs"
	"rewind/server"
)

// release is the version of a release build (-ldflags "-X main.release=v1.2.3").
var release string

func main() {
	if args := os.Args[1:]; len(args) == 2 && args[0] == "mcp" {
		os.Exit(mcpserver.Main(args[1], programs.Version(release))) // it opens no store
	}
	if args := os.Args[1:]; len(args) == 1 && args[0] == "picker" {
		program, err := os.Executable()
		if err != nil {
			program = os.Args[0]
		}
		os.Exit(picker.Main(program, programs.Version(release)))
	}
	os.Exit(server.Main(os.Args[1:], programs.Version(release), os.Stdin, os.Stdout, os.Stderr))
}
