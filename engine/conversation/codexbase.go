package conversation

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"rewind/transcript"
)

// MaxBases bounds how many files a conversation is continued through, and how many forks of forks are followed.
const MaxBases = 32

// BaseOf writes to w the records of another file that stand before the first one of f, and returns how many bytes those are; 0: none. Codex
// continues a conversation that was rewound, or that it forked itself, in a new file that names the bytes of the old one. A transcript has
// the whole conversation, so that it does not die with the old file.
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
	for _, p := range paths {
		path := filepath.Join(root, filepath.FromSlash(p))
		if path == f.Path {
			continue
		}
		n, err := cs.baseFrom(w, path, of, depth)
		if err != nil || n > 0 {
			return n, err
		}
	}
	return 0, fmt.Errorf("session file %s: the conversation %s that it continues is not there", f.Path, of.Session)
}

// baseFrom writes the base of a conversation from path, if that is the file which of names; 0: it is not.
func (cs *Conversations) baseFrom(w io.Writer, path string, of *transcript.Base, depth int) (int64, error) {
	if strings.HasSuffix(path, zstdSuffix) {
		return 0, nil // offsets are those of the file before it was compressed
	}
	f, err := OpenSession(transcript.Codex, path)
	if err != nil {
		return 0, nil //nolint:nilerr // another file may be the right one
	}
	defer f.Close()
	if of.EndOffset > f.Info.Size() || transcript.CodexBaseFits(f.Source(f.Info.Size()), *of) != nil {
		return 0, nil
	}
	n, err := cs.BaseOf(w, f, of.EndOffset, depth-1)
	if err != nil {
		return 0, err
	}
	return n + of.EndOffset, f.CopyTo(w, 0, of.EndOffset)
}
