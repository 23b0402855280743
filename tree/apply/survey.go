package apply

import (
	"errors"
	"strings"

	"rewind/internal/worktreefs"
	"rewind/tree"
)

// survey looks at every path and at what an earlier run left, and decides what is to be done. It changes the tree only
// where an earlier run was cut short: displaced bytes in the stage that are not discardable go back to their path.
func (a *applier) survey() error {
	if err := a.openStages(); err != nil {
		return err
	}
	aliased := "" // a path below which everything is absent, for the name means another entry
	for _, j := range a.jobs {
		if err := a.ctx.Err(); err != nil {
			return err
		}
		a.advance()
		if j.state != jobPending {
			continue
		}
		if aliased != "" && strings.HasPrefix(j.Path, aliased+"/") {
			if err := a.pickStage(j); err != nil {
				return err
			}
			a.decide(j, found{}, 0)
			continue
		}
		alias, err := a.surveyOne(j)
		if err = a.asConflict(j, err); err != nil {
			return err
		}
		if alias {
			aliased = j.Path
		}
	}
	a.w.close()
	a.w.forgetNames()
	return nil
}

// surveyOne looks at the path of a step. alias: the file system has only another spelling of its name, so nothing is
// below it.
func (a *applier) surveyOne(j *job) (alias bool, err error) {
	dir, name := tree.Split(j.Path)
	parent, at, err := a.w.open(dir)
	if perr := a.pickStage(j); perr != nil {
		return false, perr
	}
	if err != nil {
		parent = nil
	}
	if rerr := a.recover(j, parent, name); rerr != nil {
		return false, rerr
	}
	if err != nil {
		return false, a.surveyNoDir(j, at, err)
	}
	f, err := inspectWith(parent, name, j.replacesFile(), j.Old, j.New)
	if err != nil {
		return false, err
	}
	if f.exists && j.Old == nil {
		exact, err := a.w.hasExactName(name)
		if err != nil {
			return false, err
		}
		if !exact {
			a.decide(j, found{}, 0)
			return true, nil
		}
	}
	perm := f.st.Perm
	if f.st.Type == worktreefs.TypeDir {
		perm = a.truePerm(j.Path, perm)
	}
	if f.exists && !f.hasPermOf(j, perm) {
		keeps, err := a.keepsPermissions(j)
		if err != nil {
			return false, err
		}
		f.permless = f.permless || !keeps
	}
	a.decide(j, f, perm)
	return false, nil
}

// surveyNoDir decides about a step whose directory, at or above it at, could not be opened.
func (a *applier) surveyNoDir(j *job, at string, err error) error {
	switch {
	case errors.Is(err, worktreefs.ErrNotDir):
		if !a.byPath[at].mayBeNoDir() {
			a.conflict(j, "its directory "+quotePath(at)+" is now a file or a symbolic link, which is not followed")
			return nil
		}
	case !errors.Is(err, worktreefs.ErrNotExist):
		return err
	}
	a.decide(j, found{}, 0)
	return nil
}

// mayBeNoDir reports whether the steps have something else than a directory at the path, before or after.
func (j *job) mayBeNoDir() bool {
	if j == nil {
		return false
	}
	isDirBefore, isDirAfter := j.Old == nil || isDir(j.Old), j.New == nil || isDir(j.New)
	return !isDirBefore || !isDirAfter
}

// hasPermOf reports whether f has the permissions of one end of the step, or other bytes than both.
func (f found) hasPermOf(j *job, perm uint16) bool {
	for _, e := range []*tree.Entry{j.Old, j.New} {
		if f.equals(e, perm) || f.resembles(e, perm) {
			return true
		}
	}
	return !f.sameBytes(j.Old) && !f.sameBytes(j.New)
}

// decide compares what is at the path with what the step expects, and sets the job's state: pending, done or a
// conflict. perm are the permissions without our widening.
func (a *applier) decide(j *job, f found, perm uint16) {
	j.present, j.was, j.now, j.attrs, j.perm, j.head = f.exists, f.st, perm, f.attrs, perm, f.head
	isFrom, isTo := f.fits(j, perm)
	if isTo {
		j.state = jobDone
		isLeaf := j.New != nil && j.New.Type != tree.TypeSymlink
		if f.permless && isLeaf && (perm^j.New.Perm)&permOwn != 0 {
			j.addLost(lostPermissions)
		}
		return
	}
	if !isFrom {
		if reason := f.conflictWith(j); reason != "" {
			a.conflict(j, reason)
		}
	}
	if f.sealed && j.inherits() {
		j.addLost(lostAttributes) // it cannot be opened
	}
	a.choosePerm(j)
}

// fits reports whether what was found is what the step expects, or what it makes.
func (f found) fits(j *job, perm uint16) (isFrom, isTo bool) {
	isFrom, isTo = f.equals(j.Old, perm), f.equals(j.New, perm)
	if !isFrom && !isTo {
		if isTo = f.resembles(j.New, perm); !isTo {
			isFrom = f.resembles(j.Old, perm)
		}
	}
	if f.sealed && isFrom && j.Old != nil {
		isTo = false // not told apart by reading; the displaced file will be
	}
	return isFrom, isTo
}

// conflictWith says why what was found, neither what the step expects nor what it makes, is in its way; "": it is not.
func (f found) conflictWith(j *job) string {
	if !f.exists {
		// A directory gives way before what replaces it comes; absence there is a state of ours, and holds no bytes.
		gives := j.New == nil || isDir(j.New)
		if gives || isDir(j.Old) || j.isOut {
			return ""
		}
		return "deleted since"
	}
	switch {
	case f.st.Type == worktreefs.TypeDir && isDir(j.Old) && !isDir(j.New):
		return "" // its permissions differ, but it goes anyway, if it is empty
	case j.Old == nil:
		return "something else is there now: a " + f.st.Type.String()
	case tree.Type(f.st.Type) != j.Old.Type:
		return "it is now a " + f.st.Type.String()
	case f.sameBytes(j.Old):
		return "its permissions changed since"
	}
	return "changed since"
}

func isDir(e *tree.Entry) bool { return e != nil && e.Type == tree.TypeDir }
