package secrets

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"slices"

	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/engine/project"
	"rewind/internal/leaks"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
	"rewind/tree/ignore"
)

// In mode skip a path at which a content was flagged is a secret file from then on: captures note it with a keyed hash.
// Its file is judged again when it has changed; one in which nothing is found any more is captured again.

// leakStamp is what tells whether a file is the one that was judged.
type leakStamp worktreefs.Stat

// SecretFiles tells which files are secret by now: by name, or in mode skip by what was found at their paths; never
// those of secrets.allow.
func (k *Leaks) SecretFiles() (func(path string) bool, error) {
	skipped, err := k.SkippedPaths()
	if err != nil {
		return nil, err
	}
	return SecretFiles(k.log.Config.SecretPatterns(), k.log.Config.SecretsAllow(), skipped), nil
}

// SkippedPaths is nil in every mode but skip.
func (k *Leaks) SkippedPaths() (*Flagged, error) {
	if k.log.Config.SecretsMode() != project.SecretsSkip {
		return nil, nil
	}
	return k.leakFlags()
}

// SecretFiles gives the function that says which files are left out for their names, or for what was found in them.
func SecretFiles(patterns, allow []string, skipped *Flagged) func(path string) bool {
	named := ignore.Secrets(patterns)
	if len(allow) == 0 && skipped == nil {
		return named
	}
	allowed := ignore.Secrets(allow)
	return func(path string) bool {
		found := skipped != nil && skipped.skipped[path]
		return (found || named(path)) && !allowed(path)
	}
}

// freed judges the files of skipped paths that have changed since they were judged last.
func (l *leakScan) freed(ctx context.Context) error {
	if err := l.save(ctx); err != nil {
		return err
	}
	all, err := l.e.leakFlags()
	if err != nil || len(all.skipped) == 0 {
		return err
	}
	root, err := l.e.log.Root()
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only read
	if l.e.Scan.stamps == nil {
		l.e.Scan.stamps = map[string]leakStamp{}
	}
	for _, path := range slices.Sorted(maps.Keys(all.skipped)) {
		raw, stamp, ok := readSkipped(root, path)
		if !ok || l.e.Scan.stamps[path] == stamp {
			continue
		}
		list, err := l.find(ctx, path, raw)
		if err != nil {
			return err
		}
		l.e.Scan.stamps[path] = stamp
		if len(list) == 0 {
			l.free(all, path)
		}
		if err := l.pause(ctx); err != nil {
			return err
		}
	}
	return nil
}

// free has a path captured again.
func (l *leakScan) free(all *Flagged, path string) {
	for key, f := range all.flags {
		if c, ok := l.changed[key]; ok {
			f = c
		}
		if _, has := slices.BinarySearch(f.Paths, path); !has {
			continue
		}
		now := *f
		if i, ok := slices.BinarySearch(now.Free, path); !ok {
			now.Free = slices.Insert(slices.Clone(now.Free), i, path)
			l.changed[key] = &now
		}
	}
}

// readSkipped reads a file of the worktree, following no link; ok is false where there is no small one.
func readSkipped(root worktreefs.Dir, path string) (raw []byte, stamp leakStamp, ok bool) {
	dir, name := tree.Split(path)
	d, err := worktreefs.OpenPath(root, dir)
	if err != nil {
		return nil, stamp, false
	}
	defer d.Close() //nolint:errcheck // only read
	f, st, err := d.Open(name)
	if err != nil {
		return nil, stamp, false
	}
	defer f.Close() //nolint:errcheck // only read
	if st.Size > leaks.MaxSize {
		return nil, stamp, false
	}
	raw = make([]byte, st.Size)
	n, err := io.ReadFull(f, raw)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, stamp, false
	}
	after, err := f.Stat()
	return raw[:n], leakStamp(st), err == nil && after == st
}

// leak is a file with a flagged content, while the choice among its contents is made.
type leak struct {
	value.Leak
	newest bool // the newest checkpoint has the content
}

// before makes the choice among contents the same every time.
func (f *LeakFlag) before(l *leak) bool {
	return cmp.Or(f.Findings[0].Line-l.Findings[0].Line, cmp.Compare(f.Checkpoint.String(), l.Checkpoint)) < 0
}

