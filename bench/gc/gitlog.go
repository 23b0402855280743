package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// A repo is a git repository that is read.
type repo struct {
	dir   string
	blobs *exec.Cmd
	ask   io.WriteCloser
	told  *bufio.Reader
}

// A commit of the first parents' line.
type commit struct {
	id      string
	changes []change
}

// A change of a file; "" is the id of what is not there.
type change struct{ path, from, to string }

func openRepo(ctx context.Context, dir string) (*repo, error) {
	r := &repo{dir: dir, blobs: exec.CommandContext(ctx, "git", "-C", dir, "cat-file", "--batch")}
	var err error
	if r.ask, err = r.blobs.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := r.blobs.StdoutPipe()
	if err != nil {
		return nil, err
	}
	r.told = bufio.NewReaderSize(out, 1<<20)
	return r, r.blobs.Start()
}

func (r *repo) close() error { return errors.Join(r.ask.Close(), r.blobs.Wait()) }

var errAbsent = errors.New("object is missing")

// blob reads a blob; the error of one that the repository lacks is errAbsent.
func (r *repo) blob(id string) ([]byte, error) {
	if id == "" {
		return nil, nil
	}
	if _, err := fmt.Fprintln(r.ask, id); err != nil {
		return nil, err
	}
	head, err := r.told.ReadString('\n')
	if err != nil {
		return nil, err
	}
	f := strings.Fields(head)
	if len(f) != 3 {
		return nil, errAbsent
	}
	var size int
	if _, err := fmt.Sscan(f[2], &size); err != nil {
		return nil, err
	}
	b := make([]byte, size+1)
	_, err = io.ReadFull(r.told, b)
	return b[:size], err
}

// log lists the commits, newest first.
func (r *repo) log(ctx context.Context) (list []commit, err error) {
	out, err := exec.CommandContext(ctx, "git", "-C", r.dir, "-c", "core.quotePath=true", "log", "--first-parent", "-m", "--root", "--raw", "--no-renames", "--no-abbrev", "--format=commit %H").Output()
	if err != nil {
		return nil, fmt.Errorf("git log: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		if id, ok := strings.CutPrefix(line, "commit "); ok {
			list = append(list, commit{id: id})
			continue
		}
		info, path, ok := strings.Cut(line, "\t")
		f := strings.Fields(info)
		if !ok || len(f) != 5 || len(list) == 0 || strings.HasPrefix(path, `"`) || !isFile(strings.TrimPrefix(f[0], ":")) || !isFile(f[1]) {
			continue
		}
		last := &list[len(list)-1]
		last.changes = append(last.changes, change{path, known(f[2]), known(f[3])})
	}
	return list, nil
}

// files lists what a commit has; id "": nothing.
func (r *repo) files(ctx context.Context, id string) (list []change, err error) {
	if id == "" {
		return nil, nil
	}
	out, err := exec.CommandContext(ctx, "git", "-C", r.dir, "-c", "core.quotePath=true", "ls-tree", "-r", id).Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-tree: %w", err)
	}
	for line := range bytes.Lines(out) {
		info, path, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), "\t")
		if f := strings.Fields(info); len(f) == 3 && isFile(f[0]) && !strings.HasPrefix(path, `"`) {
			list = append(list, change{path: path, to: f[2]})
		}
	}
	return list, nil
}

// isFile tells an ordinary file, or none, by its mode.
func isFile(mode string) bool { return mode == "100644" || mode == "100755" || mode == "000000" }

func known(id string) string {
	if strings.Trim(id, "0") == "" {
		return ""
	}
	return id
}
