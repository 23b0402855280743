package kv

import (
	"fmt"
	"sync"
)

// lifetime counts the calls under way, so that Close can wait for them and later ones are refused: pebble panics on both. Calls may
// nest (a View in a Scan): a nested call during Close is refused, never blocked.
type lifetime struct {
	mu     sync.Mutex
	idle   *sync.Cond
	calls  int
	closed bool
}

func (l *lifetime) enter() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	l.calls++
	return nil
}

func (l *lifetime) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls--
	if l.calls == 0 && l.idle != nil {
		l.idle.Broadcast()
	}
}

// alone runs fn while no call is under way and holds new ones back until it has ended; false: calls are under way, or it is closed.
func (l *lifetime) alone(fn func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.calls > 0 {
		return false
	}
	fn()
	return true
}

// close refuses new calls and waits for those under way; false: it was closed before.
func (l *lifetime) close() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := !l.closed
	l.closed = true
	if l.idle == nil {
		l.idle = sync.NewCond(&l.mu)
	}
	for l.calls > 0 {
		l.idle.Wait()
	}
	return first
}

// enterWrite begins a call that writes.
func (d *DB) enterWrite(op string) error {
	if d.o.ReadOnly {
		if d.damage != nil {
			return fmt.Errorf("kv: %s: %w", op, d.damage)
		}
		return fmt.Errorf("kv: %s: %w", op, ErrReadOnly)
	}
	if d.starved.Load() {
		if err := d.revive(); err != nil {
			return translate(op, "", err)
		}
	}
	return d.enter(op)
}
