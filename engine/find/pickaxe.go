package find

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"rewind/internal/textdiff"
	"rewind/objstore"
	"rewind/tree"
)

// versions calls fn once for each distinct content of changes, file by file and the oldest first. It skips contents
// that are known not to have the text. A file's earlier names count as other files.
func (q *pathQuery) versions(
	ctx context.Context, found []stepChanges, text []byte, fn func(e *tree.Entry, content []byte),
) error {
	without := q.f.state.screen.without(text)
	type version struct {
		path string
		e    *tree.Entry
	}
	var list []version
	for i := len(found) - 1; i >= 0; i-- {
		for _, c := range found[i].changes {
			was := c.Path
			if c.From != "" {
				was = c.From
			}
			list = append(list, version{was, c.Old}, version{c.Path, c.New})
		}
	}
	slices.SortStableFunc(list, func(a, b version) int { return cmp.Compare(a.path, b.path) })
	seen := map[objstore.ID]bool{}
	for _, v := range list {
		noFile := v.e == nil || v.e.Type != tree.TypeFile
		if noFile || seen[v.e.ID] || without(v.e.ID) {
			continue
		}
		raw, err := q.r.content(v.path, v.e)
		if err != nil {
			return err
		}
		if raw != nil {
			seen[v.e.ID] = true
			q.f.state.screen.add(v.e.ID.Key(), raw)
			fn(v.e, raw)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// holding are the paths of which some version has the text, or a line, that is asked for.
func (q *pathQuery) holding(ctx context.Context) (map[string]bool, error) {
	text := []byte(q.o.Text)
	matches := func(content []byte) bool { return bytes.Contains(content, text) }
	if q.o.Text == "" {
		text, matches = q.changedIn.fixed, q.changedIn.in
	}
	without := q.f.state.screen.without(text)
	files := q.t.files(q.meant, without)
	has := make([]bool, len(files))
	sifted, err := q.f.sift(ctx, q.r, len(files), q.t.paths(), matches)
	if err != nil {
		return nil, err
	}
	err = q.f.share(ctx, q.r, len(files), func(r *reading, i int) (bool, error) {
		for _, e := range q.t.held(files[i].versions) {
			if sifted.has(e.ID) || without(e.ID) {
				continue
			}
			raw, err := r.content(files[i].path, e)
			if err != nil {
				return false, err
			}
			if raw != nil {
				q.f.state.screen.add(e.ID.Key(), raw)
			}
			if has[i] = matches(raw); has[i] {
				break
			}
		}
		return true, nil
	})
	out := map[string]bool{}
	for i, f := range files {
		if has[i] {
			out[f.path] = true
		}
	}
	return out, err
}

// withText keeps the changes that made a text occur more or less often in a file.
func (q *pathQuery) withText(ctx context.Context, found []stepChanges) ([]stepChanges, error) {
	times, text := map[objstore.ID]int{}, []byte(q.o.Text)
	err := q.versions(ctx, found, text, func(e *tree.Entry, content []byte) {
		if n := bytes.Count(content, text); n > 0 {
			times[e.ID] = n
		}
	})
	return keepChanges(found, func(c Change) bool { return times[fileID(c.Old)] != times[fileID(c.New)] }), err
}

// withLine keeps the changes that added or removed a line that matches, of files that are texts.
func (q *pathQuery) withLine(ctx context.Context, found []stepChanges) ([]stepChanges, error) {
	has, r, m := map[objstore.ID]bool{}, q.r, q.changedIn
	err := q.versions(ctx, found, m.fixed, func(e *tree.Entry, content []byte) {
		if m.in(content) {
			has[e.ID] = true
		}
	})
	if err != nil {
		return nil, err
	}
	found = keepChanges(found, func(c Change) bool {
		return fileID(c.Old) != fileID(c.New) && (has[fileID(c.Old)] || has[fileID(c.New)])
	})
	var bad error
	return keepChanges(found, func(c Change) bool {
		if bad != nil {
			return false
		}
		var was, now []byte
		if was, bad = r.content(c.Path, c.Old); bad == nil {
			now, bad = r.content(c.Path, c.New)
		}
		if bad != nil {
			return false
		}
		d := textdiff.Diff(was, now, 0)
		if d.Kind == textdiff.TooLarge {
			r.large[c.Path] = true
		}
		return slices.ContainsFunc(d.Hunks, func(h textdiff.Hunk) bool {
			return slices.ContainsFunc(h.Lines, func(l textdiff.Line) bool { return l.Op != ' ' && m.in(l.Text) })
		})
	}), bad
}

func keepChanges(found []stepChanges, keep func(Change) bool) (out []stepChanges) {
	for _, s := range found {
		var list []Change
		for _, c := range s.changes {
			if keep(c) {
				list = append(list, c)
			}
		}
		if len(list) > 0 {
			out = append(out, stepChanges{s.at, s.cp, list})
		}
	}
	return out
}

// fileID names what a file holds; zero: it is none.
func fileID(e *tree.Entry) objstore.ID {
	if e == nil || e.Type != tree.TypeFile {
		return objstore.ID{}
	}
	return e.ID
}
