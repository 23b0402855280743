package main

import (
	"errors"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"

	"rewind/internal/relay"
)

const (
	maxOutput = 1 << 20 // bytes of a child's output that are passed on
)

var errLate = errors.New("rewind hook goes on without the agent")

// alone has `rewind hook` do, in a process of its own, what the daemon would have done. Its three streams are files
// without a name: it has the whole payload before it starts, and can end its work and speak after this process has
// gone.
func (h *hook) alone() error {
	if !h.payload.rewind() {
		return errResend
	}
	h.payload.until = h.last
	var streams [3]*os.File
	for i := range streams {
		f, err := scratch()
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		streams[i] = f
	}
	if err := fillFrom(streams[0], h.payload); err != nil {
		return err
	}
	argv := []string{h.bin, "hook", "--agent", h.agent, "--event", h.event, "--id", hex16(h.id)}
	child, err := relay.Spawn(argv, "", streams[0], streams[1], streams[2])
	if err != nil {
		return err
	}
	select {
	case <-child.Ended():
	case <-time.After(time.Until(h.last)):
		return errLate
	}
	writeAll(stderr, content(streams[2]))
	if code := child.Code(); code != 0 {
		return errors.New("rewind hook ended with exit code " + strconv.Itoa(code))
	}
	writeAll(stdout, content(streams[1]))
	return nil
}

// fillFrom writes all that r has to f, and makes f be read from its beginning.
func fillFrom(f *os.File, r io.Reader) error {
	b := make([]byte, keepChunk)
	for {
		n, err := r.Read(b)
		if _, err := f.Write(b[:n]); err != nil {
			return err
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	_, err := f.Seek(0, io.SeekStart)
	return err
}

// content is what is in f from its beginning, nothing if that is too much.
func content(f *os.File) []byte {
	b := make([]byte, 0, 4096)
	for len(b) <= maxOutput {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := f.ReadAt(b[len(b):cap(b)], int64(len(b)))
		b = b[:len(b)+n]
		if err == io.EOF {
			return b
		}
		if err != nil {
			return nil
		}
	}
	return nil
}

// scratch makes a file without a name, for this user only.
func scratch() (*os.File, error) {
	var first error
	for _, dir := range []string{os.TempDir(), "/tmp", "/dev/shm"} {
		f, err := os.CreateTemp(dir, "rewind-hook-*")
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		if err := syscall.Unlink(f.Name()); err != nil {
			_ = f.Close()
			return nil, err
		}
		return f, nil
	}
	return nil, first
}
