package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// The codes of JSON-RPC for what is no JSON, and for JSON that is no message.
const (
	codeParse   = -32700
	codeRequest = -32600
)

// lines gives a server the messages of its input, a line each. The SDK ends with the first line that it cannot read;
// here such a line is answered with an error, and the next one counts. A line that is too long is read to its end, and
// not kept.
type lines struct {
	in   io.Closer
	r    *bufio.Reader
	out  io.Writer
	left []byte // of a message, not read yet
	err  error
}

func newLines(in io.ReadCloser, out io.Writer) *lines {
	return &lines{in: in, r: bufio.NewReaderSize(in, 64<<10), out: out}
}

// Close implements io.Closer.
func (l *lines) Close() error { return l.in.Close() }

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.left) == 0 {
		if l.err != nil {
			return 0, l.err
		}
		var line []byte
		var long bool
		line, long, l.err = l.line()
		if line = bytes.TrimSpace(line); len(line) == 0 && !long {
			continue
		}
		if refused := check(line, long); refused != nil {
			if _, err := l.out.Write(refused); err != nil {
				return 0, err
			}
			continue
		}
		l.left = append(line, '\n')
	}
	n := copy(p, l.left)
	l.left = l.left[n:]
	return n, nil
}

// line reads a line; long: it has more than maxRequest bytes.
func (l *lines) line() (line []byte, long bool, err error) {
	for {
		part, err := l.r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxRequest; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// check is the answer to a line that is no message; nil: it is one. A list of messages is none: the protocol has given
// them up.
func check(line []byte, long bool) []byte {
	code, text := codeRequest, "the line is no message of JSON-RPC 2.0"
	if long {
		text = "a message has at most 1 MiB"
	} else if !json.Valid(line) {
		code, text = codeParse, "the line is no JSON"
	} else if _, err := jsonrpc.DecodeMessage(line); err == nil {
		return nil
	}
	answer := struct {
		Version string `json:"jsonrpc"`
		ID      any    `json:"id"`
		Error   struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}{Version: "2.0", ID: idOf(line)}
	answer.Error.Code, answer.Error.Message = code, text
	b, err := json.Marshal(answer)
	if err != nil {
		return nil
	}
	return append(b, '\n')
}

// idOf is the id of what would be a message, nil where it has none that is one.
func idOf(line []byte) any {
	var m struct {
		ID any `json:"id"`
	}
	if json.Unmarshal(line, &m) != nil {
		return nil
	}
	switch m.ID.(type) {
	case string, float64:
		return m.ID
	}
	return nil
}

// oneWriter has its writers take turns.
type oneWriter struct {
	mu sync.Mutex
	io.WriteCloser
}

func (w *oneWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.WriteCloser.Write(p)
}
