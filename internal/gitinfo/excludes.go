package gitinfo

import (
	"bytes"
	"errors"
	"fmt"
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

// Excludes reads the rules files outside the working tree, lowest precedence first: core.excludesFile, or where it is not set git's default,
// then info/exclude. A file that is absent or not a regular one is left out. foldCase is core.ignoreCase.
// After an error what is returned is still the part that could be read, with git's defaults for the rest.
func (r *Repo) Excludes() (files []File, foldCase bool, err error) {
	c, err := r.config()
	if err != nil {
		err = fmt.Errorf("gitinfo: read configuration of %s: %w", r.root, err)
	}
	for _, path := range []string{c.excludes, filepath.Join(r.common, "info", "exclude")} {
		if path == "" {
			continue
		}
		data, e := readFile(path, maxExcludeFile)
		switch {
		case e == nil:
			files = append(files, File{Path: path, Data: data})
		case !absent(e) && !errors.Is(e, errNotRegular):
			err = errors.Join(err, fmt.Errorf("gitinfo: read exclude file: %w", e))
		}
	}
	return files, c.foldCase, err
}

// config asks git only when a configuration file has a word that matters. The answer is held while the files do not change, but not
// where one includes others, which are not watched.
func (r *Repo) config() (config, error) {
	fallback := config{excludes: defaultExcludes()}
	paths := append(userConfigs(), filepath.Join(r.common, "config"), filepath.Join(r.gitDir, "config.worktree"))
	of, young := stamps(time.Now(), paths...)
	if c, ok := load(r, &r.configs, of); ok {
		return c, nil
	}
	var matters, includes bool
	for _, p := range paths {
		data, err := readFile(p, maxConfigFile)
		if err != nil {
			matters = matters || !absent(err) // let git judge
			continue
		}
		data = bytes.ToLower(data)
		includes = includes || bytes.Contains(data, []byte("include"))
		matters = matters || bytes.Contains(data, []byte("excludesfile")) || bytes.Contains(data, []byte("ignorecase"))
	}
	c := fallback
	if matters || includes {
		var err error
		c, err = r.configFromGit(fallback)
		if errors.Is(err, ErrNoGit) {
			return fallback, nil
		}
		if err != nil {
			return fallback, err
		}
	}
	if after, _ := stamps(time.Now(), paths...); !young && !includes && slices.Equal(after, of) {
		store(r, &r.configs, c, of)
	}
	return c, nil
}

// configFromGit asks for both values in one process; as paths, so that git expands ~, ~user and %(prefix), which leaves a boolean as it is.
// Only a boolean without a value is an error so, and asked for again by itself.
func (r *Repo) configFromGit(c config) (config, error) {
	out, _, err := r.git("config", "-z", "--includes", "--type=path", "--get-regexp", `^core\.(excludesfile|ignorecase)$`)
	if err != nil && !errors.Is(err, ErrNoGit) {
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
	if home := home(); home != "" {
		paths = append(paths, filepath.Join(home, ".gitconfig"))
	}
	return paths
}

// systemConfigs are where git's builds keep the configuration of the system; which one is compiled into git.
func systemConfigs() []string {
	switch runtime.GOOS {
	case "windows":
		var paths []string
		for _, dir := range []string{os.Getenv("ProgramFiles"), os.Getenv("ProgramFiles(x86)"), filepath.Join(os.Getenv("LocalAppData"), "Programs")} {
			paths = append(paths, filepath.Join(dir, "Git", "etc", "gitconfig"))
		}
		return append(paths, filepath.Join(os.Getenv("ProgramData"), "Git", "config"))
	case "darwin":
		return []string{
			"/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig", "/opt/local/etc/gitconfig",
			"/Library/Developer/CommandLineTools/usr/share/git-core/gitconfig",
			"/Applications/Xcode.app/Contents/Developer/usr/share/git-core/gitconfig",
		}
	default:
		return []string{"/etc/gitconfig", "/usr/etc/gitconfig", "/usr/local/etc/gitconfig", "/home/linuxbrew/.linuxbrew/etc/gitconfig"}
	}
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
	if home := home(); home != "" {
		return filepath.Join(home, ".config", "git")
	}
	return ""
}

// home is git's idea of it: HOME, and only on Windows the profile in its absence.
func home() string {
	h := os.Getenv("HOME")
	if h == "" && runtime.GOOS == "windows" {
		h = os.Getenv("USERPROFILE")
	}
	return h
}
