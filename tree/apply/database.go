package apply

import (
	"io"
	"slices"

	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/tree"
)

// The steps of a database and its companions (tree.CompanionOf) are one: all are carried out, or none. First nobody may have one of the files
// open for writing; then they are exchanged one behind the other; then nobody may have opened or written what was displaced. Else all of it
// goes back, and is a conflict.
//
// A kill in between leaves some of them set. What a program makes of that afterwards it makes of what lies there, so the next run, which
// finds a file that is neither From nor To, leaves all of the database as it is.

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
		if j.isOfFiles() && j.database == nil && (found[j.Path] != nil || tree.IsDatabase(j.head)) {
			add(j.Path, j)
		}
	}
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

// findStaying sets d.stay. A companion without a step that is not what it was when the steps were planned was written by a program since:
// the database is left to that.
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
	return (j.Old == nil || j.Old.Type == tree.TypeFile) && (j.New == nil || j.New.Type == tree.TypeFile)
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

// placeDatabases carries out the steps of databases.
func (a *applier) placeDatabases() error {
	for _, d := range a.databases {
		if err := a.ctx.Err(); err != nil {
			return err
		}
		if err := a.placeDatabase(d); err != nil {
			return err
		}
	}
	return nil
}

// pending are the jobs that are carried out together: companions that are there, the database, companions that are not.
func (d *database) pending() []*job {
	var out, last []*job
	for _, j := range d.jobs {
		switch {
		case j.state != jobPending || j.inside != nil || j.permOnly():
		case j.Path == d.path || j.present:
			out = append(out, j)
		default:
			last = append(last, j)
		}
	}
	return append(out, last...)
}

func (a *applier) placeDatabase(d *database) error {
	jobs := d.pending()
	if len(jobs) == 0 {
		return nil
	}
	if dir := a.blockedBy(d.path); dir != "" {
		a.leave(d)
		return nil
	}
	parent, _, err := a.openParent(jobs[0])
	if err != nil {
		return a.asConflicts(d, err)
	}
	defer parent.Close()
	if held, err := a.databaseHeld(d, parent); err != nil || held {
		if held {
			a.leaveHeld(d)
		}
		return err
	}
	done, err := a.exchangeDatabase(d, jobs, parent)
	if err == nil && !done {
		err = a.putBack(d, jobs, parent)
	}
	return err
}

// exchangeDatabase sets the files of a database, so that at no moment one of the one state lies beside one of the other. done is false where
// something is in the way, which is a conflict then.
func (a *applier) exchangeDatabase(d *database, jobs []*job, parent worktreefs.Dir) (done bool, err error) {
	isSet := false
	for _, j := range jobs {
		a.advance()
		if j.Path == d.path { // all companions are out; one that is there now was made by a program that has seen the state before
			if ok, err := a.isAlone(d, j, parent); err != nil || !ok {
				return false, err
			}
		}
		if j.Path == d.path && j.hasNew { // no program reads it before its log is there, too
			l, err := j.stage.dir.Lock(j.key + sufNew)
			if err == nil {
				defer l.Close()
			} else if !worktreefs.IsLocal(err) {
				return false, err
			}
		}
		if err := a.displace(j, d, parent); err != nil || j.state == jobConflict {
			return false, err
		}
		if j.Path == d.path {
			isSet = true
			if ok, err := a.isAlone(d, j, parent); err != nil || !ok {
				return false, err
			}
		}
	}
	for _, j := range jobs {
		if j.state != jobPending {
			continue // the database itself
		}
		if j.state = jobPlaced; j.New == nil {
			continue
		}
		_, name := tree.Split(j.Path)
		if err := a.asConflict(j, a.moveIn(j, parent, name)); err != nil {
			return false, err
		}
		if j.state == jobConflict && !isSet {
			return false, nil
		}
		// A program that looks for no locks has opened what is set and made this file for it: it stays with that.
	}
	return a.isUntouched(jobs)
}

// expects reports whether a companion may be there while the database is set: it has no step, or it is as its step wants it.
func (d *database) expects(name string) bool {
	return slices.Contains(d.stay, name) || slices.ContainsFunc(d.jobs, func(j *job) bool {
		_, of := tree.Split(j.Path)
		return of == name && j.state == jobDone
	})
}

