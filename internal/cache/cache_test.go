package cache

import (
	"testing"

	"pgregory.net/rapid"
)

// What was put or asked for last is there, never with another value; what is kept is bounded.
func TestCacheAgainstAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := New[int](40, func(v int) int { return v%7 + 1 })
		all := map[int]int{}
		key := rapid.IntRange(0, 30)
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				k := key.Draw(t, "key")
				v, ok := all[k]
				if !ok {
					v = rapid.IntRange(0, 1000).Draw(t, "value")
				}
				h.Put(k, v)
				all[k] = v
				if got, ok := h.Get(k); !ok || got != v {
					t.Fatalf("%d: %d, %v; put was %d", k, got, ok, v)
				}
			},
			"get": func(t *rapid.T) {
				k := key.Draw(t, "key")
				before := h.Len()
				if v, ok := h.Get(k); ok {
					if v != all[k] {
						t.Fatalf("%d: %d; put was %d", k, v, all[k])
					}
					if _, ok := h.young[k]; !ok {
						t.Fatalf("%d was asked for, and is not among the young", k)
					}
				}
				if h.Len() > before {
					t.Fatal("asking added something")
				}
			},
			"drop": func(t *rapid.T) {
				k := key.Draw(t, "key")
				h.Drop(k)
				delete(all, k)
				if _, ok := h.Get(k); ok {
					t.Fatalf("%d is there still", k)
				}
			},
			"": func(t *rapid.T) {
				for _, half := range []map[int]int{h.young, h.old} {
					weight := 0
					for _, v := range half {
						weight += h.weigh(v)
					}
					if weight > h.most {
						t.Fatalf("%d are kept of %d", weight, h.most)
					}
				}
			},
		})
	})
}

// What a cache holds is forgotten as a whole, or not at all.
func TestTrim(t *testing.T) {
	c := New[int](4, func(int) int { return 1 })
	for n := range 6 {
		c.Put(n, n)
	}
	n := c.Len()
	if c.Trim(n); c.Len() != n {
		t.Errorf("%d of %d are kept, and so many may be", c.Len(), n)
	}
	if c.Trim(n - 1); c.Len() != 0 {
		t.Errorf("%d are kept, and one less than there were may be", c.Len())
	}
}
