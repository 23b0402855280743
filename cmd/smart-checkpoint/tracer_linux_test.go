package main

import "rewind/internal/tracetest"

// helpers are the programs that the test binary is besides, by name.
func helpers() map[string]func([]string) int {
	return map[string]func([]string) int{"killat": tracetest.KillAt}
}
