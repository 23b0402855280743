package objstore

// halves keeps what was put and asked for last, in two halves: when the younger is full, the older goes and the younger takes its place. So it holds at most twice
// most, or one value in a half that is heavier than that, and finding out what is old costs nothing. Empty once most and weigh are set. For one goroutine.
type halves[K comparable, V any] struct {
	most  int         // weight of each half
	weigh func(V) int // mostly bytes; the same for a key, however often it is put

	young, old map[K]V
	weight     int // of young
}

func (h *halves[K, V]) get(k K) (V, bool) {
	v, ok := h.young[k]
	if !ok {
		if v, ok = h.old[k]; ok {
			h.put(k, v)
		}
	}
	return v, ok
}

func (h *halves[K, V]) put(k K, v V) {
	if _, ok := h.young[k]; !ok {
		w := h.weigh(v)
		if h.young == nil || h.weight+w > h.most {
			h.young, h.old, h.weight = make(map[K]V, len(h.young)), h.young, 0
		}
		h.weight += w
	}
	h.young[k] = v
}

func (h *halves[K, V]) drop(k K) {
	delete(h.young, k)
	delete(h.old, k)
}

func (h *halves[K, V]) clear() { h.young, h.old, h.weight = nil, nil, 0 }
