package peers

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
)

// loopbackUID is the user whose socket has the address from, and is connected to the address to. The kernel lists the sockets of this
// network namespace, which a connection over loopback does not leave (Documentation/networking/proc_net_tcp.rst).
func loopbackUID(from, to net.Addr) (int, error) {
	a, ok := from.(*net.TCPAddr)
	b, also := to.(*net.TCPAddr)
	if !ok || !also || a.IP.To4() == nil || b.IP.To4() == nil {
		return -1, errors.New("not a connection over IPv4")
	}
	// A socket for both families has its IPv4 address behind ::ffff: in the list of IPv6.
	for _, list := range []struct{ path, before string }{{"/proc/net/tcp", ""}, {"/proc/net/tcp6", "0000000000000000FFFF0000"}} {
		uid, err := listed(list.path, list.before+hexAddr(a), list.before+hexAddr(b))
		if uid >= 0 || err != nil && list.before == "" {
			return uid, err
		}
	}
	return -1, errors.New("no such socket")
}

// hexAddr is an address as the kernel prints it: the four bytes as a number of this machine's byte order.
func hexAddr(a *net.TCPAddr) string {
	return fmt.Sprintf("%08X:%04X", binary.NativeEndian.Uint32(a.IP.To4()), a.Port)
}

// listed is the uid of a socket in a list; -1: it is not there.
func listed(path, local, remote string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return -1, err
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		field := strings.Fields(in.Text())
		if len(field) > 7 && field[1] == local && field[2] == remote {
			return strconv.Atoi(field[7])
		}
	}
	return -1, nil
}
