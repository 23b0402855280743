package find

import "rewind/internal/textdiff"

// This file measures how alike two files are, as git does when it looks for renames. Both are cut into pieces, lines or
// 64 bytes. The measure is the number of bytes of the one in pieces that the other has, too, divided by the size of the
// larger.

const (
	pieceBytes = 64
	pieceSums  = 107927
)

// pieces counts the bytes of a content by the sums of its pieces.
func pieces(content []byte) map[uint32]int {
	text := !textdiff.IsBinary(content)
	sums := map[uint32]int{}
	var a, b uint32
	n := 0
	for i, c := range content {
		returns := text && c == '\r'
		if returns && i+1 < len(content) && content[i+1] == '\n' {
			continue
		}
		a, b = a<<7^b>>25, b<<7^a>>25
		a += uint32(c)
		if n++; n < pieceBytes && c != '\n' {
			continue
		}
		sums[(a+b*0x61)%pieceSums] += n
		a, b, n = 0, 0, 0
	}
	if n > 0 {
		sums[(a+b*0x61)%pieceSums] += n
	}
	return sums
}

// likeness is how many bytes of two contents are in common.
func likeness(from, to map[uint32]int) (common int) {
	for sum, n := range from {
		common += min(n, to[sum])
	}
	return common
}

// areAlike reports whether so many bytes in common are half of the larger one, as git has it: with fewer it is no
// rename.
func areAlike(common, a, b int64) bool { return common > 0 && 2*common >= max(a, b) }
