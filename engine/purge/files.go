package purge

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rewind/internal/osfile"
	"rewind/internal/worktreefs"
	"rewind/objstore"
)

// maxPurgeFile is the size in bytes up to which a file beside the store is read.
const maxPurgeFile = 64 << 20

// purgeFiles removes rewind's own files beside the store that have the purged text or content: backups of agents'
// settings, logs, files in the store's directory other than its database, and files that a restore could not put back.
// A log that is in use is emptied.
func (pu *Purger) purgeFiles(p *purgeScan) (removed []string, err error) {
	h := NewHaystack(append(append([][]byte{}, p.text.needles...), p.contents.needles...))
	// Databases that a repair has replaced have contents compressed and as deltas: what is in them cannot be told by
	// looking, so they go.
	dropped, err := pu.log.DB.DropQuarantine()
	if dropped != "" && err == nil {
		removed = append(removed, dropped)
	}
	beside, all := pu.log.DB.DropFiles(func(f io.Reader, size int64) (bool, error) { return p.has(h, f, size) })
	removed, all = append(removed, beside...), errors.Join(err, all)
	for _, dir := range []string{filepath.Join(pu.log.Home.Dir, "backups"), filepath.Join(pu.log.Home.Dir, "run")} {
		all = errors.Join(all, p.purgeBelow(h, dir, &removed))
	}
	// files of checkpoints, as a command may have left them
	if dir := pu.log.Home.BisectDir(pu.log.Project.ID); exists(dir) {
		removed, all = append(removed, dir), errors.Join(all, os.RemoveAll(dir))
	}
	root, err := pu.restorer.HoldRoot()
	if err != nil {
		return removed, errors.Join(all, err)
	}
	defer root.Close()
	list, err := pu.restorer.StageDirs(root)
	if err != nil {
		return removed, errors.Join(all, err)
	}
	for _, stages := range list {
		stage, err := stages.Open()
		if err == nil {
			name := stages.Name
			if !stages.Own {
				name = pu.log.Project.Root + "/" + name
			}
			err = errors.Join(p.purgeStage(h, stage, name, &removed), stage.Close())
		}
		stages.Close()
		if !errors.Is(err, worktreefs.ErrNotExist) && !errors.Is(err, worktreefs.ErrNotDir) {
			all = errors.Join(all, err)
		}
	}
	return removed, all
}

// purgeBelow is purgeFiles for the files of one directory.
func (p *purgeScan) purgeBelow(h matcher, dir string, removed *[]string) error {
	return filepath.WalkDir(dir, func(path string, ent fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case !ent.Type().IsRegular():
			return nil
		}
		has, err := p.hasFile(h, path)
		if err != nil || !has {
			return err
		}
		*removed = append(*removed, path)
		if strings.HasSuffix(path, ".log") {
			return os.Truncate(path, 0)
		}
		return errors.Join(os.Remove(path), osfile.SyncDir(filepath.Dir(path)))
	})
}

// hasFile is has of a file of rewind's own.
func (p *purgeScan) hasFile(h matcher, path string) (has bool, err error) {
	f, err := osfile.OpenRead(path)
	if err != nil {
		return false, err
	}
	fi, err := f.Stat()
	if err == nil {
		has, err = p.has(h, f, fi.Size())
	}
	return has, errors.Join(err, f.Close())
}

// purgeStage is purgeFiles for what restores have left in the project; nothing is followed.
func (p *purgeScan) purgeStage(h matcher, dir worktreefs.Dir, name string, removed *[]string) error {
	names, err := dir.ReadDir()
	if err != nil {
		return err
	}
	for _, ent := range names {
		path := name + "/" + ent.Name
		st, err := dir.Lstat(ent.Name)
		if err != nil {
			return err
		}
		switch st.Type {
		case worktreefs.TypeDir:
			sub, err := dir.OpenDir(ent.Name)
			if err == nil {
				err = errors.Join(p.purgeStage(h, sub, path, removed), sub.Close())
			}
			if err != nil {
				return err
			}
		case worktreefs.TypeFile:
			f, st, err := dir.Open(ent.Name)
			if err != nil {
				return err
			}
			has, err := p.has(h, f, st.Size)
			if err = errors.Join(err, f.Close()); err == nil && has {
				*removed = append(*removed, path)
				err = errors.Join(dir.Remove(ent.Name), dir.Sync())
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// has tells whether a file of so many bytes has in it, or is, what was purged.
func (p *purgeScan) has(h matcher, f io.Reader, size int64) (bool, error) {
	if size > maxPurgeFile {
		return false, nil
	}
	b, err := io.ReadAll(io.LimitReader(f, maxPurgeFile+1))
	if err != nil || len(b) > maxPurgeFile || len(bytes.TrimSpace(b)) == 0 {
		return false, err
	}
	if h.In(b) {
		return true, nil
	}
	id := objstore.Sum(objstore.Blob, b)
	_, out := p.targets[id.Key()]
	return out || p.e.log.Objs.Refused(objstore.Blob, id) != nil, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
