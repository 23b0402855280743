package gitinfo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"rewind/internal/gitcmd"
)

// Tracked is the set of paths in the index, as bytes with slashes, from the top of the working tree. It is immutable
// and safe for concurrent use. It takes the length of the paths, 4 bytes a path, and some 30 bytes a directory. Case is
// not folded, whatever core.ignoreCase says.
type Tracked struct {
	names string   // all paths, ascending
	ends  []uint32 // where each ends
	dirs  map[string]struct{}

	sparse map[string]struct{} // directories that a sparse index holds instead of what is in them; mostly nil
}

// File reports whether path is in the index, merged or not. A submodule is no file. Below a directory that a sparse
// index holds as a whole every path counts: which files it has is not said, and taking one too many loses nothing.
func (t *Tracked) File(path string) bool {
	if len(t.sparse) > 0 && t.inSparse(path) {
		return true
	}
	i := sort.Search(len(t.ends), func(i int) bool { return t.name(i) >= path })
	return i < len(t.ends) && t.name(i) == path
}

// Below reports whether dir is a directory with a path of the index in it, or a submodule. The top, "", is one if the
// index is not empty.
func (t *Tracked) Below(dir string) bool {
	_, ok := t.dirs[dir]
	return ok || len(t.sparse) > 0 && t.inSparse(dir)
}

// inSparse reports whether path lies in a directory of t.sparse.
func (t *Tracked) inSparse(path string) bool {
	for i := range len(path) {
		if path[i] == '/' {
			if _, ok := t.sparse[path[:i]]; ok {
				return true
			}
		}
	}
	return false
}

// Len is the number of files; those below a sparse directory are not counted.
func (t *Tracked) Len() int { return len(t.ends) }

// Equal reports whether two sets hold the same paths; nil equals nil alone.
func (t *Tracked) Equal(o *Tracked) bool {
	if t == o || t == nil || o == nil {
		return t == o
	}
	return t.names == o.names && slices.Equal(t.ends, o.ends) && maps.Equal(t.sparse, o.sparse)
}

func (t *Tracked) name(i int) string {
	start := uint32(0)
	if i > 0 {
		start = t.ends[i-1]
	}
	return t.names[start:t.ends[i]]
}

// Tracked reads the index. While the file has not changed it gives the same set, the same pointer. A repository without
// an index has an empty set.
func (r *Repo) Tracked() (*Tracked, error) {
	t, err := r.tracked()
	if err != nil {
		return nil, fmt.Errorf("read index of %s: %w", r.root, err)
	}
	return t, nil
}

func (r *Repo) tracked() (*Tracked, error) {
	path := filepath.Join(r.gitDir, "index")
	of, racy := stamps(time.Now(), path)
	if t, ok := load(r, &r.index, of); ok {
		return t, nil
	}
	var t *Tracked
	err := r.asked("index", of, racy, func() (err error) {
		t, err = r.readTracked(path)
		return err
	})
	if err != nil {
		return nil, err
	}
	if after, _ := stamps(time.Now(), path); !racy && after[0] == of[0] {
		store(r, &r.index, t, of)
	}
	return t, nil
}

func (r *Repo) readTracked(path string) (*Tracked, error) {
	data, err := readIndex(path)
	if absent(err) {
		return newBuilder(0).done()
	}
	if err != nil {
		return nil, err
	}
	t := newBuilder(len(data) / (statLength + 40))
	if err := decodeIndex(data, t.add); errors.Is(err, errCorrupt) {
		return nil, err
	} else if err != nil {
		return r.trackedFromGit(err)
	}
	return t.done()
}

// readIndex reads an index, unless its beginning shows that it is none, or a file far larger than what it says to hold.
func readIndex(path string) ([]byte, error) {
	f, size, err := openFile(path, maxIndexFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, indexHeader)
	if _, err := io.ReadFull(f, head); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	if !bytes.HasPrefix(head, []byte("DIRC")) {
		return nil, corruptf("%s %s", path, content(string(head[:min(size, 4)])))
	}
	if count := int64(binary.BigEndian.Uint32(head[8:])); size > slackIndex+count*roomyEntry {
		return nil, corruptf("%s has %d bytes for %d entries", path, size, count)
	}
	return readAll(io.MultiReader(bytes.NewReader(head[:min(size, indexHeader)]), f), path, size, maxIndexFile)
}

