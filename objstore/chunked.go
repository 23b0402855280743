package objstore

import (
	"errors"
	"fmt"
	"io"
	"sync"

	chunkers "github.com/PlakarKorp/go-cdc-chunkers"
	_ "github.com/PlakarKorp/go-cdc-chunkers/chunkers/fastcdc" // the library keeps its algorithms in a registry

	"rewind/objstore/object"
)

// A cut says which blobs are cut into chunks, and where. Sizes are in bytes.
type cut struct {
	threshold        int // larger blobs are
	min, normal, max int
}

var standardCut = cut{ChunkThreshold, object.MinChunk, object.NormalChunk, object.MaxChunk}

// chunker is FastCDC as published, with masks that follow the normal size (the library's plain "fastcdc" has fixed
// ones, for 8 KiB).
const chunker = "fastcdc-v1.0.0"

// windows are what chunkers look through, 2*object.MaxChunk each.
var windows = sync.Pool{New: func() any { b := make([]byte, 2*object.MaxChunk); return &b }}

// PutReader puts a blob of any size in bounded memory and gives its id and size. prev is as in Put. After an error of
// r, chunks may have been put that nothing names.
func (t *Tx) PutReader(r io.Reader, prev ID) (ID, int64, error) {
	head := object.BorrowBuffer()
	defer object.ReturnBuffer(head)
	var err error
	*head, err = readUpTo((*head)[:0], r, t.s.cut.threshold+1)
	if err != nil {
		return Zero, 0, fmt.Errorf("put blob: %w", err)
	}
	if n := len(*head); n <= t.s.cut.threshold {
		id, err := t.Put(Blob, *head, prev)
		return id, int64(n), err
	}
	id, n, err := t.putChunks(&rejoined{*head, r}, prev)
	if err != nil {
		return Zero, 0, fmt.Errorf("put blob: %w", err)
	}
	return id, n, nil
}

// putChunks cuts what r gives, puts the chunks, and then their list.
func (t *Tx) putChunks(r io.Reader, prev ID) (ID, int64, error) {
	c := t.s.cut
	window := windows.Get().(*[]byte)
	defer windows.Put(window)
	cutter, err := chunkers.NewChunkerBuffer(chunker, r,
		&chunkers.ChunkerOpts{MinSize: c.min, NormalSize: c.normal, MaxSize: c.max}, (*window)[:2*c.max])
	if err != nil {
		return Zero, 0, err
	}
	older := t.chunksOf(prev)
	sum := object.BorrowHasher(Blob)
	defer object.ReturnHasher(Blob, sum)
	var list []object.Chunk
	var size int64
	for last := false; !last; {
		raw, err := cutter.Next()
		if last = errors.Is(err, io.EOF); err != nil && !last {
			return Zero, 0, err
		}
		if len(raw) == 0 {
			continue
		}
		if len(list) == object.MaxChunks {
			return Zero, 0, ErrTooLarge
		}
		_, _ = sum.Write(raw) // a hasher never fails
		id := Sum(Blob, raw)
		if err := t.put(Blob, id, raw, older(len(list))); err != nil {
			return Zero, 0, err
		}
		list = append(list, object.Chunk{ID: id, Size: len(raw)})
		size += int64(len(raw))
	}
	var id ID
	sum.Sum(id[:0])
	return id, size, t.putList(id, size, list)
}

// putList puts a chunk list whose chunks have been put. The one that is there is replaced unless it is the same: its
// chunks are not known to be there.
func (t *Tx) putList(id ID, size int64, list []object.Chunk) error {
	body := object.AppendChunks(nil, list)
	env := object.Seal(object.Envelope{Codec: CodecChunks, Length: size, Body: body})
	if err := t.refused(Object{Blob, id.Key()}); err != nil {
		return err
	}
	switch st, err := t.s.present(Blob, id, env); {
	case err != nil:
		return err
	case st == sound:
		return nil
	}
	return t.insert(Object{Blob, id.Key()}, entry{id: id, env: env})
}

// chunksOf gives, for an ordinal, the chunk there in an older version, as a base for the new one. A version that was
// not cut is the base of every chunk.
func (t *Tx) chunksOf(prev ID) func(ordinal int) ID {
	none := func(int) ID { return Zero }
	if prev.IsZero() {
		return none
	}
	n, err := nodeOf(t, Blob, nameOf(prev))
	if err != nil {
		return none
	}
	e, err := object.DecodeHead(n.env)
	if err != nil {
		return none
	}
	if e.Codec != CodecChunks {
		return func(int) ID { return prev }
	}
	chunks, err := object.DecodeChunks(e.Body, e.Length)
	if err != nil {
		return none
	}
	return func(ordinal int) ID {
		if ordinal < len(chunks) {
			return chunks[ordinal].ID
		}
		return Zero
	}
}

// readUpTo appends up to n bytes of r to buf; fewer only at its end.
func readUpTo(buf []byte, r io.Reader, n int) ([]byte, error) {
	for idle := 0; len(buf) < n; {
		if len(buf) == cap(buf) {
			grown := make([]byte, len(buf), min(max(2*cap(buf), 64<<10), n))
			copy(grown, buf)
			buf = grown
		}
		m, err := r.Read(buf[len(buf):min(cap(buf), n)])
		buf = buf[:len(buf)+m]
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return buf, err
		}
		if idle++; m > 0 {
			idle = 0
		}
		if idle == 100 {
			return buf, io.ErrNoProgress
		}
	}
	return buf, nil
}

// rejoined is a reader whose head was read already.
type rejoined struct {
	head []byte
	rest io.Reader
}

func (r *rejoined) Read(p []byte) (int, error) {
	if len(r.head) > 0 {
		n := copy(p, r.head)
		r.head = r.head[n:]
		return n, nil
	}
	return r.rest.Read(p)
}
