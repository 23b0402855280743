package kv

import (
	"errors"
	"fmt"
	"io/fs"

	"rewind/internal/kv/ondisk"
)

// unbelieved puts aside what stands in the place of a small file and is none; of the database see unbelievedFiles. What
// a repair itself needs, and what is somebody else's, is for the user to look at.
func (r *repair) unbelieved() error {
	d := r.d
	bad, err := d.survey(true)
	if err != nil {
		return err
	}
	for _, b := range bad {
		base := d.fs.PathBase(b.Path)
		needed := base == nameDB || base == nameQuarantine || base == nameLock
		if b.Rights || needed && d.fs.PathDir(b.Path) == d.dir {
			return b
		}
	}
	for _, b := range bad {
		if d.fs.PathDir(b.Path) == d.db {
			continue
		}
		r.lost(refused(b))
		if err := r.place(); err != nil {
			return err
		}
		base := d.fs.PathBase(b.Path)
		if err := d.base.Rename(b.Path, d.fs.PathJoin(r.out.Quarantine, base)); err != nil {
			return err
		}
		r.out.Files = append(r.out.Files, base)
	}
	if r.out.Quarantine == "" {
		return nil
	}
	return errors.Join(ondisk.SyncDir(d.fs, r.out.Quarantine), ondisk.SyncDir(d.fs, d.dir))
}

// unbelievedFiles reports whether there is in the database what is none of its files: it is made anew then, and the
// whole old one put aside.
func (r *repair) unbelievedFiles() (bool, error) {
	bad, err := r.d.survey(true)
	for _, b := range bad {
		r.lost(refused(b))
	}
	return len(bad) > 0, err
}

// place makes the place for what is replaced.
func (r *repair) place() error {
	if r.out.Quarantine != "" {
		return nil
	}
	d, f := r.d, r.d.fs
	all := f.PathJoin(d.dir, nameQuarantine)
	if err := f.MkdirAll(all, 0o700); err != nil {
		return err
	}
	base := r.o.Now.UTC().Format("20060102T150405Z")
	name := base
	for n := 2; ; n++ {
		if _, err := d.base.Stat(f.PathJoin(all, name)); errors.Is(err, fs.ErrNotExist) {
			break
		}
		name = fmt.Sprintf("%s-%d", base, n)
	}
	r.out.Quarantine = f.PathJoin(all, name)
	return errors.Join(f.MkdirAll(r.out.Quarantine, 0o700), ondisk.SyncDir(f, all), ondisk.SyncDir(f, d.dir))
}

// quarantine makes that place, with a copy of the small files in it.
func (r *repair) quarantine() error {
	if err := r.place(); err != nil {
		return err
	}
	d, f := r.d, r.d.fs
	for _, file := range quarantined {
		text, err := ondisk.ReadSmall(d.base, f.PathJoin(d.dir, file), maxFatalsFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = ondisk.WriteSmall(f, r.out.Quarantine, file, text)
		}
		if err != nil {
			return err
		}
	}
	return ondisk.SyncDir(f, r.out.Quarantine)
}
