package api

import (
	"rewind/internal/value"
)

// What the engine knows, too, is declared once, in package value.
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
	// Check is one thing that rewind needs, as it was found.
	Check = value.Check
	// Leak is a file that looks like it holds a secret.
	Leak = value.Leak
	// Progress is how far long work has come.
	Progress = value.Progress
	// Activity is a capture or restore under way.
	Activity = value.Activity
	// Watcher tells captures what may have changed.
	Watcher = value.Watcher
)
