package peers

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// Sizes of the kernel's structures (linux/inet_diag.h), in bytes.
const (
	headerSize  = unix.SizeofNlMsghdr
	requestSize = headerSize + 56 // struct inet_diag_req_v2
	messageSize = 72              // struct inet_diag_msg
)

// diagWait is how long one answer of the kernel is waited for.
const diagWait = 250 * time.Millisecond

// errNoSocket: the kernel has no socket of these addresses that a process holds.
var errNoSocket = errors.New("no such socket")

// errMalformed: an answer that this package does not understand.
var errMalformed = errors.New("sock_diag: the answer is malformed")

// diag asks the kernel for one TCP socket at a time (NETLINK_SOCK_DIAG). Not safe for concurrent use.
type diag struct {
	fd  int
	seq uint32
}

// newDiag opens the kernel's socket; the error says that this system or its sandbox has none.
func newDiag() (*diag, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, err
	}
	wait := unix.NsecToTimeval(diagWait.Nanoseconds())
	err = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait)
	if err == nil {
		err = unix.Connect(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return &diag{fd: fd}, nil
}

func (d *diag) close() { _ = unix.Close(d.fd) }

// uid returns the user of the socket with address local that is connected to remote: errNoSocket if no process holds
// one. Any other error says that the kernel does not answer.
func (d *diag) uid(local, remote netip.AddrPort) (int, error) {
	d.seq++
	if _, err := unix.Write(d.fd, request(d.seq, local, remote)); err != nil {
		return -1, err
	}
	var buf [4096]byte
	for deadline := time.Now().Add(diagWait); ; {
		n, err := unix.Read(d.fd, buf[:])
		switch {
		case err == unix.EINTR && time.Now().Before(deadline):
			continue
		case err != nil:
			return -1, err
		}
		uid, late, err := answer(buf[:n], d.seq, local, remote)
		if !late || !time.Now().Before(deadline) {
			return uid, err
		}
	}
}

// request is the question for exactly one socket (struct inet_diag_req_v2). One for both families that talks IPv4 is
// found by its IPv4 addresses.
func request(seq uint32, local, remote netip.AddrPort) []byte {
	b := make([]byte, requestSize)
	ne := binary.NativeEndian
	ne.PutUint32(b, requestSize)
	ne.PutUint16(b[4:], unix.SOCK_DIAG_BY_FAMILY)
	ne.PutUint16(b[6:], unix.NLM_F_REQUEST)
	ne.PutUint32(b[8:], seq)
	r := b[headerSize:]
	r[0], r[1] = unix.AF_INET6, unix.IPPROTO_TCP
	if local.Addr().Is4() {
		r[0] = unix.AF_INET
	}
	ne.PutUint32(r[4:], ^uint32(0)) // in any state
	id := r[8:]
	binary.BigEndian.PutUint16(id, local.Port())
	binary.BigEndian.PutUint16(id[2:], remote.Port())
	copy(id[4:20], local.Addr().AsSlice())
	copy(id[20:36], remote.Addr().AsSlice())
	ne.PutUint32(id[40:], ^uint32(0)) // INET_DIAG_NOCOOKIE
	ne.PutUint32(id[44:], ^uint32(0))
	return b
}

// answer decodes the kernel's answer to request. late: it answers an earlier question.
func answer(b []byte, seq uint32, local, remote netip.AddrPort) (uid int, late bool, err error) {
	ne := binary.NativeEndian
	if len(b) < headerSize {
		return -1, false, errMalformed
	}
	size, kind := ne.Uint32(b), ne.Uint16(b[4:])
	if size < headerSize || uint64(size) > uint64(len(b)) {
		return -1, false, errMalformed
	}
	if ne.Uint32(b[8:]) != seq {
		return -1, true, errMalformed
	}
	body := b[headerSize:size]
	switch {
	case kind == unix.NLMSG_ERROR && len(body) >= 4:
		if code := -int32(ne.Uint32(body)); code == int32(unix.ENOENT) {
			return -1, false, errNoSocket
		} else if code > 0 && code < 4096 {
			return -1, false, unix.Errno(code)
		}
	case kind == unix.SOCK_DIAG_BY_FAMILY && len(body) >= messageSize:
		uid, err = owner(body, local, remote)
		return uid, false, err
	}
	return -1, false, errMalformed
}

// owner reads the user of a socket from struct inet_diag_msg. Where nothing is connected between these addresses the
// kernel answers with who listens at local, and a socket that its process has closed is root's: neither is a
// connection's other end.
func owner(b []byte, local, remote netip.AddrPort) (int, error) {
	id := b[4:]
	from, ok := addrPort(b[0], id[4:20], id[0:2])
	to, also := addrPort(b[0], id[20:36], id[2:4])
	if !ok || !also {
		return -1, errMalformed
	}
	inode := binary.NativeEndian.Uint32(b[68:])
	if from != unmapped(local) || to != unmapped(remote) || inode == 0 {
		return -1, errNoSocket
	}
	return int(binary.NativeEndian.Uint32(b[64:])), nil
}

// addrPort is an address and a port as the kernel writes them. That of a socket for both families which talks IPv4 is
// the IPv4 one.
func addrPort(family byte, addr, port []byte) (netip.AddrPort, bool) {
	p := binary.BigEndian.Uint16(port)
	switch family {
	case unix.AF_INET:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(addr)), p), true
	case unix.AF_INET6:
		return unmapped(netip.AddrPortFrom(netip.AddrFrom16([16]byte(addr)), p)), true
	}
	return netip.AddrPort{}, false
}

func unmapped(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }
