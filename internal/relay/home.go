package relay

import (
	"errors"
	"os"
	"path/filepath"
)

// maxSocketPath is the length in bytes that a socket's path has at most on every system (104 with its NUL on darwin),
// less some room.
const maxSocketPath = 100

const (
	runName    = "run"
	socketName = "daemon.sock"
	lockName   = "start.lock"
)

var errNoHome = errors.New("neither REWIND_HOME nor HOME is set to a directory")

// Home returns rewind's own directory, absolute: $REWIND_HOME, else .rewind in $HOME. A $REWIND_HOME that is not
// absolute is refused: it would be another directory, and another daemon, for each place that it is used from. It is
// the same that the daemon and the command line use.
func Home() (string, error) {
	dir := os.Getenv("REWIND_HOME")
	if dir == "" {
		user := os.Getenv("HOME")
		if !filepath.IsAbs(user) {
			return "", fail("find", "home", errNoHome)
		}
		return filepath.Join(user, ".rewind"), nil
	}
	if !filepath.IsAbs(dir) {
		return "", fail("find home", dir, ErrRelative)
	}
	return filepath.Clean(dir), nil
}

// SocketPath returns where the daemon of a home listens: run/daemon.sock in it. Where that is over 100 bytes it is a
// fixed path of this user under /tmp. It depends on nothing else: XDG_* and TMPDIR differ between a shell, tmux and an
// agent's sandbox, and two paths would be two daemons.
func SocketPath(home string) (string, error) {
	dirs, err := runDirs(home)
	if err != nil {
		return "", err
	}
	return filepath.Join(dirs[len(dirs)-1], socketName), nil
}

// runDirs are the directories that must belong to this user alone before the socket in the last of them is trusted,
// outermost first.
func runDirs(home string) ([]string, error) {
	if !filepath.IsAbs(home) {
		return nil, fail("find socket", home, errors.New("the home directory is not absolute"))
	}
	dir := filepath.Join(home, runName)
	if len(dir)+1+len(socketName) <= maxSocketPath {
		return []string{dir}, nil
	}
	user := shortRunDir()
	return []string{user, filepath.Join(user, fnv64(filepath.Clean(home)))}, nil
}

// fnv64 is the FNV-1a hash of s as 16 hex digits.
func fnv64(s string) string {
	h := uint64(0xcbf29ce484222325)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	var out [16]byte
	for i := range out {
		out[i] = "0123456789abcdef"[h>>(60-4*i)&15]
	}
	return string(out[:])
}

// MakeDir makes the run directory of a home, for this user alone, and returns it. What is there already is checked, and
// put right where it was opened to others; Untold says so to who asks next, for who makes it is often a process that
// nobody listens to.
func MakeDir(home string) (string, error) {
	dirs, err := runDirs(home)
	if err != nil {
		return "", err
	}
	if err := closeHome(home); err != nil {
		return "", err
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
			return "", fail("make", dir, err)
		}
		if err := os.Mkdir(dir, 0o700); err == nil {
			err = os.Chmod(dir, 0o700) // the umask may have taken bits that are needed
			if err != nil {
				return "", fail("make", dir, err)
			}
		} else if !errors.Is(err, os.ErrExist) {
			return "", fail("make", dir, err)
		}
		told, err := putRight(dir)
		if err != nil {
			return "", err
		}
		if told != "" {
			keepUntold(dirs[len(dirs)-1], told)
		}
	}
	return dirs[len(dirs)-1], nil
}

// TrustDirs checks every directory on which the trust in the socket of a home rests, and puts right one of this user's
// that was opened to others; notice says so.
func TrustDirs(home string) (notice string, err error) {
	dirs, err := runDirs(home)
	if err != nil {
		return "", err
	}
	for _, dir := range dirs {
		told, err := putRight(dir)
		if err != nil {
			return notice, err
		}
		notice += told
	}
	return notice, nil
}
