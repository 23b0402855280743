package oplog_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/tree"
)

// contents are entries by what became of their contents.
type contents struct{ there, purged, lost, marked, rewritten, swept, dir *tree.Entry }

// goneContents stores them; those of two projects with the same prefix are the same.
func goneContents(p *enginetest.Project, prefix string) (c contents) {
	c.there, c.purged, c.lost = blob(p, prefix+"there"), blob(p, prefix+"purged"), blob(p, prefix+"lost")
	c.marked, c.swept = blob(p, prefix+"marked"), blob(p, prefix+"swept")
	taken(p, objstore.Blob, c.purged.ID, objstore.Purged)
	taken(p, objstore.Blob, c.lost.ID, objstore.Lost)
	missed(p, objstore.Blob, c.marked.ID)
	taken(p, objstore.Blob, c.swept.ID, 0)
	c.rewritten = blob(p, prefix+"rewritten")
	rewrite(p, c.rewritten.ID)
	c.dir = &tree.Entry{Name: "d", Type: tree.TypeDir, ID: c.purged.ID}
	return c
}

// TestGone: what is purged or lost is told, and nothing else.
func TestGone(t *testing.T) {
	p := enginetest.NewProject(t)
	c := goneContents(p, "")
	for what, tt := range map[string]struct {
		ent  *tree.Entry
		want value.KeptReason
	}{
		"no entry": {nil, ""}, "a directory": {c.dir, ""}, "there": {c.there, ""}, "swept": {c.swept, ""},
		"purged": {c.purged, value.KeptPurged}, "lost": {c.lost, value.KeptLost},
		"marked as lost": {c.marked, value.KeptLost},
		"rewritten":      {c.rewritten, ""},
	} {
		gives(t, what, tt.want)(p.E.Log.GoneEntry(tt.ent))
		gives(t, "old: "+what, string(tt.want))(p.E.Log.GoneChange(nil, tree.Change{Old: tt.ent, New: c.there}))
		gives(t, "new: "+what, string(tt.want))(p.E.Log.GoneChange(nil, tree.Change{Old: c.there, New: tt.ent}))
		gives(t, "added: "+what, string(tt.want))(p.E.Log.GoneChange(nil, tree.Change{New: tt.ent}))
	}
}

// TestGoneBeside: what this store lacks comes from the other one; what was purged here stays gone.
func TestGoneBeside(t *testing.T) {
	here, there := enginetest.NewProject(t), enginetest.NewProject(t)
	mine, theirs := goneContents(here, ""), goneContents(there, "their ")
	for _, both := range []string{"purged", "lost"} {
		blob(there, both)
	}
	for _, e := range []*tree.Entry{theirs.lost, theirs.purged} {
		taken(there, objstore.Blob, e.ID, objstore.Purged)
	}
	blob(here, "their lost") // and they have purged it
	for what, tt := range map[string]struct {
		ent           *tree.Entry
		alone, beside value.KeptReason
	}{
		"no entry":                 {nil, "", ""},
		"a directory":              {mine.dir, "", ""},
		"there":                    {mine.there, "", ""},
		"purged, and they have it": {mine.purged, value.KeptPurged, value.KeptPurged},
		"lost, and they have it":   {mine.lost, value.KeptLost, ""},
		"theirs":                   {theirs.there, "", ""},
		"theirs, and purged":       {theirs.purged, "", value.KeptPurged},
		"purged there, and here":   {theirs.lost, "", ""},
	} {
		gives(t, what, tt.alone)(here.E.Log.GoneBeside(nil, tt.ent))
		gives(t, what+", beside", tt.beside)(here.E.Log.GoneBeside(there.E.Log, tt.ent))
	}
}

// TestBeside: what is read of two stores, and whose error it is.
func TestBeside(t *testing.T) {
	here, there := enginetest.NewProject(t), enginetest.NewProject(t)
	mine, theirs := goneContents(here, ""), goneContents(there, "their ")
	blob(there, "purged")
	blob(there, "lost")
	get := oplog.Beside{Here: here.E.Log.Objs, There: there.E.Log}
	for _, tt := range []struct {
		ent           *tree.Entry
		content       string
		beside, swept bool // the error
	}{
		{mine.there, "there", false, false},
		{mine.lost, "lost", false, false},
		{mine.purged, "", false, false},
		{mine.swept, "", true, true},
		{theirs.there, "their there", false, false},
		{theirs.purged, "", true, false},
		{theirs.lost, "", true, false},
	} {
		raw, err := get.Get(objstore.Blob, tt.ent.ID)
		var of *oplog.BesideError
		beside := errors.As(err, &of)
		if string(raw) != tt.content || beside != tt.beside || (err == nil) != (raw != nil) {
			t.Errorf("%+v: %q, %v", tt, raw, err)
		}
		if of == nil {
			continue
		}
		if of.Swept() != tt.swept || !errors.Is(err, objstore.ErrNotFound) {
			t.Errorf("%+v: swept %v, %v", tt, of.Swept(), err)
		}
		if !strings.HasPrefix(err.Error(), "worktree "+there.Root+": ") {
			t.Errorf("%v does not name %s", err, there.Root)
		}
		if again := here.E.Log.AsBeside(fmt.Errorf("again: %w", err)); again.Error() != "again: "+err.Error() {
			t.Errorf("it became %v", again)
		}
	}
	if err := here.E.Log.AsBeside(nil); err != nil {
		t.Errorf("no error became %v", err)
	}
}

