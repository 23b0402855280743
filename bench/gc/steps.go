package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"

	"rewind/internal/textdiff"
)

// wholesale is how many files a commit changes that nobody changes one by one: imports, renames of a folder. It is one step, as of a shell's.
const wholesale = 60

// A written is a file's content after a step; nil: it is removed.
type written struct {
	path string
	data []byte
}

// steps cuts a commit into what an agent's calls would have done: a hunk each, a new file, a removal. What the repository lacks is left out.
func (r *repo) steps(c commit) (list [][]written, err error) {
	var all []written
	for _, ch := range c.changes {
		from, err := r.blob(ch.from)
		to, terr := r.blob(ch.to)
		if err = errors.Join(err, terr); errors.Is(err, errAbsent) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if ch.to == "" {
			to = nil
		} else if to == nil {
			to = []byte{}
		}
		all = append(all, written{ch.path, to})
		if len(c.changes) >= wholesale {
			continue
		}
		for _, data := range hunkwise(ch, from, to) {
			list = append(list, []written{{ch.path, data}})
		}
	}
	if len(c.changes) >= wholesale && len(all) > 0 {
		list = [][]written{all}
	}
	return list, nil
}

// hunkwise gives a file's contents after each of its hunks.
func hunkwise(ch change, from, to []byte) (list [][]byte) {
	if ch.from == "" || ch.to == "" {
		return [][]byte{to}
	}
	hunks := textdiff.Diff(from, to, 0).Hunks
	if len(hunks) == 0 {
		if bytes.Equal(from, to) {
			return nil // its mode
		}
		return [][]byte{to}
	}
	lines := bytes.SplitAfter(from, []byte{'\n'})
	now := bytes.SplitAfter(to, []byte{'\n'})
	for i, h := range hunks {
		if i == len(hunks)-1 {
			break
		}
		was, is := h.OldStart-1+h.OldLines, h.NewStart-1+h.NewLines
		if h.OldLines == 0 {
			was = h.OldStart
		}
		if h.NewLines == 0 {
			is = h.NewStart
		}
		list = append(list, append(bytes.Join(now[:is], nil), bytes.Join(lines[was:], nil)...))
	}
	return append(list, to)
}

// begin finds the newest commits that have so many steps, oldest first, and the commit before them.
func (r *repo) begin(ctx context.Context, want int) (before string, list []commit, err error) {
	all, err := r.log(ctx)
	if err != nil {
		return "", nil, err
	}
	n := 0
	for i, c := range all {
		if n >= want {
			return c.id, reversed(all[:i]), ctx.Err()
		}
		s, err := r.steps(c)
		if err != nil {
			return "", nil, err
		}
		n += len(s)
	}
	return "", reversed(all), ctx.Err()
}

func reversed(list []commit) []commit {
	out := make([]commit, len(list))
	for i, c := range list {
		out[len(list)-1-i] = c
	}
	return out
}

// lay writes a commit's files.
func (r *repo) lay(ctx context.Context, id, tree string) error {
	files, err := r.files(ctx, id)
	if err != nil {
		return err
	}
	for _, f := range files {
		data, err := r.blob(f.to)
		if errors.Is(err, errAbsent) {
			continue
		}
		if err == nil {
			err = carryOut(tree, []written{{f.path, data}})
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// carryOut does what a step does.
func carryOut(tree string, step []written) error {
	for _, w := range step {
		path := filepath.Join(tree, filepath.FromSlash(w.path))
		if w.data == nil {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, w.data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
