package apply

import (
	"slices"

	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/tree"
)

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

// exchangeDatabase sets the files of a database, so that at no moment one of the one state lies beside one of the
// other. done is false where something is in the way, which is a conflict then.
func (a *applier) exchangeDatabase(d *database, jobs []*job, parent worktreefs.Dir) (done bool, err error) {
	isSet := false
	for _, j := range jobs {
		a.advance()
		// all companions are out; one that is there now was made by a program that has seen the state before
		if j.Path == d.path {
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

// expects reports whether a companion may be there while the database is set: it has no step, or it is as its step
// wants it.
func (d *database) expects(name string) bool {
	return slices.Contains(d.stay, name) || slices.ContainsFunc(d.jobs, func(j *job) bool {
		_, of := tree.Split(j.Path)
		return of == name && j.state == jobDone
	})
}

// isAlone reports whether a database has no companions now but those it expects; else the step of the database is a
// conflict.
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

// isUntouched reports whether nobody has open, or has written to, what was displaced of a database; else one of its
// steps is a conflict.
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
