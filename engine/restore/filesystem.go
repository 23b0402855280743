package restore

import (
	"strings"
	"sync"

	"rewind/engine/project"
	"rewind/internal/worktreefs"
	"rewind/tree"
)

// State is what all views of a project share.
type State struct {
	mu    sync.Mutex
	tried bool
	dev   uint64 // of the root that was tried
	lacks worktreefs.Lacks
}

// probeName is the directory in which the worktree's file system is tried.
const probeName = "probe"

// lacks says what the worktree's file system cannot do of what a restore asks for. It is tried once for a root's device
// while the store is open, in the marker's directory, or, where there is none, in a directory that no capture sees.
func (rs *stager) lacks() (worktreefs.Lacks, error) {
	root, err := rs.log.Root()
	if err != nil {
		return worktreefs.Lacks{}, err
	}
	defer root.Close()
	st, err := root.Stat()
	if err != nil {
		return worktreefs.Lacks{}, rs.restoreError(err)
	}
	s := rs.state
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tried && s.dev == st.Dev {
		return s.lacks, nil
	}
	at, name := root, tree.StagePrefix+probeName
	if m := project.ReadMarkerIn(root); m.Names(rs.log.Project.ID) {
		if marker, err := worktreefs.OpenPath(root, project.MarkerDir); err == nil {
			defer marker.Close()
			at, name = marker, probeName
		}
	}
	lacks, err := worktreefs.Probe(at, name)
	if err != nil {
		return worktreefs.Lacks{}, rs.restoreError(err)
	}
	s.tried, s.dev, s.lacks = true, st.Dev, lacks
	return lacks, nil
}

// Weaker says for people what a restore cannot promise on the worktree's file system; "": nothing, or it could not be
// tried.
func (rs *stager) Weaker() string {
	lacks, err := rs.lacks()
	if err != nil {
		return ""
	}
	var list []string
	if lacks.Moves {
		list = append(list, "a restore looks whether a name is free and then takes it: what another program makes there in between is "+
			"lost (no rename that refuses a taken name, no hard links)")
	}
	if lacks.Symlinks {
		list = append(list, "a restore leaves symbolic links out, and names them")
	}
	if lacks.Permissions {
		list = append(list, "a restore does not bring permissions back")
	}
	if len(list) == 0 {
		return ""
	}
	return "this file system can do less than others: " + strings.Join(list, "; ")
}
