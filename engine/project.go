package engine

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rewind/internal/osfile"
)

// Mode says where a project's store is.
type Mode string

// The modes of a project.
const (
	ModeGlobal  Mode = "global"  // in Home: an agent's rm -rf or git clean -fdx does not take the way back with it
	ModeProject Mode = "project" // below the marker
)

// Project is a directory with a marker and a store.
type Project struct {
	Root    string // absolute, symlinks resolved
	ID      string // store id, 32 hex digits
	Mode    Mode
	Store   string // the store directory
	Created time.Time
	Notices []string // what opening it had to settle: moved, copied, marker restored
	copied  bool     // the store began as a copy at this opening
}

// Names in the marker directory.
const (
	markerDir    = ".agent/rewind"
	markerID     = "id"
	markerStore  = "store"
	markerStage  = "stage"
	markerIgnore = ".gitignore"
	configName   = "config.json"
	projectFile  = "project.json"
)

// record of a store: which project it belongs to.
type projectRecord struct {
	ID      string    `json:"id"`
	Root    string    `json:"root"`
	Created time.Time `json:"created"`
}

func marker(root string) string { return filepath.Join(root, filepath.FromSlash(markerDir)) }

func newStoreID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand
	return hex.EncodeToString(b[:])
}

func validStoreID(id string) bool {
	b, err := hex.DecodeString(id)
	return err == nil && len(b) == 16 && strings.ToLower(id) == id
}

// readMarker returns the store id in root's marker; ErrNoProject when there is none.
func readMarker(root string) (string, error) {
	dir := marker(root)
	for _, d := range []string{filepath.Dir(dir), dir} {
		// A symlink could lead the marker, and with it the store, out of the project.
		if fi, err := os.Lstat(d); err != nil || !fi.IsDir() {
			return "", ErrNoProject
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, markerID))
	if errors.Is(err, fs.ErrNotExist) {
		return "", ErrNoProject
	}
	if err != nil {
		return "", fmt.Errorf("engine: read marker of %s: %w", root, err)
	}
	id := strings.TrimSpace(string(b))
	if !validStoreID(id) {
		return "", fmt.Errorf("engine: marker %s: %w: not a store id", filepath.Join(dir, markerID), ErrStoreGone)
	}
	return id, nil
}

// checkMarker refuses a project whose marker cannot be a directory, or would lead out of it.
func checkMarker(root string) error {
	dir := marker(root)
	for _, d := range []string{filepath.Dir(dir), dir} {
		if fi, err := os.Lstat(d); err == nil && !fi.IsDir() {
			return fmt.Errorf("engine: make marker: %w: %s is not a directory", ErrBadRoot, d)
		}
	}
	return nil
}

// writeMarker makes the marker directory, unless it is whole; it ignores itself in git without a word in the user's own .gitignore.
func writeMarker(root, id string) error {
	if err := checkMarker(root); err != nil {
		return err
	}
	dir := marker(root)
	if holds(filepath.Join(dir, markerIgnore), "*\n") && holds(filepath.Join(dir, markerID), id+"\n") {
		return nil
	}
	if err := makeDir(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if err := makeDir(dir, 0o700); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, markerIgnore), []byte("*\n")); err != nil {
		return err
	}
	// The id comes last: a marker without one is no marker.
	return writeFile(filepath.Join(dir, markerID), []byte(id+"\n"))
}

// holds reports whether a regular file has exactly this content.
func holds(path, content string) bool {
	fi, err := os.Lstat(path)
	if err != nil || !fi.Mode().IsRegular() || fi.Size() != int64(len(content)) {
		return false
	}
	b, err := os.ReadFile(path)
	return err == nil && string(b) == content
}

func makeDir(dir string, perm fs.FileMode) error {
	err := os.Mkdir(dir, perm)
	if err == nil {
		err = os.Chmod(dir, perm) // whatever the umask of this process
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("engine: make marker: %w", err)
	}
	return nil
}

func readProjectRecord(store string) (*projectRecord, error) {
	b, err := os.ReadFile(filepath.Join(store, projectFile))
	if err != nil {
		return nil, err
	}
	var r projectRecord
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("engine: read %s: %w", filepath.Join(store, projectFile), err)
	}
	return &r, nil
}

func writeProjectRecord(store string, r projectRecord) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(store, projectFile), append(b, '\n'))
}

// writeFile replaces a file of ours durably: the old bytes or the new ones, never a mixture.
func writeFile(path string, data []byte) error {
	err := osfile.Write(path, osfile.Options{Temporary: ".new-"}, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return fmt.Errorf("engine: write %s: %w", path, err)
	}
	return nil
}

// renameDir gives a finished directory of ours its name, durably.
func renameDir(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return osfile.SyncDir(filepath.Dir(to))
}

// resolve gives the absolute path without symlinks.
func resolve(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("engine: resolve %s: %w", dir, err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fmt.Errorf("engine: resolve %s: %w", dir, err)
	}
	return real, nil
}
