package register

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rewind/engine/project"
	"rewind/internal/osfile"
	"rewind/internal/value"
)

// errChanged is returned when a file is not what was read any more; nothing was written.
var errChanged = errors.New("it changed while it was being edited")

const (
	// maxSettings is the size in bytes from which a file is no settings file.
	maxSettings = 16 << 20
	// settled is how long a file must not have been written: agents empty theirs before they write it, and an empty
	// file looks like one without settings.
	settled = 100 * time.Millisecond
	// settledTries bounds the wait for that.
	settledTries = 20
)

// settingsFile is a file of an agent as it was read. Nobody else's locks are there to be had: whoever replaces it looks
// first whether it
// still is what was read.
type settingsFile struct {
	path string // links followed: what is replaced is the file that a dotfile manager's link leads to
	Data []byte // nil: there is none
	info fs.FileInfo
}

func (f *settingsFile) exists() bool { return f.info != nil }

// readSettings reads a file that nobody is writing just now.
func readSettings(ctx context.Context, path string) (*settingsFile, error) {
	for try := 0; ; try++ {
		f, err := openSettings(path)
		if err != nil {
			return nil, &value.OpError{Op: "settings", Subject: path, Err: PathCause(err)}
		}
		if !f.exists() {
			return f, nil
		}
		if age := time.Since(f.info.ModTime()); age < 0 || age >= settled || try == settledTries {
			return f, nil
		}
		select {
		case <-time.After(settled):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func openSettings(path string) (*settingsFile, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			return nil, errors.New("a link that leads to nothing")
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if errors.Is(err, fs.ErrNotExist) {
			dir, err = filepath.Dir(path), nil
		}
		return &settingsFile{path: filepath.Join(dir, filepath.Base(path))}, err
	}
	if err != nil {
		return nil, err
	}
	fi, err := os.Lstat(real)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() || fi.Size() > maxSettings {
		return nil, errors.New("not a settings file")
	}
	data, err := os.ReadFile(real)
	if err != nil {
		return nil, err
	}
	return &settingsFile{path: real, Data: data, info: fi}, nil
}

// unchanged reports whether the file is the one that was read, byte for byte.
func (f *settingsFile) unchanged() (bool, error) {
	now, err := openSettings(f.path)
	if err != nil {
		return false, err
	}
	same := now.exists() == f.exists() && bytes.Equal(now.Data, f.Data)
	return same && (!f.exists() || os.SameFile(now.info, f.info)), nil
}

// replace puts data in the file's place, durably, with the mode and owner of what was there: the old bytes or the new
// ones, at any moment.
// nil removes it. errChanged: somebody wrote it since it was read.
func (f *settingsFile) replace(data []byte) error {
	err := f.swap(data)
	if err != nil && !errors.Is(err, errChanged) {
		return &value.OpError{Op: "settings", Subject: f.path, Err: PathCause(err)}
	}
	return err
}

func (f *settingsFile) swap(data []byte) error {
	if f.exists() && f.info.Mode()&0o200 == 0 {
		return fmt.Errorf("%w: it is read-only", fs.ErrPermission)
	}
	if data == nil {
		if err := f.mustBeUnchanged(); err != nil {
			return err
		}
		if err := os.Remove(f.path); err != nil {
			return err
		}
		return osfile.SyncDir(filepath.Dir(f.path))
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil { // of an agent that has not been started yet
		return err
	}
	f.sweep()
	o := osfile.Options{Temporary: f.temporary(), Like: f.info, Held: true, Before: func(*os.File) error { return f.mustBeUnchanged() }}
	return osfile.Write(f.path, o, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// mustBeUnchanged refuses when the file is not what was read any more.
func (f *settingsFile) mustBeUnchanged() error {
	same, err := f.unchanged()
	if err == nil && !same {
		err = errChanged
	}
	return err
}

func (f *settingsFile) temporary() string { return "." + filepath.Base(f.path) + ".rewind-" }

// sweep removes what a killed edit left; the caller holds the lock of the home directory.
func (f *settingsFile) sweep() {
	list, err := os.ReadDir(filepath.Dir(f.path))
	if err != nil {
		return
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), f.temporary()) && e.Type().IsRegular() {
			_ = os.Remove(filepath.Join(filepath.Dir(f.path), e.Name()))
		}
	}
}

// backupFile is where the bytes are from before the first registration in a file. Its name has a hash of the path: an
// agent may have several homes.
func backupFile(h project.Home, e *SettingsEdit) string {
	sum := sha256.Sum256([]byte(e.File.path))
	kind := ""
	if e.form != nil {
		kind = e.form.name()
	}
	return filepath.Join(h.Dir, "backups", fmt.Sprintf("%s%s-%s-%s", e.Agent, kind, hex.EncodeToString(sum[:4]), filepath.Base(e.Path)))
}

// backup is nil where there is none: then what is ours is cut out of what is there.
func backup(h project.Home, e *SettingsEdit) []byte {
	b, err := os.ReadFile(backupFile(h, e))
	if err != nil {
		return nil
	}
	return b
}

// keepBackup keeps the data; nil is of a file that is about to be made.
func keepBackup(h project.Home, e *SettingsEdit, data []byte) error {
	if data == nil {
		return dropBackup(h, e)
	}
	path := backupFile(h, e)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return &value.OpError{Op: "back up", Subject: e.Path, Err: err}
	}
	return project.WriteFile(path, data)
}

func dropBackup(h project.Home, e *SettingsEdit) error {
	if err := os.Remove(backupFile(h, e)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &value.OpError{Op: "remove backup of", Subject: e.Path, Err: err}
	}
	return nil
}

// removeEmpty takes the directories of a command away with its file, if nothing else is in them: its own and the one of
// all.
func (f *commandForm) removeEmpty(path string) {
	dir := filepath.Dir(path)
	for !slices.Contains([]string{"commands", "skills"}, filepath.Base(dir)) {
		if os.Remove(dir) != nil {
			return
		}
		dir = filepath.Dir(dir)
	}
	_ = os.Remove(dir)
}

// isPlain reports whether a path is a plain file, or nothing yet: a link is its owner's, and so is what it leads to.
func isPlain(path string) bool {
	fi, err := os.Lstat(path)
	return err != nil || fi.Mode().IsRegular()
}
