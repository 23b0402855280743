package main

import (
	"os"

	"rewind/internal/tracetest"
)

// helpers are the programs besides rewind that the test binary is.
func helpers() map[string]func() {
	return map[string]func(){"killat": func() { os.Exit(tracetest.KillAt(os.Args[1:])) }}
}
