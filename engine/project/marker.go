package project

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"rewind/internal/worktreefs"
)

// A marker is a hint, by which a project is found again that was moved, copied or restored. It lies where a repository,
// a pull or another user can write, so it is read by directory handles, bounded, and counts only under the conditions
// of readMarker and unlessTracked.

// maxMarker bounds the file of ids in bytes: 124 of them.
const maxMarker = 4 << 10

// markerState is a marker as it was found.
type markerState struct {
	ids   []string // of stores, one of each machine and Home that uses the directory
	there bool     // something has the name of the ids or of a store
	store bool     // something has the name of a store
	why   string   // it does not count, since ...; "": it does
	quiet bool     // the directory ignores itself in git
}

// readMarker reads the marker of root.
func readMarker(root string) markerState {
	top, err := worktreefs.OpenRoot(root)
	if err != nil {
		return markerState{}
	}
	defer top.Close()
	return ReadMarkerIn(top)
}

// ReadMarkerIn is readMarker of a root that is held.
func ReadMarkerIn(top worktreefs.Dir) (m markerState) {
	dir, why := openMarkerIn(top)
	m.why = why
	if dir == nil {
		m.there = why != ""
		return m
	}
	defer dir.Close()
	if _, err := dir.Lstat(markerStore); err == nil {
		m.there, m.store = true, true
	}
	if _, err := dir.Lstat(markerID); err != nil {
		return m
	}
	m.there = true
	if m.why != "" {
		return m
	}
	b, why, err := readIn(dir, markerID, maxMarker)
	if err != nil {
		why = "it cannot be read"
	}
	if m.why = why; why != "" {
		return m
	}
	m.ids = markerIDs(b)
	b, why, err = readIn(dir, markerIgnore, maxMarker)
	m.quiet = err == nil && why == "" && string(b) == "*\n"
	return m
}

func markerIDs(b []byte) (ids []string) {
	for line := range strings.Lines(string(b)) {
		if id := strings.TrimSpace(line); validStoreID(id) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// openMarker opens the marker's directory, if each directory on the way is one and no link. why says what keeps it from
// counting; without a directory it is not "" where one may be there.
func openMarker(root string) (dir worktreefs.Dir, why string) {
	top, err := worktreefs.OpenRoot(root)
	if err != nil {
		return nil, ""
	}
	defer top.Close()
	return openMarkerIn(top)
}

func openMarkerIn(top worktreefs.Dir) (dir worktreefs.Dir, why string) {
	above, err := top.OpenDir(agentName)
	if err != nil {
		return nil, "" // a link, a file or another user's: whatever it is, it is not ours
	}
	defer above.Close()
	dir, err = above.OpenDir(ownName)
	switch {
	case err == nil:
	case errors.Is(err, worktreefs.ErrNotExist):
		return nil, ""
	case errors.Is(err, worktreefs.ErrNotDir):
		return nil, "it is not a directory"
	default:
		if st, err := above.Lstat(ownName); err == nil {
			why = notMine(st)
		}
		if why == "" {
			why = "it cannot be read"
		}
		return nil, why
	}
	for _, d := range []worktreefs.Dir{above, dir} {
		st, err := d.Stat()
		if err != nil {
			return dir, "it cannot be looked at"
		}
		if why = notMine(st); why != "" {
			return dir, why
		}
	}
	return dir, ""
}

// Names reports whether the marker of root has this id.
func (m *markerState) Names(id string) bool { return m.why == "" && slices.Contains(m.ids, id) }

// errMarker is returned where a marker cannot be written, which a project can do without.
var errMarker = errors.New("the marker cannot be written")

// WriteMarker makes the marker name a store, first of all, and no more the one called drop ("": none). Ids of other
// machines and homes stay. It changes nothing where all is as it should be, and nothing that git tracks or somebody
// else owns: then the error is errMarker, and the record alone counts.
func WriteMarker(root, id, drop string) error {
	top, err := worktreefs.OpenRoot(root)
	if err != nil {
		return fmt.Errorf("%s: %w: %w", Marker(root), errMarker, err)
	}
	defer top.Close()
	return WriteMarkerIn(top, root, id, drop)
}

// WriteMarkerIn is WriteMarker of a root that is held; git is asked by its path.
func WriteMarkerIn(top worktreefs.Dir, root, id, drop string) error {
	cannot := func(why any) error {
		return fmt.Errorf("%s: %w: %v", Marker(root), errMarker, why)
	}
	m := ReadMarkerIn(top)
	if m.why != "" {
		return cannot(m.why)
	}
	quiet := m.Names(id) && m.quiet
	if quiet && (drop == "" || !m.Names(drop)) {
		return nil
	}
	if tracked, err := trackedMarker(root); err == nil && tracked {
		return cannot("git tracks it")
	}
	dir, err := makeMarkerIn(top)
	if err != nil {
		return cannot(err)
	}
	defer dir.Close()
	others := slices.DeleteFunc(slices.Clone(m.ids), func(other string) bool { return other == id || other == drop })
	ids := append([]string{id}, others...)
	text := strings.Join(ids, "\n") + "\n"
	if len(text) > maxMarker {
		return cannot("it names too many stores")
	}
	if !m.quiet {
		if err := replaceIn(dir, markerIgnore, []byte("*\n")); err != nil {
			return cannot(err)
		}
	}
	// The id comes last: a marker without one is no marker.
	if err := replaceIn(dir, markerID, []byte(text)); err != nil {
		return cannot(err)
	}
	return nil
}

// makeMarker makes the marker's directory, where it is not there, and opens it.
func makeMarker(root string) (worktreefs.Dir, error) {
	top, err := worktreefs.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	return makeMarkerIn(top)
}

func makeMarkerIn(top worktreefs.Dir) (worktreefs.Dir, error) {
	above, err := ensureDir(top, agentName, 0o755)
	if err != nil {
		return nil, err
	}
	defer above.Close()
	return ensureDir(above, ownName, 0o700)
}

// ensureDir opens a directory of this user's, and makes it first where there is none.
func ensureDir(d worktreefs.Dir, name string, perm uint16) (worktreefs.Dir, error) {
	if err := d.Mkdir(name, perm); err == nil {
		err = d.Sync()
		if err != nil {
			return nil, err
		}
	} else if !errors.Is(err, worktreefs.ErrExist) {
		return nil, err
	}
	sub, err := d.OpenDir(name)
	if err != nil {
		return nil, err
	}
	st, err := sub.Stat()
	if err == nil {
		if why := notMine(st); why != "" {
			err = fmt.Errorf("%s: %s", filepath.FromSlash(sub.Name()), why)
		}
	}
	if err != nil {
		sub.Close()
		return nil, err
	}
	return sub, nil
}
