package page

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
)

// gzipped is a request of a browser that takes compressed answers.
func gzipped() *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	return r
}

// TestPacked: each answer is its own, though one compressor makes several; what is written behind an end is in none.
func TestPacked(t *testing.T) {
	var first *answer
	for n := range 8 {
		want := strings.Repeat(fmt.Sprint("answer ", n, "\n"), 4000)
		w := httptest.NewRecorder()
		a := begin(w, gzipped(), http.StatusOK, -1)
		_, _ = io.WriteString(a, want)
		if first != nil {
			_, _ = io.WriteString(first, "too late")
			first.flush()
			first.end()
		}
		a.end()
		first = a
		z, err := gzip.NewReader(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(z); err != nil || string(got) != want {
			t.Fatalf("answer %d: %.20q of %d bytes, %v", n, got, len(got), err)
		}
	}
}

// TestPackedMemory: answers do not take a compressor each, which is 1.2 MB.
func TestPackedMemory(t *testing.T) {
	const answers = 50
	body := bytes.Repeat([]byte("a row of the log\n"), 1000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range answers {
		packed(httptest.NewRecorder(), gzipped(), http.StatusOK, body)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > answers<<20/2 {
		t.Errorf("%d answers take %d bytes", answers, took)
	}
}
