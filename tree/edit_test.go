package tree

import (
	"testing"

	"pgregory.net/rapid"

	"rewind/objstore/objtest"
)

// TestEditIsTheInverseOfDiff: the differences between two trees, make one of the other.
func TestEditIsTheInverseOfDiff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawState(t)
		b := a.change(t)
		if rapid.Bool().Draw(t, "unrelated") {
			b = drawState(t)
		}
		m := objtest.NewMap()
		ida, idb := a.put(m, ""), b.put(m, "")
		var steps []Change
		if err := Diff(m, ida, idb, func(c Change) error {
			steps = append(steps, c)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		steps = rapid.Permutation(steps).Draw(t, "order")
		got, err := Edit(m, m, ida, steps)
		if err != nil {
			t.Fatal(err)
		}
		if got != idb {
			t.Fatalf("%d steps from %v do not give %v", len(steps), a, b)
		}
	})
}
