package capture

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/gitinfo"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/tree"
	"rewind/tree/snapshot"
)

// Memory when git is broken. What the user's repository says is a fact for the record, or helps to decide what is
// captured; none of it is needed. What of it cannot be read is a line of the note with the reason unreadable, under its
// path below .git, and a finding of CheckProject.

// gitDir is git's directory in a project, or the file in its place.
const gitDir = ".git"

// unreadable is what a capture could not read of the user's repository, with the list that flag made.
type unreadable struct {
	of    []tree.Skip // what the snapshot skipped
	paths []string    // sorted
	skips []tree.Skip // of, and a skip for each of paths
}

// flag appends what could not be read of the repository to what a snapshot skipped. Captures that find the same share
// one list, which nobody changes.
func (wt *Worktree) flag(skips []tree.Skip, faults []gitinfo.Fault) []tree.Skip {
	paths := unreadPaths(faults)
	if len(paths) == 0 {
		return skips
	}
	was := &wt.unread
	sameLength := len(skips) > 0 && len(skips) == len(was.of)
	if sameLength && &skips[0] == &was.of[0] && slices.Equal(paths, was.paths) {
		return was.skips
	}
	all := slices.Clone(skips)
	for _, p := range paths {
		all = append(all, tree.Skip{Path: p, Reason: tree.ReasonUnreadable})
	}
	slices.SortFunc(all, tree.CompareSkips)
	all = slices.CompactFunc(all, func(a, b tree.Skip) bool { return tree.CompareSkips(a, b) == 0 })
	*was = unreadable{of: skips, paths: paths, skips: all}
	return all
}

func unreadPaths(faults []gitinfo.Fault) []string {
	var paths []string
	for _, f := range faults {
		if f.Path != "" {
			paths = append(paths, f.Path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// noticeUnread makes a notice of what cannot be read of the repository, unless the newest checkpoint's note has it
// already.
func (wt *Worktree) noticeUnread(faults []gitinfo.Fault, was oplog.Head) {
	if len(faults) == 0 || wt.isNoted(faults, was) {
		return
	}
	for _, f := range faults {
		wt.log.Notice(describe(f))
	}
}

func (wt *Worktree) isNoted(faults []gitinfo.Fault, was oplog.Head) bool {
	paths := unreadPaths(faults)
	if len(paths) == 0 || was.Checkpoint.IsZero() {
		return false
	}
	cp, err := wt.log.Checkpoint(was.Checkpoint)
	if err != nil || !slices.Contains([]string{model.EventInit, model.EventSave, model.EventUndo}, cp.Cause.Event) {
		return false
	}
	skips, err := wt.log.NoteOf(was.Note)
	return err == nil && slices.Equal(model.GitUnread(skips), paths)
}

// describe is, for people, what cannot be read and what follows from that.
func describe(f gitinfo.Fault) string {
	why := reason(f.Err)
	switch f.What {
	case gitinfo.Repository:
		return fmt.Sprintf("git's repository is broken: %s; recorded without what cannot be read of it", why)
	case gitinfo.Index:
		return fmt.Sprintf("git's index cannot be read: %s; the rules decide what is captured, and what was captured before stays", why)
	case gitinfo.HEAD:
		return fmt.Sprintf("git's HEAD cannot be read: %s; recorded without it", why)
	default:
		return fmt.Sprintf("git's %s cannot be read: %s; what it leaves out may be captured", f.What, why)
	}
}

// reason is a fault's text without the words that describe puts around it.
func reason(err error) string { return strings.TrimPrefix(err.Error(), gitinfo.ErrNoRepo.Error()+": ") }

// CheckGit is a finding for each part of the user's repository that cannot be read, and for one that is gone.
func (wt *Worktree) CheckGit() []value.Check {
	var out []value.Check
	git := wt.git.Read(wt.log.Project.Root, false)
	if !git.Repo {
		if c := wt.checkRepo(); c != nil {
			out = append(out, *c)
		}
	}
	for _, f := range git.Faults {
		c := value.Check{Name: "git", Level: value.LevelFinding, Text: value.Text(strings.TrimPrefix(describe(f), "git's "))}
		c.Remedy = "see what 'git status' and 'git fsck' say; checkpoints and restores go on without it"
		if f.Path == "" {
			c.Remedy = "see what 'git config --list --show-origin' says"
		}
		out = append(out, c)
	}
	return out
}

// GitState is what is unfinished in the user's repository, "" where it cannot be read.
func (wt *Worktree) GitState() string {
	state, err := wt.git.State(wt.log.Project.Root)
	if err != nil && len(wt.git.Read(wt.log.Project.Root, false).Faults) == 0 { // a fault has a notice of its own
		wt.log.Notice(fmt.Sprintf("whether git is in the middle of a merge or rebase cannot be read: %s", reason(err)))
	}
	return state
}

// lastTracked is what counts as tracked while the index cannot be read: what was tracked when it last could be. In a
// process that has not read it yet, all of the head, whose files were captured by the rules or because they were
// tracked. nil: nothing is known.
func (wt *Worktree) lastTracked() snapshot.Tracked {
	if wt.repo != nil && wt.repo.tracked != nil {
		return wt.repo.tracked
	}
	was, err := wt.log.Head()
	if err != nil || was.Tree.IsZero() {
		return nil
	}
	return &captured{get: wt.log.Objs, root: was.Tree, dirs: map[string]*nameLists{}}
}

// captured is a snapshot.Tracked with the files of a tree. A directory of it is read when it is first asked for; one
// that cannot be read counts as empty.
type captured struct {
	get  objstore.Getter
	root objstore.ID

	mu   sync.Mutex
	dirs map[string]*nameLists
}

// nameLists are the names of one directory's files and directories, ascending.
type nameLists struct {
	files, dirs []string
	ids         []objstore.ID // of dirs
}

// File reports whether the tree has a file or link at path.
func (c *captured) File(path string) bool {
	dir, name := tree.Split(path)
	_, ok := slices.BinarySearch(c.list(dir).files, name)
	return ok
}

// Below reports whether the tree has a directory at dir.
func (c *captured) Below(dir string) bool {
	if dir == "" {
		return true
	}
	above, name := tree.Split(dir)
	_, ok := slices.BinarySearch(c.list(above).dirs, name)
	return ok
}

func (c *captured) list(dir string) *nameLists {
	c.mu.Lock()
	n := c.dirs[dir]
	c.mu.Unlock()
	if n != nil {
		return n
	}
	n = &nameLists{}
	id := c.root
	if dir != "" {
		above, name := tree.Split(dir)
		up := c.list(above)
		i, ok := slices.BinarySearch(up.dirs, name)
		if !ok {
			return n
		}
		id = up.ids[i]
	}
	entries, err := tree.List(c.get, id)
	if err != nil {
		entries = nil
	}
	for i := range entries {
		name := strings.Clone(entries[i].Name) // without the rest of the directory's bytes
		if entries[i].Type == tree.TypeDir {
			n.dirs, n.ids = append(n.dirs, name), append(n.ids, entries[i].ID)
		} else {
			n.files = append(n.files, name)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dirs[dir] = n
	return n
}
