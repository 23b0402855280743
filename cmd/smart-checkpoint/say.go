package main

import "unicode/utf8"

// The descriptors of the standard streams.
const (
	stdin  = 0
	stdout = 1
	stderr = 2
)

const maxLine = 1024 // bytes of a line on standard error

// say writes one line to standard error.
func say(text string) {
	writeAll(stderr, append([]byte("smart-checkpoint: "+clean(text, maxLine)), '\n'))
}

// clean is s as one line of at most limit bytes, without what a terminal could take for more than text: control
// characters, marks that turn the direction of writing, bytes that are not UTF-8.
func clean(s string, limit int) string {
	b := make([]byte, 0, min(len(s), limit))
	for _, r := range s {
		switch {
		case r < ' ', 0x7f <= r && r <= 0x9f, r == utf8.RuneError, r == 0x2028, r == 0x2029, r == 0xfeff,
			0x200b <= r && r <= 0x200f, 0x202a <= r && r <= 0x202e,
			0x2066 <= r && r <= 0x2069:
			continue
		}
		if len(b)+utf8.RuneLen(r) > limit {
			break
		}
		b = utf8.AppendRune(b, r)
	}
	return string(b)
}
