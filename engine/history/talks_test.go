package history

import (
	"testing"

	"rewind/objstore"
	"rewind/transcript"
)

// What was read of conversations is forgotten when something is taken out of the log, and when the daemon rests.
func TestTalksAreForgotten(t *testing.T) {
	var k talks
	said := objstore.ID{1}
	fill := func(rewrites uint64) {
		k.begin(rewrites)
		c := &transcript.Conversation{}
		k.read.Put(said, c)
		k.newest.Put("claude/a", &talk{said: said, is: c})
		k.lacks.Put(lack{said: said, call: "call"}, struct{}{})
	}
	kept := func() int { return k.read.Len() + k.newest.Len() + k.lacks.Len() }
	fill(1)
	if k.begin(1); kept() != 3 {
		t.Errorf("%d are kept while nothing was taken out", kept())
	}
	if k.begin(2); kept() != 0 {
		t.Errorf("%d are kept after a purge", kept())
	}
	fill(2)
	if k.forget(); kept() != 0 {
		t.Errorf("%d are kept at rest", kept())
	}
}
