package find

import (
	"context"
	"maps"

	"rewind/objstore"
)

// sifted are contents in which nothing matches.
type sifted map[objstore.Key]bool

const (
	siftParts = 64   // of the store, each read by one goroutine
	fewFiles  = 2000 // whose contents are read one by one
	fewOf     = 4    // so is one file of so many
)

// sift reads all contents that the store has whole, in the order in which they lie: most files were never changed, and
// to look each of their contents up takes longer than to search it. What is left are the few that match, and versions
// of what was changed. files is how many are to be searched, of all that there ever were.
func (f *Finder) sift(
	ctx context.Context, r *reading, files, all int, matches func(content []byte) bool,
) (sifted, error) {
	if files <= max(fewFiles, all/fewOf) {
		return nil, nil
	}
	parts := make([]sifted, siftParts)
	err := f.share(ctx, r, siftParts, func(r *reading, i int) (bool, error) {
		own := sifted{}
		parts[i] = own
		const each = 256 / siftParts
		return true, f.log.Objs.Wholes(ctx, objstore.Blob, i*each, (i+1)*each, maxContent, func(k objstore.Key, raw []byte) error {
			r.rest()
			f.state.screen.add(k, raw)
			if !matches(raw) {
				own[k] = true
			}
			return nil
		})
	})
	out := make(sifted, files)
	for _, p := range parts {
		maps.Copy(out, p)
	}
	return out, err
}

// has reports whether nothing in a content matches.
func (s sifted) has(id objstore.ID) bool { return s[id.Key()] }
