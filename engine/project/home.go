package project

import (
	"errors"
	"fmt"
	"path/filepath"

	"rewind/internal/relay"
	"rewind/objstore"
)

// IsGone reports whether an object is known to be lost. What was purged is meant to be gone.
func IsGone(err error) bool { return errors.Is(err, objstore.ErrLost) }

// Home is rewind's own directory: $REWIND_HOME, else ~/.rewind. It never depends on XDG_* or TMPDIR, which differ
// between a shell, tmux and an agent's sandbox.
type Home struct{ Dir string }

// DefaultHome reads the environment. A home of another user is refused with a relay.OwnerError: whoever opens or makes
// something there takes it from its owner.
func DefaultHome() (Home, error) {
	dir, err := relay.Home()
	if err == nil {
		err = relay.CheckHome(dir)
	}
	if err != nil {
		return Home{}, fmt.Errorf("find home directory: %w", err)
	}
	return Home{dir}, nil
}

func (h Home) configFile() string { return filepath.Join(h.Dir, "config.json") }

// Storage is the directory of the stores.
func (h Home) Storage() string { return filepath.Join(h.Dir, "storage") }

func (h Home) storeDir(id string) string { return filepath.Join(h.Storage(), id) }

// BisectDir is where what is kept of bisections of a project is, with their scratch directories. It lies in no project,
// as far as Home does not, and is not moved or copied with a store.
func (h Home) BisectDir(id string) string { return filepath.Join(h.Dir, "bisect", id) }

// StageDir is where stages of a project are that cannot be in its marker.
func (h Home) StageDir(id string) string { return filepath.Join(h.Dir, MarkerStage, id) }
