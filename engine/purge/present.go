package purge

import (
	"context"
	"io"
	"slices"

	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/tree"
)

// present lists the files of the project that have now, at a path where a checkpoint had it, a content that was purged.
// The files decide, not the newest checkpoint: from one that was removed since there is nothing left to take out. What
// lies in a directory that is another's by now, such as git's, which older versions captured, is not captured again.
func (pu *Purger) present(ctx context.Context, p *purgeScan) ([]value.Text, error) {
	if len(p.where) == 0 {
		return nil, nil
	}
	root, err := pu.log.Root()
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only read
	note, err := pu.noteNow()
	if err != nil {
		return nil, err
	}
	var out []string
	for key, paths := range p.where {
		for path := range paths {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if s, ok := model.Covering(note, path); ok && s.Foreign() {
				continue
			}
			if hasContent(root, path, key, p.targets[key].size) {
				out = append(out, path)
			}
		}
	}
	slices.SortFunc(out, tree.ComparePaths)
	return value.Texts(slices.Compact(out)), nil
}

// noteNow is the note of the newest state.
func (pu *Purger) noteNow() ([]tree.Skip, error) {
	pu.log.Lock()
	defer pu.log.Unlock()
	head, err := pu.log.Head()
	if err != nil {
		return nil, err
	}
	return pu.log.NoteOf(head.Note)
}

// hasContent reports whether a file or link of the project has a content of so many bytes. One that cannot be read has
// not.
func hasContent(root worktreefs.Dir, path string, key objstore.Key, size int64) bool {
	dir, name, err := worktreefs.OpenParent(root, path)
	if err != nil {
		return false
	}
	defer dir.Close() //nolint:errcheck // only read
	if target, err := dir.Readlink(name); err == nil {
		return objstore.Sum(objstore.Blob, []byte(target)).Key() == key
	}
	f, st, err := dir.Open(name)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // only read
	if st.Size != size {
		return false
	}
	h := objstore.NewHasher()
	_, err = io.Copy(h, io.LimitReader(f, size+1))
	return err == nil && h.Sum().Key() == key
}
