// Package cache keeps what was put and asked for last, in bounded memory. It has two generations. When the younger is
// full the older is dropped as a whole, and the younger takes its place. A cache holds at most twice what a generation
// may weigh; a single value may be heavier than that. To find out what is old costs nothing.
package cache

import "sync"

// A Cache is for one goroutine.
type Cache[K comparable, V any] struct {
	most  int // weight of a generation
	weigh func(V) int

	young, old map[K]V
	weight     int // of young
}

// New makes an empty cache of at most a weight. weigh gives what a value weighs, mostly bytes: the same for a key,
// however often it is put; nil: each weighs 1.
func New[K comparable, V any](most int, weigh func(V) int) *Cache[K, V] {
	return &Cache[K, V]{most: most / 2, weigh: weigh}
}

// Get gives the value of a key; not ok: it is not there, or not any more.
func (c *Cache[K, V]) Get(k K) (v V, ok bool) {
	if v, ok = c.young[k]; ok {
		return v, true
	}
	if v, ok = c.old[k]; ok {
		c.Put(k, v)
	}
	return v, ok
}

// Put keeps a value under a key, instead of any other.
func (c *Cache[K, V]) Put(k K, v V) {
	if _, ok := c.young[k]; !ok {
		w := 1
		if c.weigh != nil {
			w = c.weigh(v)
		}
		if c.young == nil || c.weight+w > c.most {
			c.young, c.old, c.weight = make(map[K]V, len(c.young)), c.young, 0
		}
		c.weight += w
	}
	c.young[k] = v
}

// Drop forgets keys.
func (c *Cache[K, V]) Drop(keys ...K) {
	for _, k := range keys {
		delete(c.young, k)
		delete(c.old, k)
	}
}

// Clear forgets all.
func (c *Cache[K, V]) Clear() { c.young, c.old, c.weight = nil, nil, 0 }

// Trim forgets all, where more than most values are kept.
func (c *Cache[K, V]) Trim(most int) {
	if c.Len() > most {
		c.Clear()
	}
}

// Len is how many values are kept.
func (c *Cache[K, V]) Len() int {
	n := len(c.young)
	for k := range c.old {
		if _, ok := c.young[k]; !ok {
			n++
		}
	}
	return n
}

// A Shared is a Cache that is safe for concurrent use.
type Shared[K comparable, V any] struct {
	mu sync.Mutex
	c  Cache[K, V]
}

// NewShared is New for one that is shared.
func NewShared[K comparable, V any](most int, weigh func(V) int) *Shared[K, V] {
	return &Shared[K, V]{c: *New[K](most, weigh)}
}

// Get is Cache.Get.
func (s *Shared[K, V]) Get(k K) (V, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.c.Get(k)
}

// Put is Cache.Put.
func (s *Shared[K, V]) Put(k K, v V) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.c.Put(k, v)
}

// Drop is Cache.Drop.
func (s *Shared[K, V]) Drop(keys ...K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.c.Drop(keys...)
}

// Clear is Cache.Clear.
func (s *Shared[K, V]) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.c.Clear()
}

// Trim is Cache.Trim.
func (s *Shared[K, V]) Trim(most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.c.Trim(most)
}
