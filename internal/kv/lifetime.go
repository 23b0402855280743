package kv

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// lifetime counts the calls under way, so that Close can wait for them and later ones are refused: pebble panics on
// both. Calls may nest (a View in a Scan): a nested call during Close is refused, never blocked.
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

// alone runs fn while no call is under way and holds new ones back until it has ended; false: calls are under way, or
// it is closed.
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
			return fmt.Errorf("%s: %w", op, d.damage)
		}
		return fmt.Errorf("%s: %w", op, ErrReadOnly)
	}
	if d.starved.Load() {
		if err := d.revive(); err != nil {
			return translate(op, "", err)
		}
	}
	return d.enter(op)
}

// abandon ends what a failed open began.
func (d *DB) abandon() {
	d.life.close()
	close(d.closing)
	d.backoff.end()
	if d.pdb != nil {
		_ = d.closePebble()
	}
	d.logs.End()
	if d.lock != nil {
		_ = d.lock.Close()
	}
	d.closeHandle()
}

func (d *DB) closeHandle() {
	if d.handle != nil {
		_ = d.handle.Close()
	}
}

// Close waits for the calls under way, makes everything durable and gives the store free. It must not be called from a
// callback of View or Scan. A second call gives ErrClosed.
func (d *DB) Close() error {
	if !d.life.close() {
		return fmt.Errorf("close %s: %w", d.dir, ErrClosed)
	}
	d.rescueAtClose()
	close(d.closing)
	d.backoff.end()
	err := d.closePebble()
	d.logs.End()
	if perr := d.poison.Err(); perr != nil {
		err = perr
	} else if err == nil && !d.readOnly() {
		err = errors.Join(d.writeHighWater(), d.writeChecked())
	}
	if lerr := d.lock.Close(); err == nil {
		err = lerr
	}
	d.closeHandle()
	return translate("close", d.dir, err)
}

// closePebble closes the database. After a failed write pebble may panic or wait for ever; then it is left behind.
func (d *DB) closePebble() error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("pebble: %v", r)
			}
		}()
		done <- d.pdb.Close()
	}()
	var late <-chan time.Time
	if d.poison.Err() != nil {
		t := time.NewTimer(poisonedClose)
		defer t.Stop()
		late = t.C
	}
	select {
	case err := <-done:
		return err
	case <-late:
		return errors.New("pebble did not close")
	}
}

// enter begins a call: not closed, not poisoned.
func (d *DB) enter(op string) error {
	if err := d.life.enter(); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	if err := d.poison.Err(); err != nil {
		d.life.leave()
		return err
	}
	return nil
}

// fail is the answer to a call that failed: what poisoned the store comes before what followed from it.
func (d *DB) fail(op, subject string, err error) error {
	if perr := d.poison.Err(); perr != nil {
		return perr
	}
	return translate(op, subject, missing(err))
}
