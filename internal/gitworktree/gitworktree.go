// Package gitworktree makes a directory that is there a linked working tree of git's, and ends that.
//
// `git worktree add` makes its directory itself, and starts hooks of the repository. So the files by which git knows a
// working tree are written here, as gitrepository-layout(5) has them, and git is started only for refs and the index,
// aside from the repository ([gitcmd.Aside]): no program of the repository's is run.
//
// After a kill RemoveFrom can find everything that is left by the directory. The order ensures it: the directory's .git
// names the place in the repository before that is made. The first file made there names the directory.
package gitworktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"rewind/internal/gitcmd"
	"rewind/internal/gitinfo"
)

// ErrNoRepo is returned where a directory is in no repository of git.
var ErrNoRepo = errors.New("it is not in a repository of git")

// errForeign is for a repository of another user, which git refuses, too.
var errForeign = errors.New("the repository belongs to another user")

// errUnborn is for a repository without a commit.
var errUnborn = errors.New("the repository has no commit yet")

// Repo is a repository that a working tree can be made of.
type Repo struct{ place gitinfo.Place }

// Of finds the repository in which a directory lies. Errors: ErrNoRepo.
func Of(dir string) (*Repo, error) {
	place, err := placeOf(dir)
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{place.GitDir, place.Common} {
		fi, err := os.Stat(dir)
		if err != nil {
			return nil, err
		}
		if st, ok := fi.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
			return nil, errForeign
		}
	}
	if place.Head.Commit == "" {
		return nil, errUnborn
	}
	return &Repo{place}, nil
}

func placeOf(dir string) (gitinfo.Place, error) {
	top, ok, err := gitinfo.Toplevel(dir)
	if err != nil {
		return gitinfo.Place{}, err
	}
	if !ok {
		return gitinfo.Place{}, ErrNoRepo
	}
	repo, err := gitinfo.Open(top)
	if err != nil {
		return gitinfo.Place{}, err
	}
	place, err := repo.Place()
	if err != nil {
		return place, fmt.Errorf("HEAD of %q: %w", top, err)
	}
	place.Common, err = filepath.EvalSymlinks(place.Common)
	return place, err
}

// Names of git's in the directory of a working tree's own in a repository.
const (
	worktreesName = "worktrees"
	gitdirName    = "gitdir" // its content is the path of the working tree's .git
	commonName    = "commondir"
	headName      = "HEAD"
	lockedName    = "locked"
	lockSuffix    = ".lock"
	tablesName    = "reftable"
	refsName      = "refs"
	// unborn is what HEAD is until it is known. No branch has such a name.
	unborn = "ref: refs/heads/.invalid\n"
)

// Add makes a directory, in which nothing is named .git, a working tree on the commit on which the repository stands:
// on a new branch, or with "" on none. Its index is the commit's, its files stay. After an error the directory is as it
// was.
func (r *Repo) Add(ctx context.Context, dir, branch string) (err error) {
	dot := filepath.Join(dir, ".git")
	if _, err := os.Lstat(dot); err == nil {
		return &fs.PathError{Op: "make a worktree of git", Path: dot, Err: fs.ErrExist}
	}
	if err := r.checkBranch(ctx, branch); err != nil {
		return fmt.Errorf("git worktree: %w", err)
	}
	own, err := r.enter(dir, dot)
	if err == nil {
		err = r.fill(ctx, own, branch)
	}
	if err != nil {
		return fmt.Errorf("git worktree: %w", errors.Join(err, remove(r.place.Common, dir)))
	}
	return nil
}

// checkBranch says why a branch cannot be made; "" is none.
func (r *Repo) checkBranch(ctx context.Context, branch string) error {
	if branch == "" {
		return nil
	}
	lent := r.lent()
	if err := gitcmd.Aside(ctx, lent, nil, "check-ref-format", "refs/heads/"+branch); err != nil || strings.HasPrefix(branch, "-") {
		return fmt.Errorf("%q is no name of a branch", branch)
	}
	lent.Refs = r.place.Common
	if gitcmd.Aside(ctx, lent, nil, "rev-parse", "--verify", "-q", "refs/heads/"+branch) == nil {
		return fmt.Errorf("the branch %s is there already", branch)
	}
	return nil
}

