package clients

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// codexLive looks whether a Codex holds the lock on a thread. Since about 0.169 the terminal runs a daemon that holds
// it long after the terminal was closed: another Codex refuses the thread then, too.
func codexLive(root, session string) (Live, error) {
	path := filepath.Join(root, "thread-writer-locks", session+".lock")
	held, pid, err := locked(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errors.ErrUnsupported):
		return Live{}, nil
	case err != nil:
		return Live{}, fmt.Errorf("look for a running codex: %s: %w", path, pathCause(err))
	case !held:
		return Live{}, nil
	}
	how, server := codexHolder(root, path, pid)
	return Live{Running: true, How: how, PID: pid, Server: server}, nil
}

// codexHolder says who has a lock, and of the daemon, which nobody sees, how it is ended. server: it is the daemon, or
// may be.
func codexHolder(root, path string, pid int) (how string, server bool) {
	const ends = "; `codex app-server daemon stop` ends it"
	switch args := arguments(pid); {
	case slices.Contains(args, "app-server") && slices.Contains(args, "--managed-daemon"):
		return fmt.Sprintf("codex's background server, process %d, holds %s%s", pid, path, ends), true
	case pid != 0:
		return fmt.Sprintf("codex process %d holds %s", pid, path), false
	}
	if _, err := os.Lstat(filepath.Join(root, "app-server-daemon", "daemon.pid")); err == nil {
		return "codex or its background server holds " + path + ends, true
	}
	return "codex holds " + path, false
}

// pathCause leaves the path out of an error that names it already.
func pathCause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
