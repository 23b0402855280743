package page

import (
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// worthPacking is the size in bytes from which an answer is compressed.
const worthPacking = 1 << 10

// packers are compressors that have ended: to make one takes 1.2 MB of memory, many times an answer.
var packers sync.Pool

// An answer is what goes to a browser, compressed where the browser takes that. What is compressed has no secret of the
// door in it: tokens and cookies stand in no body, so that its length tells nothing of them, whatever text of an
// agent's stands beside (BREACH). Streams of events are not compressed. A browser that is gone needs no answer: errors
// are dropped.
type answer struct {
	io.Writer
	w http.ResponseWriter
	z *gzip.Writer // nil: it is not compressed
}

// begin begins an answer of so many bytes; size < 0: nobody knows yet.
func begin(w http.ResponseWriter, r *http.Request, status, size int) *answer {
	a := &answer{Writer: w, w: w}
	h := w.Header()
	h.Add("Vary", "Accept-Encoding")
	switch {
	case (size < 0 || size >= worthPacking) && takesGzip(r):
		h.Set("Content-Encoding", "gzip")
		if a.z, _ = packers.Get().(*gzip.Writer); a.z == nil {
			a.z, _ = gzip.NewWriterLevel(w, gzip.BestSpeed)
		}
		a.z.Reset(w)
		a.Writer = a.z
	case size >= 0:
		h.Set("Content-Length", strconv.Itoa(size))
	}
	w.WriteHeader(status)
	return a
}

// flush sends what was written.
func (a *answer) flush() {
	if a.z != nil {
		_ = a.z.Flush()
	}
	_ = http.NewResponseController(a.w).Flush()
}

// end is the end of an answer.
func (a *answer) end() {
	if a.z != nil {
		_ = a.z.Close()
		a.z.Reset(nil) // it keeps nothing of the answer
		packers.Put(a.z)
		a.z, a.Writer = nil, io.Discard // it is another answer's from here on
	}
}

// packed writes a whole answer.
func packed(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	a := begin(w, r, status, len(body))
	_, _ = a.Write(body)
	a.end()
}

// takesGzip reads the header as browsers write it.
func takesGzip(r *http.Request) bool {
	for one := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(one), ";")
		if name == "gzip" && strings.TrimSpace(quality) != "q=0" {
			return true
		}
	}
	return false
}
