package ignoretest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Set is a directory with rules files in it and below, and paths to ask about.
type Set struct {
	Files map[string]string // directory ("" or "a/b") to the content of its .gitignore
	Dirs  []string
	Paths []string // below the set's directory; those in Dirs are directories
}

// Repo is one git repository with rule sets in its directories s0, s1, ...; with Alone the one set lies at the root.
type Repo struct {
	Excludes, Info, Root string // the contents of core.excludesFile, .git/info/exclude and the topmost .gitignore
	Fold                 bool   // core.ignoreCase
	Alone                bool
	Sets                 []Set
}

// At is the directory of set i with a slash behind it, or "".
func (r *Repo) At(i int) string {
	if r.Alone {
		return ""
	}
	return fmt.Sprintf("s%d/", i)
}

// Answer is what git check-ignore -v says: all empty where no rule matches.
type Answer struct{ File, Line, Pattern string }

// Ignored reports whether the rule that decides ignores the path.
func (a Answer) Ignored() bool { return a.File != "" && !strings.HasPrefix(a.Pattern, "!") }

// Ask lays the repository out in a directory of its own, which is gone afterwards, and gives git's answers for the
// paths of all sets, in order.
func (r *Repo) Ask() ([]Answer, error) {
	dir, err := scratch()
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := r.write(dir); err != nil {
		return nil, err
	}
	var asked []string
	for i, s := range r.Sets {
		for _, p := range s.Paths {
			asked = append(asked, r.At(i)+p)
		}
	}
	return checkIgnore(dir, asked)
}

// scratch makes a directory, in memory where there is such a place: 20,000 files take a busy disk a minute, and memory
// 2 s.
func scratch() (string, error) {
	for _, parent := range []string{"/dev/shm", os.TempDir()} {
		if dir, err := os.MkdirTemp(parent, "rewind-ignore-"); err == nil {
			return dir, nil
		}
	}
	return "", errors.New("ignoretest: no place for a directory")
}

func (r *Repo) write(parent string) error {
	var errs []error
	put := func(path, data string) {
		errs = append(errs, os.WriteFile(filepath.Join(parent, path), []byte(data), 0o600))
	}
	mk := func(path string) {
		errs = append(errs, os.MkdirAll(filepath.Join(parent, path), 0o700))
	}
	for _, d := range []string{"r/.git/info", "r/.git/objects", "r/.git/refs"} {
		mk(d)
	}
	put("r/.git/HEAD", "ref: refs/heads/main\n")
	put("r/.git/config", fmt.Sprintf("[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tignorecase = %v\n"+
		"\texcludesFile = ../excludes\n", r.Fold))
	put("r/.git/info/exclude", r.Info)
	put("excludes", r.Excludes)
	if !r.Alone {
		put("r/.gitignore", r.Root)
	}
	for i, s := range r.Sets {
		mk("r/" + r.At(i))
		for _, d := range s.Dirs {
			mk("r/" + r.At(i) + d)
		}
		for d, data := range s.Files {
			put("r/"+r.At(i)+d+"/.gitignore", data)
		}
	}
	return errors.Join(errs...)
}

func checkIgnore(parent string, paths []string) ([]Answer, error) {
	cmd := exec.Command("git", "check-ignore", "--no-index", "--stdin", "-z", "-v", "-n")
	cmd.Dir = filepath.Join(parent, "r")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + parent, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
	// ./ : a name may begin with a colon, which is magic
	cmd.Stdin = strings.NewReader("./" + strings.Join(paths, "\x00./") + "\x00")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ee := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &ee) || ee.ExitCode() != 1) {
		return nil, fmt.Errorf("git check-ignore: %w: %s", err, stderr.String())
	}
	fields := strings.Split(string(out), "\x00")
	if len(fields) != 4*len(paths)+1 {
		return nil, fmt.Errorf("git check-ignore answered %d fields for %d paths: %s", len(fields), len(paths), stderr.String())
	}
	got := make([]Answer, len(paths))
	for i := range paths {
		f := fields[4*i:]
		if f[3] != "./"+paths[i] {
			return nil, fmt.Errorf("git check-ignore: answer %d is about %q, asked about %q", i, f[3], paths[i])
		}
		got[i] = Answer{f[0], f[1], f[2]}
	}
	return got, nil
}
