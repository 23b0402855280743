package conversation

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rewind/transcript"
)

// MaxBases bounds how many files a conversation is continued through, and how many forks of forks are read one after
// the other.
const MaxBases = 32

// MaxForks bounds how many forks of forks are followed by their records. It only ends a circle: who goes back again and
// again makes each fork of the last one, and the code of the first turns is the first session's.
const MaxForks = 1 << 12

// BaseOf writes to w the records of other files that stand before the first one of f, and returns how many bytes those
// are; 0: none. Codex goes on with a conversation in a new file that names the bytes of an older one. A transcript has
// the whole conversation, so it outlives the old files. For a thread that went back it has everything the thread ever
// had: the turns that were left are a branch. For a fork it has the fork's part of the other thread. depth is how many
// threads may be gone back through.
func (cs *Conversations) BaseOf(w io.Writer, f *SessionFile, end int64, depth int) (int64, error) {
	of, err := transcript.BaseOf(f.Agent, f.Source(end))
	if err != nil || of == nil {
		return 0, err
	}
	if depth == 0 {
		return 0, fmt.Errorf("session file %s: it goes back through more than %d files", f.Path, MaxBases)
	}
	root, _, err := transcript.SessionFile(f.Agent, f.Path)
	if err != nil {
		return 0, err
	}
	paths, err := transcript.CodexFiles(os.DirFS(root), of.Session)
	if err != nil {
		return 0, err
	}
	why := errors.New("is not there")
	// offsets are those of before
	paths = slices.DeleteFunc(paths, func(p string) bool {
		packed := strings.HasSuffix(p, zstdSuffix)
		if packed {
			why = fmt.Errorf("is compressed: %s", p)
		}
		return packed
	})
	slices.SortFunc(paths, func(a, b string) int { return strings.Compare(path.Base(a), path.Base(b)) }) // the oldest first
	at := -1
	own := false
	for i, p := range paths {
		if paths[i] = filepath.Join(root, filepath.FromSlash(p)); paths[i] == f.Path {
			paths, own = paths[:i], true
			break
		}
		switch err := fits(paths[i], of); {
		case err == nil:
			at = i
		case at < 0:
			why = fmt.Errorf("is not as it was when this one was made: %w", err)
		}
	}
	if at < 0 {
		return 0, fmt.Errorf("session file %s: the conversation %s that it continues %w", f.Path, of.Session, why)
	}
	if own {
		return cs.thread(w, paths, 0, depth-1)
	}
	return cs.thread(w, paths[:at+1], of.EndOffset, depth-1)
}

// thread writes the files of a thread, the oldest first, and what the first of them has of another thread. Of the last
// one only the first end bytes are written; 0: all.
func (cs *Conversations) thread(w io.Writer, paths []string, end int64, depth int) (n int64, err error) {
	for i, path := range paths {
		f, err := OpenSession(transcript.Codex, path)
		if err != nil {
			return n, err
		}
		size, err := f.whole()
		if i == len(paths)-1 && end > 0 {
			size = end
		}
		if err == nil && i == 0 {
			n, err = cs.BaseOf(w, f, size, depth)
		}
		if err == nil {
			err = f.CopyTo(w, 0, size)
		}
		f.Close()
		if err != nil {
			return n, err
		}
		n += size
	}
	return n, nil
}

// fits is why a file is not the one which of names; nil: it is.
func fits(path string, of *transcript.Base) error {
	f, err := OpenSession(transcript.Codex, path)
	if err != nil {
		return err
	}
	defer f.Close()
	return transcript.CodexBaseFits(f.Source(f.Info.Size()), *of)
}
