package model

import (
	"context"

	"rewind/internal/value"
)

// Asker is who waits for a request. It comes with the request's context, and stays when that is cut off from its end:
// what is taken back after an interrupt is still waited for.
type Asker struct {
	Process int                  // its process id, as it says itself; 0: unknown
	Peer    int                  // the same, as the system says; 0: unknown, NoPeer: a browser of the person's
	Told    func(value.Progress) // is told how far the work has come, by several goroutines; nil: nobody wants to know
}

// NoPeer is the peer of what a person does in a browser: no process of theirs asks.
const NoPeer = -1

type askerKey struct{}

// WithAsker returns a context of a request with who waits for it.
func WithAsker(ctx context.Context, a Asker) context.Context {
	return context.WithValue(ctx, askerKey{}, a)
}

// AskerOf is who waits for a request; nobody where the context has none.
func AskerOf(ctx context.Context) Asker {
	a, _ := ctx.Value(askerKey{}).(Asker)
	return a
}
