package history

import (
	"errors"
	"fmt"
	"slices"

	"rewind/engine/model"
	"rewind/internal/gitinfo"
	"rewind/objstore"
	"rewind/tree"
)

// maxStates is how many states are held against a commit at most, the oldest: what was done on top comes later.
const maxStates = 32

// stood are the checkpoints that may have the state of a commit, and the newest that was taken while git stood on it.
type stood struct {
	newest  *model.Checkpoint
	commits []string            // that begin so
	states  []*model.Checkpoint // the newest first
	next    bool                // the next older one was there before git stood on it: a commit changes no file
}

// take takes the next older checkpoint. on: git stood on the commit.
func (s *stood) take(cp *model.Checkpoint, on bool) {
	if on || s.next {
		s.states = append(s.states, cp)
		if len(s.states) > maxStates {
			s.states = s.states[1:]
		}
	}
	s.next = on
	if !on {
		return
	}
	if s.newest == nil {
		s.newest = cp
	}
	if !slices.Contains(s.commits, cp.Git.Commit) {
		s.commits = append(s.commits, cp.Git.Commit)
	}
}

// was is the checkpoint with the state that was the commit, of those that may have it: the one with fewest files that
// git does not have, else the newest. word says what is not as in the commit, "" that all is.
func (s *stood) was(get objects, root string) (cp *model.Checkpoint, word string) {
	of := s.commits[0]
	files, err := commitFiles(root, of)
	if err != nil {
		const text = "the newest checkpoint that stood on commit %.12s is meant, since what that has cannot be read: %v"
		return s.newest, fmt.Sprintf(text, of, err)
	}
	c := &commitState{get: get, files: files, held: map[content]bool{}}
	fewest := -1
	for _, at := range s.states {
		if more, is := c.is(at.Tree); is && (fewest < 0 || more < fewest) {
			cp, fewest = at, more
		}
	}
	switch {
	case cp == nil:
		const text = "no checkpoint has the state of commit %.12s: the newest that stood on it is meant, " +
			"with the work on top"
		return s.newest, fmt.Sprintf(text, of)
	case fewest > 0:
		return cp, fmt.Sprintf("the state of commit %.12s, with files on top that it does not have: %d", of, fewest)
	}
	return cp, ""
}

// objects reads a store.
type objects interface {
	objstore.Getter
	Open(id objstore.ID) (*objstore.Reader, error)
}

func commitFiles(root, commit string) (map[string]gitinfo.CommitFile, error) {
	repo, err := gitinfo.Open(root)
	if err != nil {
		return nil, err
	}
	list, err := repo.Files(commit)
	if err != nil {
		return nil, err
	}
	files := make(map[string]gitinfo.CommitFile, len(list))
	for _, f := range list {
		files[f.Path] = f
	}
	return files, nil
}

// commitState holds states against the files of a commit.
type commitState struct {
	get   objects
	files map[string]gitinfo.CommitFile
	held  map[content]bool // that are what git has at their path
}

type content struct {
	path string
	id   objstore.ID
}

var errOther = errors.New("not as in the commit")

// is reports whether a tree has all files of the commit as they are there, and how many more.
func (c *commitState) is(root objstore.ID) (more int, is bool) {
	has := 0
	err := tree.Walk(c.get, root, func(path string, e tree.Entry) error {
		f, there := c.files[path]
		switch {
		case e.Type == tree.TypeDir:
			return nil
		case !there:
			more++
			return nil
		case !c.same(&f, e):
			return errOther
		}
		has++
		return nil
	})
	return more, err == nil && has == len(c.files)
}

func (c *commitState) same(f *gitinfo.CommitFile, e tree.Entry) bool {
	link, runs := e.Type == tree.TypeSymlink, e.Perm&0o100 != 0
	if link != f.Link {
		return false
	}
	if !link && (e.Size != f.Size || runs != f.Executable) {
		return false
	}
	key := content{f.Path, e.ID}
	if c.held[key] {
		return true
	}
	r, err := c.get.Open(e.ID)
	if err != nil {
		return false
	}
	ok, err := f.Holds(r)
	if ok = ok && err == nil; ok {
		c.held[key] = true
	}
	return ok
}
