package engine

import (
	"fmt"
	"path/filepath"

	"rewind/internal/relay"
)

// Home is rewind's own directory: $REWIND_HOME, else ~/.rewind. It never depends on XDG_* or TMPDIR, which differ
// between a shell, tmux and an agent's sandbox.
type Home struct{ Dir string }

// DefaultHome reads the environment. A home of another user is refused with a relay.OwnerError: whoever opens or makes something there takes it
// from its owner.
func DefaultHome() (Home, error) {
	dir, err := relay.Home()
	if err == nil {
		err = relay.CheckHome(dir)
	}
	if err != nil {
		return Home{}, fmt.Errorf("engine: find home directory: %w", err)
	}
	return Home{dir}, nil
}

func (h Home) configFile() string        { return filepath.Join(h.Dir, "config.json") }
func (h Home) storage() string           { return filepath.Join(h.Dir, "storage") }
func (h Home) storeDir(id string) string { return filepath.Join(h.storage(), id) }
