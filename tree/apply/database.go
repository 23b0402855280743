package apply

import (
	"io"
	"slices"

	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/tree"
)

// The steps of a database and its companions (tree.CompanionOf) are one: all are carried out, or none. First nobody may
// have one of the files open for writing; then they are exchanged one behind the other; then nobody may have opened or
// written what was displaced. Else all of it goes back, and is a conflict.
//
// A kill in between leaves some of them set. What a program makes of that afterwards it makes of what lies there, so
// the next run, which finds a file that is neither From nor To, leaves all of the database as it is.

// database is the steps of one database.
type database struct {
	path  string   // of the database, which need not have a step
	jobs  []*job   // companions first
	heads [][]byte // what it begins with, and is to begin with
	stay  []string // names of companions that are there and have no step
}

// findDatabases sets a.databases and the database of their jobs, after the survey. It reads what some files begin with.
func (a *applier) findDatabases() error {
	found := map[string]*database{}
	add := func(path string, j *job) {
		if found[path] == nil {
			found[path] = &database{path: path}
			a.databases = append(a.databases, found[path])
		}
		found[path].jobs = append(found[path].jobs, j)
		j.database = found[path]
	}
	for _, j := range a.jobs {
		of, ok := tree.CompanionOf(j.Path)
		if !ok || !j.isOfFiles() {
			continue
		}
		is, err := a.accompanies(j, of)
		if err != nil {
			return err
		}
		if is {
			add(of, j)
		}
	}
	for _, j := range a.jobs { // databases behind their companions
		free := j.isOfFiles() && j.database == nil
		if free && (found[j.Path] != nil || tree.IsDatabase(j.head)) {
			add(j.Path, j)
		}
	}
	return a.checkDatabases()
}

// checkDatabases leaves the databases alone that are in conflict, and finds what stays of the others.
func (a *applier) checkDatabases() error {
	for _, d := range a.databases {
		if err := a.readHeads(d); err != nil {
			return err
		}
		if slices.ContainsFunc(d.jobs, func(j *job) bool { return j.state == jobConflict }) {
			a.leave(d)
			continue
		}
		if err := a.findStaying(d); err != nil {
			return err
		}
	}
	return nil
}

// findStaying sets d.stay. A companion without a step that is not what it was when the steps were planned was written
// by a program since: the database is left to that.
func (a *applier) findStaying(d *database) error {
	parent, name, err := worktreefs.OpenParent(a.Root, d.path)
	if err != nil {
		return ignoreLocal(err)
	}
	defer parent.Close()
	dir, _ := tree.Split(d.path)
	for _, n := range tree.Companions(name) {
		path := tree.Join(dir, n)
		if j := a.byPath[path]; j != nil && j.database == d {
			continue
		}
		is, err := a.isCompanion(d, parent, n)
		if err != nil {
			return err
		}
		if !is {
			continue
		}
		d.stay = append(d.stay, n)
		same, err := a.isAsPlanned(parent, n, path)
		if err != nil {
			return err
		}
		if !same {
			a.conflicts = append(a.conflicts, value.Conflict{Path: value.Text(path), Reason: "a program has written it since"})
			a.leave(d)
			return nil
		}
	}
	return nil
}

// isAsPlanned reports whether a companion without a step is what it was when the steps were planned.
func (a *applier) isAsPlanned(parent worktreefs.Dir, name, path string) (bool, error) {
	if a.Stays == nil {
		return false, nil
	}
	ent, err := a.Stays(path)
	if err != nil || ent == nil {
		return false, err
	}
	f, err := inspect(parent, name, ent)
	return err == nil && f.sameBytes(ent), ignoreLocal(err)
}

// isCompanion reports whether a name beside a database is there, and one of its companions.
func (a *applier) isCompanion(d *database, parent worktreefs.Dir, name string) (bool, error) {
	st, err := parent.Lstat(name)
	if err != nil || st.Type != worktreefs.TypeFile {
		return false, ignoreLocal(err)
	}
	head, err := headIn(parent, name)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(d.heads, func(of []byte) bool { return tree.Accompanies(name, of, head) }), nil
}

// companionsAt are the names of a database's companions that are there.
func (a *applier) companionsAt(d *database, parent worktreefs.Dir) (names []string, err error) {
	_, name := tree.Split(d.path)
	for _, n := range tree.Companions(name) {
		is, err := a.isCompanion(d, parent, n)
		if err != nil {
			return nil, err
		}
		if is {
			names = append(names, n)
		}
	}
	return names, nil
}

// isOfFiles reports whether a step is from and to files, or nothing.
func (j *job) isOfFiles() bool {
	ofFile := func(e *tree.Entry) bool { return e == nil || e.Type == tree.TypeFile }
	return ofFile(j.Old) && ofFile(j.New)
}

// accompanies reports whether the step of a companion belongs to the file at a path, as it is or as it is to be.
func (a *applier) accompanies(j *job, of string) (bool, error) {
	head, err := a.headAt(of)
	if err != nil || tree.Accompanies(j.Path, head, j.head) {
		return err == nil, err
	}
	if head, err = a.headOf(a.byPath[of]); err != nil {
		return false, err
	}
	own, err := a.headOf(j)
	return err == nil && tree.Accompanies(j.Path, head, own), err
}

// readHeads sets d.heads.
func (a *applier) readHeads(d *database) error {
	now, err := a.headAt(d.path)
	if err != nil {
		return err
	}
	then, err := a.headOf(a.byPath[d.path])
	d.heads = [][]byte{now, then}
	return err
}

// headAt is what the file at a path begins with; nothing if there is none that can be read.
func (a *applier) headAt(path string) ([]byte, error) {
	if j := a.byPath[path]; j != nil {
		return j.head, nil
	}
	parent, name, err := worktreefs.OpenParent(a.Root, path)
	if err != nil {
		return nil, ignoreLocal(err)
	}
	defer parent.Close()
	return headIn(parent, name)
}

// headIn is headAt of a name in a directory.
func headIn(parent worktreefs.Dir, name string) ([]byte, error) {
	f, _, err := parent.Open(name)
	if err != nil {
		return nil, ignoreLocal(err)
	}
	defer f.Close()
	head := make([]byte, tree.DatabaseHead)
	n, err := io.ReadFull(f, head)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return head[:n], ignoreLocal(err)
}

// headOf is what a step's new file begins with; nothing if it has none.
func (a *applier) headOf(j *job) ([]byte, error) {
	if j == nil || j.New == nil || j.New.Type != tree.TypeFile {
		return nil, nil
	}
	r, err := a.Open(j.New.ID)
	if err != nil {
		return nil, stageError(j, err)
	}
	defer r.Close()
	head := make([]byte, tree.DatabaseHead)
	n, _ := io.ReadFull(r, head) // an error shows when the content is staged
	return head[:n], nil
}

// leave makes conflicts of the steps of a database that are not carried out.
func (a *applier) leave(d *database) {
	named := slices.ContainsFunc(a.conflicts, func(c value.Conflict) bool { return string(c.Path) == d.path })
	for _, j := range d.jobs {
		if j.state == jobPending {
			a.conflict(j, "its database "+quotePath(d.path)+" stays as it is")
			named = named || j.Path == d.path
		}
	}
	if !named {
		a.conflicts = append(a.conflicts, value.Conflict{
			Path: value.Text(d.path), Reason: "a file beside it could not be set, so the database stays as it is",
		})
	}
}