// Leaks lists the files of which a flagged content is in the store, by path; of several contents it shows the one in
// the tree newest, else any.
func (k *Leaks) Leaks(newest objstore.ID) ([]value.Leak, error) {
	if k.log.Config.SecretsMode() == project.SecretsOff {
		return nil, nil
	}
	all, err := k.leakFlags()
	if err != nil {
		return nil, err
	}
	skipping, allow := k.log.Config.SecretsMode() == project.SecretsSkip, k.log.Config.SecretsAllowed()
	byPath, now := map[string]*leak{}, oplog.NewLookups(oplog.Lenient{Store: k.log.Objs}, newest)
	for key, f := range all.flags {
		there, err := k.log.Objs.HasKey(objstore.Blob, key)
		if err != nil {
			return nil, err
		}
		if !there {
			continue // purged, or gc has it
		}
		for _, path := range f.Paths {
			if allow(path) {
				continue
			}
			l := byPath[path]
			if l == nil {
				l = &leak{Leak: value.Leak{Path: value.Text(path), Skipped: skipping && all.skipped[path]}}
				byPath[path] = l
			}
			l.Contents++
			ent, err := now.Find(path)
			if err != nil {
				return nil, err
			}
			newest := model.IsFile(ent) && ent.ID.Key() == key
			first := l.Findings == nil || !l.newest && f.before(l)
			if newest || first {
				l.Findings, l.Checkpoint, l.newest = f.Findings, f.Checkpoint.String(), newest
			}
		}
	}
	out := make([]value.Leak, 0, len(byPath))
	for _, path := range slices.SortedFunc(maps.Keys(byPath), tree.ComparePaths) {
		out = append(out, byPath[path].Leak)
	}
	return out, nil
}

// Added lists the files of which changes brought a flagged content: one that holds what the content before did not. A
// file that had the same
// secret before is no news.
func (k *Leaks) Added(ctx context.Context, changes []tree.Change, only refs.PathSet) ([]value.Leak, error) {
	if k.log.Config.SecretsMode() == project.SecretsOff {
		return nil, nil
	}
	all, err := k.leakFlags()
	if err != nil || len(all.flags) == 0 {
		return nil, err
	}
	allow := k.log.Config.SecretsAllowed()
	before := earlier{objs: k.log.Objs}
	var out []value.Leak
	for _, ch := range changes {
		f := all.at(ch.Path, ch.New)
		if f == nil || !only.Has(ch.Path) || allow(ch.Path) {
			continue
		}
		if all.at(ch.Path, ch.Old) != nil && (ch.Old.ID == ch.New.ID || before.has(ctx, ch)) {
			continue
		}
		out = append(out, value.Leak{
			Path: value.Text(ch.Path), Checkpoint: f.Checkpoint.String(), Findings: f.Findings, Contents: 1,
		})
	}
	return out, nil
}

// at is the flag of a file's content at a path; nil: it has none.
func (f *Flagged) at(path string, ent *tree.Entry) *LeakFlag {
	if !model.IsFile(ent) {
		return nil
	}
	flag := f.flags[ent.ID.Key()]
	if flag == nil {
		return nil
	}
	if _, ok := slices.BinarySearch(flag.Paths, path); !ok {
		return nil
	}
	return flag
}

// earlier compares what two contents of a file hold.
type earlier struct {
	objs    *objstore.Store
	scanner *leaks.Scanner
}

// has reports whether the content before a change has every secret of the one after it. What cannot be read has none.
func (e *earlier) has(ctx context.Context, ch tree.Change) bool {
	if e.scanner == nil {
		var err error
		if e.scanner, err = leaks.New(); err != nil {
			return false
		}
	}
	secrets := func(id objstore.ID) (list []leaks.Match, err error) {
		raw, err := e.objs.Get(objstore.Blob, id)
		if err == nil {
			list, err = e.scanner.Matches(ctx, ch.Path, raw)
		}
		return list, err
	}
	now, err := secrets(ch.New.ID)
	if err != nil {
		return false
	}
	was, err := secrets(ch.Old.ID)
	return err == nil && !slices.ContainsFunc(now, func(m leaks.Match) bool {
		return !slices.ContainsFunc(was, func(o leaks.Match) bool { return o.Rule == m.Rule && o.Secret == m.Secret })
	})
}
