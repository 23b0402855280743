package hookwire

import "io"

// Payload is the payload of a request, as the daemon reads it.
type Payload struct {
	R    io.Reader // behind the fields
	left int       // bytes of this piece that are still to come
	last bool      // there is no piece after this one
	size [lengthSize]byte
}

// Read implements io.Reader. A payload that ends without its last piece is io.ErrUnexpectedEOF, one with a piece that
// is too long ErrMalformed.
func (p *Payload) Read(b []byte) (int, error) {
	for p.left == 0 {
		if p.last {
			return 0, io.EOF
		}
		if err := p.piece(); err != nil {
			return 0, err
		}
	}
	if len(b) == 0 {
		return 0, nil
	}
	n, err := p.R.Read(b[:min(len(b), p.left)])
	p.left -= n
	if err == io.EOF && (p.left > 0 || !p.last) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Ended reports whether all of it was read.
func (p *Payload) Ended() bool { return p.last && p.left == 0 }

func (p *Payload) piece() error {
	if _, err := io.ReadFull(p.R, p.size[:]); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	n, err := length(p.size[:], Piece)
	if err != nil {
		return err
	}
	p.left, p.last = n, n < Piece
	return nil
}
