package kv

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/kv/ondisk"
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
	err := fmt.Errorf("%w: %w", ErrPoisoned, cause)
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

// watch gives a context that also ends when the switch is thrown, for calls of pebble that would wait on work that
// cannot end.
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

// logger is what pebble logs to. Only the fatal ones matter: pebble goes on after Fatalf, and would acknowledge what is
// not on disk.
type logger struct{ p *poison }

func (logger) Infof(string, ...any)  {}
func (logger) Errorf(string, ...any) {}
func (l logger) Fatalf(format string, args ...any) {
	_ = l.p.Set(fmt.Errorf(format, args...))
}

// A store that keeps failing is not to be worn down by whoever opens it next: after maxFatals failures within
// fatalWindow it is only read. The file last-fatal holds the newest failures, oldest first, a line each: RFC 3339 time,
// space, cause.
const (
	maxFatals     = 3
	fatalWindow   = 5 * time.Minute
	maxFatalsFile = 16 << 10
	maxFatalCause = 2 << 10
)

// writeLastFatal is a best effort: the disk may be what failed.
func (d *DB) writeLastFatal(cause error) {
	path := d.base.PathJoin(d.dir, nameLastFatal)
	lines := d.fatals()
	if len(lines) >= maxFatals {
		lines = lines[len(lines)-maxFatals+1:]
	}
	text := strings.Join(strings.Fields(cause.Error()), " ")
	text = text[:min(len(text), maxFatalCause)]
	lines = append(lines, time.Now().UTC().Format(time.RFC3339)+" "+text)
	f, err := d.space.fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return
	}
	_, _ = fmt.Fprintln(f, strings.Join(lines, "\n"))
	_ = f.Sync()
	_ = f.Close()
}

// fatals reads last-fatal; what is no line of it is left out.
func (d *DB) fatals() []string {
	text, err := ondisk.ReadSmall(d.base, d.base.PathJoin(d.dir, nameLastFatal), maxFatalsFile)
	if err != nil {
		return nil
	}
	var lines []string
	for line := range strings.Lines(text) {
		if _, ok := fatalTime(line); ok {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

func fatalTime(line string) (time.Time, bool) {
	text, _, _ := strings.Cut(line, " ")
	t, err := time.Parse(time.RFC3339, strings.TrimSpace(text))
	return t, err == nil
}

// failing is nil unless the store failed too often too recently. A clock that was set back is no reason to refuse for
// long.
func (d *DB) failing() error {
	lines := d.fatals()
	recent := 0
	for _, line := range lines {
		if t, _ := fatalTime(line); time.Since(t).Abs() < fatalWindow {
			recent++
		}
	}
	if recent < maxFatals {
		return nil
	}
	_, cause, _ := strings.Cut(lines[len(lines)-1], " ")
	return fmt.Errorf("open %s: %w: it failed %d times in %.0f minutes, last: %s",
		d.dir, ErrReadOnly, recent, fatalWindow.Minutes(), cause)
}
