package inprocess

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A handler that panics is an error of that request, never the end of the process.
func TestPanicIsAnError(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"at once": func(http.ResponseWriter, *http.Request) { panic("odd") },
		"later":   func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "half"); panic("odd") },
	} {
		resp, err := Transport{h}.RoundTrip(httptest.NewRequest(http.MethodGet, "/", nil))
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(resp.Body)
		if failed := resp.StatusCode == http.StatusInternalServerError; err == nil || !strings.Contains(err.Error(), "odd") ||
			failed != (name == "at once") {
			t.Errorf("%s: %s, %v", name, resp.Status, err)
		}
	}
}

// A trailer is there when the body has ended, and what was written after the status is no header of the answer.
func TestTrailer(t *testing.T) {
	resp, err := Transport{http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "text")
		w.Header().Set("X-Late", "1")
		w.Header().Set(http.TrailerPrefix+"X-End", "why")
	})}.RoundTrip(httptest.NewRequest(http.MethodGet, "/", nil))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil || string(b) != "text" || resp.Header.Get("X-Late") != "" || resp.Trailer.Get("X-End") != "why" {
		t.Errorf("%q, %v, %v, %v", b, err, resp.Header, resp.Trailer)
	}
}
