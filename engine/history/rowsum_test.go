package history

import (
	"testing"

	"rewind/objstore"
)

// What a list of all turns has summed up is given up at rest; that of a list of the newest is not. A sum is known by
// its stretches, by whose they are, and by how many changes it may have.
func TestSumsAtRest(t *testing.T) {
	var k sums
	k.trim()
	part := func(n int) []stretch {
		return []stretch{{from: objstore.ID{byte(n)}, to: objstore.ID{byte(n >> 8)}}}
	}
	if _, ok := k.get(part(0), 1); ok {
		t.Error("something is known of nothing")
	}
	for n := range sumsAtRest {
		k.put(part(n), 1, sum{})
	}
	if k.trim(); k.kept.Len() != sumsAtRest {
		t.Errorf("%d are kept of those of a short list", k.kept.Len())
	}
	its := part(1)
	its[0].of = "claude/a"
	for what, ok := range map[string]bool{"the same": true, "another's": false, "of more changes": false} {
		parts, most := part(1), 1
		switch what {
		case "another's":
			parts = its
		case "of more changes":
			most = 2
		}
		if _, is := k.get(parts, most); is != ok {
			t.Errorf("%s: %t", what, is)
		}
	}
	k.put(part(sumsAtRest), 1, sum{})
	if k.trim(); k.kept.Len() != 0 {
		t.Errorf("%d are kept of those of a long list", k.kept.Len())
	}
}
