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

	"rewind/internal/bug"
	"rewind/internal/relay"
)

const (
	// reserve is the end of the deadline that is kept for leaving, and for starting a process when no daemon can be had; it is half
	// of a deadline that is shorter than twice as much.
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
	id      string
	bin     string    // rewind
	daemon  string    // rewindd
	soft    time.Time // when the daemon is waited for no longer
	last    time.Time // when nothing is waited for any longer
	payload *payload
}

func newHook(o options, bin, daemon string, started time.Time) *hook {
	kept := min(reserve, o.deadline/2)
	h := &hook{options: o, id: newID(), bin: bin, daemon: daemon}
	h.soft = started.Add(o.deadline - kept)
	h.last = started.Add(o.deadline - kept/2)
	h.payload = newPayload(h.soft)
	return h
}

// newID is 16 hex digits of the runtime's generator, which the kernel seeds for every process.
func newID() string {
	s := strconv.FormatUint(rand.Uint64(), 16)
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
		if bug.Is("hook-fails") {
			panic(err)
		}
		say(err.Error())
	}
	var status statusError
	var owner *relay.OwnerError
	switch {
	case errors.As(err, &owner): // a process of its own would be refused, too
		h.payload.drain()
	case h.payload.broken != nil: // and said
	case errors.Is(err, relay.ErrDeadline), errors.Is(err, errResend), errors.As(err, &status):
		// A daemon has it, or refuses it: another process would do no better.
		h.payload.drain()
	default:
		if err := h.alone(); err != nil {
			say(err.Error())
			if !errors.Is(err, errLate) {
				relay.NoteFailure(home, h.id, clean(h.agent, maxWord), clean(err.Error(), maxLine))
			}
		}
	}
}

// A statusError is the status of an answer that is not meant for the agent.
type statusError int

func (e statusError) Error() string { return "the daemon answered with status " + strconv.Itoa(int(e)) }

// deliver sends the event until a daemon has answered it: again, once, when the exchange breaks, and as often as there is time when the daemon
// is about to stop. The id stays, so that it is recorded once.
func (h *hook) deliver(home string) error {
	resent, refused := false, false
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		status, answer, err := h.post(home)
		switch {
		case err == nil && status == 200:
			h.give(&answer)
			return nil
		case err == nil && status != relay.StatusOtherVersion && status != relay.StatusDraining:
			return statusError(status)
		case err == nil:
			if refused = true; time.Until(h.soft) < pause {
				return errRefused
			}
		case h.payload.broken != nil:
			return h.payload.broken
		case refused && errors.Is(err, relay.ErrDeadline):
			return errRefused // it has been told no, so another process may
		case resent || !errors.Is(err, errExchange) || errors.Is(err, relay.ErrDeadline):
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

func (h *hook) post(home string) (int, relay.Answer, error) {
	conn, err := relay.Connect(home, h.daemon, version(), h.soft)
	if err != nil {
		return 0, relay.Answer{}, err
	}
	defer func() { _ = conn.Close() }()
	if conn.Notice != "" {
		say(conn.Notice)
	}
	headers := append(make([][2]string, 0, 7),
		[2]string{relay.HeaderAgent, h.agent},
		[2]string{relay.HeaderEvent, h.event},
		[2]string{relay.HeaderID, h.id},
		[2]string{relay.HeaderDeadline, strconv.FormatInt(max(0, time.Until(h.soft).Milliseconds()), 10)},
		[2]string{relay.HeaderVersion, version()},
	)
	cwd, err := syscall.Getwd()
	if err == nil { // a directory that is gone has no name
		headers = append(headers, [2]string{relay.HeaderCwd, cwd})
	}
	if began := os.Getenv(relay.EnvBegan); began != "" && began != cwd {
		headers = append(headers, [2]string{relay.HeaderBegan, began})
	}
	status, answer, err := conn.Post(relay.HookPath, headers, h.payload)
	if err != nil {
		err = exchangeError{err}
	}
	return status, answer, err
}

// give hands an answer to the agent.
func (h *hook) give(answer *relay.Answer) {
	writeAll(stdout, answer.Body)
	if warn, err := relay.Unescape(answer.Header(relay.HeaderWarn)); err == nil && warn != "" {
		writeAll(stderr, append([]byte(clean(warn, maxLine)), '\n'))
	}
}
