// Package clients knows the agents' programs on this machine. It finds their folders, and the programs that run on a
// session. It updates their own lists and caches when a session file was added or cut.
//
// What belongs to an agent is read as it lies there, and changed through the agent's own program where that has a way.
// Two things it has no way for: an entry of Claude's sessions-index.json, and the rows that Codex keeps of what a
// thread said.
//
// Everything that is read may be hostile: sizes are bounded, links are not followed where a file is replaced, and what
// does not look as expected is an error or says nothing.
//
// Formats: seen on the released clients; docs/agents says which versions.
package clients

import "errors"

// errNoProgram is wrapped when an agent has to be told by its own program, and that is not on the PATH.
var errNoProgram = errors.New("the agent's program is not on the PATH")
