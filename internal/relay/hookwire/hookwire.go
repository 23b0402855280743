// Package hookwire is the exchange of a hook as bytes, for both of its ends. A client sends one request on a
// connection, and the daemon one answer:
//
//	request  preamble, head, payload
//	answer   preamble, head, body
//
//	preamble "rwhook", the number of the protocol (1 byte), LF
//	head     a length (4 bytes, big-endian), and as many bytes of fields, encoded as internal/record does
//	payload  pieces: a length (4 bytes) and as many bytes; each is of 64 KiB, but the last, which is shorter and may be empty
//	body     a length (4 bytes), and as many bytes
//
// Every message has one form: no field is unknown, empty or out of its place, no length is over its limit, and a
// payload that has no short piece has no end. So what was cut anywhere is an error, and a request whose client died is
// none. What follows an answer is not looked at.
//
// The preamble stays as it is for ever: by it programs of two versions know each other. Any other change takes the next
// number. Its LF is there for daemons that read HTTP: they answer at once that this is none, which is ErrHTTP here.
//
// The hook client links this package, so it imports next to nothing (internal/record links fmt; a test holds the two to
// one encoding).
package hookwire

import "errors"

// protocol is the number of what this package speaks.
const protocol = 1

const (
	magic    = "rwhook"
	preamble = magic + string(rune(protocol)) + "\n"
)

// Limits, in bytes.
const (
	MaxRequest = 32 << 10 // a request's fields
	maxAnswer  = 16 << 10 // an answer's
	maxWarn    = 8 << 10  // one of them
	maxBody    = 1 << 20
	Piece      = 64 << 10 // of a payload
)

// HeaderSize is the length of what comes before the fields: the preamble and their length.
const HeaderSize = len(preamble) + lengthSize

const lengthSize = 4

var (
	// ErrMalformed says that what came is not the form that this package describes.
	ErrMalformed = errors.New("malformed message")
	// ErrProtocol says that who sent it speaks another number of this protocol.
	ErrProtocol = errors.New("a message of another protocol")
	// ErrHTTP says that a daemon answered in HTTP: it is of a version before this protocol.
	ErrHTTP = errors.New("the daemon speaks HTTP")

	errTooLong = errors.New("the fields are too long")
)

// Request is what a hook's client says beside the payload.
type Request struct {
	Version string // the client's
	Agent   string // the word after --agent
	Event   string // the word that names the event on the hook's command line
	ID      uint64 // the same when a hook is sent again: it is recorded once; 0: unknown
	Wait    uint64 // milliseconds for which the client still waits
	Cwd     string // the client's working directory, for payloads that name none
	Began   string // where the session began, where the agent tells its hooks and that is not the working directory
}

// Status is what became of a request.
type Status uint64

// What may become of a request.
const (
	Done         Status = iota // it was taken in
	OtherVersion               // the client has another version: the daemon ends, and the client waits for that and starts its own
	Draining                   // the daemon ends for another reason
	Refused                    // the daemon could not read it
	statuses
)

// Answer is what the daemon says.
type Answer struct {
	Status Status
	Warn   string // a line for standard error
	Body   []byte // for standard output
}

// Is reports whether seen, the first bytes of a connection, are the beginning of a hook's request, of any number.
func Is(seen []byte) bool {
	n := min(len(seen), len(magic))
	return string(seen[:n]) == magic[:n]
}

// check looks at the preamble that b begins with.
func check(b []byte) error {
	switch {
	case !Is(b) || b[len(preamble)-1] != '\n':
		return ErrMalformed
	case string(b[:len(preamble)]) != preamble:
		return ErrProtocol
	}
	return nil
}

// length reads a length of up to most.
func length(b []byte, most int) (int, error) {
	n := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	if n > uint32(most) {
		return 0, ErrMalformed
	}
	return int(n), nil
}

func appendLength(b []byte, n int) []byte {
	return append(b, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

// fields are those of a request, to be written or to be read.
func (q *Request) fields(c *coder) {
	c.text(1, &q.Version)
	c.text(2, &q.Agent)
	c.text(3, &q.Event)
	c.number(4, &q.ID)
	c.number(5, &q.Wait)
	c.text(6, &q.Cwd)
	c.text(7, &q.Began)
}

func (a *Answer) fields(c *coder) {
	c.number(1, (*uint64)(&a.Status))
	c.text(2, &a.Warn)
}

// AppendRequest appends the preamble and the head of a request.
func AppendRequest(b []byte, q Request) ([]byte, error) {
	at := len(b) + len(preamble)
	c := coder{b: append(b, preamble+"\x00\x00\x00\x00"...)}
	q.fields(&c)
	n := len(c.b) - at - lengthSize
	if n > MaxRequest {
		return nil, errTooLong
	}
	appendLength(c.b[:at], n) // in its place
	return c.b, nil
}

// Fields is how many bytes of fields follow a request's head of HeaderSize bytes.
func Fields(head []byte) (int, error) {
	if err := check(head); err != nil {
		return 0, err
	}
	return length(head[len(preamble):], MaxRequest)
}

// DecodeRequest reads the fields of a request.
func DecodeRequest(fields []byte) (Request, error) {
	var q Request
	c := coder{b: fields, reads: true}
	q.fields(&c)
	return q, c.end()
}

// AppendAnswer appends a whole answer. A warning that is too long is cut; a body over 1 MiB is left out.
func AppendAnswer(b []byte, a Answer) []byte {
	at := len(b) + len(preamble)
	c := coder{b: append(b, preamble+"\x00\x00\x00\x00"...)}
	a.Warn = a.Warn[:min(len(a.Warn), maxWarn)]
	a.fields(&c)
	appendLength(c.b[:at], len(c.b)-at-lengthSize)
	if len(a.Body) > maxBody {
		a.Body = nil
	}
	return append(appendLength(c.b, len(a.Body)), a.Body...)
}

func decodeAnswer(fields []byte) (Answer, error) {
	var a Answer
	c := coder{b: fields, reads: true}
	a.fields(&c)
	if a.Status >= statuses || len(a.Warn) > maxWarn {
		return Answer{}, ErrMalformed
	}
	return a, c.end()
}
