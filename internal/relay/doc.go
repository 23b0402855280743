// Package relay is where the daemon's socket is, how to reach or start the daemon, and one hand-written HTTP/1.1 exchange on it: all that
// the hook client links. It imports next to nothing, since what it imports is paid for by every tool call of every agent.
package relay
