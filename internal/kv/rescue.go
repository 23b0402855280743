package kv

import (
	"fmt"
	"io/fs"
	"time"

	"rewind/internal/kv/beneath"
)

// A log can be removed, or replaced, while it is open: something cleans up what is called *.log, or puts back an older
// copy. What is written to it then is on no disk by any name, and is gone with the process. All of it is in memory,
// too. So whoever has synced a log looks whether its name still leads to it, and else has everything that is in no
// table written into one, which begins a new log. Until then nothing is acknowledged.

// rescue is called when logs were found to be gone.
func (d *DB) rescue() error {
	if !d.fs.Checked() || d.life.enter() != nil {
		return nil // Close sees to it
	}
	defer d.life.leave()
	if !d.inPlace() {
		return fmt.Errorf("%s: moved or removed while it was in use: %w", d.db, fs.ErrNotExist)
	}
	d.rescuing.Lock()
	defer d.rescuing.Unlock()
	if gone := d.logs.Missing(); len(gone) > 0 {
		return d.writeAnew(gone[0])
	}
	return d.poison.Err() // somebody else has done it
}

// inPlace reports whether the directory is still where it was opened. One that was moved has its logs with it; nothing
// must be written to what is in its place.
func (d *DB) inPlace() bool {
	now, err := d.fs.Stat(d.db)
	return err == nil && d.place != nil && beneath.SameFile(now, d.place)
}

func (d *DB) writeAnew(name string) error {
	defer d.logs.Rescuing()()
	stop := d.watchStall("write anew what " + name + " held")
	defer stop()
	done, err := d.flush()
	if err != nil {
		return d.poison.Set(fmt.Errorf("%s was removed while it was in use: %w", name, err))
	}
	select {
	case <-done:
	case <-d.poison.down:
		return d.poison.Err()
	}
	if len(d.logs.Missing()) > 0 {
		return d.poison.Set(fmt.Errorf("%s was removed while it was in use", name))
	}
	text := fmt.Sprintf("%s was removed from %s while it was in use, found at %s; what it held was in memory, too, and was written anew: "+
		"nothing is lost", name, d.db, time.Now().UTC().Format(time.RFC3339))
	d.rescued.Store(&text)
	return nil
}

// Warning is what happened to the files of a store while it was open; "": nothing.
func (d *DB) Warning() string {
	if text := d.rescued.Load(); text != nil {
		return *text
	}
	return ""
}

// flush begins to write what only logs hold into tables; done is closed when that has ended well.
//
// pebble begins a new log for it, and where it cannot it panics in the middle of locks that are then unlocked twice. So
// a goroutine of its own does it, which is left standing before that (see storefs.Logs.Rotating): the store is poisoned
// by then.
func (d *DB) flush() (<-chan struct{}, error) {
	type begun struct {
		done <-chan struct{}
		err  error
	}
	c := make(chan begun, 1)
	end := d.logs.Rotating()
	go func() {
		defer end()
		var b begun
		b.err = d.poison.guard(func() (err error) {
			b.done, err = d.pdb.AsyncFlush()
			return err
		})
		c <- b
	}()
	select {
	case b := <-c:
		return b.done, b.err
	case <-d.poison.down:
		return nil, d.poison.Err()
	}
}

// rescueAtClose is for logs that went while nobody wrote.
func (d *DB) rescueAtClose() {
	unfit := d.readOnly() || !d.fs.Checked()
	if unfit || d.poison.Err() != nil || !d.inPlace() {
		return
	}
	if gone := d.logs.Missing(); len(gone) > 0 {
		_ = d.writeAnew(gone[0]) // a failure has poisoned the store
	}
}

// FlushLog writes the data that only the log has into tables, if there is any. Then nothing depends on a file that
// nobody watches. Call it when a store is idle, and before a long-lived owner closes it. Do not call it more often:
// each call makes a small table. Where it does not come about, on a full disk or within flushLogWait, what the log
// holds is as good.
func (d *DB) FlushLog() error {
	if err := d.enterWrite("flush"); err != nil {
		return err
	}
	defer d.life.leave()
	avail, ok := d.space.free()
	later := !d.logs.Pending() || ok && avail < reserveBytes
	if later || !d.inPlace() {
		return nil
	}
	done, err := d.flush()
	if err != nil {
		return d.fail("flush", "", err)
	}
	t := time.NewTimer(flushLogWait)
	defer t.Stop()
	select {
	case <-done:
	case <-d.poison.down:
	case <-t.C:
	}
	return d.poison.Err()
}

// flushLogWait bounds how long FlushLog waits for tables.
const flushLogWait = 2 * time.Second
