package peers

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// connectsTo is set in the process that plays another user's: the address that it connects to in a loop.
const connectsTo = "REWIND_TEST_CONNECTS_TO"

func TestMain(m *testing.M) {
	if addr := os.Getenv(connectsTo); addr != "" {
		connectInALoop(addr)
		return
	}
	os.Exit(m.Run())
}

// connectInALoop opens connections for three seconds, at most 20,000, eight at a time, sends a request on each and
// waits for its end.
func connectInALoop(addr string) {
	var n, got atomic.Int64
	end := time.Now().Add(3 * time.Second)
	done := make(chan struct{})
	for range 8 {
		go func() {
			defer func() { done <- struct{}{} }()
			for time.Now().Before(end) && n.Add(1) <= 20_000 {
				c, err := net.DialTimeout("tcp", addr, time.Second)
				if err != nil {
					continue
				}
				_ = c.SetDeadline(time.Now().Add(5 * time.Second))
				_, _ = io.WriteString(c, "hello\n")
				if b, _ := io.ReadAll(c); len(b) > 0 {
					got.Add(1)
				}
				_ = c.Close()
			}
		}()
	}
	for range 8 {
		<-done
	}
	fmt.Println(n.Load(), got.Load())
}

// echo is a Loopback that greets each connection that it lets in.
type echo struct {
	*Loopback
	refusals chan int
	let      atomic.Int64
}

func serveEcho(t *testing.T, a asker) *echo {
	t.Helper()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &echo{refusals: make(chan int, 100_000)}
	e.Loopback = newLoopback(ln, func(uid int, err error) {
		if err != nil {
			uid = -1
		}
		e.refusals <- uid
	}, func() *asker { b := a; return &b })
	t.Cleanup(func() { _ = e.Close() })
	go func() {
		for {
			c, err := e.Accept()
			if err != nil {
				return
			}
			e.let.Add(1)
			go func() {
				_, _ = io.WriteString(c, "in")
				_ = c.Close()
			}()
		}
	}()
	return e
}

// greeted reports whether a connection is let in, and how long that took.
func greeted(t *testing.T, addr string) (string, time.Duration) {
	t.Helper()
	from := time.Now()
	c, err := net.DialTimeout("tcp", addr, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	b, err := io.ReadAll(c)
	if err != nil {
		t.Errorf("no answer within %s: %v", time.Since(from), err)
	}
	return string(b), time.Since(from)
}

// TestT17AnotherUserInALoop: another user who connects in a loop is not let in, and does not keep this user out,
// meanwhile and right after.
func TestT17AnotherUserInALoop(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("another user is needed: root")
	}
	t.Run("sock_diag", func(t *testing.T) { anotherUserInALoop(t, asker{}, time.Second) })
	t.Run("lists", func(t *testing.T) { anotherUserInALoop(t, asker{lame: time.Now().Add(time.Hour)}, 5*time.Second) })
}

func anotherUserInALoop(t *testing.T, a asker, most time.Duration) {
	t.Helper()
	e := serveEcho(t, a)
	other := exec.Command("/proc/self/exe")
	other.Env = []string{connectsTo + "=" + e.Addr().String()}
	other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	var out strings.Builder
	other.Stdout, other.Stderr = &out, &out
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- other.Wait() }()
	slowest, asked := time.Duration(0), 0
	for running := true; running; asked++ {
		said, took := greeted(t, e.Addr().String())
		if said != "in" {
			t.Fatalf("this user was not let in: %q", said)
		}
		slowest = max(slowest, took)
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v: %s", err, out.String())
			}
			running = false
		case <-time.After(20 * time.Millisecond):
		}
	}
	_, after := greeted(t, e.Addr().String())
	var tried, got int
	if _, err := fmt.Sscan(out.String(), &tried, &got); err != nil || tried < 50 || got != 0 {
		t.Errorf("the other user says %q", out.String())
	}
	if slowest > 5*time.Second || after > most {
		t.Errorf("this user waited %s meanwhile, %s after", slowest, after)
	}
	if n := len(e.refusals); n < 50 {
		t.Errorf("only %d were refused", n)
	}
	t.Logf("%d connections of the other user; this user's %d took %s at most, %s after", tried, asked, slowest, after)
}

