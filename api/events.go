package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
)

// EventsPath is the route that answers with what happens in a project, an Event a line, until the client goes or the
// daemon ends; its request is an EventsRequest.
const EventsPath = "/v1/events"

// EventsRequest asks for what happens in a project.
type EventsRequest struct {
	Project
	Since *uint64 `json:"since,omitempty"` // what came behind this operation, too; absent: from now on
}

// The events that are no word of an operation's kind.
const (
	EventReady     = "ready"      // the first: all that happens from now on is told
	EventReset     = "reset"      // some were missed: what is known of the project is to be asked for anew
	EventSession   = "session"    // there is a new one
	EventFork      = "fork-found" // a session was found to be an agent's fork of another
	EventBegan     = "turn-began"
	EventEnded     = "turn-ended"
	EventRestore   = "restore"
	EventSwitched  = "switched"
	EventUndone    = "undone" // a restore, or what was done with sessions
	EventRenamed   = "renamed"
	EventDeleted   = "deleted"
	EventPromoted  = "promoted"
	EventDegraded  = "degraded"  // captures do not work
	EventRecovered = "recovered" // they do again
)

// Event is something that happened. Whoever asks with its Since goes on behind it, with any daemon.
type Event struct {
	Event     string     `json:"event"` // one of the above; else the kind of its operation: checkpoint, tag, archive, purge, ...
	Since     uint64     `json:"since"`
	Session   string     `json:"session,omitempty"`   // of session and fork-found, by name
	Operation *Operation `json:"operation,omitempty"` // that was it; absent: none was
	Fork      *Lineage   `json:"fork,omitempty"`      // of fork-found
	Degraded  *Degraded  `json:"degraded,omitempty"`  // of degraded
}

// Events are what happens in a project. They end with ctx, with the daemon, which is no error, or after an error.
func Events(ctx context.Context, c *Client, req EventsRequest) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		resp, err := c.send(ctx, http.MethodGet, EventsPath, req)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer resp.Body.Close()
		defer cancel() // first: the server waits for something to happen
		dec := json.NewDecoder(resp.Body)
		for {
			var line struct {
				Event
				Error *Error `json:"error"`
			}
			err := dec.Decode(&line)
			switch {
			case ctx.Err() != nil || errors.Is(err, io.EOF):
				return
			case err != nil:
				err = fmt.Errorf("api: %s: %w: %w", EventsPath, ErrCut, err)
			case line.Error != nil:
				err = line.Error
			}
			if !yield(line.Event, err) || err != nil {
				return
			}
		}
	}
}
