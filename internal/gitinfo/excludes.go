package gitinfo

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// config is what is wanted of git's configuration.
type config struct {
	excludes string // path of core.excludesFile; "": there is none
	foldCase bool
}

// excludes reads the rules files outside the working tree, lowest precedence first: core.excludesFile, or where it is
// not set git's default, then info/exclude. A file that is absent or, outside of the repository, a directory or a
// device is left out. foldCase is core.ignoreCase. Where there are faults what is returned is still the part that could
// be read; for the configuration what it said last, or git's defaults.
func (r *Repo) excludes() (files []File, foldCase bool, faults []Fault) {
	c, own, err := r.config()
	if err != nil {
		path := ""
		if own {
			path = ".git/config"
		}
		faults = append(faults, Fault{What: configuration, Path: path, Err: err})
	}
	if c.excludes != "" {
		data, err := inTime(&r.outside, c.excludes, func() ([]byte, error) { return readFile(c.excludes, maxExcludeFile) })
		var at *fs.PathError
		switch {
		case err == nil:
			files = append(files, File{Path: c.excludes, Data: data})
		case absent(err), errors.Is(err, errDirectory):
		case errors.As(err, &at) && errors.Is(err, errNotRegular) && c.excludes == os.DevNull:
		default:
			faults = append(faults, Fault{What: excludeFile, Err: err})
		}
	}
	if r.common == "" {
		return files, c.foldCase, faults
	}
	path := filepath.Join(r.common, "info", "exclude")
	switch data, err := readFile(path, maxExcludeFile); {
	case err == nil:
		files = append(files, File{Path: path, Data: data})
	case !absent(err):
		faults = append(faults, Fault{What: excludeFile, Path: ".git/info/exclude", Err: err})
	}
	return files, c.foldCase, faults
}

// survey is what the configuration files say without git.
type survey struct {
	of      []stamp
	racy    bool
	held    *config // what is held of the same files
	matters bool    // git is to be asked
	more    bool    // there are files besides, which are not watched
	own     bool    // a file of the repository itself cannot be what git wrote
	waits   error   // git would wait for one of them
}

// configFiles are the files that have git's configuration, the user's first, which are so many.
func (r *Repo) configFiles() (paths []string, users int) {
	paths = userConfigs()
	users = len(paths)
	if r.common != "" {
		paths = append(paths, filepath.Join(r.common, "config"))
	}
	if r.gitDir != "" {
		paths = append(paths, filepath.Join(r.gitDir, "config.worktree"))
	}
	return paths, users
}

// config asks git only when a configuration file has a word that matters, or is none. The answer is held while the
// files do not change, but not where one includes others, which are not watched. own, with an error: it is the
// repository's own file that is broken, as far as is known.
func (r *Repo) config() (c config, own bool, err error) {
	c = config{excludes: defaultExcludes()}
	r.mu.Lock()
	if r.last != nil {
		c = *r.last
	}
	r.mu.Unlock()
	paths, mine := r.configFiles()
	s, err := inTime(&r.outside, "git's configuration", func() (survey, error) { return r.survey(paths, mine), nil })
	if err != nil {
		return c, false, err
	}
	if s.held != nil {
		return *s.held, false, nil
	}
	r.mu.Lock()
	r.configOf = s.of
	r.mu.Unlock()
	if s.waits != nil {
		return c, s.own, s.waits
	}
	c = config{excludes: defaultExcludes()}
	if s.matters || s.more {
		err := r.asked("config", nil, s.racy, func() (err error) {
			c, err = r.configFromGit(c)
			return err
		})
		if err != nil && !errors.Is(err, errNoGit) {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.last != nil {
				c = *r.last
			}
			return c, s.own, err
		}
		if err != nil {
			return config{excludes: defaultExcludes()}, false, nil
		}
	}
	watched := !s.racy && !s.more
	if after, err := inTime(&r.outside, "git's configuration", func() ([]stamp, error) {
		after, _ := stamps(time.Now(), paths...)
		return after, nil
	}); err == nil && watched && slices.Equal(after, s.of) {
		store(r, &r.configs, c, s.of)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = &c
	return c, false, nil
}

// survey looks at the configuration files; those from mine on are the repository's own.
func (r *Repo) survey(paths []string, mine int) survey {
	var s survey
	s.of, s.racy = stamps(time.Now(), paths...)
	if c, ok := load(r, &r.configs, s.of); ok {
		s.held = &c
		return s
	}
	for i, p := range paths {
		data, err := readFile(p, maxConfigFile)
		if err == nil && !plausible(data) {
			err = errCorrupt
		}
		if err != nil {
			s.matters = s.matters || !absent(err) // let git judge
			s.own = s.own || i >= mine && !absent(err)
			if errors.Is(err, errNotRegular) && !errors.Is(err, errDirectory) && p != os.DevNull {
				s.waits = err
			}
			continue
		}
		data = bytes.ToLower(data)
		s.more = s.more || bytes.Contains(data, []byte("include"))
		s.matters = s.matters || bytes.Contains(data, []byte("excludesfile")) || bytes.Contains(data, []byte("ignorecase"))
	}
	return s
}

// plausible reports whether every line could be one of a configuration file.
func plausible(data []byte) bool {
	if bytes.IndexByte(data, 0) >= 0 {
		return false
	}
	goesOn := false
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte{'\n'})
		data = rest
		line = bytes.TrimSuffix(line, []byte{'\r'})
		if text := bytes.TrimLeft(line, " \t\xef\xbb\xbf"); !goesOn && len(text) > 0 {
			switch c := text[0]; {
			case c == '[' && bytes.IndexByte(text, ']') < 0:
				return false
			case c != '[' && c != '#' && c != ';' && (c|0x20 < 'a' || c|0x20 > 'z'):
				return false
			}
		}
		goesOn = bytes.HasSuffix(line, []byte{'\\'})
	}
	return true
}

