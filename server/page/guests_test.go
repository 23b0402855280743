package page_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestT16SlowConnections: a program of this user's opens connections that never finish a request, by far more than the
// page holds. The browser that was let in is answered meanwhile and after, its stream of events goes on, and the log
// has a few lines.
func TestT16SlowConnections(t *testing.T) {
	s := open(t)
	c := s.enter(t, s.token)
	u, err := url.Parse(s.base)
	if err != nil {
		t.Fatal(err)
	}
	held := make(chan struct{})
	s.mu.Lock()
	s.held = held
	s.mu.Unlock()
	answered := make(chan int, 1)
	go func() { // a request that is being answered all the time
		req, _ := http.NewRequest(http.MethodGet, s.base+"/projects", http.NoBody)
		req.AddCookie(c)
		resp, err := s.client.Do(req)
		if err != nil {
			answered <- 0
			return
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		answered <- resp.StatusCode
	}()
	for { // until it holds the API
		s.mu.Lock()
		n := len(s.asked)
		s.mu.Unlock()
		if n > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	s.mu.Lock()
	s.held = nil
	s.mu.Unlock()

	const slow = 1000
	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	for i := range slow {
		conn, err := net.DialTimeout("tcp", u.Host, 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
		switch i % 3 {
		case 0: // the beginning of a header
			fmt.Fprintf(conn, "GET %s/ HTTP/1.1\r\nHost: %s\r\nX-A: ", u.Path, u.Host)
		case 1: // a whole request; the connection stays open
			fmt.Fprintf(conn, "GET %s/ HTTP/1.1\r\nHost: %s\r\n\r\n", u.Path, u.Host)
		}
		if i%100 != 99 {
			continue
		}
		from := time.Now()
		if status, _, _ := s.get(t, "/projects", c); status != http.StatusOK || time.Since(from) > 5*time.Second {
			t.Errorf("beside %d slow connections: %d after %s", i+1, status, time.Since(from))
		}
	}
	open := 0
	for _, conn := range conns {
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		_, err := io.Copy(io.Discard, conn)
		if late, ok := err.(net.Error); ok && late.Timeout() {
			open++
		}
	}
	if open == 0 || open > 70 {
		t.Errorf("%d of %d slow connections are held", open, slow)
	}
	close(held)
	if status := <-answered; status != http.StatusOK {
		t.Errorf("the request that was being answered got %d", status)
	}
	s.End()
	if n := strings.Count(s.log.String(), "\n"); n > 10 || !strings.Contains(s.log.String(), "too many are open") {
		t.Errorf("the log has %d lines:\n%s", n, s.log.String())
	}
}
