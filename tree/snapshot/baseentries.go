package snapshot

import (
	"slices"
	"strings"

	"rewind/tree"
)

// hold keeps the entries of the tree, sorted, in a form that list gives back: nearly all follow from what is kept in any case, the files of
// the stat cache (files, which in holds) and the directories below.
func (b *baseDir) hold(entries []tree.Entry, files []cached, in *cacheDir) {
	b.files = in
	known := known(files, b.subs)
	if slices.Equal(known, entries) {
		return
	}
	for i := range entries {
		if at := tree.Find(known, entries[i].Name); at < 0 || known[at] != entries[i] {
			b.rest = append(b.rest, entries[i])
		}
	}
	if b.flat = !slices.Equal(overlay(known, b.rest), entries); b.flat {
		b.files, b.rest = nil, entries
	}
	b.rest = ownEntries(b.rest)
}

// list gives the entries of the tree, sorted; not to be changed, and for long only as clones of their names.
func (b *baseDir) list() []tree.Entry {
	if b.flat {
		return b.rest
	}
	return overlay(known(b.files.list(), b.subs), b.rest)
}

// known are the entries that follow from the files of the stat cache and the directories that were entered, sorted.
func known(files []cached, subs []*baseDir) []tree.Entry {
	entries := appendKnown(make([]tree.Entry, 0, len(files)+len(subs)), files, subs)
	if len(subs) > 0 {
		slices.SortFunc(entries, tree.ByName)
	}
	return entries
}

func appendKnown(entries []tree.Entry, files []cached, subs []*baseDir) []tree.Entry {
	for i := range files {
		switch f := &files[i]; f.stamp.kind {
		case cachedFile:
			entries = append(entries, tree.Entry{Name: f.name, Type: tree.TypeFile, Perm: f.stamp.perm, ID: f.id, Size: f.stamp.size})
		case cachedSymlink:
			entries = append(entries, tree.Entry{Name: f.name, Type: tree.TypeSymlink, ID: f.id})
		}
	}
	for _, sub := range subs {
		if !sub.id.IsZero() {
			entries = append(entries, tree.Entry{Name: sub.name, Type: tree.TypeDir, Perm: sub.perm, ID: sub.id})
		}
	}
	return entries
}

// overlay merges two sorted lists; of two entries of one name that of over is taken.
func overlay(entries, over []tree.Entry) []tree.Entry {
	if len(over) == 0 {
		return entries
	}
	merged := make([]tree.Entry, 0, len(entries)+len(over))
	for i := range entries {
		for len(over) > 0 && over[0].Name < entries[i].Name {
			merged, over = append(merged, over[0]), over[1:]
		}
		if len(over) == 0 || over[0].Name != entries[i].Name {
			merged = append(merged, entries[i])
		}
	}
	return append(merged, over...)
}

// ownEntries copies a list, names included, which may be parts of something larger.
func ownEntries(entries []tree.Entry) []tree.Entry {
	own := slices.Clone(entries)
	for i := range own {
		own[i].Name = strings.Clone(own[i].Name)
	}
	return own
}
