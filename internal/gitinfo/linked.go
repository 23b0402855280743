package gitinfo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// worktreesDir is where a repository has a directory for each working tree that is linked to it:
// <common>/worktrees/<id>.
const worktreesDir = "worktrees"

// IsLinked reports whether the working tree at dir, an absolute path, is one that git has linked to a repository ('git
// worktree add'). dotGit is what its file .git says. A submodule and a repository with a separate git directory are
// none. Where that directory is gone or does not answer in a second, its path decides.
func IsLinked(dir string, dotGit []byte) bool {
	gitDir, ok := namedDir(dotGit)
	if !ok {
		return false
	}
	gitDir = resolve(dir, gitDir)
	linked, err := inTime(&elsewhere, gitDir, func() (bool, error) {
		if _, err := os.Lstat(filepath.Join(gitDir, "commondir")); !errors.Is(err, fs.ErrNotExist) {
			return err == nil, err
		}
		_, err := os.Lstat(gitDir)
		return false, err
	})
	return linked || err != nil && linkedByPath(gitDir)
}

// linkedByPath reports whether a git directory has the path of a linked working tree's. A submodule can have any name,
// "worktrees/x" too.
func linkedByPath(gitDir string) bool {
	above := filepath.Dir(gitDir)
	return filepath.Base(above) == worktreesDir && filepath.Base(filepath.Dir(above)) != "modules"
}

// namedDir is the directory that a file .git names, as it stands there.
func namedDir(dotGit []byte) (string, bool) {
	dir, ok := strings.CutPrefix(strings.TrimRight(string(dotGit), "\r\n"), "gitdir: ")
	if !ok || dir == "" || strings.IndexByte(dir, 0) >= 0 {
		return "", false
	}
	return dir, true
}

// A Linking is what ties a linked working tree to its repository, as git's files say on both sides.
type Linking struct {
	Top    string   // of the working tree
	Common string   // the git directory of the repository
	Others []string // the tops of its other working trees, that of the repository itself first, where it has one; some may be gone
}

// LinkedTop finds the working tree that dir lies in, and how it is linked. ok is false where it is not a linked one,
// where the repository does not name it, as one that a clone or an archive brought is not named by the user's own, or
// where something cannot be read.
func LinkedTop(dir string) (l Linking, ok bool) {
	top, found, err := Toplevel(dir)
	if err != nil || !found {
		return l, false
	}
	at, err := find(top)
	if err != nil || !at.named || at.gitDir == at.common {
		return l, false
	}
	l = Linking{Top: top, Common: at.common}
	back, err := inTime(&elsewhere, at.gitDir, func() (string, error) { return backLink(at.gitDir) })
	if err != nil || !sameFile(back, filepath.Join(top, ".git")) {
		return l, false
	}
	l.Others, err = inTime(&elsewhere, at.common, func() ([]string, error) { return topsOf(at.common, at.gitDir), nil })
	return l, err == nil
}

// backLink is the file .git that a linked working tree's git directory names.
func backLink(gitDir string) (string, error) {
	data, err := readFile(filepath.Join(gitDir, "gitdir"), maxSmallFile)
	if err != nil {
		return "", err
	}
	return resolve(gitDir, strings.TrimRight(string(data), "\r\n")), nil
}

// topsOf lists the working trees of a repository but one, its own first.
func topsOf(common, but string) (tops []string) {
	above := filepath.Dir(common)
	if at, err := find(above); err == nil && sameFile(at.common, common) {
		tops = append(tops, above)
	}
	linked, err := os.ReadDir(filepath.Join(common, worktreesDir))
	if err != nil {
		return tops
	}
	for _, e := range linked {
		gitDir := filepath.Join(common, worktreesDir, e.Name())
		if back, err := backLink(gitDir); err == nil && gitDir != but {
			tops = append(tops, filepath.Dir(back))
		}
	}
	return tops
}

func sameFile(a, b string) bool {
	fa, err := os.Lstat(a)
	if err != nil {
		return false
	}
	fb, err := os.Lstat(b)
	return err == nil && os.SameFile(fa, fb)
}

// inside gives those of a repository's directories that lie below the top of its working tree under another name than
// .git, with slashes and relative to it.
func (r *Repo) inside() (dirs []string) {
	for _, dir := range []string{r.gitDir, r.common} {
		rel, err := filepath.Rel(r.root, dir)
		none := dir == "" || err != nil
		if none || !filepath.IsLocal(rel) || rel == "." {
			continue
		}
		rel = filepath.ToSlash(rel)
		inside := rel == ".git" || strings.HasPrefix(rel, ".git/")
		if inside || len(dirs) > 0 && dirs[0] == rel {
			continue
		}
		dirs = append(dirs, rel)
	}
	return dirs
}