// This user's connections come in by sock_diag and by the kernel's lists, over IPv4 and by a socket for both families;
// one that its process has closed, and one that was cut, are nobody's.
func TestWhose(t *testing.T) {
	for _, way := range []string{"sock_diag", "lists"} {
		t.Run(way, func(t *testing.T) {
			ln, err := net.Listen("tcp4", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer ln.Close()
			port := ln.Addr().(*net.TCPAddr).Port
			var a asker
			defer a.close()
			for _, c := range []struct {
				name string
				dial func() (end func())
				want error
			}{
				{"IPv4", func() func() { return dial(t, unix.AF_INET, port, 0) }, nil},
				{"both families", func() func() { return dial(t, unix.AF_INET6, port, 0) }, nil},
				{"half closed", func() func() { return dial(t, unix.AF_INET, port, 'h') }, nil},
				{"closed", func() func() { return dial(t, unix.AF_INET, port, 'c') }, errNoSocket},
				{"cut", func() func() { return dial(t, unix.AF_INET, port, 'r') }, errNoSocket},
			} {
				if a.lame = (time.Time{}); way == "lists" {
					a.lame = time.Now().Add(time.Hour)
				}
				end := c.dial()
				conn, err := ln.Accept()
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(10 * time.Millisecond)
				n := 0
				a.ask([]net.Conn{conn}, func(_ net.Conn, uid int, err error) {
					n++
					if !errors.Is(err, c.want) || err == nil && uid != os.Geteuid() {
						t.Errorf("%s: uid %d, %v, want %v", c.name, uid, err, c.want)
					}
				})
				if n != 1 || a.isLame() != (way == "lists") {
					t.Errorf("%s: found %d times, the lists are read: %t", c.name, n, a.isLame())
				}
				_ = conn.Close()
				end()
			}
		})
	}
}

// dial connects with a socket of a family, and does to it what how says: h shuts down writing, c closes, r cuts.
func dial(t *testing.T, family, port int, how byte) (end func()) {
	t.Helper()
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var to unix.Sockaddr = &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}
	if family == unix.AF_INET6 {
		to = &unix.SockaddrInet6{Port: port, Addr: netip.MustParseAddr("::ffff:127.0.0.1").As16()}
	}
	if err := unix.Connect(fd, to); err != nil {
		t.Fatal(err)
	}
	end = func() {}
	switch how {
	case 'h':
		err = unix.Shutdown(fd, unix.SHUT_WR)
		end = func() { _ = unix.Close(fd) }
	case 'r':
		err = errors.Join(unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}), unix.Close(fd))
	case 'c':
		err = unix.Close(fd)
	default:
		end = func() { _ = unix.Close(fd) }
	}
	if err != nil {
		t.Fatal(err)
	}
	return end
}

// Where sock_diag knows nothing of a connection that is there, the lists are read, once for all that wait.
func TestListsWhereSockDiagIsMissing(t *testing.T) {
	var a asker
	defer a.close()
	var err error
	if a.diag, err = newDiag(); err != nil {
		t.Skip("no sock_diag: ", err)
	}
	_ = unix.Shutdown(a.diag.fd, unix.SHUT_RDWR)
	blind, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0) // neither takes a question nor answers
	if err != nil {
		t.Fatal(err)
	}
	_ = unix.Close(a.diag.fd)
	a.diag.fd = blind
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	var conns []net.Conn
	for range 3 {
		defer dial(t, unix.AF_INET, ln.Addr().(*net.TCPAddr).Port, 0)()
		c, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		conns = append(conns, c)
	}
	n := 0
	a.ask(conns, func(_ net.Conn, uid int, err error) {
		n++
		if uid != os.Geteuid() || err != nil {
			t.Errorf("uid %d, %v", uid, err)
		}
	})
	if n != 3 || !a.isLame() || a.together() != maxWaiting {
		t.Errorf("found %d, lame %t", n, a.isLame())
	}
}

// A process without file descriptors accepts again when it has some.
func TestAcceptOutOfFiles(t *testing.T) {
	inner, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := NewLoopback(&starved{Listener: inner, times: 3}, func(uid int, err error) { t.Errorf("refused %d, %v", uid, err) })
	defer l.Close()
	defer dial(t, unix.AF_INET, inner.Addr().(*net.TCPAddr).Port, 0)()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
}

