package relay

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// shortRunDir is the directory for the sockets of homes with long paths.
func shortRunDir() string { return "/tmp/rewind-" + strconv.Itoa(os.Geteuid()) }

const (
	othersBits = 0o077
	// mendingBit marks a directory that is closed to others again, and in which what they left has not been looked at
	// yet.
	mendingBit = syscall.S_ISVTX
)

// An openedError says that a run directory of this user's was opened to others.
type openedError struct {
	dir  string
	mode uint32
}

func (e openedError) Error() string {
	return "others may enter it (mode 0" + strconv.FormatUint(uint64(e.mode), 8) + "); run: chmod 700 " + e.dir
}

// CheckDir reports why a run directory cannot be trusted: it must be a directory, not a link to one, of the effective
// user, that nobody else may read or write. Somebody who can write it can take the socket's place and read what agents
// do. The error says what to do.
func CheckDir(dir string) error {
	var st syscall.Stat_t
	var err error
	for {
		if err = syscall.Lstat(dir, &st); err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		return fail("check directory", dir, err)
	}
	bad := ""
	switch {
	case st.Mode&syscall.S_IFMT == syscall.S_IFLNK:
		bad = "it is a symbolic link; remove it, or set REWIND_HOME to the directory that is meant"
	case st.Mode&syscall.S_IFMT != syscall.S_IFDIR:
		bad = "it is not a directory; move it away"
	case int(st.Uid) != os.Geteuid():
		bad = "it belongs to " + userName(int(st.Uid)) + ", not to " + userName(os.Geteuid()) + "; "
		if filepath.Base(dir) == runName {
			bad += "'rewind doctor --mend' moves it out of the way, "
		} else { // in /tmp
			bad += "remove it, "
		}
		bad += "or set REWIND_HOME to a directory of your own"
	case st.Mode&(othersBits|mendingBit) != 0:
		return fail("check directory", dir, openedError{dir, uint32(st.Mode & 0o7777)})
	default:
		return nil
	}
	return fail("check directory", dir, errors.New(bad))
}