// configFromGit asks for both values in one process; as paths, so that git expands ~, ~user and %(prefix), which leaves
// a boolean as it is. Only a boolean without a value is an error so, and asked for again by itself.
func (r *Repo) configFromGit(c config) (config, error) {
	out, _, err := r.git("config", "-z", "--includes", "--type=path", "--get-regexp", `^core\.(excludesfile|ignorecase)$`)
	if err != nil && !errors.Is(err, errNoGit) && !errors.Is(err, errNoAnswer) {
		return r.configOneByOne(c)
	}
	for record := range strings.SplitSeq(string(out), "\x00") {
		switch key, value, _ := strings.Cut(record, "\n"); key {
		case "core.excludesfile":
			c.excludes = r.expand(value)
		case "core.ignorecase":
			c.foldCase = truth(value)
		}
	}
	return c, err
}

func (r *Repo) configOneByOne(c config) (config, error) {
	out, ok, err := r.git("config", "-z", "--includes", "--type=path", "--get", "core.excludesFile")
	if err != nil {
		return c, err
	}
	if ok {
		c.excludes = r.expand(strings.TrimSuffix(string(out), "\x00"))
	}
	out, _, err = r.git("config", "-z", "--includes", "--type=bool", "--get", "core.ignoreCase")
	c.foldCase = truth(strings.TrimSuffix(string(out), "\x00"))
	return c, err
}

// expand gives the path of an exclude file; an empty value means that there is none.
func (r *Repo) expand(value string) string {
	if value == "" {
		return ""
	}
	return resolve(r.root, value)
}

// truth reads a boolean of git's configuration.
func truth(s string) bool {
	switch strings.ToLower(s) {
	case "true", "yes", "on":
		return true
	}
	n, err := strconv.Atoi(s)
	return err == nil && n != 0
}

// userConfigs are the configuration files outside the repository, where git looks for them.
func userConfigs() []string {
	var paths []string
	if !truth(os.Getenv("GIT_CONFIG_NOSYSTEM")) {
		if p := os.Getenv("GIT_CONFIG_SYSTEM"); p != "" {
			paths = append(paths, p)
		} else {
			paths = append(paths, systemConfigs()...)
		}
	}
	if p := os.Getenv("GIT_CONFIG_GLOBAL"); p != "" {
		return append(paths, p)
	}
	if dir := xdgDir(); dir != "" {
		paths = append(paths, filepath.Join(dir, "config"))
	}
	if home := os.Getenv("HOME"); home != "" {
		paths = append(paths, filepath.Join(home, ".gitconfig"))
	}
	return paths
}

// systemConfigs are where git's builds keep the configuration of the system; which one is compiled into git.
func systemConfigs() []string {
	if runtime.GOOS == "darwin" {
		return []string{
			"/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig", "/opt/local/etc/gitconfig",
			"/Library/Developer/CommandLineTools/usr/share/git-core/gitconfig",
			"/Applications/Xcode.app/Contents/Developer/usr/share/git-core/gitconfig",
		}
	}
	return []string{"/etc/gitconfig", "/usr/etc/gitconfig", "/usr/local/etc/gitconfig", "/home/linuxbrew/.linuxbrew/etc/gitconfig"}
}

func defaultExcludes() string {
	if dir := xdgDir(); dir != "" {
		return filepath.Join(dir, "ignore")
	}
	return ""
}

// xdgDir is git's directory below the user's configuration; "" where there is no home.
func xdgDir() string {
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git")
	}
	if home := os.Getenv("HOME"); home != "" {
		return filepath.Join(home, ".config", "git")
	}
	return ""
}
