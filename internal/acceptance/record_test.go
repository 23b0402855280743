//go:build acceptance

package acceptance

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// you is the hand of the person.
const you = "you"

// record is a plain record of who wrote what, and says what going back does (docs/sessions.md). It shares nothing with
// rewind. Each hand changes lines of its own in files, so that what another one changed can always be told apart.
type record struct {
	changes []change
}

// change is what a hand did to a file; "": the file was not, or is not, there.
type change struct {
	by          string
	turn        int // of the hand's turns, from 1
	path        string
	was, became string
}

// files are the project's files after so many changes.
func (r *record) files(n int) map[string]string {
	now := map[string]string{}
	for _, c := range r.changes[:n] {
		if now[c.path] = c.became; c.became == "" {
			delete(now, c.path)
		}
	}
	return now
}

func (r *record) now() map[string]string { return r.files(len(r.changes)) }

// did notes that a hand has made a file what it is; "": it has removed it.
func (r *record) did(by string, turn int, path, becomes string) {
	r.changes = append(r.changes, change{by, turn, path, r.now()[path], becomes})
}

// without are the files as they are now, without some of the changes since the first n.
func (r *record) without(n int, goes func(*change) bool) map[string]string {
	return r.but(n, goes, false)
}

// but is without. kept: what you did stays where it cannot do without what goes.
func (r *record) but(n int, goes func(*change) bool, kept bool) map[string]string {
	then, now := r.files(n), r.now()
	for _, path := range r.changed(n, func(*change) bool { return true }) {
		is, stays := r.one(path, then[path], n, goes, kept)
		switch {
		case stays:
		case is == "":
			delete(now, path)
		default:
			now[path] = is
		}
	}
	return now
}

// clean is without. clean: all that others did can do without what goes.
func (r *record) clean(n int, goes func(*change) bool) (files map[string]string, clean bool) {
	for _, path := range r.changed(n, goes) {
		if _, stays := r.one(path, "", n, goes, true); stays {
			return nil, false
		}
	}
	return r.but(n, goes, true), true
}

// yours are the files that you changed in a turn, before its last change.
func (r *record) yours(t said) []string {
	set := map[string]bool{}
	for _, c := range r.changes[t.begin:t.end] {
		if c.by == you {
			set[c.path] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// one is a file without some of its changes: their reverse, the newest first, is made of what is there now. Where what
// others did to it cannot do without them, it is as it was then if all of the others are you, who are not to be kept,
// and else stays.
func (r *record) one(path, then string, n int, goes func(*change) bool, kept bool) (is string, stays bool) {
	yours := true
	var list []change // of what goes; what follows each other is one
	for _, c := range r.changes[n:] {
		last := len(list) - 1
		switch {
		case c.path != path:
		case !goes(&c):
			yours = yours && c.by == you
		case last < 0 || list[last].became != c.was:
			list = append(list, c)
		case list[last].was == c.became:
			list = list[:last]
		default:
			list[last].became = c.became
		}
	}
	is = r.now()[path]
	for _, c := range slices.Backward(list) {
		edit := c.was != "" && c.became != ""
		switch {
		case is == c.became:
			is = c.was
		case is == c.was:
		case edit && is != "":
			is = redone(is, &change{was: c.became, became: c.was})
		case yours && !kept:
			return then, false
		default:
			return "", true
		}
	}
	return is, false
}

// redone is a text with the lines that a change has set.
func redone(text string, c *change) string {
	lines, was, became := strings.Split(text, "\n"), strings.Split(c.was, "\n"), strings.Split(c.became, "\n")
	for i := range was {
		if was[i] != became[i] {
			lines[i] = became[i]
		}
	}
	return strings.Join(lines, "\n")
}

// changed are the files that some changes behind the first n are of.
func (r *record) changed(n int, of func(*change) bool) []string {
	set := map[string]bool{}
	for i := n; i < len(r.changes); i++ {
		if of(&r.changes[i]) {
			set[r.changes[i].path] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// by are the changes of a hand.
func by(hand string) func(*change) bool { return func(c *change) bool { return c.by == hand } }

func TestRecord(t *testing.T) {
	r := &record{}
	r.did(you, 0, "a", "1\n-\n-")
	r.did("A", 1, "a", "1\n2\n-")
	r.did(you, 0, "a", "1\n2\n3")
	r.did("A", 2, "b", "x\n-")
	r.did("B", 1, "b", "x\ny")
	r.did("A", 2, "c", "z\n-")
	r.did(you, 0, "c", "z\ny")
	r.did("B", 1, "a", "")
	r.did(you, 0, "b", "")
	for _, c := range []struct {
		from int
		by   string
		want map[string]string
	}{
		{1, "A", map[string]string{}},
		{1, "B", map[string]string{"a": "1\n2\n3", "c": "z\ny"}},
		{5, "B", map[string]string{"a": "1\n2\n3", "c": "z\ny"}},
		{4, "B", map[string]string{"a": "1\n2\n3", "b": "x\n-", "c": "z\ny"}},
		{0, you, map[string]string{"b": "x\ny", "c": "z\n-"}},
	} {
		if got := r.without(c.from, by(c.by)); !maps.Equal(got, c.want) {
			t.Errorf("without %s since %d: %q, want %q", c.by, c.from, got, c.want)
		}
	}
}
