package objstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"
)

var (
	errFrame     = errors.New("zstd: not one plain frame")
	errFrameSize = errors.New("zstd: declared size differs")
)

// Encoders are kept for good: making one costs 0.3 ms and 1.5 MB, and a sync.Pool forgets them at every other
// collection.
var encoders = make(chan *zstd.Encoder, max(2, runtime.GOMAXPROCS(0)))

// The decoder serves concurrent callers; it starts no goroutine for DecodeAll.
var decoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(max(2, runtime.GOMAXPROCS(0))),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(MaxObject),
		zstd.WithDecoderMaxWindow(MaxObject),
		zstd.WithDecodeAllCapLimit(true))
})

// compress appends to dst one zstd frame of raw, which must not be empty: single segment, with its content size,
// without checksum or dictionary.
func compress(dst, raw []byte) ([]byte, error) {
	var e *zstd.Encoder
	select {
	case e = <-encoders:
	default:
		var err error
		e, err = zstd.NewWriter(nil,
			zstd.WithEncoderLevel(zstd.SpeedBetterCompression),
			zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderCRC(false),
			zstd.WithSingleSegment(true),
			zstd.WithLowerEncoderMem(true),
			zstd.WithWindowSize(4<<20))
		if err != nil {
			return nil, fmt.Errorf("zstd: %w", err)
		}
	}
	dst = e.EncodeAll(raw, dst)
	select {
	case encoders <- e:
	default:
	}
	return dst, nil
}

// decompress appends to dst the content of frame, which must have exactly size bytes.
func decompress(dst, frame []byte, size int64) ([]byte, error) {
	declared, err := frameSize(frame)
	if err != nil {
		return nil, err
	}
	if declared != size {
		return nil, errFrameSize
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
	before := len(dst)
	if dst, err = d.DecodeAll(frame, dst); err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	if int64(len(dst)-before) != size {
		return nil, errFrameSize
	}
	return dst, nil
}

// frameSize checks that b is exactly one zstd frame with a content size of 1 to MaxObject, without checksum,
// dictionary or anything behind it, and gives that size. The blocks are walked, not decoded.
func frameSize(b []byte) (int64, error) {
	var h zstd.Header
	if err := h.Decode(b); err != nil {
		return 0, fmt.Errorf("zstd: %w", err)
	}
	if h.Skippable || h.HasCheckSum || h.DictionaryID != 0 || !h.HasFCS || !h.SingleSegment {
		return 0, errFrame
	}
	if h.FrameContentSize == 0 || h.FrameContentSize > MaxObject {
		return 0, fmt.Errorf("zstd: %d bytes: %w", h.FrameContentSize, ErrTooLarge)
	}
	for rest := b[h.HeaderSize:]; ; {
		if len(rest) < 3 {
			return 0, errFrame
		}
		block := binary.LittleEndian.Uint16(rest) // low 16 of 24 bits
		head := uint32(block) | uint32(rest[2])<<16
		size := int(head >> 3)
		switch head >> 1 & 3 {
		case 1: // one byte, repeated
			size = 1
		case 3: // reserved
			return 0, errFrame
		}
		if rest = rest[3:]; size > len(rest) {
			return 0, errFrame
		}
		rest = rest[size:]
		if head&1 == 1 { // the last block
			if len(rest) > 0 {
				return 0, fmt.Errorf("zstd: %w", errTrailing)
			}
			return int64(h.FrameContentSize), nil
		}
	}
}

// scratch holds buffers for intermediate results; one that grew over maxScratch is let go.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

const maxScratch = ChunkThreshold + 64<<10

func borrow() *[]byte { return scratch.Get().(*[]byte) }

func giveBack(b *[]byte) {
	if cap(*b) <= maxScratch {
		*b = (*b)[:0]
		scratch.Put(b)
	}
}
