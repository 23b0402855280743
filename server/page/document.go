package page

import (
	"io"
	"net/http"
	"sync"
	"time"

	"rewind/server/page/view"
)

// document is one on its way to a browser. What stands around it is sent when it takes long to make, by a timer.
type document struct {
	page  *Page
	w     http.ResponseWriter
	r     *http.Request
	frame view.Frame

	mu      sync.Mutex
	timer   *time.Timer
	answer  *answer // nil: nothing was sent
	waiting bool    // the skeleton was sent
	ended   bool    // nothing more is sent by the timer
}

// begin sends the head at once, or when the document is waited for.
func (d *document) begin(atOnce bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if atOnce {
		d.head()
	}
	d.timer = time.AfterFunc(view.SkeletonAfter, d.wait)
}

// head sends what a browser needs first.
func (d *document) head() {
	documentHeaders(d.w)
	d.answer = begin(d.w, d.r, http.StatusOK, -1)
	d.failed(d.frame.Begin(d.answer))
	d.answer.flush()
}

// wait sends what stands around the document.
func (d *document) wait() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return
	}
	if d.answer == nil {
		d.head()
	}
	d.waiting = true
	d.failed(d.frame.Waiting(d.answer))
	d.answer.flush()
}

// finish sends the rest.
func (d *document) finish(doc view.Page) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	switch {
	case d.answer == nil:
		d.page.send(d.w, d.r, doc)
	case d.waiting:
		d.failed(doc.WriteBehind(d.answer))
	default:
		d.failed(doc.Write(d.answer, ""))
	}
}

func (d *document) failed(err error) {
	if err != nil {
		d.page.o.Log.Error("page: render", "error", err)
		_, _ = io.WriteString(d.answer, notShown)
	}
}

// end ends the answer, also where the document was never made.
func (d *document) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	d.timer.Stop()
	if d.answer != nil {
		d.answer.end()
	}
}
