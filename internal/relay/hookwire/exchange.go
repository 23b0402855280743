package hookwire

import "io"

// Exchange sends a request and its payload, and reads the answer. The payload is read to its end, in pieces that are
// sent as soon as they are full; it is never held as a whole, and one of less than a piece goes with the head in one
// write.
//
// An error of payload comes back as it is: the daemon sees a request without an end, and drops it. A daemon that
// answers before it has read all is heard. io.ErrUnexpectedEOF: the connection ended before the answer did.
func Exchange(c io.ReadWriter, q Request, payload io.Reader) (Answer, error) {
	buf, err := AppendRequest(make([]byte, 0, sizeOf(q)+lengthSize+Piece), q)
	if err != nil {
		return Answer{}, err
	}
	sendErr, err := send(c, buf, payload)
	if err != nil {
		return Answer{}, err
	}
	a, err := readAnswer(c, buf)
	failed := err != nil && sendErr != nil
	if failed && err != ErrHTTP && err != ErrProtocol && err != ErrMalformed { // it said nothing
		err = sendErr
	}
	return a, err
}

// sizeOf is no less than what the head of a request takes.
func sizeOf(q Request) int {
	const fields, framing = 7, 2 * maxVarint
	return HeaderSize + fields*framing + len(q.Version) + len(q.Agent) + len(q.Event) + len(q.Cwd) + len(q.Began)
}

// send writes what buf has and the payload, which is read into the room behind it.
func send(c io.Writer, buf []byte, payload io.Reader) (sendErr, payloadErr error) {
	for {
		at := len(buf) + lengthSize
		piece := buf[at : at+Piece]
		n := 0
		var err error
		for n < Piece && err == nil {
			var m int
			m, err = payload.Read(piece[n:])
			n += m
		}
		if err != nil && err != io.EOF {
			return nil, err
		}
		buf = appendLength(buf, n)
		if _, err := c.Write(buf[:at+n]); err != nil || n < Piece {
			return err, nil
		}
		buf = buf[:0]
	}
}

// readAnswer reads an answer, with the room that buf has. Its body may lie in it.
func readAnswer(r io.Reader, buf []byte) (Answer, error) {
	in := input{r: r, buf: buf[:0]}
	head, err := in.next(len(preamble))
	if err != nil {
		return Answer{}, err
	}
	if string(head[:len("HTTP/")]) == "HTTP/" {
		return Answer{}, ErrHTTP
	}
	if err := check(head); err != nil {
		return Answer{}, err
	}
	fields, err := in.block(maxAnswer)
	if err != nil {
		return Answer{}, err
	}
	a, err := decodeAnswer(fields)
	if err == nil {
		a.Body, err = in.block(maxBody)
	}
	if err != nil {
		return Answer{}, err
	}
	return a, nil
}

// input reads as much at once as it has room for.
type input struct {
	r   io.Reader
	buf []byte // all that was read
	at  int    // of it that was taken
}

// block takes a length of up to most, and as many bytes.
func (in *input) block(most int) ([]byte, error) {
	b, err := in.next(lengthSize)
	if err != nil {
		return nil, err
	}
	n, err := length(b, most)
	if err != nil {
		return nil, err
	}
	return in.next(n)
}

// next takes n bytes, which are valid until the next call.
func (in *input) next(n int) ([]byte, error) {
	if in.at+n > cap(in.buf) {
		in.buf = append(make([]byte, 0, in.at+n), in.buf...)
	}
	for len(in.buf) < in.at+n {
		m, err := in.r.Read(in.buf[len(in.buf):cap(in.buf)])
		in.buf = in.buf[:len(in.buf)+m]
		switch {
		case m > 0:
		case err == io.EOF:
			return nil, io.ErrUnexpectedEOF
		case err == nil:
			return nil, io.ErrNoProgress
		default:
			return nil, err
		}
	}
	in.at += n
	return in.buf[in.at-n : in.at], nil
}
