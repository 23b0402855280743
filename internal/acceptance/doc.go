// Package acceptance runs the released coding agents against rewind: each in an empty home directory of its own, with a
// scripted model on loopback (package fakemodel) and no network. It holds only tests, under the build tag acceptance,
// since they install the agents:
//
//	go test -tags acceptance -count 1 -v ./internal/acceptance/
//
// TestEvents runs each agent with a hook that only records, and compares what the agent fired with testdata/events: a
// new version of an agent that fires something else shows there. The others do what a user does: install rewind, rewind
// init, work, fork, go back. What counts of a conversation is what the model was really sent, and what the agent shows.
package acceptance
