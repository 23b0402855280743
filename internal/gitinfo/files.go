package gitinfo

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // git's name for content
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// A CommitFile is a file of a commit, or a symbolic link.
type CommitFile struct {
	Path             string // from the top of the working tree
	Link, Executable bool
	Size             int64
	hash             string
}

// Files are the files of a commit. Submodules are none.
func (r *Repo) Files(commit string) ([]CommitFile, error) {
	if !isHash(commit) {
		return nil, fmt.Errorf("commit %q: %w", commit, errCorrupt)
	}
	out, err := r.once("ls-tree", "-r", "-z", "-l", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	var list []CommitFile
	for line := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
		about, path, ok := bytes.Cut(line, []byte{'\t'})
		words := bytes.Fields(about)
		if !ok || len(words) != 4 {
			return nil, errList
		}
		if string(words[1]) != "blob" {
			continue
		}
		size, err := strconv.ParseInt(string(words[3]), 10, 64)
		if err != nil {
			return nil, errList
		}
		mode := string(words[0])
		list = append(list, CommitFile{
			Path: string(path), Link: mode == "120000", Executable: mode == "100755", Size: size,
			hash: string(words[2]),
		})
	}
	return list, nil
}

var errList = errors.New("git ls-tree: not what it prints")

// Holds reports whether the file of the commit has the content of r, of f.Size bytes.
func (f *CommitFile) Holds(r io.Reader) (bool, error) {
	h := sha256.New()
	if len(f.hash) == hex.EncodedLen(sha1.Size) {
		h = sha1.New() //nolint:gosec // git's name for content
	}
	fmt.Fprintf(h, "blob %d\x00", f.Size)
	_, err := io.Copy(h, r)
	return hex.EncodeToString(h.Sum(nil)) == f.hash, err
}
