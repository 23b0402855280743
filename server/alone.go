package server

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"rewind/api"
	"rewind/engine/model"
	"rewind/server/inprocess"
	"rewind/server/ndjson"
)

// aloneLockWait is how long a command waits for another that has the store.
const aloneLockWait = 5 * time.Second

// serve answers the requests of one client, one after the other: they come from in, the answers go to out, and stores
// are open only while a request needs them. The end of in is the client's: what it asked for and has no answer to yet
// is taken back, and serve returns when all has let go of its store. The end of ctx takes back what runs, and the
// client hears that.
func serve(ctx context.Context, version string, in io.Reader, out io.Writer) error {
	a := &alone{version: version}
	r := bufio.NewReader(in)
	var err error
	for err == nil {
		err = a.exchange(ctx, r, out)
	}
	if a.server != nil {
		a.server.wait()
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

// alone is the handler of a process that lives for one command.
type alone struct {
	version string
	server  *server // nil: nothing was asked of it yet, or rewind's own directory cannot be used
}

// exchange answers one request; io.EOF: there is none, or nobody to answer.
func (a *alone) exchange(ctx context.Context, r *bufio.Reader, out io.Writer) error {
	req, err := http.ReadRequest(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	next := make(chan struct{}) // closed when the next request begins, or none will
	req.Body = &heardBody{req.Body, sync.OnceFunc(func() {
		go func() {
			defer close(next)
			if _, err := r.Peek(1); err != nil {
				cancel()
			}
		}()
	})}
	resp, err := inprocess.Transport{Handler: a}.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	resp.TransferEncoding = []string{"chunked"}
	resp.Body = &flushedBody{resp.Body, w}
	err = errors.Join(resp.Write(w), w.Flush())
	if err != nil { // whoever asked has gone, and hears nothing of it; the handler learns that when it writes
		_ = resp.Body.Close()
		return io.EOF
	}
	_, _ = io.Copy(io.Discard, req.Body)
	<-next
	return nil
}

// ServeHTTP implements http.Handler.
func (a *alone) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(api.HeaderVersion, url.PathEscape(a.version))
	if r.Header.Get(api.HeaderVersion) != url.PathEscape(a.version) {
		w.WriteHeader(api.StatusOtherVersion)
		return
	}
	if r.URL.Path == api.Mend.Path { // which needs no directory of one's own
		answer(mendHere)(w, r)
		return
	}
	if a.server == nil {
		command, _ := url.PathUnescape(r.Header.Get(api.HeaderCommand))
		s, err := newOneShot(serverOptions{version: a.version, lockWait: aloneLockWait, command: command})
		if err != nil {
			fail(ndjson.New(w), err)
			return
		}
		a.server = s
	}
	askedBy(os.Getpid(), a.server).ServeHTTP(w, r) // who asked has started this process
}

func mendHere(_ context.Context, req api.MendRequest, _ model.Progress) (api.MendResponse, error) {
	r, err := mend(req.DryRun)
	if err != nil {
		r.Error = tell(err)
	}
	return r, nil
}

// heardBody tells when a request has been read to its end.
type heardBody struct {
	io.ReadCloser
	end func()
}

// Read implements io.Reader.
func (b *heardBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.end()
	}
	return n, err
}

// flushedBody sends what was written of an answer before it waits for more.
type flushedBody struct {
	io.ReadCloser
	w *bufio.Writer
}

// Read implements io.Reader.
func (b *flushedBody) Read(p []byte) (int, error) {
	if err := b.w.Flush(); err != nil {
		return 0, err
	}
	return b.ReadCloser.Read(p)
}
