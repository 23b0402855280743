package gitinfo

import (
	"errors"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
)

// Holds reports whether a path of the index matches. It reads the index once and keeps nothing of it, so it costs less
// than Tracked where one question is asked. A repository without an index holds nothing.
func (r *Repo) Holds(match func(path []byte) bool) (bool, error) {
	data, err := readFile(r.Index(), maxIndexFile)
	if absent(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read index of %s: %w", r.root, err)
	}
	found := false
	err = decodeIndex(data, func(name []byte, _ uint32) { found = found || match(name) })
	if err == nil || !errors.Is(err, errNeedsGit) {
		return found, err
	}
	t, err := r.Tracked()
	if err != nil {
		return false, err
	}
	for i := range t.ends {
		if match([]byte(t.name(i))) {
			return true, nil
		}
	}
	for dir := range t.dirs {
		i := sort.Search(len(t.ends), func(i int) bool { return t.name(i) >= dir+"/" })
		plain := i < len(t.ends) && strings.HasPrefix(t.name(i), dir+"/")
		if !plain && match([]byte(dir)) { // a submodule, or what a sparse index holds as a whole
			return true, nil
		}
	}
	return false, nil
}

// Index is the path of the index file, which need not exist.
func (r *Repo) Index() string { return filepath.Join(r.gitDir, "index") }
