package kv

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/kv/beneath"
	"rewind/internal/kv/ondisk"
)

// beside calls fn with the handle of the store's directory, for files that are not the database's: these are on the
// disk, also where a test has the database in memory.
func (d *DB) beside(fn func(disk *beneath.FS) error) error {
	if d.disk != nil {
		return fn(d.disk)
	}
	disk, err := beneath.New(d.dir, rules)
	if err == nil {
		err = fn(disk)
	}
	return errors.Join(err, disk.Close())
}

// Touch makes a file of the store's directory that is empty and says by its time when something was done.
func (d *DB) Touch(name string, at time.Time) error {
	if err := d.enterWrite("touch"); err != nil {
		return err
	}
	defer d.life.leave()
	path := filepath.Join(d.dir, name)
	return d.fail("touch", path, d.beside(func(disk *beneath.FS) error {
		f, err := disk.Create(path, vfs.WriteCategoryUnspecified)
		if err != nil {
			return err
		}
		return errors.Join(beneath.SetTime(f, at), f.Close())
	}))
}

// Touched is the time of a file that Touch has made; the error is fs.ErrNotExist where there is none.
func (d *DB) Touched(name string) (time.Time, error) {
	if err := d.enter("touched"); err != nil {
		return time.Time{}, err
	}
	defer d.life.leave()
	var at time.Time
	err := d.beside(func(disk *beneath.FS) error {
		info, err := disk.Stat(filepath.Join(d.dir, name))
		if err == nil {
			at = info.ModTime()
		}
		return err
	})
	return at, err
}

// PutAside writes a file into a place of the quarantine, and gives the path of that place.
func (d *DB) PutAside(place, name string, data []byte) (dir string, err error) {
	if err := d.enterWrite("put aside"); err != nil {
		return "", err
	}
	defer d.life.leave()
	all := filepath.Join(d.dir, nameQuarantine)
	dir = filepath.Join(all, place)
	return dir, d.fail("put aside", dir, d.beside(func(disk *beneath.FS) error {
		if err := disk.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		return errors.Join(ondisk.WriteSmall(disk, dir, name, string(data)), ondisk.SyncDir(disk, all), ondisk.SyncDir(disk, d.dir))
	}))
}

// DropQuarantine removes what repairs have put aside, and gives its path; "": there was nothing.
func (d *DB) DropQuarantine() (string, error) {
	if err := d.enterWrite("drop quarantine"); err != nil {
		return "", err
	}
	defer d.life.leave()
	dir := filepath.Join(d.dir, nameQuarantine)
	err := d.beside(func(disk *beneath.FS) error {
		if _, err := disk.Stat(dir); err != nil {
			return err
		}
		return errors.Join(disk.RemoveAll(dir), ondisk.SyncDir(disk, d.dir))
	})
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return dir, d.fail("drop quarantine", dir, err)
}

// DropFiles removes those files of the store's directory, beside its database, that match, which is given their sizes
// in bytes, says so of, and gives their paths.
func (d *DB) DropFiles(match func(f io.Reader, size int64) (bool, error)) (removed []string, err error) {
	if err := d.enterWrite("drop files"); err != nil {
		return nil, err
	}
	defer d.life.leave()
	err = d.beside(func(disk *beneath.FS) error {
		names, err := disk.List(d.dir)
		for _, name := range names {
			path := filepath.Join(d.dir, name)
			if info, err := disk.Stat(path); err != nil || !info.Mode().IsRegular() {
				continue
			}
			gone, err := dropFile(disk, path, match)
			if err != nil {
				return err
			}
			if gone {
				removed = append(removed, path)
			}
		}
		return err
	})
	return removed, d.fail("drop files", d.dir, err)
}

func dropFile(disk *beneath.FS, path string, match func(io.Reader, int64) (bool, error)) (bool, error) {
	f, err := disk.Open(path)
	if err != nil {
		return false, err
	}
	info, err := f.Stat()
	yes := false
	if err == nil {
		yes, err = match(f, info.Size())
	}
	if err = errors.Join(err, f.Close()); err != nil || !yes {
		return false, err
	}
	return true, errors.Join(disk.Remove(path), ondisk.SyncDir(disk, filepath.Dir(path)))
}
