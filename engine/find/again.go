package find

import (
	"errors"

	"rewind/objstore"
)

// mostSearches is how often a search is begun before its error stands.
const mostSearches = 3

// again searches once more where an object was not there: nothing keeps gc from taking away what a search has listed
// and not read yet. What is missing for good is missing again.
func again[T any](search func() (T, error)) (out T, err error) {
	for range mostSearches {
		if out, err = search(); !errors.Is(err, objstore.ErrNotFound) && !errors.Is(err, objstore.ErrCorrupt) {
			break
		}
	}
	return out, err
}
