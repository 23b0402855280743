package main

import (
	"errors"
	"io"
	"time"
)

const (
	keepChunk = 64 << 10
	maxKept   = 32 << 20 // bytes that can be sent again
)

var errInput = errors.New("standard input has not ended within the deadline")

// A payload is standard input, read once and kept, so that it can be read again from its beginning. What is longer than
// maxKept is passed through and not kept.
type payload struct {
	until   time.Time // when reading ends with errInput
	chunks  [][]byte  // full but for the last
	size    int       // bytes in chunks
	at      int       // where Read is
	dropped bool      // it was longer than maxKept
	ended   bool
	broken  error // why standard input cannot be read on
}

func newPayload(until time.Time) *payload { return &payload{until: until} }

// Read implements io.Reader. An error but io.EOF is in broken too.
func (p *payload) Read(b []byte) (int, error) {
	switch {
	case p.at < p.size:
		chunk := p.chunks[p.at/keepChunk]
		n := copy(b, chunk[p.at%keepChunk:])
		p.at += n
		return n, nil
	case p.ended:
		return 0, io.EOF
	case p.broken != nil:
		return 0, p.broken
	}
	n, err := readInput(b, p.until)
	if err == io.EOF {
		p.ended = true
	} else if err != nil {
		p.broken = err
	}
	p.keep(b[:n])
	return n, err
}

func (p *payload) keep(b []byte) {
	if p.size+len(b) > maxKept {
		p.dropped, p.chunks, p.size, p.at = true, nil, 0, 0
	}
	if p.dropped {
		return
	}
	p.size += len(b)
	p.at = p.size
	for len(b) > 0 {
		last := len(p.chunks) - 1
		if last < 0 || len(p.chunks[last]) == keepChunk {
			p.chunks = append(p.chunks, make([]byte, 0, keepChunk))
			continue
		}
		chunk := p.chunks[last]
		n := min(len(b), keepChunk-len(chunk))
		p.chunks[last] = append(chunk, b[:n]...)
		b = b[n:]
	}
}

// rewind makes Read begin again. It reports whether that is possible.
func (p *payload) rewind() bool {
	p.at = 0
	return !p.dropped
}

// drain reads what the agent still has to say, for drainFor at most.
func (p *payload) drain() {
	if limit := time.Now().Add(drainFor); limit.Before(p.until) {
		p.until = limit
	}
	p.dropped, p.chunks, p.size, p.at = true, nil, 0, 0
	var b [4096]byte
	for {
		if _, err := p.Read(b[:]); err != nil {
			return
		}
	}
}
