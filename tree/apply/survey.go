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
	switch {
	case errors.Is(err, worktreefs.ErrNotDir):
		if up := a.byPath[at]; up == nil || (up.Old == nil || up.Old.Type == tree.TypeDir) &&
			(up.New == nil || up.New.Type == tree.TypeDir) {
			a.conflict(j, "its directory "+quotePath(at)+" is now a file or a symbolic link, which is not followed")
			return false, nil
		}
		a.decide(j, found{}, 0)
		return false, nil
	case errors.Is(err, worktreefs.ErrNotExist):
		a.decide(j, found{}, 0)
		return false, nil
	case err != nil:
		return false, err
	}
	inherits := j.Old != nil && j.New != nil && j.Old.Type == tree.TypeFile && j.New.Type == tree.TypeFile && j.Old.ID != j.New.ID
	f, err := inspectWith(parent, name, inherits, j.Old, j.New)
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
		if keeps, err := a.keepsPermissions(j); err != nil {
			return false, err
		} else if !keeps {
			f.permless = true
		}
	}
	a.decide(j, f, perm)
	return false, nil
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
	isFrom, isTo := f.equals(j.Old, perm), f.equals(j.New, perm)
	if !isFrom && !isTo {
		if isTo = f.resembles(j.New, perm); !isTo {
			isFrom = f.resembles(j.Old, perm)
		}
	}
	if f.sealed && isFrom && j.Old != nil {
		isTo = false // not told apart by reading; the displaced file will be
	}
	switch {
	case isTo:
		j.state = jobDone
		if f.permless && j.New != nil && j.New.Type != tree.TypeSymlink && (perm^j.New.Perm)&permOwn != 0 {
			j.addLost(lostPermissions)
		}
		return
	case isFrom:
	case !f.exists && (j.New == nil || j.New.Type == tree.TypeDir || j.Old.Type == tree.TypeDir):
		// A directory gives way before what replaces it comes; absence there is a state of ours, and holds no bytes.
	case !f.exists && j.isOut:
	case !f.exists:
		a.conflict(j, "deleted since")
	case f.st.Type == worktreefs.TypeDir && j.Old != nil && j.Old.Type == tree.TypeDir && (j.New == nil || j.New.Type != tree.TypeDir):
		// Its permissions differ, but it goes anyway, if it is empty.
	case j.Old == nil:
		a.conflict(j, "something else is there now: a "+f.st.Type.String())
	case tree.Type(f.st.Type) != j.Old.Type:
		a.conflict(j, "it is now a "+f.st.Type.String())
	case f.sameBytes(j.Old):
		a.conflict(j, "its permissions changed since")
	default:
		a.conflict(j, "changed since")
	}
	if f.sealed && j.inherits() {
		j.addLost(lostAttributes) // it cannot be opened
	}
	a.choosePerm(j)
}
