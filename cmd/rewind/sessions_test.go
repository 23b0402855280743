package main

import (
	"strings"
	"testing"
	"time"

	"rewind/api"
	"rewind/internal/term"
)

// On a terminal of 80 columns the list of sessions says what a fork was made of, and leaves out sizes instead.
func TestSessionTableNarrow(t *testing.T) {
	s, out, _ := term.Test("", true, "NO_COLOR=1")
	a := newApp(s)
	fork := api.SessionInfo{
		Agent: "claude", ID: "f8611d62-939b-4ff0-82a8-271f028f3802", Title: "[Fork] LOGIN add a login button please",
		Turns: 2, Bytes: 180_000, Last: time.Now(),
	}
	fork.Fork = &api.Lineage{Session: "claude/704e68e5-fdc0-4326-a75e-18af66157d6d", Turn: 1}
	if err := a.sessionTable([]api.SessionInfo{fork}); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "fork of 704e68e5") || strings.Contains(got, "KiB") {
		t.Errorf("a fork's line at 80 columns: %q", got)
	}
	out.Reset()
	a.Width = 120
	if err := a.sessionTable([]api.SessionInfo{fork}); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "fork of 704e68e5 at turn 1") || !strings.Contains(got, "KiB") {
		t.Errorf("a fork's line at 120 columns: %q", got)
	}
}
