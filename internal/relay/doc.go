// Package relay is where the daemon's socket is, how to reach or start the daemon, and the exchange of a hook on a
// connection to it (package hookwire has its bytes): all that the hook client links. It imports next to nothing, since
// what it imports is paid for by every tool call of every agent.
package relay
