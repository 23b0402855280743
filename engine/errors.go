package engine

import (
	"errors"
	"fmt"

	"rewind/objstore"
)

// Before a project is open.
var (
	// ErrNoProject is returned where no project is at or above a directory.
	ErrNoProject = errors.New("not a rewind project")
	// ErrBadRoot is returned for a directory that must not become a project.
	ErrBadRoot = errors.New("this directory cannot be a project")
	// ErrStoreGone is returned for a project whose store is not where its marker says.
	ErrStoreGone = errors.New("the store is missing")
	// ErrConfig is returned for a setting that does not exist or a value it cannot have.
	ErrConfig = errors.New("bad setting")
)

// Naming things.
var (
	// ErrNotFound is returned for a checkpoint, path, tag or operation that does not exist.
	ErrNotFound = errors.New("not found")
	// ErrTagExists is returned for a tag that names another checkpoint.
	ErrTagExists = errors.New("the tag exists")
	// ErrWhichSession is returned when a command could mean several sessions that are at work.
	ErrWhichSession = errors.New("several sessions are at work here")
	// ErrUsage is returned for a request that makes no sense as it is put.
	ErrUsage = errors.New("bad request")
)

// Restoring.
var (
	// ErrHalfDone is returned by every change while a checkout is unfinished.
	ErrHalfDone = errors.New("a checkout is half done")
	// ErrNotHalfDone is returned by Continue and Abort when there is nothing to continue.
	ErrNotHalfDone = errors.New("no checkout is half done")
)

// PathError says that a checkpoint does not hold a path.
type PathError struct {
	Checkpoint objstore.ID
	Path       string
}

func (e *PathError) Error() string {
	return fmt.Sprintf("engine: %q in checkpoint %s: not found", e.Path, e.Checkpoint.Short())
}

// Is makes a PathError an ErrNotFound.
func (e *PathError) Is(target error) bool { return target == ErrNotFound }

// UnsavedError says which paths a restore would have overwritten although their bytes cannot be stored. Nothing was
// touched.
type UnsavedError struct{ Paths []Blocked }

// Blocked is a path and the reason, a note reason of DESIGN.md 5.6.
type Blocked struct {
	Path   string
	Reason byte
}

func (e *UnsavedError) Error() string {
	return fmt.Sprintf("engine: %d paths would be overwritten although they cannot be stored, first %q", len(e.Paths), e.Paths[0].Path)
}

// HalfDoneError describes the unfinished checkout; it is an ErrHalfDone.
type HalfDoneError struct{ Target objstore.ID }

func (e *HalfDoneError) Error() string {
	return fmt.Sprintf("engine: %v: to %s", ErrHalfDone, e.Target.Short())
}

// Is makes a HalfDoneError an ErrHalfDone.
func (e *HalfDoneError) Is(target error) bool { return target == ErrHalfDone }
