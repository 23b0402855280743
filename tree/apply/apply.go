package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/tree"
)

// Options is one checkout's steps and where to carry them out.
type Options struct {
	// Root is the working tree.
	Root worktreefs.Dir
	// Stage is a private directory (0700), made for these steps, best on Root's file system. It is empty, or holds what
	// an earlier run of the same steps or of their reverse left. Run empties it; what it saved from a racing editor
	// stays and is in Result.Conflicts. See OpenStage and RemoveStage.
	Stage worktreefs.Dir
	// Op names the checkout in hidden siblings (tree.StagePrefix + Op), which are made in the topmost directory of
	// every other file system that a step lies on. It must be the same in every run of the steps, and one usable name
	// with the prefix.
	Op string
	// Steps is the change, in any order; a path occurs once. A directory's ID does not matter. The steps of the
	// directories above a new path come with it, and so do those of everything below a path that stops being a
	// directory.
	Steps []tree.Change
	// Stays gives what a path without a step had when the steps were planned; nil: nothing. Asked about companions of
	// databases that have steps (tree.CompanionOf). Nil itself: none had any.
	Stays func(path string) (*tree.Entry, error)
	// Open gives the content of a blob: a file's bytes or a symlink's target. Every byte is hashed again.
	Open func(id objstore.ID) (io.ReadCloser, error)
	// Progress is called now and then with what is being done, in words for a person, and with how much of it is done;
	// total 0: it is not counted. Each phase begins with a call of done 0. nil: never.
	Progress func(phase string, done, total int)
}

// Result is what became of the steps.
type Result struct {
	// Done is how many paths are what their step wants, including those that were so before.
	Done int
	// Conflicts are the paths that are not, since they are not what their steps expect, and bytes that were saved;
	// sorted by path.
	Conflicts []value.Conflict
	// KeptDirs are directories that should be gone but hold something that no step knows (ignored or new files).
	KeptDirs []string
	// Without are the paths that were set without something; sorted by path.
	Without []value.Without
	// Perms are the permissions of the paths that are done, but have others than their step says.
	Perms map[string]uint16
}

// errBadSteps says that the steps contradict each other, or are not steps. Nothing was touched.
var errBadSteps = errors.New("steps that cannot be carried out")

// Run brings the working tree from the From of every step to its To.
//
// Nothing is overwritten or unlinked in place. A file that a step replaces or removes is moved into the stage by an
// atomic rename. It is unlinked only if its bytes are exactly those of From, still are at the end, and nobody has it
// open for writing. Otherwise it goes back, or stays in the stage, and the path is a Conflict. Conflicts do not end the
// run.
//
// An error leaves the steps half done, or untouched when it happened while new content was written into the stage (no
// space, a bad object). After an error, and after a crash at any instruction, Run with the same steps reaches the
// target exactly, and Run with tree.Reverse(steps) the state before, given the same Root, Stage and Op.
//
// Files that already equal To are not touched. Symbolic links are never followed. A file that replaces a file gets its
// owner, group, access control list and extended attributes, and of setuid, setgid and sticky those that it has, too:
// see restoredPerm. Only one Run may use a stage at a time.
func Run(ctx context.Context, o Options) (Result, error) {
	a, err := newApplier(ctx, o)
	if err != nil {
		return Result{}, err
	}
	defer a.close()
	err = a.run()
	res := a.result()
	if err != nil {
		return res, fmt.Errorf("apply: %w", err)
	}
	return res, nil
}

// run does the phases in their order. The survey of the next run understands what a phase leaves that was cut short.
func (a *applier) run() error {
	a.begin("looking at what is there", len(a.jobs))
	err := a.survey()
	if err == nil {
		err = a.findDatabases()
	}
	if err != nil {
		return errors.Join(err, a.restorePerms(false))
	}
	// A, B: no tree entry is touched before all new content is durable in the stage
	if err := a.fillStage(); err != nil {
		return errors.Join(err, a.emptyStage(false), a.restorePerms(false), a.dropStages())
	}
	a.begin("setting", a.countToSet())
	for _, phase := range []func() error{
		a.placeDatabases, // databases, which are in directories that are there
		a.remove,         // C: what goes, deepest first
		a.makeDirs,       // D: new directories, top down
		a.placeNew,       // E: new content
		a.changePerms,    // F: files whose permissions alone change
		a.checkPlaced,    // H: while all directories can still be entered
		a.syncDirs,       // G
		func() error { return a.restorePerms(true) },
		func() error { return a.emptyStage(true) },
		a.dropStages,
	} {
		if err := phase(); err != nil {
			return err
		}
	}
	return nil
}

// result is the Result of what was done so far.
func (a *applier) result() Result {
	r := Result{Conflicts: a.conflicts, KeptDirs: a.kept}
	for _, j := range a.jobs {
		if j.state != jobDone {
			continue
		}
		r.Done++
		if j.New == nil {
			continue
		}
		if w, ok := j.without(); ok {
			r.Without = append(r.Without, w)
		}
		if j.New.Type != tree.TypeSymlink && j.perm != j.New.Perm {
			if r.Perms == nil {
				r.Perms = map[string]uint16{}
			}
			r.Perms[j.Path] = j.perm
		}
	}
	slices.SortStableFunc(r.Conflicts, func(x, y value.Conflict) int { return tree.ComparePaths(string(x.Path), string(y.Path)) })
	slices.SortFunc(r.KeptDirs, tree.ComparePaths)
	return r
}
