// Package inprocess is HTTP without a connection: requests are answered by a handler in this process.
package inprocess

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Transport calls a handler.
type Transport struct{ Handler http.Handler }

// RoundTrip implements http.RoundTripper. The body streams; it ends when the handler has returned.
func (t Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	pr, pw := io.Pipe()
	w := &pipeResponse{header: http.Header{}, body: pw, status: make(chan int, 1)}
	trailer := http.Header{} // complete before the body ends
	go func() {
		defer func() {
			if p := recover(); p != nil {
				w.WriteHeader(http.StatusInternalServerError)
				_ = pw.CloseWithError(fmt.Errorf("inprocess: handler panicked: %v", p))
				return
			}
			w.WriteHeader(http.StatusOK)
			for k, v := range w.header {
				if name, ok := strings.CutPrefix(k, http.TrailerPrefix); ok {
					trailer[name] = v
				}
			}
			_ = pw.Close()
		}()
		t.Handler.ServeHTTP(w, req)
	}()
	status := <-w.status
	return &http.Response{
		Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: w.sent, Trailer: trailer, Body: pr, ContentLength: -1, Request: req,
	}, nil
}

type pipeResponse struct {
	header http.Header
	sent   http.Header // as it was with the status
	body   *io.PipeWriter
	status chan int
	once   sync.Once
}

func (w *pipeResponse) Header() http.Header { return w.header }

func (w *pipeResponse) WriteHeader(status int) {
	w.once.Do(func() {
		w.sent = w.header.Clone()
		w.status <- status
	})
}

func (w *pipeResponse) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}