// isAlone reports whether a database has no companions now but those it expects; else the step of the database is a conflict.
func (a *applier) isAlone(d *database, j *job, parent worktreefs.Dir) (bool, error) {
	names, err := a.companionsAt(d, parent)
	if err != nil {
		return false, err
	}
	if !slices.ContainsFunc(names, func(n string) bool { return !d.expects(n) }) {
		return true, nil
	}
	a.conflict(j, "a program has opened the database while it was being replaced")
	return false, nil
}

// displace moves what is at the path of a step out; the database itself is set at once, so that there is always one.
func (a *applier) displace(j *job, d *database, parent worktreefs.Dir) error {
	_, name := tree.Split(j.Path)
	if j.Path == d.path && j.New != nil {
		return a.asConflict(j, a.placeOne(j, parent, name))
	}
	if !j.present {
		return nil
	}
	if err := a.makeStage(j.stage); err != nil {
		return err
	}
	_, err := a.moveOut(j, parent, name)
	return a.asConflict(j, err)
}

// databaseHeld reports whether a program has a file of a database open for writing.
func (a *applier) databaseHeld(d *database, parent worktreefs.Dir) (bool, error) {
	_, name := tree.Split(d.path)
	for _, n := range append(tree.Companions(name), name) {
		st, err := parent.Lstat(n)
		if err != nil && !worktreefs.IsLocal(err) {
			return false, err
		}
		if err != nil || st.Type != worktreefs.TypeFile {
			continue
		}
		if held, err := a.heldByWriter(parent, n); err != nil || held {
			return held, err
		}
	}
	return false, nil
}

// leaveHeld is leave, of a database that a program has open.
func (a *applier) leaveHeld(d *database) {
	const why = "another program has the database open"
	for _, j := range d.jobs {
		if j.state == jobPending && j.Path == d.path {
			a.conflict(j, why)
		}
	}
	if !slices.ContainsFunc(a.conflicts, func(c value.Conflict) bool { return string(c.Path) == d.path }) {
		a.conflicts = append(a.conflicts, value.Conflict{Path: value.Text(d.path), Reason: why})
	}
	a.leave(d)
}

// isUntouched reports whether nobody has open, or has written to, what was displaced of a database; else one of its steps is a conflict.
func (a *applier) isUntouched(jobs []*job) (bool, error) {
	for _, j := range jobs {
		name := j.displaced()
		if name == "" {
			continue
		}
		held, err := a.heldByWriter(j.stage.dir, name)
		if err != nil {
			return false, err
		}
		ok := false
		if !held {
			if ok, err = a.isExpected(j, name); err != nil {
				return false, err
			}
		}
		if !ok {
			a.conflict(j, "opened or written to while it was being replaced")
			return false, nil
		}
	}
	return true, nil
}

// displaced is the name in the stage of what was at the path of a step; "": nothing was.
func (j *job) displaced() string {
	switch {
	case j.hasOld:
		return j.key + sufOld
	case j.exchanged:
		return j.key + sufNew
	}
	return ""
}

// putBack takes back what was done of a database, the last first.
func (a *applier) putBack(d *database, jobs []*job, parent worktreefs.Dir) error {
	for _, j := range slices.Backward(jobs) {
		if err := a.putBackOne(j, parent); err != nil {
			return err
		}
		if j.state == jobPlaced {
			j.state = jobPending
		}
	}
	a.leave(d)
	return nil
}

func (a *applier) putBackOne(j *job, parent worktreefs.Dir) error {
	_, name := tree.Split(j.Path)
	if j.exchanged {
		j.exchanged = false
		return a.exchangeBack(j, parent, name)
	}
	if j.movedIn {
		j.movedIn = false
		st, err := parent.Lstat(name)
		if err == nil && sameFile(st, j.staged) {
			err = parent.Move(name, j.stage.dir, j.key+sufNew)
			j.hasNew = err == nil
		}
		if err != nil && !worktreefs.IsLocal(err) {
			return err
		}
	}
	if !j.hasOld {
		return nil
	}
	j.hasOld = false
	return a.moveBack(j, j.key+sufOld, parent, name)
}

// asConflicts is asConflict for all steps of a database.
func (a *applier) asConflicts(d *database, err error) error {
	if !worktreefs.IsLocal(err) {
		return err
	}
	for _, j := range d.jobs {
		if j.state == jobPending {
			a.conflict(j, err.Error())
		}
	}
	return nil
}
