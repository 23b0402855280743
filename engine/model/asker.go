package model

import (
	"context"

	"rewind/internal/value"
)

// Asker is who waits for a request. It comes with the request's context, and stays when that is cut off from its end: what is taken back
// after an interrupt is still waited for.
type Asker struct {
	Process int                  // its process id; 0: unknown
	Told    func(value.Progress) // is told how far the work has come, by several goroutines; nil: nobody wants to know
}

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