// TestBorrow: a content comes from the other store once, and only as the entry names it.
func TestBorrow(t *testing.T) {
	here, there := enginetest.NewProject(t), enginetest.NewProject(t)
	good, bad, gone := blob(there, "good"), blob(there, "bad"), blob(there, "gone")
	taken(there, objstore.Blob, gone.ID, objstore.Lost)
	own := blob(here, "own")
	own.Size = 99 // it is not read
	long := *good
	long.Size++
	rewrite(there, bad.ID)
	for what, tt := range map[string]struct {
		ent  *tree.Entry
		want error
	}{
		"theirs": {good, nil}, "own": {own, nil}, "of another size": {&long, objstore.ErrCorrupt},
		"of other bytes": {bad, objstore.ErrCorrupt}, "gone": {gone, objstore.ErrLost},
	} {
		tx := here.E.Log.Objs.Begin()
		err := here.E.Log.Borrow(tx, there.E.Log, tt.ent)
		has, herr := tx.Has(objstore.Blob, tt.ent.ID)
		here.Must(herr)
		tx.Discard()
		var of *oplog.BesideError
		if !errors.Is(err, tt.want) || errors.As(err, &of) != (tt.want != nil) || tt.want == nil && !has {
			t.Errorf("%s: %v, there %v", what, err, has)
		}
	}
}

// TestLostIn: the paths that are lost, a directory for all below it; what is there again is not lost.
func TestLostIn(t *testing.T) {
	p := enginetest.NewProject(t)
	root := treeOf(p, map[string]string{"a": "a", "d/b": "b", "d/c": "c", "e/f/g": "g", "h": "h", "i/": ""})
	cp := &model.Checkpoint{Tree: root}
	check := func(what string, trees int, want ...string) {
		t.Helper()
		paths, lost, err := p.E.Log.LostIn(cp)
		p.Must(err)
		enginetest.Equal(t, what, paths, want)
		if len(lost) != trees {
			t.Errorf("%s: %d trees are lost, want %d", what, len(lost), trees)
		}
	}
	at := func(path string) objstore.ID {
		ent, err := tree.Lookup(p.E.Log.Objs, root, path)
		p.Must(err)
		return ent.ID
	}
	b, g, e := at("d/b"), at("e/f/g"), at("e")
	check("whole", 0)
	taken(p, objstore.Blob, at("h"), objstore.Purged)
	check("purged", 0)
	missed(p, objstore.Blob, at("a"))
	check("marked, and there", 0)
	taken(p, objstore.Blob, b, objstore.Lost)
	taken(p, objstore.Blob, g, objstore.Lost)
	check("files", 0, "d/b", "e/f/g")
	taken(p, objstore.Tree, e, objstore.Lost)
	check("a directory", 1, "d/b", "e")
	blob(p, "b")
	check("one is there again", 1, "e")
	taken(p, objstore.Tree, at("d"), 0)
	if _, _, err := p.E.Log.LostIn(cp); !errors.Is(err, objstore.ErrNotFound) || !strings.Contains(err.Error(), `"d"`) {
		t.Errorf("nothing tells of a directory: %v", err)
	}
	taken(p, objstore.Tree, root, objstore.Lost)
	check("all", 1, "")
}

// TestLostError: the text has the first paths, and the number of the others.
func TestLostError(t *testing.T) {
	var paths []string
	for i := range 12 {
		paths = append(paths, fmt.Sprintf("p%02d", i))
	}
	for _, tt := range []struct {
		paths []string
		want  string
	}{
		{[]string{""}, `lost in it: all files; nothing`},
		{[]string{"a", "b\n"}, `lost in it: "a", "b\n"; nothing`},
		{paths[:10], `"p08", "p09"; nothing`},
		{paths[:11], `"p08", "p09" and 1 more; nothing`},
		{paths, `"p08", "p09" and 2 more; nothing`},
	} {
		err := &oplog.LostError{Checkpoint: enginetest.TestID("x"), Paths: tt.paths}
		lost := errors.Is(err, objstore.ErrLost) && !errors.Is(err, objstore.ErrPurged)
		if !strings.Contains(err.Error(), tt.want) || !lost {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}
