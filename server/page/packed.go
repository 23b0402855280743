package page

import (
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
)

// worthPacking is the size in bytes from which an answer is compressed.
const worthPacking = 1 << 10

// packed writes an answer, compressed where the browser takes that. What is compressed has no secret of the door in it: tokens and cookies
// stand in no body, so that its length tells nothing of them, whatever text of an agent's stands beside (BREACH). Streams of events are not
// compressed.
func packed(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	h := w.Header()
	h.Add("Vary", "Accept-Encoding")
	if len(body) < worthPacking || !takesGzip(r) {
		h.Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(status)
		_, _ = w.Write(body) // a browser that is gone needs no answer
		return
	}
	h.Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
	_, _ = z.Write(body)
	_ = z.Close()
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
