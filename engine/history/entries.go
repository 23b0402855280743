package history

import (
	"context"
	"errors"
	"strings"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// Entries are the names in a directory as a checkpoint has it, those of directories with a slash behind; "" is the
// root.
func (h *History) Entries(name, dir string) (list []string, err error) {
	r, err := h.Files(name, FilesOptions{Dir: dir})
	if errors.Is(err, model.ErrUsage) { // a file has none
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, f := range r.Files {
		name := f.Entry.Name
		if f.Entry.Type == tree.TypeDir {
			name += "/"
		}
		list = append(list, name)
	}
	return list, nil
}

// FilesOptions say which files of a checkpoint are asked for.
type FilesOptions struct {
	Dir   string // below which; "": the root
	Deep  bool   // those in directories below it, too
	After string // only what comes behind this path, which need not be there; "": all
	Limit int    // at most so many; 0: all
}

// FilesResult is a page of them, in the order of tree.ComparePaths.
type FilesResult struct {
	Checkpoint Listed
	Dir        string
	Files      []File
	More       bool // there are others behind it
}

// File is what a checkpoint has at a path.
type File struct {
	Path  string
	Entry tree.Entry
}

// Files lists what a checkpoint has in a directory. Only directories are read, and none that lies wholly in front of
// After.
func (h *History) Files(name string, o FilesOptions) (*FilesResult, error) {
	cp, err := h.Resolve(name)
	if err != nil {
		return nil, err
	}
	dir, err := h.log.Lookup(cp, o.Dir)
	if err != nil {
		return nil, err
	}
	if dir.Type != tree.TypeDir {
		return nil, &value.OpError{Op: "path", Subject: o.Dir, Typed: true, Err: model.Usagef("it is no directory")}
	}
	r := &FilesResult{Dir: o.Dir}
	if r.Checkpoint, err = h.Listing(cp); err != nil {
		return nil, err
	}
	err = tree.Walk(h.log.Objs, dir.ID, func(path string, e tree.Entry) error {
		path = tree.Join(o.Dir, path)
		switch {
		case o.After == "" || tree.ComparePaths(path, o.After) > 0:
			if r.More = o.Limit > 0 && len(r.Files) == o.Limit; r.More {
				return tree.SkipAll
			}
			r.Files = append(r.Files, File{path, e})
		case e.Type == tree.TypeDir && !strings.HasPrefix(o.After+"/", path+"/"):
			return tree.SkipDir
		}
		if e.Type == tree.TypeDir && !o.Deep {
			return tree.SkipDir
		}
		return nil
	})
	return r, err
}

// Touched are the paths of files that the newest checkpoints added, changed or deleted, the newest first: at most so
// many, of at most so many checkpoints. What was gone by then or came later is not asked for: who looks at the worktree
// sees which of them are not there.
func (h *History) Touched(ctx context.Context, most, checkpoints int) (list []string, err error) {
	known := map[string]bool{}
	read := h.log.Checkpoints()
	trees := newMemo(h.log.Objs, objstore.Tree)
	err = h.log.Made(func(op *refs.Operation) error {
		if checkpoints--; checkpoints < 0 || len(list) == most {
			return kv.ErrStop
		}
		cp, err := read(op.Checkpoint)
		if err != nil || len(cp.Parents) == 0 { // the first has every file
			return errors.Join(err, ctx.Err())
		}
		from, err := h.log.Before(cp)
		if err != nil {
			return err
		}
		return errors.Join(ctx.Err(), tree.Diff(trees, from, cp.Tree, func(ch tree.Change) error {
			if (model.IsFile(ch.Old) || model.IsFile(ch.New)) && !known[ch.Path] {
				known[ch.Path] = true
				list = append(list, ch.Path)
			}
			if len(list) == most {
				return tree.SkipAll
			}
			return nil
		}))
	})
	return list, err
}
