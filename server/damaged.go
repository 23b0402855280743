package server

import (
	"context"

	"rewind/api"
	"rewind/engine"
)

// damageKey is the key of a request's place for the damage of the store that answered it.
type damageKey struct{}

// withDamage gives a request that place: who answers it from a damaged store says so there, and the answer carries it.
func withDamage(ctx context.Context) (context.Context, **api.Error) {
	place := new(*api.Error)
	return context.WithValue(ctx, damageKey{}, place), place
}

// withoutDamage is for what is asked of a store beside the answer.
func withoutDamage(ctx context.Context) context.Context {
	return context.WithValue(ctx, damageKey{}, new(*api.Error))
}

// salvaged runs fn on a store that is damaged and opened only to be read. What is not found there may be what is lost.
func salvaged(ctx context.Context, e *engine.Engine, fn func(*engine.Engine) error) error {
	told := tell(e.Log.Damage())
	text := told.Message
	told.Message = "the store is damaged, this is what it still has: " + text
	if place, ok := ctx.Value(damageKey{}).(**api.Error); ok {
		*place = told
	}
	err := fn(e)
	if err == nil {
		return nil
	}
	inside := tell(err)
	if inside.Word != api.WordNotFound {
		return err
	}
	return &api.Error{
		Code: told.Code, Word: told.Word, Message: inside.Message + ", and the store is damaged: " + text, Op: inside.Op,
		Subject: inside.Subject, Hint: told.Hint,
	}
}
