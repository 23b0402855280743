package picker

import (
	"context"
	"sync"
	"time"

	"rewind/api"
)

// source answers the picker: the client side of the API.
type source interface {
	List(ctx context.Context, req api.ListRequest) (api.ListResponse, error)
	Show(ctx context.Context, req api.ShowRequest) (api.ShowResponse, error)
	Status(ctx context.Context, req api.StatusRequest) (api.StatusResponse, error)
	Config(ctx context.Context, req api.ConfigRequest) (api.ConfigResponse, error)
	Grep(ctx context.Context, req api.GrepRequest) (api.GrepResponse, error)
	Diff(ctx context.Context, req api.DiffRequest) (api.DiffResponse, error)
	Checkout(ctx context.Context, req api.CheckoutRequest) (api.RestoreResponse, error)
	UndoRestore(ctx context.Context, req api.UndoRestoreRequest) (api.RestoreResponse, error)
	Fork(ctx context.Context, req api.ForkRequest) (api.ForkResponse, error)
	Manage(ctx context.Context, req api.ManageRequest) (api.ManageResponse, error)
}

// client is the source over the API.
type client struct{ *api.Client }

func (c client) List(ctx context.Context, req api.ListRequest) (api.ListResponse, error) {
	return api.Call(ctx, c.Client, api.List, req, nil)
}

func (c client) Show(ctx context.Context, req api.ShowRequest) (api.ShowResponse, error) {
	return api.Call(ctx, c.Client, api.Show, req, nil)
}

func (c client) Status(ctx context.Context, req api.StatusRequest) (api.StatusResponse, error) {
	return api.Call(ctx, c.Client, api.Status, req, nil)
}

func (c client) Config(ctx context.Context, req api.ConfigRequest) (api.ConfigResponse, error) {
	return api.Call(ctx, c.Client, api.Config, req, nil)
}

func (c client) Grep(ctx context.Context, req api.GrepRequest) (api.GrepResponse, error) {
	return api.Call(ctx, c.Client, api.Grep, req, nil)
}

func (c client) Diff(ctx context.Context, req api.DiffRequest) (api.DiffResponse, error) {
	return api.Call(ctx, c.Client, api.Diff, req, nil)
}

func (c client) Checkout(ctx context.Context, req api.CheckoutRequest) (api.RestoreResponse, error) {
	return api.Call(ctx, c.Client, api.Checkout, req, nil)
}

func (c client) UndoRestore(ctx context.Context, req api.UndoRestoreRequest) (api.RestoreResponse, error) {
	return api.Call(ctx, c.Client, api.UndoRestore, req, nil)
}

func (c client) Fork(ctx context.Context, req api.ForkRequest) (api.ForkResponse, error) {
	return api.Call(ctx, c.Client, api.MakeFork, req, nil)
}

func (c client) Manage(ctx context.Context, req api.ManageRequest) (api.ManageResponse, error) {
	return api.Call(ctx, c.Client, api.ManageForks, req, nil)
}

// primed is a source whose first rows have been asked for by who started the picker, while this process began. Nil, or
// the channel's end: who started it has none, and the source is asked.
type primed struct {
	source
	rows chan *api.ListResponse
	once sync.Once
}

// atOnce is how long a screen waits for the rows that have been asked for: what it draws first is then all that is
// asked for, and not an empty frame.
const atOnce = 30 * time.Millisecond

// soon gives the first rows if they come at once; nil: they are still to come, by List, or there are none.
func (p *primed) soon(ctx context.Context) *api.ListResponse {
	t := time.NewTimer(atOnce)
	defer t.Stop()
	select {
	case rows := <-p.rows:
		return rows
	case <-ctx.Done():
	case <-t.C:
	}
	return nil
}

// List implements source.
func (p *primed) List(ctx context.Context, req api.ListRequest) (api.ListResponse, error) {
	var first *api.ListResponse
	p.once.Do(func() {
		select {
		case first = <-p.rows:
		case <-ctx.Done():
		}
	})
	if first != nil {
		return *first, nil
	}
	return p.source.List(ctx, req)
}
