package page

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net"
	"strconv"
	"time"

	"rewind/server/peers"
)

const (
	headerWait = 10 * time.Second // for a request's header
	bodyWait   = 30 * time.Second // for all of it
	maxHeader  = 32 << 10         // bytes
	noteName   = "page.json"
)

// note is what the next daemon needs, so that a page that is open finds it where the last one was.
type note struct {
	Port     int       `json:"port"`
	Base     string    `json:"base"`
	Sessions []session `json:"sessions"`
}

// Resume listens again where the page of an earlier daemon was, if somebody may still have that open.
func (p *Page) Resume() {
	n := p.remembered()
	if n == nil {
		return
	}
	if p.keys.restore(n.Sessions); p.keys.count() == 0 {
		p.o.Notes.Remove(noteName)
		return
	}
	if err := p.listen(); err != nil {
		p.o.Log.Warn("page: listen", "error", err)
	}
}

func (p *Page) remembered() *note {
	b, err := p.o.Notes.Read(noteName)
	if err != nil {
		return nil
	}
	n := &note{}
	if json.Unmarshal(b, n) != nil || n.Port < 1 || n.Port > 65535 || len(n.Base) != 9 {
		return nil
	}
	return n
}

// listen has the page listen: where it did before, so that what is open in a browser goes on, or where there is room.
func (p *Page) listen() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.host != "" || p.ctx.Err() != nil {
		return p.ctx.Err()
	}
	port, base := 0, ""
	if n := p.remembered(); n != nil {
		port, base = n.Port, n.Base
	}
	ln, err := net.Listen("tcp4", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil && port != 0 {
		ln, err = net.Listen("tcp4", "127.0.0.1:0")
	}
	if err != nil {
		return err
	}
	if base == "" {
		// Browsers send a cookie to every port of a host, but only below its path: other servers of this machine do not
		// get it.
		b := make([]byte, 4)
		_, _ = rand.Read(b)
		base = "/" + hex.EncodeToString(b)
	}
	p.host, p.base = ln.Addr().String(), base
	p.serve(peers.NewLoopback(ln, p.refusedPeer))
	p.o.Log.Info("page", "address", p.host)
	p.remember()
	return nil
}

// refusedPeer counts a connection of another user's.
func (p *Page) refusedPeer(uid int, err error) {
	const what = "a connection to the page"
	if err != nil {
		p.refusals.Add(what, "nobody that can be found", err.Error())
		return
	}
	p.refusals.Add(what, "uid "+strconv.Itoa(uid), "another user")
}

// remember writes the note; the lock is held.
func (p *Page) remember() {
	_, port, err := net.SplitHostPort(p.host)
	if err != nil {
		return
	}
	n := note{Base: p.base, Sessions: p.keys.sessions()}
	n.Port, _ = strconv.Atoi(port)
	b, err := json.Marshal(n)
	if err == nil {
		err = p.o.Notes.Write(noteName, b)
	}
	if err != nil { // the page works; only the next daemon does not know it
		p.o.Log.Warn("page: write "+noteName, "error", err)
	}
}
