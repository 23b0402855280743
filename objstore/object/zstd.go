package object

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"
)

var (
	errBlocks    = errors.New("zstd: not the blocks of one frame")
	errFrameSize = errors.New("zstd: length differs")
	errHeader    = errors.New("zstd: the encoder made another frame header")
)

// Level is how much time is taken to compress.
type Level int

// The levels.
const (
	Quick   Level = iota // objects that follow none: a first snapshot is made of them
	Careful              // deltas, and what is compared with one
)

// Encoders are kept until TrimCaches: making one costs 0.3 ms and 1.5 MB, 8 MB after a large object, and a sync.Pool
// forgets them at every other collection.
var encoders = [...]chan *zstd.Encoder{Quick: newPool(), Careful: newPool()}

func newPool() chan *zstd.Encoder { return make(chan *zstd.Encoder, max(2, runtime.GOMAXPROCS(0))) }

// TrimCaches gives up what is kept only for the next piece of work.
func TrimCaches() {
	for _, pool := range encoders {
		for more := true; more; {
			select {
			case <-pool:
			default:
				more = false
			}
		}
	}
}

func newEncoder(at Level) (*zstd.Encoder, error) {
	speed := zstd.SpeedDefault
	if at == Quick {
		speed = zstd.SpeedFastest
	}
	return zstd.NewWriter(nil,
		zstd.WithEncoderLevel(speed),
		zstd.WithEncoderConcurrency(1),
		zstd.WithAllLitEntropyCompression(at == Careful), // a delta has few matches in itself, and few letters
		zstd.WithEncoderCRC(false),
		zstd.WithSingleSegment(true),
		zstd.WithLowerEncoderMem(true),
		zstd.WithWindowSize(4<<20))
}

// The decoder serves concurrent callers; it starts no goroutine for DecodeAll.
var decoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(max(2, runtime.GOMAXPROCS(0))),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(MaxObject),
		zstd.WithDecoderMaxWindow(MaxObject),
		zstd.WithDecodeAllCapLimit(true))
})

// Compressed bytes are kept as the blocks of one zstd frame. The header of the frame follows from the length of its
// content: a single segment with its content size, without checksum or dictionary. appendHeader appends it to dst.
func appendHeader(dst []byte, size int64) []byte {
	dst = append(dst, 0x28, 0xb5, 0x2f, 0xfd) // the magic number
	const single = 1 << 5
	switch {
	case size < 256:
		return append(dst, single, byte(size))
	case size < 65536+256:
		return binary.LittleEndian.AppendUint16(append(dst, single|1<<6), uint16(size-256))
	}
	return binary.LittleEndian.AppendUint32(append(dst, single|2<<6), uint32(size))
}

// compress appends to dst a frame of raw, which has 1 to MaxObject bytes, and gives where in it the blocks begin.
func compress(dst, raw []byte, at Level) (out []byte, blocks int, err error) {
	var e *zstd.Encoder
	select {
	case e = <-encoders[at]:
	default:
		if e, err = newEncoder(at); err != nil {
			return nil, 0, fmt.Errorf("zstd: %w", err)
		}
	}
	before := len(dst)
	dst = e.EncodeAll(raw, dst)
	select {
	case encoders[at] <- e:
	default:
	}
	var room [9]byte
	header := appendHeader(room[:0], int64(len(raw)))
	if !bytes.HasPrefix(dst[before:], header) {
		return nil, 0, errHeader
	}
	return dst, before + len(header), nil
}

// decompress appends to dst the content of blocks, which must have exactly size bytes, 1 to MaxObject.
func decompress(dst, blocks []byte, size int64) ([]byte, error) {
	if err := checkBlocks(blocks); err != nil {
		return nil, err
	}
	d, err := decoder()
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	if int64(cap(dst)-len(dst)) < size {
		grown := make([]byte, len(dst), int64(len(dst))+size)
		copy(grown, dst)
		dst = grown
	}
	frame := BorrowBuffer()
	defer ReturnBuffer(frame)
	*frame = append(appendHeader((*frame)[:0], size), blocks...)
	before := len(dst)
	if dst, err = d.DecodeAll(*frame, dst); err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	if int64(len(dst)-before) != size {
		return nil, errFrameSize
	}
	return dst, nil
}

// checkBlocks checks that b is the blocks of exactly one zstd frame, with nothing behind the last one. They are walked,
// not decoded.
func checkBlocks(b []byte) error {
	for {
		if len(b) < 3 {
			return errBlocks
		}
		head := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
		size := int(head >> 3)
		switch head >> 1 & 3 {
		case 1: // one byte, repeated
			size = 1
		case 3: // reserved
			return errBlocks
		}
		if b = b[3:]; size > len(b) {
			return errBlocks
		}
		b = b[size:]
		if head&1 == 1 { // the last block
			if len(b) > 0 {
				return fmt.Errorf("zstd: %w", errTrailing)
			}
			return nil
		}
	}
}

// scratch holds buffers for intermediate results; one that grew over maxScratch is let go.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

const maxScratch = ChunkThreshold + 64<<10

// BorrowBuffer gives an empty buffer for an intermediate result; ReturnBuffer takes it back.
func BorrowBuffer() *[]byte { return scratch.Get().(*[]byte) }

// ReturnBuffer keeps a buffer for whoever borrows the next one. One that grew large is let go.
func ReturnBuffer(b *[]byte) {
	if cap(*b) <= maxScratch {
		*b = (*b)[:0]
		scratch.Put(b)
	}
}

// NewZstdReader reads a zstd file of somebody else's, of any length, in bounded memory.
func NewZstdReader(r io.Reader) (io.ReadCloser, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(128<<20))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	return d.IOReadCloser(), nil
}
