package snapshot

import (
	"slices"
	"strings"

	"rewind/tree"
)

// hold keeps the directory's sorted tree entries in the form that list gives back. Nearly all follow from what is kept
// anyway: the files of the stat cache (files, packed in in) and the directories below.
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

// list gives the directory's tree entries, sorted. They are read only, and their names must be cloned to be kept.
func (b *baseDir) list() []tree.Entry {
	if b.flat {
		return b.rest
	}
	return overlay(known(b.files.list(), b.subs), b.rest)
}

// known are the tree entries that follow from the files of the stat cache and from the directories that were entered,
// sorted.
func known(files []cached, subs []*baseDir) []tree.Entry {
	entries := appendKnown(make([]tree.Entry, 0, len(files)+len(subs)), files, subs)
	if len(subs) > 0 {
		slices.SortFunc(entries, tree.ByName)
	}
	return entries
}

// appendKnown appends the entries of known, not sorted.
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

// overlay merges two sorted lists. Where both have a name, the entry is that of over.
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

// ownEntries copies a list with its names, which may be parts of larger strings.
func ownEntries(entries []tree.Entry) []tree.Entry {
	own := slices.Clone(entries)
	for i := range own {
		own[i].Name = strings.Clone(own[i].Name)
	}
	return own
}
