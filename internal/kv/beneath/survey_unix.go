package beneath

import (
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// Survey checks each name in a directory and returns those that are not trusted. They are a directory that is none or
// is open to others, a file that is none, and everything of another owner. If the files are to be written, they are
// also files with links that may have none. dirs are the names of the directories; of the others those are files for
// which isFile says so. Nothing is opened but the directory.
func (f *FS) Survey(
	dir string, dirs []string, isFile func(base string) bool, written bool,
) (bad []*RefusedError, err error) {
	add := func(err error) {
		if e, ok := err.(*RefusedError); ok {
			bad = append(bad, e)
		}
	}
	err = f.inside("look at", dir, func(fd int) error {
		names, err := list(fd, dir)
		if err != nil {
			return err
		}
		if len(names) > 0 {
			var st unix.Stat_t
			if err := fstat(fd, &st); err != nil {
				return failed("stat", dir, err)
			}
			add(private(dir, &st))
		}
		slices.Sort(names)
		for _, base := range names {
			path := filepath.Join(dir, base)
			var st unix.Stat_t
			switch err := lstatat(fd, base, &st); {
			case err == unix.ENOENT: // removed since
			case err != nil:
				return failed("stat", path, err)
			case slices.Contains(dirs, base):
				add(directoryIs(path, &st))
			case isFile(base):
				add(f.believed(path, base, &st, written && !f.rules.MayLink(base)))
			}
		}
		return nil
	})
	return bad, err
}

func directoryIs(path string, st *unix.Stat_t) error {
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return kind(path, "is %s, not a directory", kindName(uint32(st.Mode)))
	}
	if err := ours(path, st); err != nil {
		return err
	}
	return private(path, st)
}
