package gitinfo

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Head is where HEAD stands.
type Head struct {
	Commit   string // hex; empty on an unborn branch
	Branch   string // without refs/heads/; a ref elsewhere in full; empty when detached
	Detached bool
}

// Head reads HEAD. The commit it names is not looked for among the objects.
func (r *Repo) Head() (Head, error) {
	h, err := r.head()
	if err != nil {
		return Head{}, fmt.Errorf("gitinfo: read HEAD of %s: %w", r.root, err)
	}
	return h, nil
}

func (r *Repo) head() (Head, error) {
	if st, err := os.Stat(filepath.Join(r.common, "reftable")); err == nil && st.IsDir() {
		return r.headFromGit()
	}
	v, err := r.readHead()
	if err != nil {
		return Head{}, err
	}
	ref, symbolic := symref(v)
	if !symbolic {
		if !isHash(v) {
			return Head{}, fmt.Errorf("content %.80q: %w", v, ErrCorrupt)
		}
		return Head{Commit: v, Detached: true}, nil
	}
	h := Head{Branch: strings.TrimPrefix(ref, "refs/heads/")}
	for range maxSymrefs {
		if v, err = r.readRef(ref); err != nil {
			return Head{}, err
		}
		if ref, symbolic = symref(v); !symbolic {
			if v != "" && !isHash(v) {
				return Head{}, fmt.Errorf("ref %q: content %.80q: %w", ref, v, ErrCorrupt)
			}
			h.Commit = v
			return h, nil
		}
	}
	return Head{}, fmt.Errorf("symbolic refs lead on: %w", ErrCorrupt)
}

// readHead gives the content of HEAD, which in old repositories is a symbolic link to the ref.
func (r *Repo) readHead() (string, error) {
	path := filepath.Join(r.gitDir, "HEAD")
	if to, err := os.Readlink(path); err == nil && strings.HasPrefix(filepath.ToSlash(to), "refs/") {
		return "ref: " + filepath.ToSlash(to), nil
	}
	data, err := readFile(path, maxSmallFile)
	return strings.TrimRight(string(data), " \t\r\n"), err
}

// readRef gives a ref's content: a hash, another "ref: ", or nothing where the ref does not exist.
func (r *Repo) readRef(ref string) (string, error) {
	if !validRef(ref) {
		return "", fmt.Errorf("ref name %.200q: %w", ref, ErrCorrupt)
	}
	base := r.common
	for _, own := range []string{"refs/bisect/", "refs/worktree/", "refs/rewritten/"} {
		if strings.HasPrefix(ref, own) {
			base = r.gitDir
		}
	}
	data, err := readFile(filepath.Join(base, filepath.FromSlash(ref)), maxSmallFile)
	if v := strings.TrimRight(string(data), " \t\r\n"); err == nil && v != "" {
		return v, nil
	}
	// An empty file is left by a crash; a directory by refs below the name. In both cases the packed one counts.
	if err != nil && !absent(err) && !errors.Is(err, errNotRegular) {
		return "", err
	}
	return r.packedRef(ref)
}

func (r *Repo) packedRef(ref string) (string, error) {
	data, err := readFile(filepath.Join(r.common, "packed-refs"), maxPackedRefs)
	if absent(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	want := []byte(" " + ref)
	for at := 0; ; {
		i := bytes.Index(data[at:], want)
		if i < 0 {
			return "", nil
		}
		i += at
		at = i + len(want)
		if at < len(data) && data[at] != '\n' && data[at] != '\r' {
			continue
		}
		if hash := string(data[bytes.LastIndexByte(data[:i], '\n')+1 : i]); isHash(hash) {
			return hash, nil
		}
	}
}

func (r *Repo) headFromGit() (Head, error) {
	var h Head
	out, ok, err := r.git("symbolic-ref", "-q", "HEAD")
	if err != nil {
		return h, err
	}
	h.Detached = !ok
	h.Branch = strings.TrimPrefix(strings.TrimSpace(string(out)), "refs/heads/")
	out, _, err = r.git("rev-parse", "-q", "--verify", "HEAD")
	if err != nil {
		return h, err
	}
	h.Commit = strings.TrimSpace(string(out))
	if h.Commit != "" && !isHash(h.Commit) {
		return h, fmt.Errorf("git rev-parse says %.80q: %w", h.Commit, ErrCorrupt)
	}
	return h, nil
}

func symref(v string) (string, bool) {
	ref, ok := strings.CutPrefix(v, "ref:")
	return strings.TrimLeft(ref, " \t"), ok
}

// validRef keeps a ref inside the directory of refs.
func validRef(ref string) bool {
	if !strings.HasPrefix(ref, "refs/") || strings.ContainsAny(ref, "\x00\n\\:") {
		return false
	}
	for part := range strings.SplitSeq(ref, "/") {
		if part == "" || part[0] == '.' {
			return false
		}
	}
	return true
}

func isHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDirectory)
}