// starved is a listener that has no file descriptor for the first accepts.
type starved struct {
	net.Listener
	times int
}

func (s *starved) Accept() (net.Conn, error) {
	if s.times--; s.times >= 0 {
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return s.Listener.Accept()
}

// The decoder of the kernel's answers never panics, and gives a user only for the socket that was asked for.
func FuzzAnswer(f *testing.F) {
	local, remote := netip.MustParseAddrPort("127.0.0.1:40000"), netip.MustParseAddrPort("127.0.0.1:8080")
	good := message(1, unix.AF_INET, local, remote, 1000, 77)
	f.Add(good)
	f.Add(message(1, unix.AF_INET6, local, remote, 1000, 77))
	f.Add(message(1, unix.AF_INET, local, netip.AddrPort{}, 0, 77))
	f.Add(good[:40])
	f.Fuzz(func(t *testing.T, b []byte) {
		uid, late, err := answer(b, 1, local, remote)
		if err == nil && (late || uid < 0 || len(b) < headerSize+messageSize) || err != nil && uid != -1 {
			t.Errorf("uid %d, late %t, %v", uid, late, err)
		}
	})
}

// message is the kernel's answer.
func message(seq uint32, family byte, local, remote netip.AddrPort, uid, inode uint32) []byte {
	b := request(seq, local, remote)[:headerSize]
	req := request(seq, local, remote)[headerSize:]
	body := make([]byte, messageSize)
	body[0], body[1] = family, 1
	copy(body[4:52], req[8:56])
	if remote.IsValid() {
		if family == unix.AF_INET6 {
			l, r := local.Addr().As16(), remote.Addr().As16()
			copy(body[8:24], l[:])
			copy(body[24:40], r[:])
		}
	}
	binary.NativeEndian.PutUint32(body[64:], uid)
	binary.NativeEndian.PutUint32(body[68:], inode)
	b = append(b, body...)
	binary.NativeEndian.PutUint32(b, uint32(len(b)))
	return b
}

func TestAnswer(t *testing.T) {
	local, remote := netip.MustParseAddrPort("127.0.0.1:40000"), netip.MustParseAddrPort("127.0.0.1:8080")
	for _, c := range []struct {
		name string
		b    []byte
		uid  int
		late bool
		err  error
	}{
		{"IPv4", message(7, unix.AF_INET, local, remote, 1000, 5), 1000, false, nil},
		{"mapped", message(7, unix.AF_INET6, local, remote, 1000, 5), 1000, false, nil},
		{"closed by its process", message(7, unix.AF_INET, local, remote, 0, 0), -1, false, errNoSocket},
		{"a listener", message(7, unix.AF_INET, local, netip.MustParseAddrPort("0.0.0.0:0"), 0, 5), -1, false, errNoSocket},
		{"another socket", message(7, unix.AF_INET, remote, local, 0, 5), -1, false, errNoSocket},
		{"an earlier question's", message(6, unix.AF_INET, local, remote, 1000, 5), -1, true, errMalformed},
		{"short", message(7, unix.AF_INET, local, remote, 1000, 5)[:20], -1, false, errMalformed},
		{"nothing", nil, -1, false, errMalformed},
	} {
		if uid, late, err := answer(c.b, 7, local, remote); uid != c.uid || late != c.late || !errors.Is(err, c.err) {
			t.Errorf("%s: %d, %t, %v", c.name, uid, late, err)
		}
	}
}

// BenchmarkWhose is what one question costs.
func BenchmarkWhose(b *testing.B) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer ln.Close()
	c, err := net.Dial("tcp4", ln.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	s, err := ln.Accept()
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for _, way := range []string{"sock_diag", "lists"} {
		b.Run(way, func(b *testing.B) {
			var a asker
			defer a.close()
			if way == "lists" {
				a.lame = time.Now().Add(time.Hour)
			}
			for b.Loop() {
				a.read = time.Time{}
				a.ask([]net.Conn{s}, func(_ net.Conn, uid int, err error) {
					if err != nil || uid != os.Geteuid() {
						b.Fatal(strconv.Itoa(uid), err)
					}
				})
			}
		})
	}
}
