package main

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"rewind/internal/relay"
	"rewind/internal/relay/hookwire"
)

const (
	// reserve is the end of the deadline that is kept for leaving, and for starting a process when no daemon can be
	// had; it is half of a deadline that is shorter than twice as much.
	reserve = 50 * time.Millisecond
	// drainFor is how long an agent that writes to nobody's use is listened to: a broken pipe is an error to some.
	drainFor = 100 * time.Millisecond

	minPause = 2 * time.Millisecond
	maxPause = 50 * time.Millisecond
	// crashPause lets a daemon that was killed close its socket: until then the kernel takes connections for it.
	crashPause = 25 * time.Millisecond
)

var (
	errRefused = errors.New("the daemon is about to stop, and did not in time")
	errResend  = errors.New("the exchange broke, and the payload is too large to be sent again")
)

// A hook is one event of an agent on its way.
type hook struct {
	options
	id      uint64
	bin     string    // rewind
	daemon  string    // rewindd
	soft    time.Time // when the daemon is waited for no longer
	last    time.Time // when nothing is waited for any longer
	payload *payload
	cwd     string
	silent  int // the process that did not answer in time; 0: none, or not known
}

func newHook(o options, bin, daemon string, started time.Time) *hook {
	kept := min(reserve, o.deadline/2)
	// the kernel seeds the generator for every process
	h := &hook{options: o, id: rand.Uint64(), bin: bin, daemon: daemon}
	h.soft = started.Add(o.deadline - kept)
	h.last = started.Add(o.deadline - kept/2)
	h.payload = newPayload(h.soft)
	return h
}

// hex16 is an id as its 16 hex digits.
func hex16(id uint64) string {
	s := strconv.FormatUint(id, 16)
	return "0000000000000000"[len(s):] + s
}

// besideThis are rewind and its daemon's program in the directory where this very file is, links followed.
func besideThis() (rewind, daemon string) {
	self, err := os.Executable()
	if err == nil && runtime.GOOS != "linux" { // there the kernel has followed them
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "rewind", "rewindd"
	}
	dir, ext := filepath.Dir(self), filepath.Ext(self)
	return filepath.Join(dir, "rewind"+ext), filepath.Join(dir, "rewindd"+ext)
}

// run brings the event to the daemon, or to a process of its own where there is none to be had.
func (h *hook) run() {
	home, err := relay.Home()
	if err != nil {
		say(err.Error())
		h.payload.drain()
		return
	}
	if os.Getenv("REWIND_DAEMON") == "off" {
		err = relay.CheckHome(home)
	} else if err = h.deliver(home); err == nil {
		return
	}
	if err != nil {
		say(err.Error())
	}
	var owner *relay.OwnerError
	switch {
	case errors.As(err, &owner): // a process of its own would be refused, too
		h.payload.drain()
	case h.payload.broken != nil: // and said
	case errors.Is(err, relay.ErrDeadline), errors.Is(err, errResend), errors.Is(err, errUnread):
		// A daemon has it, or refuses it: another process would do no better.
		if errors.Is(err, relay.ErrDeadline) { // first: what is left of the deadline is for that
			h.unanswered(home)
		}
		h.payload.drain()
	default:
		if err := h.alone(); err != nil {
			say(err.Error())
			if !errors.Is(err, errLate) {
				relay.RecordFailure(home, hex16(h.id), clean(h.agent, maxWord), clean(err.Error(), maxLine))
			}
		}
	}
}

// unanswered leaves a mark that a daemon which was there has not answered.
func (h *hook) unanswered(home string) {
	if h.cwd == "" { // not even the connection was taken
		h.cwd, _ = syscall.Getwd()
	}
	relay.RecordUnanswered(home, relay.Unanswered{
		At: time.Now(), Agent: clean(h.agent, maxWord), Event: clean(h.event, maxWord), PID: h.silent, Dir: h.cwd,
	})
}

// errUnread is of a daemon of this version that could not read the request: another try would be no other.
var errUnread = errors.New("the daemon could not read the request")

// brokeOff reports whether an exchange broke while there was time.
func brokeOff(err error) bool {
	return errors.Is(err, errExchange) && !errors.Is(err, relay.ErrDeadline)
}

// deliver sends the event until a daemon has answered it: again, once, when the exchange breaks, and as often as there
// is time when the daemon is about to stop. The id stays, so that it is recorded once.
func (h *hook) deliver(home string) error {
	resent, refused := false, false
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		answer, err := h.post(home)
		if errors.Is(err, hookwire.ErrHTTP) { // a daemon of an older version, which does not end by itself
			relay.Retire(home, h.soft)
		}
		switch {
		case err == nil && answer.Status == hookwire.Done:
			h.give(&answer)
			return nil
		case err == nil && answer.Status == hookwire.Refused:
			return errUnread
		case err == nil, errors.Is(err, hookwire.ErrHTTP), errors.Is(err, hookwire.ErrProtocol):
			if refused = true; time.Until(h.soft) < pause {
				return errRefused
			}
		case h.payload.broken != nil:
			return h.payload.broken
		case refused && errors.Is(err, relay.ErrDeadline):
			return errRefused // it has been told no, so another process may
		case resent || !brokeOff(err):
			return err
		default:
			resent, pause = true, max(pause, crashPause)
		}
		if !h.payload.rewind() {
			return errResend
		}
		time.Sleep(pause)
	}
}

// errExchange is the kind of an error that came after the connection was made.
var errExchange = errors.New("exchange")

type exchangeError struct{ error }

func (e exchangeError) Unwrap() error { return e.error }

func (exchangeError) Is(target error) bool { return target == errExchange }

func (h *hook) post(home string) (hookwire.Answer, error) {
	conn, err := relay.Connect(home, h.daemon, version(), h.soft)
	if err != nil {
		return hookwire.Answer{}, err
	}
	defer func() { _ = conn.Close() }()
	if conn.Notice != "" {
		say(conn.Notice)
	}
	q := hookwire.Request{
		Version: version(), Agent: h.agent, Event: h.event, ID: h.id,
		Wait: uint64(max(0, time.Until(h.soft).Milliseconds())),
	}
	q.Cwd, _ = syscall.Getwd() // a directory that is gone has no name
	h.cwd = q.Cwd
	if began := os.Getenv(relay.EnvBegan); began != q.Cwd {
		q.Began = began
	}
	answer, err := conn.Post(q, h.payload)
	if errors.Is(err, relay.ErrDeadline) {
		h.silent = conn.PID()
	}
	if err != nil {
		err = exchangeError{err}
	}
	return answer, err
}

// give hands an answer to the agent.
func (h *hook) give(answer *hookwire.Answer) {
	writeAll(stdout, answer.Body)
	if answer.Warn != "" {
		writeAll(stderr, append([]byte(clean(answer.Warn, maxLine)), '\n'))
	}
}
