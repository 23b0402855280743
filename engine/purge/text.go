package purge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"rewind/engine/conversation"
	"rewind/objstore"
)

const (
	// minNeedle is the least text that is looked for, in bytes: a shorter one is in too much.
	minNeedle = 6
	// MaxNeedle is the longest: a longer one, escaped twice, would no longer lie in two neighbouring blocks of a
	// transcript.
	MaxNeedle = 4 << 10
	// minContent is the least content of a file that is looked for by itself.
	minContent = 16
)

// Needles are the forms that a text can have in a file or in an agent's conversation: as it is, as a JSON string, and
// as a JSON string within one (arguments of a call). JavaScript, Go and programs that write ASCII only escape it
// differently; all their forms are included.
func Needles(text []byte) [][]byte {
	var out [][]byte
	add := func(form []byte) {
		there := slices.ContainsFunc(out, func(have []byte) bool { return bytes.Equal(have, form) })
		if len(form) <= conversation.TranscriptBlock && !there {
			out = append(out, form)
		}
	}
	add(text)
	if !utf8.Valid(text) {
		return out
	}
	for _, once := range escapes(text) {
		add(once)
		for _, twice := range escapes(once) {
			add(twice)
		}
	}
	return out
}

// escapes gives a text as it stands between the quotes of a JSON string.
func escapes(text []byte) [][]byte {
	var plain, html bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if enc.Encode(string(text)) != nil || json.NewEncoder(&html).Encode(string(text)) != nil {
		return nil
	}
	inner := func(b *bytes.Buffer) []byte { return bytes.Trim(bytes.TrimSpace(b.Bytes()), "\x00")[1 : b.Len()-2] }
	// Go escapes U+2028 and U+2029 always, which others do not.
	js := strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(string(inner(&plain)))
	var ascii strings.Builder
	for _, r := range js {
		switch {
		case r < utf8.RuneSelf:
			ascii.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&ascii, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&ascii, `\u%04x`, r)
		}
	}
	return [][]byte{[]byte(js), inner(&html), []byte(ascii.String())}
}

// matcher tells whether any of some needles is in a stream of bytes.
type matcher struct {
	needles [][]byte
	longest int
}

// NewHaystack prepares to look for texts, also as they are escaped in JSON.
func NewHaystack(list [][]byte) matcher {
	h := matcher{needles: list}
	for _, n := range list {
		h.longest = max(h.longest, len(n))
	}
	return h
}

func (h matcher) In(b []byte) bool {
	for _, n := range h.needles {
		if bytes.Contains(b, n) {
			return true
		}
	}
	return false
}

// across tells whether a needle stands in a and b, the bytes that follow, together.
func (h matcher) across(a, b []byte) bool {
	if h.longest < 2 {
		return false
	}
	a, b = a[max(0, len(a)-h.longest+1):], b[:min(len(b), h.longest-1)]
	return h.In(append(bytes.Clone(a), b...))
}

// inReader is in for a stream of any length.
func (h matcher) inReader(r io.Reader) (bool, error) {
	buf := make([]byte, 0, 1<<20+h.longest)
	for {
		n, err := io.ReadFull(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if h.In(buf) {
			return true, nil
		}
		if err != nil {
			if ended := err == io.EOF || err == io.ErrUnexpectedEOF; ended { //nolint:errorlint // never wrapped
				err = nil
			}
			return false, err
		}
		buf = append(buf[:0], buf[max(0, len(buf)-h.longest+1):]...)
	}
}

// InBlob is in for a stored content.
func (h matcher) InBlob(objs *objstore.Store, id objstore.ID) (bool, error) {
	r, err := objs.Open(id)
	if err != nil {
		return false, err
	}
	defer r.Close()
	return h.inReader(r)
}
