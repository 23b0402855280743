package gitinfo

import (
	"errors"
	"fmt"
)

// Head is head with the repository in its error.
func (r *Repo) Head() (Head, error) {
	h, err := r.head()
	if err != nil {
		return h, fmt.Errorf("read HEAD of %s: %w", r.root, err)
	}
	return h, nil
}

// Excludes is excludes with the faults as one error.
func (r *Repo) Excludes() (files []File, foldCase bool, err error) {
	files, foldCase, faults := r.excludes()
	for _, f := range faults {
		err = errors.Join(err, fmt.Errorf("read %s of %s: %w", f.What, r.root, f.Err))
	}
	return files, foldCase, err
}

// Root is the top of the working tree.
func (r *Repo) Root() string { return r.root }

// GitDir is the git directory of this working tree.
func (r *Repo) GitDir() string { return r.gitDir }

// CommonDir is the git directory that linked working trees share; it is GitDir where there are none.
func (r *Repo) CommonDir() string { return r.common }
