package gitinfo

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Head is where HEAD stands.
type Head struct {
	Commit   string // hex; empty on an unborn branch
	Branch   string // without refs/heads/; a ref elsewhere in full; empty when detached
	detached bool
}

// head reads HEAD. The commit it names is not looked for among the objects. After an error the branch may be known all
// the same.
func (r *Repo) head() (Head, error) {
	if st, err := os.Stat(filepath.Join(r.common, "reftable")); err == nil && st.IsDir() && r.common != "" {
		return r.headOfTables()
	}
	v, cut, err := r.readHead()
	if err != nil {
		return Head{}, err
	}
	ref, symbolic := symref(v)
	if !symbolic {
		if !isHash(v) {
			return Head{}, corruptf("it %s", content(v))
		}
		return Head{Commit: v, detached: true}, nil
	}
	if !validRef(ref) {
		return Head{}, corruptf("it names the ref %.200q", ref)
	}
	h := Head{Branch: strings.TrimPrefix(ref, "refs/heads/")}
	for range maxSymrefs {
		if v, err = r.readRef(ref); err != nil {
			return h, err
		}
		if v == "" && cut {
			return Head{}, corruptf("it is cut short: %.60q", ref)
		}
		if v == "" {
			return h, r.unborn(ref)
		}
		if isHash(v) {
			h.Commit = v
			return h, nil
		}
		was := ref
		if ref, symbolic = symref(v); !symbolic {
			return h, corruptf("ref %q %s", was, content(v))
		}
	}
	return h, corruptf("symbolic refs lead on and on")
}

// unborn is nil for a branch without a commit yet. One that has a log had commits: its ref is lost.
func (r *Repo) unborn(ref string) error {
	st, err := os.Lstat(filepath.Join(r.common, "logs", filepath.FromSlash(ref)))
	if err == nil && st.Mode().IsRegular() && st.Size() > 0 {
		return corruptf("ref %q is gone, and has a log", ref)
	}
	return nil
}

// readHead gives the content of HEAD, which in old repositories is a symbolic link to the ref.
// cut: it does not end with a newline, which git always writes.
func (r *Repo) readHead() (v string, cut bool, err error) {
	path := filepath.Join(r.gitDir, "HEAD")
	if to, err := os.Readlink(path); err == nil && strings.HasPrefix(filepath.ToSlash(to), "refs/") {
		return "ref: " + filepath.ToSlash(to), false, nil
	}
	data, err := readFile(path, maxSmallFile)
	return strings.TrimRight(string(data), " \t\r\n"), !bytes.HasSuffix(data, []byte{'\n'}), err
}

// readRef gives a ref's content: a hash, another "ref: ", or nothing where the ref does not exist.
func (r *Repo) readRef(ref string) (string, error) {
	if !validRef(ref) {
		return "", corruptf("ref name %.200q", ref)
	}
	base := r.common
	for _, own := range []string{"refs/bisect/", "refs/worktree/", "refs/rewritten/"} {
		if strings.HasPrefix(ref, own) {
			base = r.gitDir
		}
	}
	if base == "" {
		return "", fmt.Errorf("ref %q: the directory of refs is not known: %w", ref, ErrNoRepo)
	}
	data, err := readFile(filepath.Join(base, filepath.FromSlash(ref)), maxSmallFile)
	switch v := strings.TrimRight(string(data), " \t\r\n"); {
	case err == nil && v == "": // a power cut leaves it so; git does not take the packed one then
		return "", corruptf("ref %q %s", ref, content(v))
	case err == nil:
		return v, nil
	case !absent(err) && !errors.Is(err, errDirectory): // a directory is left by refs below the name
		return "", err
	}
	return r.packedRef(ref)
}

func (r *Repo) packedRef(ref string) (string, error) {
	want := []byte(" " + ref)
	found, err := findLine(filepath.Join(r.common, "packed-refs"), maxPackedRefs, func(piece []byte) []byte {
		for at := 0; ; {
			i := bytes.Index(piece[at:], want)
			if i < 0 {
				return nil
			}
			i += at
			at = i + len(want)
			if at < len(piece) && piece[at] != '\n' && piece[at] != '\r' {
				continue
			}
			if hash := piece[bytes.LastIndexByte(piece[:i], '\n')+1 : i]; isHash(string(hash)) {
				return hash
			}
		}
	})
	if absent(err) {
		return "", nil
	}
	return string(found), err
}

// headOfTables is headFromGit, which is not asked again for a while after it failed.
func (r *Repo) headOfTables() (h Head, err error) {
	of, racy := stamps(time.Now(), filepath.Join(r.common, "reftable", "tables.list"), filepath.Join(r.gitDir, "HEAD"))
	err = r.asked("head", of, racy, func() (err error) {
		h, err = r.headFromGit()
		return err
	})
	return h, err
}

func (r *Repo) headFromGit() (Head, error) {
	var h Head
	out, ok, err := r.git("symbolic-ref", "-q", "HEAD")
	if err != nil {
		return h, err
	}
	h.detached = !ok
	h.Branch = strings.TrimPrefix(strings.TrimSpace(string(out)), "refs/heads/")
	out, _, err = r.git("rev-parse", "-q", "--verify", "HEAD")
	if err != nil {
		return h, err
	}
	h.Commit = strings.TrimSpace(string(out))
	if h.Commit != "" && !isHash(h.Commit) {
		return h, fmt.Errorf("git rev-parse says %.80q: %w", h.Commit, errCorrupt)
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
	fits := len(s) == 40 || len(s) == 64
	return fits && strings.Trim(s, "0123456789abcdef") == "" && strings.Trim(s, "0") != ""
}

func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDirectory)
}
