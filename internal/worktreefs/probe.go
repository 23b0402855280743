package worktreefs

import (
	"errors"
)

// Lacks says what a file system cannot do of what a restore asks for.
type Lacks struct {
	Moves       bool // Move of a file: MoveOrRename looks whether a name is free
	Symlinks    bool
	Permissions bool // files have those that the file system gives
}

// Names in the directory of a probe.
const (
	probeFile  = "file"
	probeMoved = "moved"
	probeLink  = "link"
)

// Probe tries what the file system of d can do, in the directory name, which it makes in d and removes. What a probe
// has left that was killed is removed, too. The error says that it could not be tried: the file system is full, or
// nothing may be written.
func Probe(d Dir, name string) (lacks Lacks, err error) {
	if err := d.Mkdir(name, 0o700); err != nil && !errors.Is(err, ErrExist) {
		return lacks, err
	}
	in, err := d.OpenDir(name)
	if err != nil {
		return lacks, err
	}
	sweep := func() error {
		var errs []error
		for _, n := range []string{probeFile, probeMoved, probeLink} {
			if err := in.Remove(n); !errors.Is(err, ErrNotExist) {
				errs = append(errs, err)
			}
		}
		return errors.Join(errs...)
	}
	err = sweep()
	if err == nil {
		lacks, err = probeIn(in)
	}
	return lacks, errors.Join(err, sweep(), in.Close(), d.Rmdir(name))
}

func probeIn(in Dir) (lacks Lacks, err error) {
	f, err := in.CreateFile(probeFile, 0o600)
	if err != nil {
		return lacks, err
	}
	cherr := f.Chmod(0o711)
	st, err := f.Stat()
	if err = errors.Join(err, f.Close()); err != nil {
		return lacks, err
	}
	if lacks.Permissions = st.Perm != 0o711; cherr != nil && !IsLocal(cherr) {
		return lacks, cherr
	}
	switch err := in.Symlink(probeFile, probeLink); {
	case errors.Is(err, ErrUnsupported):
		lacks.Symlinks = true
	case err != nil:
		return lacks, err
	}
	err = in.Move(probeFile, in, probeMoved)
	if errors.Is(err, ErrUnsupported) {
		lacks.Moves, err = true, nil
	}
	return lacks, err
}
