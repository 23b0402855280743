package project

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rewind/internal/osfile"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
)

// Mode says where a project's store is.
type Mode string

// The modes of a project.
const (
	ModeGlobal  Mode = "global"  // in Home: an agent's rm -rf or git clean -fdx does not take the way back with it
	ModeProject Mode = "project" // below the marker
)

// Project is a directory that a record in Home names, and its store.
type Project struct {
	Root    string // absolute, symlinks resolved
	ID      string // store id, 32 hex digits
	Mode    Mode
	Store   string // the store directory
	created time.Time
	Notices []string // what opening it had to settle: moved, copied, marker restored
	Passed  []Passed // what lies nearer and is not believed
	Copied  bool     // the store began as a copy at this opening
	Dev     uint64   // of the root directory as it was found, with ino; ino 0: not known
	Ino     uint64
	From    *Origin // of a worktree: what it was made of; else nil
}

// Names in the marker directory.
const (
	agentName    = ".agent"
	ownName      = "rewind"
	MarkerDir    = agentName + "/" + ownName
	markerID     = "id"
	markerStore  = "store"
	MarkerStage  = "stage"
	markerIgnore = ".gitignore"
	ConfigName   = "config.json"
	projectFile  = "project.json"
)

// Marker is the directory below a project's root that says whose it is.
func Marker(root string) string { return filepath.Join(root, filepath.FromSlash(MarkerDir)) }

// NewStoreID makes an id that no other store has.
func NewStoreID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand
	return hex.EncodeToString(b[:])
}

func validStoreID(id string) bool {
	b, err := hex.DecodeString(id)
	return err == nil && len(b) == 16 && strings.ToLower(id) == id
}

// WriteFile replaces a file of ours durably: the old bytes or the new ones, never a mixture.
func WriteFile(path string, data []byte) error {
	err := osfile.Write(path, osfile.Options{Temporary: ".new-"}, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return &value.OpError{Op: "write", Subject: path, Err: err}
	}
	return nil
}

// readIn reads a regular file of at most limit bytes with one name, of this user's. why says, in words, what keeps it
// from being believed.
func readIn(d worktreefs.Dir, name string, limit int64) (data []byte, why string, err error) {
	f, st, err := d.Open(name)
	if errors.Is(err, worktreefs.ErrNotRegular) {
		return nil, name + " is not a regular file", nil
	}
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	switch {
	case st.Nlink != 1:
		return nil, name + " has several names", nil
	case !mine(st):
		return nil, name + " belongs to " + owner(st), nil
	case st.Size > limit:
		return nil, fmt.Sprintf("%s has more than %d bytes", name, limit), nil
	}
	data, err = osfile.Limited(f, name, limit)
	return data, "", err
}

// replaceIn is WriteFile in a directory that somebody else can write in: nothing is followed.
func replaceIn(d worktreefs.Dir, name string, data []byte) error {
	var b [6]byte
	_, _ = rand.Read(b[:])
	tmp := ".new-" + hex.EncodeToString(b[:])
	f, err := d.CreateFile(tmp, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = takeName(d, tmp, name)
	}
	if err != nil {
		_ = d.Remove(tmp)
		return err
	}
	return d.Sync()
}

// takeName gives tmp the name, whatever had it but a directory.
func takeName(d worktreefs.Dir, tmp, name string) error {
	err := worktreefs.MoveOrRename(d, tmp, d, name)
	if !errors.Is(err, worktreefs.ErrExist) {
		return err
	}
	st, err := d.Lstat(name)
	if err != nil {
		return err
	}
	if st.Type == worktreefs.TypeDir {
		return fmt.Errorf("%s: %w", name, worktreefs.ErrIsDir)
	}
	if err = d.Exchange(tmp, d, name); err == nil {
		return d.Remove(tmp)
	}
	if !errors.Is(err, worktreefs.ErrUnsupported) {
		return err
	}
	// For a moment the name is nobody's; what the file says is in the record, too.
	if err := d.Remove(name); err != nil {
		return err
	}
	return worktreefs.MoveOrRename(d, tmp, d, name)
}

// RenameDir gives a finished directory of ours its name, durably.
func RenameDir(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return osfile.SyncDir(filepath.Dir(to))
}

// resolve gives the absolute path without symlinks.
func resolve(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", &value.OpError{Op: "resolve", Subject: dir, Err: err}
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", &value.OpError{Op: "resolve", Subject: dir, Err: err}
	}
	return real, nil
}

// isDir reports whether there is a directory, and no link to one.
func isDir(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.IsDir()
}

// sameDir reports whether two paths are one directory (a bind mount, another spelling).
func sameDir(a, b string) bool {
	fa, err := os.Stat(a)
	if err != nil {
		return false
	}
	fb, err := os.Stat(b)
	return err == nil && os.SameFile(fa, fb)
}