// lent is what git may use of the repository: its objects.
func (r *Repo) lent() gitcmd.Lent {
	return gitcmd.Lent{Common: r.place.Common, SHA256: len(r.place.Head.Commit) == 64, Tables: r.place.Tables}
}

// enter makes the directory of a working tree in the repository, after the working tree says where that is.
func (r *Repo) enter(dir, dot string) (own string, err error) {
	all := filepath.Join(r.place.Common, worktreesName)
	if err := os.Mkdir(all, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	for i := 0; ; i++ {
		own = filepath.Join(all, name(filepath.Base(dir), i))
		if _, err := os.Lstat(own); err == nil {
			continue
		}
		if err := replace(dot, "gitdir: "+own+"\n"); err != nil {
			return "", err
		}
		if err = os.Mkdir(own, 0o777); !errors.Is(err, fs.ErrExist) {
			break // else another one took it meanwhile
		}
	}
	if err != nil {
		return "", err
	}
	for _, file := range [][2]string{{commonName, "../..\n"}, {headName, r.place.Head.Commit + "\n"}, {gitdirName, dot + "\n"}} {
		if err := replace(filepath.Join(own, file[0]), file[1]); err != nil {
			return "", err
		}
	}
	return own, nil
}

// name is the nth name that a working tree may have in its repository. As git does it, what could not be in the name of
// a ref is a dash.
func name(base string, n int) string {
	ok := func(c rune) rune {
		if c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-' {
			return c
		}
		return '-'
	}
	base = strings.Map(ok, base)
	if n > 0 {
		base += fmt.Sprint(n)
	}
	return base
}

// replace writes a small file, whole or not at all.
func replace(path, text string) error {
	if err := os.WriteFile(path+lockSuffix, []byte(text), 0o666); err != nil { //nolint:gosec // as git: the umask decides
		return err
	}
	return os.Rename(path+lockSuffix, path)
}

// fill makes what else a working tree has: its branch, its HEAD and its index.
func (r *Repo) fill(ctx context.Context, own, branch string) error {
	commit, lent := r.place.Head.Commit, r.lent()
	if branch != "" {
		refs := lent
		refs.Refs = r.place.Common
		none := strings.Repeat("0", len(commit))
		if err := gitcmd.Aside(ctx, refs, nil, "update-ref", "refs/heads/"+branch, commit, none); err != nil {
			return err
		}
	}
	if err := r.setHead(ctx, own, branch, lent); err != nil {
		return err
	}
	return gitcmd.Aside(ctx, lent, []string{"GIT_INDEX_FILE=" + filepath.Join(own, "index")}, "read-tree", commit)
}

// setHead writes the HEAD of a working tree. Where refs are in tables it is in tables of its own, and a file says that
// it is elsewhere.
func (r *Repo) setHead(ctx context.Context, own, branch string, lent gitcmd.Lent) error {
	if !r.place.Tables {
		if branch == "" {
			return nil // it is there
		}
		return replace(filepath.Join(own, headName), "ref: refs/heads/"+branch+"\n")
	}
	err := errors.Join(os.Mkdir(filepath.Join(own, tablesName), 0o777), os.Mkdir(filepath.Join(own, refsName), 0o777),
		replace(filepath.Join(own, refsName, "heads"), "this repository uses the reftable format\n"),
		replace(filepath.Join(own, headName), unborn))
	if err != nil {
		return err
	}
	lent.Refs = own
	if branch != "" {
		return gitcmd.Aside(ctx, lent, nil, "symbolic-ref", "HEAD", "refs/heads/"+branch)
	}
	return gitcmd.Aside(ctx, lent, nil, "update-ref", "--no-deref", "HEAD", r.place.Head.Commit)
}
