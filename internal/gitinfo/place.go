package gitinfo

import (
	"os"
	"path/filepath"
)

// Place is where a repository keeps its files, and what its HEAD names.
type Place struct {
	GitDir string // of this working tree
	Common string // refs, objects and configuration, shared by linked working trees
	Head   Head
	Tables bool // its refs are kept in tables, which only git reads
}

// Place tells where the repository is.
func (r *Repo) Place() (Place, error) {
	p := Place{GitDir: r.gitDir, Common: r.common}
	if st, err := os.Stat(filepath.Join(r.common, "reftable")); err == nil {
		p.Tables = st.IsDir()
	}
	var err error
	p.Head, err = r.head()
	return p, err
}
