package tree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"rewind/internal/worktreefs"
	"rewind/objstore"
)

// ApplyOptions is one checkout's steps and where to carry them out.
type ApplyOptions struct {
	// Root is the working tree.
	Root worktreefs.Dir
	// Stage is a private directory (0700), made for these steps, best on Root's file system. It is empty, or holds what an
	// earlier run of the same steps or of their reverse left. Apply empties it; what it saved from a racing editor stays and
	// is in ApplyResult.Conflicts. See OpenStage and RemoveStage.
	Stage worktreefs.Dir
	// Op names the checkout in hidden siblings (StagePrefix + Op), which are made in the topmost directory of every other file
	// system that a step lies on. It must be the same in every run of the steps, and one usable name with the prefix.
	Op string
	// Steps is the change, in any order; a path occurs once. A directory's ID does not matter. The steps of the directories
	// above a new path come with it, and so do those of everything below a path that stops being a directory.
	Steps []Step
	// Open gives the content of a blob: a file's bytes or a symlink's target. Every byte is hashed again.
	Open func(id objstore.ID) (io.ReadCloser, error)
	// Progress is called now and then with how many steps are dealt with, from one goroutine; nil: not.
	Progress func(done, total int)
}

// ApplyResult is what became of the steps.
type ApplyResult struct {
	// Done is how many paths are what their step wants, those that were so before included.
	Done int
	// Conflicts are the paths that are not, and bytes that were saved; sorted by path.
	Conflicts []Conflict
	// KeptDirs are directories that should be gone but hold something that no step knows (ignored or new files).
	KeptDirs []string
	// Placed is what this run wrote, for the stat cache.
	Placed []Placed
	// Without are the paths that were set without something; sorted by path.
	Without []Without
	// Perms are the permissions of the paths that are done, but have others than their step says.
	Perms map[string]uint16
}

// Conflict is a path that Apply left to the user, because it was not what its step expects, or bytes of a racing editor.
type Conflict struct {
	Path   string
	Reason string // lower case, without the path
	// SavedAs is where bytes lie that are neither in the tree nor known to be stored; "" when there are none.
	SavedAs string
}

// Placed is a file, symlink or directory that was written, and what the system says about it.
type Placed struct {
	Path string
	Stat worktreefs.Stat
}

// StagePrefix begins the name of the hidden directories that Apply makes on other file systems than its stage's.
const StagePrefix = ".rewind-stage-"

// ErrBadSteps says that the steps contradict each other, or are not steps. Nothing was touched.
var ErrBadSteps = errors.New("tree: steps that cannot be carried out")

// Apply brings the working tree from the From of every step to its To.
//
// Nothing is overwritten or unlinked in place. What a step replaces or removes is moved into the stage by an atomic rename, and
// only when its bytes are exactly those of From, and still are at the end, and nobody has it open for writing, is it unlinked.
// Otherwise it goes back, or stays in the stage, and the path is a Conflict. Conflicts do not end the run.
//
// An error leaves the steps half done, or untouched when it happened while new content was written into the stage (no space,
// a bad object). After an error, and after a crash at any instruction, Apply with the same steps reaches the target exactly,
// and Apply with Reverse(steps) the state before, given the same Root, Stage and Op.
//
// Files that already equal To are not touched. Symbolic links are never followed. A file that replaces a file gets its owner, group, access
// control list and extended attributes, and of setuid, setgid and sticky those that it has, too: see RestPerm. Only one Apply may use a stage at
// a time.
func Apply(ctx context.Context, o ApplyOptions) (ApplyResult, error) {
	a, err := newApplier(ctx, o)
	if err != nil {
		return ApplyResult{}, err
	}
	defer a.close()
	err = a.run()
	res := a.result()
	if err != nil {
		return res, fmt.Errorf("tree: apply: %w", err)
	}
	return res, nil
}

// Reverse gives the steps that undo steps.
func Reverse(steps []Step) []Step {
	back := slices.Clone(steps)
	for i := range back {
		back[i].From, back[i].To = back[i].To, back[i].From
	}
	return back
}

// run is the order of things. What each phase leaves behind when it is cut short is what the next run's survey understands.
func (a *applier) run() error {
	if err := a.survey(); err != nil {
		return errors.Join(err, a.restorePerms(false))
	}
	if err := a.fillStage(); err != nil { // A, B: no tree entry is touched before all new content is durable in the stage
		return errors.Join(err, a.emptyStage(), a.restorePerms(false), a.dropStages())
	}
	for _, phase := range []func() error{
		a.remove,      // C: what goes, deepest first
		a.makeDirs,    // D: new directories, top down
		a.place,       // E: new content
		a.changePerms, // F: files whose permissions alone change
		a.checkPlaced, // H: while all directories can still be entered
		a.syncDirs,    // G
		func() error { return a.restorePerms(true) },
		a.emptyStage,
		a.dropStages,
	} {
		if err := phase(); err != nil {
			return err
		}
	}
	return nil
}

func (a *applier) result() ApplyResult {
	r := ApplyResult{Conflicts: a.conflicts, KeptDirs: a.kept, Placed: a.placed}
	for _, j := range a.jobs {
		if j.state != jobDone {
			continue
		}
		r.Done++
		if j.To == nil {
			continue
		}
		if w, ok := j.without(); ok {
			r.Without = append(r.Without, w)
		}
		if j.To.Type != TypeSymlink && j.perm != j.To.Perm {
			if r.Perms == nil {
				r.Perms = map[string]uint16{}
			}
			r.Perms[j.Path] = j.perm
		}
	}
	slices.SortStableFunc(r.Conflicts, func(x, y Conflict) int { return ComparePaths(x.Path, y.Path) })
	slices.SortFunc(r.KeptDirs, ComparePaths)
	return r
}
