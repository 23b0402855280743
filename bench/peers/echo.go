package main

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync/atomic"

	"rewind/internal/relay"
)

// echo is a daemon that does nothing: it reads a hook's payload and answers 200, as the real one does in the end.
type echo struct {
	server http.Server
	dir    string // of the socket
	ended  chan struct{}
	calls  atomic.Int64 // whole ones
}

func startEcho(home string) (*echo, error) {
	dir, err := relay.MakeDir(home)
	if err != nil {
		return nil, err
	}
	socket, err := relay.SocketPath(home)
	if err != nil {
		return nil, err
	}
	ln, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	e := &echo{dir: dir, ended: make(chan struct{})}
	e.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		e.calls.Add(1)
	})
	e.server.SetKeepAlivesEnabled(false) // as the real one
	go func() {
		defer close(e.ended)
		_ = e.server.Serve(ln)
	}()
	return e, nil
}

func (e *echo) stop() error {
	err := e.server.Close()
	<-e.ended
	return errors.Join(err, os.RemoveAll(e.dir))
}
