package find

import (
	"maps"
	"slices"
	"time"

	"rewind/engine/oplog"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/tree"
)

// maxContent is the size in bytes of the largest file that is searched, or blamed.
const maxContent = 32 << 20

// A reading is what one search reads by, and what it left out. For one goroutine.
type reading struct {
	log    *oplog.Log
	trees  *trees
	blobs  *objstore.Memo
	secret func(path string) bool
	large  map[string]bool // paths of which a version was too large
	gone   map[string]bool // and of which one is purged or lost
	rested time.Time
}

const (
	workFor = time.Millisecond
	restFor = 20 * time.Microsecond
)

// rest lets an agent's event in. As many goroutines search as there are processors. Go checks connections for input
// when one of these is idle, and otherwise every 10 ms. An event needs several such checks, so an agent would wait for
// all of them.
func (r *reading) rest() {
	if now := time.Now(); now.Sub(r.rested) > workFor {
		time.Sleep(restFor)
		r.rested = time.Now()
	}
}

func (f *Finder) reading() (*reading, error) {
	secret, err := f.leaks.SecretFiles()
	if err != nil {
		return nil, err
	}
	return f.readingAs(&reading{secret: secret}), nil
}

// readingAs gives another goroutine a reading of what r reads.
func (f *Finder) readingAs(r *reading) *reading {
	return &reading{
		log: f.log, trees: f.trees(), blobs: f.log.Objs.Memo(objstore.Blob), secret: r.secret, large: map[string]bool{},
		gone: map[string]bool{},
	}
}

// content gives what a file holds, not to be changed; nil: it is not searched, or not there any more.
func (r *reading) content(path string, e *tree.Entry) ([]byte, error) { return r.begin(path, e)() }

// begin begins to read a file. What it returns gives what content does, and may be called in another goroutine, in one
// at a time.
func (r *reading) begin(path string, e *tree.Entry) func() ([]byte, error) {
	switch {
	case e == nil || e.Type != tree.TypeFile || r.secret(path):
		return nothing
	case e.Size > maxContent:
		r.large[path] = true
		return nothing
	}
	r.rest()
	read := r.blobs.Begin(e.ID)
	return func() ([]byte, error) {
		raw, err := read()
		if err == nil {
			return raw, nil
		}
		if why, bad := r.log.GoneEntry(e); bad == nil && why != "" {
			r.gone[path] = true
			return nil, nil
		}
		return nil, err
	}
}

func nothing() ([]byte, error) { return nil, nil }

// unsearched are the paths of which a version was not searched.
func (r *reading) unsearched() value.Unsearched {
	return value.Unsearched{TooLarge: value.Texts(slices.Sorted(maps.Keys(r.large))), Gone: value.Texts(slices.Sorted(maps.Keys(r.gone)))}
}
