package peers

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// asker finds whose the other ends of connections over loopback are. The kernel knows the sockets of this network
// namespace, which such a connection does not leave. Not safe for concurrent use.
type asker struct {
	diag *diag
	lame time.Time // until then the lists are read: sock_diag does not answer here
	read time.Time // when they were last
}

// lameFor is how long sock_diag is not asked again once it did not answer.
const lameFor = time.Minute

func (a *asker) isLame() bool { return time.Now().Before(a.lame) }

// together is how many connections may be asked about at once: all that wait, where each reading answers for any
// number.
func (a *asker) together() int {
	if a.isLame() {
		return maxWaiting
	}
	return 1
}

// ask calls found with the user of each connection's other end, or why it is not known.
func (a *asker) ask(conns []net.Conn, found func(c net.Conn, uid int, err error)) {
	for len(conns) > 0 && !a.isLame() {
		uid, err := a.one(conns[0])
		if a.isLame() {
			break
		}
		found(conns[0], uid, err)
		conns = conns[1:]
	}
	if len(conns) == 0 {
		return
	}
	time.Sleep(time.Until(a.read.Add(listRest)))
	a.list(conns, found)
	a.read = time.Now()
}

// one asks sock_diag, and sets lame if that does not know a connection that is there.
func (a *asker) one(c net.Conn) (int, error) {
	here, there, err := addrs(c)
	if err != nil {
		return -1, err
	}
	if a.diag == nil {
		if a.diag, err = newDiag(); err != nil {
			if !outOfFiles(err) {
				a.lame = time.Now().Add(lameFor)
			}
			return -1, err
		}
	}
	uid, err := a.diag.uid(there, here)
	if err == nil {
		return uid, nil
	}
	// Without its module the kernel says of every socket that there is none: of this end, too, which is here.
	if _, ours := a.diag.uid(here, there); ours != nil && !connGone(c) {
		a.lame = time.Now().Add(lameFor)
		a.close()
	}
	return uid, err
}

// connGone reports whether a connection was cut by its other end, so that the kernel has forgotten it.
func connGone(c net.Conn) bool {
	t, ok := c.(*net.TCPConn)
	if !ok {
		return false
	}
	raw, err := t.SyscallConn()
	if err != nil {
		return true
	}
	gone := false
	err = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		gone = err != nil || info.State == tcpClose
	})
	return gone || err != nil
}

// tcpClose is the state of a connection that was reset (net/tcp_states.h).
const tcpClose = 7

// list reads the kernel's lists once for all connections.
func (a *asker) list(conns []net.Conn, found func(c net.Conn, uid int, err error)) {
	want, wantMapped := map[pair]int{}, map[pair]int{}
	uids, errs := make([]int, len(conns)), make([]error, len(conns))
	for i, c := range conns {
		uids[i] = -1
		here, there, err := addrs(c)
		if errs[i] = err; err == nil {
			want[ends(there, here, false)], wantMapped[ends(there, here, true)] = i, i
		}
	}
	err := listed("/proc/net/tcp", want, func(i, uid int) { uids[i] = uid })
	if err6 := listed("/proc/net/tcp6", wantMapped, func(i, uid int) { uids[i] = uid }); err == nil && !missing(err6) {
		err = err6
	}
	for i, c := range conns {
		switch {
		case errs[i] != nil || uids[i] >= 0:
			found(c, uids[i], errs[i])
		case err != nil:
			found(c, -1, fmt.Errorf("read the kernel's lists of sockets: %w", err))
		default:
			found(c, -1, errNoSocket)
		}
	}
}

func missing(err error) bool { return errors.Is(err, unix.ENOENT) }

func (a *asker) close() {
	if a.diag != nil {
		a.diag.close()
		a.diag = nil
	}
}

// addrs are the two ends of a connection: this one, and the other.
func addrs(c net.Conn) (here, there netip.AddrPort, err error) {
	l, ok := c.LocalAddr().(*net.TCPAddr)
	r, also := c.RemoteAddr().(*net.TCPAddr)
	if !ok || !also {
		return here, there, errors.New("not a connection over TCP")
	}
	return unmapped(l.AddrPort()), unmapped(r.AddrPort()), nil
}

// setBacklog has the kernel hold at most n connections that are not accepted yet. Who is refused has no long line
// before others.
func setBacklog(ln net.Listener, n int) {
	t, ok := ln.(*net.TCPListener)
	if !ok {
		return
	}
	raw, err := t.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { _ = unix.Listen(int(fd), n) })
}
