package gitinfo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
)

// File is a rules file: its path, for messages, and its bytes.
type File struct {
	Path string
	Data []byte
}

// Repo is a repository with a working tree. It is safe for concurrent use.
type Repo struct {
	root   string // top of the working tree
	gitDir string // HEAD, index and state of this working tree; of a broken one "", if it is not known
	common string // refs, configuration and info, shared by linked working trees; "" as well

	outside gate        // the way to files that may lie on a disk that does not answer
	program gate        // the way to the git program
	hurry   atomic.Bool // an agent waits for the newest look

	mu       sync.Mutex // held for what follows only
	index    cached[*Tracked]
	configs  cached[config]
	last     *config            // the newest that git's files told; nil: none
	configOf []stamp            // of the configuration files, when they were looked at last
	refusals map[string]refusal // by question
}

// Toplevel returns the nearest directory, from dir upwards, that holds a .git: a git directory, or a file that names
// one, as in a linked working tree or a submodule. ok is false where there is none. What is named .git but is neither
// is passed over, as by git; not so one that was one by all its looks, for a repository that a power cut broke is still
// the one that the project is of. Unlike git it goes on across file systems and heeds no GIT_* variable.
func Toplevel(dir string) (root string, ok bool, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", false, fmt.Errorf("find top of %q: %w", dir, err)
	}
	for {
		at, err := find(dir)
		if err == nil || at.likeOne() {
			return dir, true, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", false, nil
		}
		dir = up
	}
}

// Open opens the repository whose working tree has its top at root; ErrNoRepo where there is none, or a broken one.
func Open(root string) (*Repo, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("open %q: %w", root, err)
	}
	at, err := find(root)
	if err != nil {
		return nil, fmt.Errorf("open %q: %w", root, err)
	}
	return repoAt(root, at), nil
}

func repoAt(root string, at layout) *Repo {
	return &Repo{root: root, gitDir: at.gitDir, common: at.common}
}

// layout is where a repository has its files.
type layout struct {
	gitDir string // "": it is not known
	common string // "": it is not known
	named  bool   // by a file in the place of .git
}

// errNoDotGit is ErrNoRepo where nothing is named .git.
var errNoDotGit = fmt.Errorf("%w", ErrNoRepo)

// find finds the repository of the working tree at root. After an error, which is always ErrNoRepo, too, the place is
// what could be found out.
func find(root string) (layout, error) {
	dot := filepath.Join(root, ".git")
	st, err := os.Lstat(dot)
	switch {
	case absent(err):
		return layout{}, errNoDotGit
	case err != nil:
		return layout{}, broken(err)
	case st.IsDir():
		return examine(layout{gitDir: dot})
	case st.Mode().IsRegular(), st.Mode()&fs.ModeSymlink != 0:
		// What it leads to may lie on a disk that does not answer.
		return inTime(&elsewhere, "what "+dot+" leads to", func() (layout, error) { return named(root, dot) })
	default:
		return layout{}, broken(&fs.PathError{Op: "read", Path: dot, Err: errNotRegular})
	}
}

// elsewhere is the way to git directories outside of their working trees.
var elsewhere gate

func named(root, dot string) (layout, error) {
	data, err := readFile(dot, maxSmallFile)
	if errors.Is(err, errDirectory) { // a link to one
		return examine(layout{gitDir: dot})
	}
	if err != nil {
		return layout{}, broken(err)
	}
	dir, ok := namedDir(data)
	if !ok {
		return layout{}, broken(corruptf("%s names no git directory", dot))
	}
	return examine(layout{gitDir: resolve(root, dir), named: true})
}

// examine looks whether a directory is git's: it has a HEAD, and objects and refs, of its own or in the common
// directory.
func examine(at layout) (layout, error) {
	common, err := commonDir(at.gitDir)
	if err != nil {
		return at, broken(err)
	}
	at.common = common
	for _, sub := range []string{"objects", "refs"} {
		path := filepath.Join(common, sub)
		if st, err := os.Stat(path); err != nil {
			return at, broken(err)
		} else if !st.IsDir() {
			return at, broken(&fs.PathError{Op: "open", Path: path, Err: errNotDirectory})
		}
	}
	if _, err := os.Lstat(filepath.Join(at.gitDir, "HEAD")); err != nil {
		return at, broken(err)
	}
	return at, nil
}

func broken(why error) error { return fmt.Errorf("%w: %w", ErrNoRepo, why) }

// likeOne reports whether what is no repository must have been one.
func (at layout) likeOne() bool {
	if at.gitDir == "" || at.named {
		return at.named
	}
	for _, name := range []string{"HEAD", "objects", "refs", "config", "index"} {
		if _, err := os.Lstat(filepath.Join(at.gitDir, name)); !absent(err) {
			return true
		}
	}
	return false
}

func commonDir(gitDir string) (string, error) {
	data, err := readFile(filepath.Join(gitDir, "commondir"), maxSmallFile)
	if errors.Is(err, fs.ErrNotExist) {
		return gitDir, nil
	}
	if err != nil {
		return "", err
	}
	dir := strings.TrimRight(string(data), "\r\n")
	if dir == "" || strings.IndexByte(dir, 0) >= 0 {
		return "", corruptf("%s %s", filepath.Join(gitDir, "commondir"), content(dir))
	}
	return resolve(gitDir, dir), nil
}

// resolve reads a path as git writes it, with slashes and relative to base.
func resolve(base, path string) string {
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	return filepath.Clean(path)
}
