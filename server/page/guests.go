package page

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// maxGuests is how many connections may be open that no request of a browser with a cookie is being answered on. A
// browser opens six, and opens one anew that was closed; a program that opens thousands closes its own oldest ones, and
// takes neither file descriptors from the daemon nor the page from others.
const maxGuests = 64

// guests are the connections of the page's server on which nobody is being answered who was let in, the one that was
// idle longest first. Safe for concurrent use.
type guests struct {
	tooMany func() // told of each that was closed for another one

	mu  sync.Mutex
	all list.List // of *guest
}

// guest is one connection.
type guest struct {
	conn net.Conn
	at   *list.Element // in guests.all; nil: somebody is being answered, or it is closed
	gone bool
}

type guestKey struct{}

// welcome is for http.Server.ConnContext: it adds a connection, and closes the oldest guest's where there are too many.
func (g *guests) welcome(ctx context.Context, c net.Conn) context.Context {
	v := &guest{conn: c}
	g.mu.Lock()
	v.at = g.all.PushBack(v)
	closed := g.crowded()
	g.mu.Unlock()
	if closed != nil {
		_ = closed.Close()
		g.tooMany()
	}
	return context.WithValue(ctx, guestKey{}, v)
}

// crowded takes the oldest guest off the list where there are too many, and returns its connection; nil: there is room.
func (g *guests) crowded() net.Conn {
	if g.all.Len() <= maxGuests {
		return nil
	}
	v := g.all.Front().Value.(*guest)
	g.remove(v)
	v.gone = true
	return v.conn
}

func (g *guests) remove(v *guest) {
	if v.at != nil {
		g.all.Remove(v.at)
		v.at = nil
	}
}

// serving takes the connection of a request off the list while somebody who was let in is answered on it; done puts it
// back.
func (g *guests) serving(r *http.Request) (done func()) {
	v, ok := r.Context().Value(guestKey{}).(*guest)
	if !ok {
		return func() {}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.remove(v)
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if v.at == nil && !v.gone {
			v.at = g.all.PushBack(v)
		}
	}
}

// bye is for a connection that has ended.
func (g *guests) bye(c net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for e := g.all.Front(); e != nil; e = e.Next() {
		if v := e.Value.(*guest); v.conn == c {
			g.remove(v)
			v.gone = true
			return
		}
	}
}
