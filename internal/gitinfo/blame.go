package gitinfo

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Commit is as much of one as a person knows it by. The texts are the repository's: bytes of whoever made it.
type Commit struct {
	ID      string // hex
	Author  string
	Time    time.Time // of the author
	Summary string    // the first line of its message
}

// A CommitLine is where a line of a file comes from.
type CommitLine struct {
	Commit *Commit
	Path   string // the file's name then, from the top
	Line   int    // from 1
}

// FileAt reads a file of at most max bytes as a commit has it; path is from the top of the working tree. The error says
// nothing about the repository's health: the commit may be gone, or never have had the file.
func (r *Repo) FileAt(commit, path string, max int64) ([]byte, error) {
	if !isHash(commit) {
		return nil, fmt.Errorf("commit %q: %w", commit, errCorrupt)
	}
	name := commit + ":" + path
	out, err := r.once("cat-file", "-s", name)
	if err != nil {
		return nil, err
	}
	if size, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64); err != nil || size > max {
		return nil, fmt.Errorf("git cat-file: %w: it is too large", errRefused)
	}
	return r.once("cat-file", "blob", name)
}

// BlameAt says of lines of a file, as a commit has it, where they come from: those in ranges of first and last line,
// both included, from 1. With anySpace lines that differ in nothing but white space are the same. What the repository
// names as a program to be run on a file is not run.
func (r *Repo) BlameAt(commit, path string, ranges [][2]int, anySpace bool) (map[int]CommitLine, error) {
	if !isHash(commit) {
		return nil, fmt.Errorf("commit %q: %w", commit, errCorrupt)
	}
	args := []string{"blame", "--porcelain", "--no-textconv"}
	if anySpace {
		args = append(args, "-w")
	}
	for _, l := range ranges {
		args = append(args, fmt.Sprintf("-L%d,%d", l[0], l[1]))
	}
	out, err := r.once(append(args, commit, "--", path)...)
	if err != nil {
		return nil, err
	}
	return parseBlame(out)
}

// Has reports whether the repository has a commit, whether a branch leads to it or not. Nothing is fetched for it.
func (r *Repo) Has(commit string) (bool, error) {
	if !isHash(commit) {
		return false, nil
	}
	_, ok, err := r.run(r.gitDir, []string{"cat-file", "-e", commit})
	return ok, err
}

// once runs git for a person who waits, for as long as any process of it may take. That it took longer is not held
// against the repository.
func (r *Repo) once(args ...string) ([]byte, error) {
	out, ok, err := r.run(r.gitDir, args)
	if err == nil && !ok {
		err = errRefused
	}
	return out, err
}

var errBlame = errors.New("git blame: not what it prints")

// blameHead reads the line in front of what is said of one: the commit, and its numbers there and in the file.
func blameHead(head []byte) (id string, was, is int, ok bool) {
	words := strings.Fields(string(head))
	if len(words) < 3 || !isHash(words[0]) {
		return "", 0, 0, false
	}
	was, err := strconv.Atoi(words[1])
	is, err2 := strconv.Atoi(words[2])
	read := err == nil && err2 == nil
	return words[0], was, is, read && was >= 1 && is >= 1
}

// parseBlame reads what git blame --porcelain prints, by the number of each line in the file.
func parseBlame(out []byte) (map[int]CommitLine, error) {
	lines, commits, paths := map[int]CommitLine{}, map[string]*Commit{}, map[string]string{}
	for len(out) > 0 {
		var head, field []byte
		head, out, _ = bytes.Cut(out, []byte{'\n'})
		id, was, is, ok := blameHead(head)
		if !ok {
			return nil, errBlame
		}
		c := commits[id]
		if c == nil {
			c = &Commit{ID: id}
			commits[id] = c
		}
		for more := true; more; {
			if len(out) == 0 {
				return nil, errBlame
			}
			field, out, _ = bytes.Cut(out, []byte{'\n'})
			name, value, _ := strings.Cut(string(field), " ")
			switch {
			case field == nil || len(field) > 0 && field[0] == '\t':
				more = false
			case name == "author":
				c.Author = value
			case name == "author-time":
				seconds, err := strconv.ParseInt(value, 10, 64)
				if err != nil {
					return nil, errBlame
				}
				c.Time = time.Unix(seconds, 0).UTC()
			case name == "summary":
				c.Summary = value
			case name == "filename":
				paths[id] = unquote(value)
			}
		}
		lines[is] = CommitLine{c, paths[id], was}
	}
	return lines, nil
}

// unquote reads a path as git prints it, in double quotes where it is odd.
func unquote(path string) string {
	if text, err := strconv.Unquote(path); err == nil && strings.HasPrefix(path, `"`) {
		return text // git's escapes are some of Go's
	}
	return path
}
