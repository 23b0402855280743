package engine

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"rewind/transcript"
)

// maxBases bounds how many files a conversation goes back through.
const maxBases = 32

// baseOf writes the records that stand before a file's first in another file: Codex continues a conversation that was rewound, or forked by itself, in
// a new file that names the bytes of the old one. What is captured is the whole conversation, so that it does not die with that file. It
// returns how many bytes they are.
func (e *Engine) baseOf(w io.Writer, f *sessionFile, end int64, depth int) (int64, error) {
	of, err := transcript.BaseOf(f.agent, f.source(end))
	if err != nil || of == nil {
		return 0, err
	}
	if depth == 0 {
		return 0, fmt.Errorf("engine: session file %s: it goes back through more than %d files", f.path, maxBases)
	}
	root, _, err := transcript.SessionFile(f.agent, f.path)
	if err != nil {
		return 0, err
	}
	paths, err := transcript.CodexFiles(os.DirFS(root), of.Session)
	if err != nil {
		return 0, err
	}
	for _, p := range paths {
		path := filepath.Join(root, filepath.FromSlash(p))
		if path == f.path {
			continue
		}
		n, err := e.baseFrom(w, path, of, depth)
		if err != nil || n > 0 {
			return n, err
		}
	}
	return 0, fmt.Errorf("engine: session file %s: the conversation %s that it continues is not there", f.path, of.Session)
}

// baseFrom writes the beginning of the conversation from path, if it is the file that is meant; 0 if it is not.
func (e *Engine) baseFrom(w io.Writer, path string, of *transcript.Base, depth int) (int64, error) {
	if strings.HasSuffix(path, zstdSuffix) {
		return 0, nil // its bytes are counted from before it was compressed; a generation captured then has them
	}
	f, err := openSession(transcript.Codex, path)
	if err != nil {
		return 0, nil //nolint:nilerr // another one may be the right one
	}
	defer f.Close()
	if of.EndOffset > f.info.Size() || transcript.CodexBaseFits(f.source(f.info.Size()), *of) != nil {
		return 0, nil
	}
	n, err := e.baseOf(w, f, of.EndOffset, depth-1)
	if err != nil {
		return 0, err
	}
	return n + of.EndOffset, f.copyTo(w, 0, of.EndOffset)
}
