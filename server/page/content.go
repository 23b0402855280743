package page

import (
	"mime"
	"net/http"
	"path"
	"strings"

	"rewind/api"
)

// content gives the bytes of a file as a state has them, to be downloaded. What begins as a picture does has the
// type of one, and the page shows it; all else has a type that no browser opens.
func (p *Page) content(w http.ResponseWriter, r *http.Request) {
	v, err := p.visit(r)
	if err != nil {
		p.send(w, r, failed(v.frame, err))
		return
	}
	q := r.URL.Query()
	out := &download{ResponseWriter: w, name: path.Base(q.Get("path"))}
	err = v.page.client.Cat(v.Context(), api.CatRequest{
		Project: v.dir(), Walk: api.Walk{Choose: true}, Checkpoint: api.Text(q.Get("at")),
		Path: api.Text(q.Get("path")),
	}, out)
	switch {
	case err != nil && !out.begun:
		p.send(w, r, failed(v.frame, err))
	case err != nil:
		panic(http.ErrAbortHandler) // what was sent is not the whole file
	case !out.begun:
		out.begin(nil)
	}
}

// download is a file on its way to a browser.
type download struct {
	http.ResponseWriter
	name  string
	begun bool
}

// Write implements io.Writer.
func (d *download) Write(b []byte) (int, error) {
	if !d.begun {
		d.begin(b)
	}
	return d.ResponseWriter.Write(b)
}

func (d *download) begin(head []byte) {
	d.begun = true
	kind := http.DetectContentType(head)
	if !strings.HasPrefix(kind, "image/") { // SVG is none of them
		kind = "application/octet-stream"
	}
	d.Header().Set("Content-Type", kind)
	d.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": d.name}))
	d.WriteHeader(http.StatusOK)
}
