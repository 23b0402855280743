package kv

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
)

// poison is the one-way switch that a failed write throws. Whoever is about to answer asks it first.
type poison struct {
	cause atomic.Pointer[error]
	once  sync.Once
	down  chan struct{} // closed when set
	note  func(error)   // writes last-fatal
	fatal func(error)   // Options.Fatal; does not return in production
}

// err is nil, or ErrPoisoned with the cause.
func (p *poison) Err() error {
	if c := p.cause.Load(); c != nil {
		return *c
	}
	return nil
}

// set throws the switch. In production it does not return, and neither does a second caller.
func (p *poison) Set(cause error) error {
	err := fmt.Errorf("kv: %w: %w", ErrPoisoned, cause)
	p.cause.CompareAndSwap(nil, &err)
	p.once.Do(func() {
		close(p.down)
		if p.note != nil {
			p.note(cause)
		}
		if p.fatal != nil {
			p.fatal(err)
			return
		}
		os.Exit(DefaultFatalExit)
	})
	return p.Err()
}

// guard makes a panic of pebble, which it has where a log cannot be written, into the end of the store.
func (p *poison) guard(call func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = p.Set(fmt.Errorf("panic: %v", r))
		}
	}()
	return call()
}

// watch gives a context that also ends when the switch is thrown, for calls of pebble that would wait on work that cannot end.
func (p *poison) watch(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-p.down:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// logger is what pebble logs to. Only the fatal ones matter: pebble goes on after Fatalf, and would acknowledge what is not on
// disk.
type logger struct{ p *poison }

func (logger) Infof(string, ...any)  {}
func (logger) Errorf(string, ...any) {}
func (l logger) Fatalf(format string, args ...any) {
	_ = l.p.Set(fmt.Errorf(format, args...))
}
