package tree

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"rewind/objstore"
)

// Edit stores the tree that root becomes when each step's path is set to what the step says, and returns its id. A
// directory that a step makes begins empty; one that only changes its permission bits keeps what is in it. Steps below
// something that is no directory say nothing. From is not looked at; only trees are written, so the content that the
// steps name must be stored.
func Edit(get objstore.Getter, put objstore.Putter, root objstore.ID, steps []Change) (objstore.ID, error) {
	top, err := loadEdited(get, root)
	if err != nil {
		return root, err
	}
	// directories before what is in them
	steps = slices.SortedFunc(slices.Values(steps), func(a, b Change) int { return ComparePaths(a.Path, b.Path) })
	for _, s := range steps {
		if err := top.set(get, s.Path, s.New); err != nil {
			return root, err
		}
	}
	return top.store(put)
}

// edited is a directory of which something changes.
type edited struct {
	was     objstore.ID // zero: a new one
	entries map[string]Entry
	below   map[string]*edited
}

func loadEdited(get objstore.Getter, id objstore.ID) (*edited, error) {
	d := &edited{was: id, entries: map[string]Entry{}, below: map[string]*edited{}}
	if id.IsZero() {
		return d, nil
	}
	list, err := List(get, id)
	if err != nil {
		return nil, fmt.Errorf("edit: %w", err)
	}
	for _, e := range list {
		d.entries[e.Name] = e
	}
	return d, nil
}

// set makes path what to says; nil takes it away.
func (d *edited) set(get objstore.Getter, path string, to *Entry) error {
	for {
		name, rest, deeper := strings.Cut(path, "/")
		if !deeper {
			d.put(name, to)
			return nil
		}
		e, ok := d.entries[name]
		if !ok || e.Type != TypeDir {
			return nil
		}
		sub := d.below[name]
		if sub == nil {
			var err error
			if sub, err = loadEdited(get, e.ID); err != nil {
				return err
			}
			d.below[name] = sub
		}
		d, path = sub, rest
	}
}

func (d *edited) put(name string, to *Entry) {
	if to == nil {
		delete(d.entries, name)
		delete(d.below, name)
		return
	}
	e := *to
	e.Name = name
	if e.Type != TypeDir {
		delete(d.below, name)
	} else if old, ok := d.entries[name]; ok && old.Type == TypeDir {
		e.ID = old.ID
	} else {
		d.below[name] = &edited{entries: map[string]Entry{}, below: map[string]*edited{}}
	}
	d.entries[name] = e
}

// store writes the directory and all edited ones below it.
func (d *edited) store(put objstore.Putter) (objstore.ID, error) {
	for name, sub := range d.below {
		id, err := sub.store(put)
		if err != nil {
			return id, err
		}
		e := d.entries[name]
		e.ID = id
		d.entries[name] = e
	}
	list := slices.SortedFunc(maps.Values(d.entries), ByName)
	raw, err := Encode(list)
	if err != nil {
		return objstore.ID{}, fmt.Errorf("edit: %w", err)
	}
	id, err := put.Put(objstore.Tree, raw, d.was)
	if err != nil {
		return id, fmt.Errorf("edit: %w", err)
	}
	return id, nil
}