// trackedFromGit asks git for the index; why is the reason for it. Git renews the modification time of a split index's
// shared part each time it reads it, so it is given a copy in a git directory of its own.
func (r *Repo) trackedFromGit(why error) (*Tracked, error) {
	if !gitcmd.Installed() {
		return nil, fmt.Errorf("%w (%w)", errNoGit, why)
	}
	dir, err := os.MkdirTemp("", "rewind-index-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := r.copyIndex(dir); err != nil {
		return nil, err
	}
	out, _, err := r.gitAt(dir, "ls-files", "-z", "--cached", "--stage")
	if err != nil {
		return nil, err
	}
	t := newBuilder(0)
	var last []byte
	for len(out) > 0 {
		record, rest, ok := bytes.Cut(out, []byte{0})
		head, name, tab := bytes.Cut(record, []byte{'\t'})
		mode, _, _ := bytes.Cut(head, []byte{' '})
		n, err := strconv.ParseUint(string(mode), 8, 32)
		bad := !ok || !tab || err != nil
		if bad || len(name) == 0 || bytes.Compare(last, name) > 0 {
			return nil, fmt.Errorf("git ls-files says %.80q: %w", record, errCorrupt)
		}
		t.add(name, uint32(n))
		out, last = rest, name
	}
	return t.done()
}

// copyIndex makes dir the git directory of a linked working tree with this index.
func (r *Repo) copyIndex(dir string) error {
	all, err := os.ReadDir(r.gitDir)
	if err != nil {
		return err
	}
	for _, e := range all {
		if e.Name() != "index" && !strings.HasPrefix(e.Name(), "sharedindex.") {
			continue
		}
		data, err := readFile(filepath.Join(r.gitDir, e.Name()), maxIndexFile)
		if err != nil && e.Name() != "index" {
			continue // of another index, or git says so
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, e.Name()), data, 0o600); err != nil {
			return err
		}
	}
	head := []byte("ref: refs/heads/main\n") // it is not asked for
	return errors.Join(os.WriteFile(filepath.Join(dir, "HEAD"), head, 0o600),
		os.WriteFile(filepath.Join(dir, "commondir"), []byte(r.common+"\n"), 0o600))
}

// builder collects ascending names.
type builder struct {
	names    strings.Builder
	ends     []uint32
	gitlinks []string
	sparse   []string
	last     []byte
	over     bool
}

func newBuilder(sizeHint int) *builder { return &builder{ends: make([]uint32, 0, sizeHint)} }

func (b *builder) add(name []byte, mode uint32) {
	switch {
	case mode&modeTypeMask == modeDirectory:
		b.sparse = append(b.sparse, string(name[:len(name)-1]))
	case mode&modeTypeMask == modeGitlink:
		b.gitlinks = append(b.gitlinks, string(name))
	case len(b.ends) > 0 && bytes.Equal(b.last, name): // another stage of the same path
	case b.names.Len()+len(name) > maxIndexNames:
		b.over = true
	default:
		b.names.Write(name)
		b.ends = append(b.ends, uint32(b.names.Len()))
		b.last = append(b.last[:0], name...)
	}
}

// done gives the set. Directories are the ends of names' common beginnings, so each is met once and its key lies in
// names.
func (b *builder) done() (*Tracked, error) {
	if b.over {
		return nil, fmt.Errorf("more than %d bytes of paths: %w", maxIndexNames, errTooLarge)
	}
	t := &Tracked{names: b.names.String(), ends: append([]uint32(nil), b.ends...), dirs: map[string]struct{}{}}
	last := ""
	for i := range t.ends {
		name := t.name(i)
		t.addDirs(name, last)
		last = name
	}
	for _, g := range b.gitlinks {
		t.addDirs(g, "")
		t.dirs[g] = struct{}{}
	}
	for _, d := range b.sparse {
		t.addDirs(d, "")
		t.dirs[d] = struct{}{}
		if t.sparse == nil {
			t.sparse = map[string]struct{}{}
		}
		t.sparse[d] = struct{}{}
	}
	return t, nil
}

// addDirs adds the directories of name that the name before, last, did not have.
func (t *Tracked) addDirs(name, last string) {
	same := 0
	for same < len(name) && same < len(last) && name[same] == last[same] {
		same++
	}
	if last == "" {
		t.dirs[""] = struct{}{}
	}
	for i := same; i < len(name); i++ {
		if name[i] == '/' {
			t.dirs[name[:i]] = struct{}{}
		}
	}
}

// load gives what is held, if it is of these stamps.
func load[T any](r *Repo, c *cached[T], of []stamp) (value T, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return c.value, c.of != nil && slices.Equal(c.of, of)
}

func store[T any](r *Repo, c *cached[T], value T, of []stamp) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.value, c.of = value, of
}
