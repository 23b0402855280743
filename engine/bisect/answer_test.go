package bisect

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/tree"
)

// lineOf is a line with verdicts, the newest first: g, b and s are good, bad and skipped, - is none.
func lineOf(verdicts string) (r *record) {
	r = &record{}
	for i, v := range verdicts {
		as := map[rune]Verdict{'g': Good, 'b': Bad, 's': Skip}[v]
		id := objstore.Sum(objstore.Checkpoint, []byte{byte(i)})
		r.Line = append(r.Line, point{Checkpoint: id, Tree: objstore.Sum(objstore.Tree, []byte{byte(i)}), As: as})
	}
	return r
}

// An answer names the change, what is between, and what it rests on.
func TestAnswer(t *testing.T) {
	const (
		notTold   = "could not be told"
		monotone  = "not monotone: it fails at %d older"
		untriedOf = "not tried: %d of %d"
	)
	for _, c := range []struct {
		line    string
		order   order
		want    string // bad good [suspects] [tried]; - is none
		assumed []string
	}{
		{line: "bbggg", want: "1 2 [] []"},
		{line: "bssg-", want: "0 3 [1 2] []"},
		{line: "sgg", want: "- 1 [0] []", assumed: []string{notTold}},
		{line: "ggb", want: "- 0 [] []", assumed: []string{fmt.Sprintf(monotone, 1)}},
		{line: "bgbgb", want: "0 1 [] []", assumed: []string{fmt.Sprintf(monotone, 2)}},
		{line: "bbb", want: "2 - [] [0 1 2]"},
		{line: "bsb", want: "2 - [] [0 2]"},
		{line: "b-bg", order: fromNewer, want: "2 3 [] []", assumed: []string{fmt.Sprintf(untriedOf, 1, 2)}},
		{line: "b-bg", order: fromEnds, want: "2 3 [] []"},
		{line: "b-bs", order: fromNewer, want: "2 - [] [0 2]"},
		{line: "bbbg", order: fromNewer, want: "2 3 [] []"},
		{line: "ss", order: fromNewer, want: "- - [] []"},
	} {
		r := lineOf(c.line)
		r.Order = c.order
		listed := func(at int) (*history.Listed, error) { return &history.Listed{Short: fmt.Sprint(at)}, nil }
		a, err := (&Bisector{}).answer(r, choose(r.verdicts(), r.Order), listed)
		if err != nil {
			t.Fatal(err)
		}
		one := func(l *history.Listed) string {
			if l == nil {
				return "-"
			}
			return l.Short
		}
		all := func(list []history.Listed) (at []string) {
			for _, l := range list {
				at = append(at, l.Short)
			}
			return at
		}
		got := fmt.Sprint(one(a.Bad), " ", one(a.Good), " ", all(a.Suspects), " ", all(a.Tried))
		if got != c.want || len(a.Assumed) != len(c.assumed) {
			t.Errorf("%s: %s, want %s; assumed %q", c.line, got, c.want, a.Assumed)
			continue
		}
		for i, words := range c.assumed {
			if !strings.Contains(a.Assumed[i], words) {
				t.Errorf("%s: assumed %q, want %q", c.line, a.Assumed[i], words)
			}
		}
	}
}

// A checkpoint is where it stands on the line, else at the newest point that has its files.
func TestAt(t *testing.T) {
	r := lineOf("----")
	r.Line[2].Tree = r.Line[0].Tree
	other := objstore.Sum(objstore.Checkpoint, []byte("other"))
	for _, c := range []struct {
		cp   model.Checkpoint
		want int
	}{
		{model.Checkpoint{ID: r.Line[2].Checkpoint, Tree: r.Line[2].Tree}, 2},
		{model.Checkpoint{ID: other, Tree: r.Line[2].Tree}, 0},
		{model.Checkpoint{ID: other, Tree: r.Line[3].Tree}, 3},
		{model.Checkpoint{ID: other}, -1},
	} {
		if got := r.at(&c.cp); got != c.want {
			t.Errorf("%s with the files %s: %d, want %d", c.cp.ID.Short(), c.cp.Tree.Short(), got, c.want)
		}
	}
}

// What was laid out is as it was only if it is of that type, and was not changed since.
func TestSame(t *testing.T) {
	const since, file, link, dir = 100, worktreefs.TypeFile, worktreefs.TypeSymlink, worktreefs.TypeDir
	aFile, aLink, aDir := tree.Entry{Type: tree.TypeFile, Size: 3}, tree.Entry{Type: tree.TypeSymlink}, tree.Entry{
		Type: tree.TypeDir, Perm: 0o755,
	}
	for _, c := range []struct {
		entry tree.Entry
		there worktreefs.Stat
		want  bool
	}{
		{aFile, worktreefs.Stat{Type: file, Size: 3, Ctime: since - 1}, true},
		{aFile, worktreefs.Stat{Type: file, Size: 3, Ctime: since}, false},
		{aFile, worktreefs.Stat{Type: file, Size: 4}, false},
		{aFile, worktreefs.Stat{Type: link, Size: 3}, false},
		{aLink, worktreefs.Stat{Type: link}, true},
		{aLink, worktreefs.Stat{Type: link, Ctime: since}, false},
		{aLink, worktreefs.Stat{Type: file}, false},
		{aDir, worktreefs.Stat{Type: dir, Perm: 0o755, Ctime: since}, true},
		{aDir, worktreefs.Stat{Type: dir, Perm: 0o700}, false},
		{aDir, worktreefs.Stat{Type: link, Perm: 0o755}, false},
	} {
		if got := (&toucher{at: laid{Since: since}}).same(&c.entry, c.there); got != c.want {
			t.Errorf("%+v and %+v: %v", c.entry, c.there, got)
		}
	}
}

// What is git's or rewind's is linked nowhere, whatever it is called.
func TestLinksRefused(t *testing.T) {
	for _, path := range []string{"", "..", "a/.GIT/x", ".git", ".agent", "a/.agent/rewind"} {
		if _, err := (&Bisector{}).linkable(nil, nil, path); !errors.Is(err, model.ErrUsage) {
			t.Errorf("%q: %v", path, err)
		}
	}
}

// A state that is gone, and one that lacks a content, are told apart.
func TestGoneError(t *testing.T) {
	for want, e := range map[string]*goneError{
		"it is not in the store any more": {}, "the content of a/b is purged": {path: "a/b", why: "purged"},
	} {
		if e.Error() != want {
			t.Errorf("%q, want %q", e, want)
		}
	}
}
