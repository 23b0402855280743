package engine

import (
	"fmt"
	"os"
	"path/filepath"
)

// Home is rewind's own directory: $REWIND_HOME, else ~/.rewind. It never depends on XDG_* or TMPDIR, which differ
// between a shell, tmux and an agent's sandbox.
type Home struct{ Dir string }

// DefaultHome reads the environment.
func DefaultHome() (Home, error) {
	if dir := os.Getenv("REWIND_HOME"); dir != "" {
		if !filepath.IsAbs(dir) { // another directory would be another home, in it
			return Home{}, fmt.Errorf("engine: find home directory: %w: REWIND_HOME is %q, which is not absolute", ErrUsage, dir)
		}
		return Home{filepath.Clean(dir)}, nil
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return Home{}, fmt.Errorf("engine: find home directory: %w", err)
	}
	return Home{filepath.Join(user, ".rewind")}, nil
}

func (h Home) configFile() string        { return filepath.Join(h.Dir, "config.json") }
func (h Home) storage() string           { return filepath.Join(h.Dir, "storage") }
func (h Home) storeDir(id string) string { return filepath.Join(h.storage(), id) }
