package gitinfo

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// File is a rules file: its path, for messages, and its bytes.
type File struct {
	Path string
	Data []byte
}

// Repo is a repository with a working tree. It is safe for concurrent use.
type Repo struct {
	root   string // top of the working tree
	gitDir string // HEAD, index and state of this working tree
	common string // refs, configuration and info, shared by linked working trees

	mu      sync.Mutex // held for the caches only
	index   cached[*Tracked]
	configs cached[config]
}

// Toplevel returns the nearest directory, from dir upwards, that holds a .git: a git directory, or a file that names one, as in a linked
// working tree or a submodule. ok is false where there is none. What is named .git but is neither is passed over, as by git.
// Unlike git it goes on across file systems and heeds no GIT_* variable.
func Toplevel(dir string) (root string, ok bool, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", false, fmt.Errorf("gitinfo: find top of %q: %w", dir, err)
	}
	for {
		if _, err := findGitDir(dir); err == nil {
			return dir, true, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", false, nil
		}
		dir = up
	}
}

// Open opens the repository whose working tree has its top at root.
func Open(root string) (*Repo, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("gitinfo: open %q: %w", root, err)
	}
	gitDir, err := findGitDir(root)
	if err != nil {
		return nil, fmt.Errorf("gitinfo: open %q: %w", root, err)
	}
	common, err := commonDir(gitDir)
	if err != nil {
		return nil, fmt.Errorf("gitinfo: open %q: %w", root, err)
	}
	return &Repo{root: root, gitDir: gitDir, common: common}, nil
}

// Root is the top of the working tree.
func (r *Repo) Root() string { return r.root }

// GitDir is the git directory of this working tree.
func (r *Repo) GitDir() string { return r.gitDir }

// CommonDir is the git directory that linked working trees share; it is GitDir where there are none.
func (r *Repo) CommonDir() string { return r.common }

// findGitDir gives the git directory of the working tree at root, or ErrNoRepo.
func findGitDir(root string) (string, error) {
	dot := filepath.Join(root, ".git")
	st, err := os.Stat(dot)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", ErrNoRepo
	case err != nil:
		return "", fmt.Errorf("%w: %w", ErrNoRepo, err)
	case st.Mode().IsRegular():
		data, err := readFile(dot, maxSmallFile)
		if err != nil {
			return "", fmt.Errorf("%w: %w", ErrNoRepo, err)
		}
		dir, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), "gitdir: ")
		if !ok || dir == "" {
			return "", fmt.Errorf("%w: %s names no git directory", ErrNoRepo, dot)
		}
		dot = resolve(root, dir)
	}
	// A git directory has a HEAD, and objects and refs, of its own or in the common directory.
	if st, err := os.Lstat(filepath.Join(dot, "HEAD")); err != nil || st.IsDir() {
		return "", fmt.Errorf("%w: no HEAD in %s", ErrNoRepo, dot)
	}
	common, err := commonDir(dot)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoRepo, err)
	}
	for _, sub := range []string{"objects", "refs"} {
		if st, err := os.Stat(filepath.Join(common, sub)); err != nil || !st.IsDir() {
			return "", fmt.Errorf("%w: no %s in %s", ErrNoRepo, sub, common)
		}
	}
	return dot, nil
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
	if dir == "" {
		return "", fmt.Errorf("commondir of %s: %w", gitDir, ErrCorrupt)
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

// readFile reads a regular file of at most limit bytes. It does not open pipes and devices.
func readFile(path string, limit int64) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errNotRegular}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st.Size() > limit {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errTooLarge}
	}
	data := make([]byte, 0, st.Size()+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if int64(len(data)) > limit {
			return nil, &fs.PathError{Op: "read", Path: path, Err: errTooLarge}
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

var (
	errNotRegular = errors.New("not a regular file")
	errTooLarge   = errors.New("larger than git allows")
)

// stamp tells whether a file may have changed. Its zero value is an absent file.
type stamp struct {
	size  int64
	mtime int64 // unix ns
}

// cached holds a value made from files.
type cached[T any] struct {
	value T
	of    []stamp // nil: nothing is held
}

// stamps looks at files; young is true when one was changed so lately that another change might leave the same stamp.
func stamps(now time.Time, paths ...string) (of []stamp, young bool) {
	of = make([]stamp, len(paths))
	for i, p := range paths {
		if st, err := os.Stat(p); err == nil {
			of[i] = stamp{st.Size(), st.ModTime().UnixNano()}
			young = young || now.Sub(st.ModTime()) < settled
		}
	}
	return of, young
}
