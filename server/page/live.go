package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"rewind/api"
)

// live sends the events of a project as server-sent events, beginning after Last-Event-ID. At first it begins after the
// newest operation in the document (since). So a browser that connects, or connects again, to this daemon or the next
// misses none. Only which kind it was is told; what is shown of it is asked for as a document.
func (p *Page) live(w http.ResponseWriter, r *http.Request) {
	v, err := p.visit(r)
	if err != nil {
		p.send(w, r, failed(v.frame, err))
		return
	}
	req := api.EventsRequest{Project: v.dir()}
	if since, err := strconv.ParseUint(cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("since")), 10, 64); err == nil {
		req.Since = &since
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(time.Time{}) // it has no end
	_, _ = fmt.Fprintf(w, "retry: %d\n\n", retryAfter.Milliseconds())
	if out.Flush() != nil {
		return
	}
	for e, err := range api.Events(r.Context(), p.client, req) {
		if err != nil {
			p.o.Log.Warn("page: events", "error", err)
			return // the browser comes again
		}
		kind, _ := json.Marshal(e.Event)
		if _, err := fmt.Fprintf(w, "id: %d\ndata: %s\n\n", e.Since, kind); err != nil || out.Flush() != nil {
			return
		}
	}
}

// retryAfter is how long a browser waits before it comes again.
const retryAfter = time.Second
