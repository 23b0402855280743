package engine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rewind/internal/osfile"
	"rewind/objstore"
)

// maxPurgeFile is the size in bytes up to which a file beside the store is read.
const maxPurgeFile = 64 << 20

// purgeFiles removes the files of rewind's own, beside the store, that have in them what was purged: backups of agents' settings, what a
// restore could not put back (the stage), logs. A log that is in use is emptied.
func (e *Engine) purgeFiles(p *purgeScan) (removed []string, err error) {
	h := newHaystack(append(append([][]byte{}, p.text.needles...), p.contents.needles...))
	var dirs []string
	for _, d := range []string{
		filepath.Join(e.home.Dir, "backups"), filepath.Join(e.home.Dir, "run"),
		filepath.Join(e.project.Root, markerDir, "stage"), e.project.Store,
	} {
		dirs = append(dirs, d)
	}
	var all error
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, ent fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case ent.IsDir() && dir == e.project.Store && path != dir && ent.Name() == "db":
				return filepath.SkipDir
			case !ent.Type().IsRegular():
				return nil
			}
			has, err := p.inFile(h, path)
			if err != nil || !has {
				return err
			}
			removed = append(removed, path)
			if strings.HasSuffix(path, ".log") {
				return os.Truncate(path, 0)
			}
			return errors.Join(os.Remove(path), osfile.SyncDir(filepath.Dir(path)))
		})
		all = errors.Join(all, err)
	}
	return removed, all
}

// inFile tells whether a file has in it, or is, what was purged.
func (p *purgeScan) inFile(h haystack, path string) (bool, error) {
	f, err := osfile.OpenRead(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || fi.Size() > maxPurgeFile {
		return false, err
	}
	if has, err := h.inReader(f); has || err != nil {
		return has, err
	}
	if _, err := f.Seek(0, 0); err != nil {
		return false, err
	}
	sum := objstore.NewHasher()
	if _, err := f.WriteTo(sum); err != nil {
		return false, err
	}
	id := sum.Sum()
	_, out := p.doomed[id.Key()]
	return out || p.e.objs.Refused(objstore.Blob, id) != nil, nil
}
