package gitworktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrLocked is returned for a working tree that somebody has locked with git.
var ErrLocked = errors.New("git has it locked")

// besideSuffix is what older versions added to the name of a directory for one that git made. A kill left it.
const besideSuffix = ".rewind-git"

// RemoveFrom is remove for the repository in which a directory of the project lies; none is no error.
func RemoveFrom(project, dir string) error {
	place, err := placeOf(project)
	if place.Common == "" {
		if errors.Is(err, ErrNoRepo) {
			return nil
		}
		return err
	}
	return remove(place.Common, dir)
}

// remove ends that a directory, be it gone, is a working tree of a repository: its .git goes, and what the repository
// has of it, all that a kill left of Add or of this included. Of a directory that is no such thing nothing is removed.
// Errors: ErrLocked.
func remove(common, dir string) error {
	owns, err := ownsOf(common, dir)
	if err != nil {
		return err
	}
	for _, own := range owns {
		if _, err := os.Lstat(filepath.Join(own, lockedName)); err == nil {
			return &fs.PathError{Op: "remove from git", Path: dir, Err: ErrLocked}
		}
	}
	for _, own := range owns {
		if err := removeOwn(own); err != nil {
			return err
		}
	}
	_ = os.Remove(filepath.Join(common, worktreesName)) // if it was the last one, as git does
	for _, at := range []string{dir, dir + besideSuffix} {
		if err := removeDot(common, at); err != nil {
			return err
		}
	}
	_ = os.Remove(dir + besideSuffix) // unless somebody has put something there
	return nil
}

// removeOwn removes what a repository has of a working tree. What says of which comes last, so that a second try finds
// what is left.
func removeOwn(own string) error {
	list, err := os.ReadDir(own)
	for _, e := range list {
		if e.Name() != gitdirName {
			err = errors.Join(err, os.RemoveAll(filepath.Join(own, e.Name())))
		}
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(own)
}

// ownsOf are the directories that a repository has for a working tree.
func ownsOf(common, dir string) (owns []string, err error) {
	all := filepath.Join(common, worktreesName)
	list, err := os.ReadDir(all)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	dot := filepath.Join(dir, ".git")
	dots, names := []string{dot, filepath.Join(dir+besideSuffix, ".git")}, named(all, dot)
	for _, e := range list {
		own := filepath.Join(all, e.Name())
		of, ok := read(filepath.Join(own, gitdirName))
		mine := ok && slices.Contains(dots, absolute(own, of))
		unsaid := !ok && own == names && begun(own)
		if e.IsDir() && (mine || unsaid) {
			owns = append(owns, own)
		}
	}
	return owns, nil
}

// absolute is a path as git writes it, which may be from the directory that it is written in.
func absolute(in, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(in, path)
	}
	return filepath.Clean(path)
}

// named is the directory in all that a .git names; "": none.
func named(all, dot string) string {
	text, _ := read(dot)
	own, ok := strings.CutPrefix(text, "gitdir: ")
	if !ok {
		return ""
	}
	if own = absolute(filepath.Dir(dot), own); filepath.Dir(own) != all {
		return ""
	}
	return own
}

// begun reports whether nothing is in a directory but what Add writes before it says of which working tree it is.
func begun(own string) bool {
	list, err := os.ReadDir(own)
	return err == nil && !slices.ContainsFunc(list, func(e os.DirEntry) bool {
		return !slices.Contains([]string{commonName, headName, gitdirName}, strings.TrimSuffix(e.Name(), lockSuffix))
	})
}

// read reads a file of one line.
func read(path string) (line string, ok bool) {
	fi, err := os.Lstat(path)
	if err != nil || !fi.Mode().IsRegular() || fi.Size() > 1<<16 {
		return "", false
	}
	raw, err := os.ReadFile(path)
	return strings.TrimRight(string(raw), "\r\n"), err == nil
}

// removeDot removes the .git of a directory, if it leads to the repository.
func removeDot(common, dir string) error {
	dot := filepath.Join(dir, ".git")
	for _, path := range []string{dot, dot + lockSuffix} {
		if named(filepath.Join(common, worktreesName), path) == "" {
			continue
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}
