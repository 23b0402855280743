package api

import (
	"rewind/internal/textdiff"
	"rewind/internal/value"
)

// What the engine knows, too, is declared once: in package value, or where it is made.
type (
	// Text is bytes that are usually text.
	Text = value.Text
	// Agent names an agent.
	Agent = value.Agent
	// AgentEnv says where agents keep their own.
	AgentEnv = value.AgentEnv
	// Walk says along whose steps a command goes.
	Walk = value.SessionChoice
	// Head is the user's git repository at some moment.
	Head = value.Head
	// Lineage is where a fork or clone comes from.
	Lineage = value.Lineage
	// Store is a store that this user's REWIND_HOME knows.
	Store = value.Store
	// Removed is value.Removed.
	Removed = value.Removed
	// Worktree is a directory of a family of worktrees.
	Worktree = value.Worktree
	// Check is one thing that rewind needs, as it was found.
	Check = value.Check
	// Leak is a file that looks like it holds a secret.
	Leak = value.Leak
	// Uncaptured is a file that an agent edited and no checkpoint has.
	Uncaptured = value.Uncaptured
	// SaidLeak is a place in a conversation that looks like it holds a secret.
	SaidLeak = value.SaidLeak
	// Kept is a path that stays although the target has it otherwise.
	Kept = value.Kept
	// PlanChange says how what would be done now differs from a plan that was shown.
	PlanChange = value.PlanChange
	// Merge is what became of one path of a change that was brought into the worktree.
	Merge = value.Merge
	// Overlap is a path that two branches changed.
	Overlap = value.Overlap
	// Taken are paths that were set, or removed, only because exact was asked for.
	Taken = value.Taken
	// Conflict is a path that changed while a restore ran; it was left as it is.
	Conflict = value.Conflict
	// Without is a path that a restore set, or found set, without something.
	Without = value.Without
	// Hunk is a place where two texts differ, as in a unified diff.
	Hunk = textdiff.Hunk
	// Setting is one key of the configuration.
	Setting = value.Setting
	// Lost is an object that nothing was found to repair.
	Lost = value.Lost
	// Affected is a checkpoint that cannot be restored whole.
	Affected = value.Affected
	// Filter says which checkpoints and turns a list has.
	Filter = value.Filter
	// Said is a line of a conversation that matches.
	Said = value.Said
	// BlamedLine is a line with its origin.
	BlamedLine = value.BlamedLine
	// Unsearched are paths of which some version was not searched.
	Unsearched = value.Unsearched
	// AtWork is an agent that is at work.
	AtWork = value.AtWork
	// Behind is what of a session's branch lies behind a moment of it.
	Behind = value.Behind
	// TurnsOf are turns of a session that follow one another.
	TurnsOf = value.TurnsOf
	// Tool is an agent's tool call.
	Tool = value.Tool
	// Progress is how far long work has come.
	Progress = value.Progress
	// Activity is a capture or restore under way.
	Activity = value.Activity
	// Watcher tells captures what may have changed.
	Watcher = value.Watcher
)
