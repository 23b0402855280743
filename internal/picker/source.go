package picker

import (
	"context"

	"rewind/api"
)

// source answers the picker: the client side of the API.
type source interface {
	List(ctx context.Context, req api.ListRequest) (api.ListResponse, error)
	Show(ctx context.Context, req api.ShowRequest) (api.ShowResponse, error)
	Status(ctx context.Context, req api.StatusRequest) (api.StatusResponse, error)
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
