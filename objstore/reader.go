package objstore

import (
	"io"

	"github.com/zeebo/blake3"

	"rewind/objstore/object"
)

// A Reader streams a blob of any size; it holds one chunk at a time. Every byte was verified as part of its chunk
// before Read gives it, and the whole before io.EOF: who needs the whole verified reads to io.EOF. A Reader is for one
// goroutine.
type Reader struct {
	src    source
	name   name
	size   int64
	chunks []object.Chunk // not yet read
	sum    *blake3.Hasher // of what was read; nil when rest was verified as a whole
	rest   []byte         // read and not yet given
	buf    []byte         // room for chunks
	err    error
}

// Open gives a reader of a blob. The errors are those of Get, but for ErrTooLarge.
func (s *Store) Open(id ID) (*Reader, error) {
	r, err := open(s, id)
	return r, wrap("open", Blob, id.Key(), err)
}

func open(s source, id ID) (*Reader, error) {
	got, err := fetch(s, Blob, nameOf(id), nil, anySize)
	switch {
	case err != nil:
		return nil, err
	case got.list != nil:
		return newReader(s, nameOf(id), *got.list)
	}
	return &Reader{name: nameOf(id), size: int64(len(got.raw)), rest: got.raw}, nil
}

func newReader(s source, n name, e object.Envelope) (*Reader, error) {
	chunks, err := object.DecodeChunks(e.Body, e.Length)
	if err != nil {
		return nil, &CorruptError{Blob, n.key, err}
	}
	return &Reader{src: s, name: n, size: e.Length, chunks: chunks, sum: object.BorrowHasher(Blob)}, nil
}

// Size gives the length of the blob in bytes.
func (r *Reader) Size() int64 { return r.size }

// Read implements io.Reader. An error is final.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(r.rest) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		c, err := r.nextChunk()
		if c == nil && err == nil {
			err = io.EOF
		}
		r.rest, r.err = c, err
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// nextChunk gives the next verified chunk, valid until the next call, and nil after the last one when the whole was
// verified.
func (r *Reader) nextChunk() ([]byte, error) {
	if len(r.chunks) == 0 {
		return nil, r.verifyWhole()
	}
	raw, err := getChunk(r.src, r.name.key, r.chunks[0], r.buf)
	if err != nil {
		return nil, err
	}
	r.buf = raw
	r.chunks = r.chunks[1:]
	_, _ = r.sum.Write(raw) // a hasher never fails
	return raw, nil
}

func (r *Reader) verifyWhole() error {
	if r.sum == nil {
		return nil
	}
	var id ID
	r.sum.Sum(id[:0])
	if err := r.name.check(id); err != nil {
		return damage(Blob, r.name.key, err)
	}
	r.name.id = id
	return nil
}

// Close lets go of what the reader holds. Reading afterwards is io.ErrClosedPipe.
func (r *Reader) Close() error {
	if r.sum != nil {
		object.ReturnHasher(Blob, r.sum)
	}
	*r = Reader{name: r.name, size: r.size, err: io.ErrClosedPipe}
	return nil
}
