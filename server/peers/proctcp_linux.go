package peers

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"
)

// The kernel's lists of sockets are read where sock_diag is not to be had (a sandbox, gVisor). One reading takes
// milliseconds, however few sockets there are, for it goes over the whole hash table.
const (
	listWait = time.Second            // for one list
	listRest = 200 * time.Millisecond // between two readings
)

// pair is the two ends of a connection as a list of the kernel names them: local, remote.
type pair struct{ local, remote string }

// ends are the names of a connection's ends in /proc/net/tcp (mapped false) or tcp6. A socket for both families that
// talks IPv4 is in the list of IPv6, its address behind ::ffff:.
func ends(local, remote netip.AddrPort, mapped bool) pair {
	return pair{listName(local, mapped), listName(remote, mapped)}
}

// listName is an address as the kernel prints it: each four bytes as a number of this machine's byte order.
func listName(a netip.AddrPort, mapped bool) string {
	if a.Addr().Is4() && !mapped {
		ip := a.Addr().As4()
		return fmt.Sprintf("%08X:%04X", binary.NativeEndian.Uint32(ip[:]), a.Port())
	}
	ip := a.Addr().As16()
	var b strings.Builder
	for i := 0; i < len(ip); i += 4 {
		fmt.Fprintf(&b, "%08X", binary.NativeEndian.Uint32(ip[i:]))
	}
	return fmt.Sprintf("%s:%04X", b.String(), a.Port())
}

// listed reads one list of the kernel and returns the users of those sockets of want that are in it and that a process
// holds.
func listed(path string, want map[pair]int, found func(i, uid int)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return readList(f, want, time.Now().Add(listWait), found)
}

func readList(r io.Reader, want map[pair]int, deadline time.Time, found func(i, uid int)) error {
	in := bufio.NewScanner(r)
	for n := 0; in.Scan(); n++ {
		if n%1024 == 0 && time.Now().After(deadline) {
			return os.ErrDeadlineExceeded
		}
		// sl local remote st queues timer retransmits uid timeout inode
		field := strings.Fields(in.Text())
		if len(field) < 10 || field[9] == "0" { // closed by its process: the kernel calls it root's
			continue
		}
		i, ok := want[pair{field[1], field[2]}]
		if !ok {
			continue
		}
		if uid, err := strconv.Atoi(field[7]); err == nil {
			found(i, uid)
		}
	}
	return in.Err()
}
