package clients

import "rewind/transcript"

// programs are the names of the agents' programs: of the file that runs, or of the script that an interpreter runs.
var programs = map[transcript.Agent][]string{
	transcript.Claude: {"claude", "claude-code"},
	transcript.Codex:  {"codex"},
	transcript.Gemini: {"gemini", "gemini-cli"},
	transcript.Droid:  {"droid"},
}

// A Program is a process that was seen: a later one of the same number is another. Safe for concurrent use.
type Program struct {
	pid   int
	began started
}

// See keeps a process that runs; nil: it does not, or its number is not known (0).
func See(pid int) *Program {
	if pid <= 0 {
		return nil
	}
	began, runs := startOf(pid)
	if !runs {
		return nil
	}
	return &Program{pid, began}
}

// Runs reports whether it still runs. What cannot be looked up is taken to run.
func (p *Program) Runs() bool {
	now, runs := startOf(p.pid)
	if now == (started{}) {
		return exists(p.pid)
	}
	return runs && (now == p.began || p.began == started{})
}
