package find

import "iter"

// How many contents are read before somebody has taken them: enough that neither side waits for the other to wake up,
// and not more bytes than a memo keeps anyway.
const (
	maxAhead      = 32
	maxAheadBytes = 8 << 20
)

// contentsAhead is how many contents of a size in bytes are read ahead.
func contentsAhead(size int64) int { return int(max(1, min(maxAhead, maxAheadBytes/(size+1)))) }

// ahead makes the values of a sequence in a goroutine of its own, n of them before they are taken. What makes them
// touches nothing any more when the last value has been taken, nor when the loop over them has ended; a panic of it is
// the loop's.
func ahead[K, V any](seq iter.Seq2[K, V], n int) iter.Seq2[K, V] {
	type pair struct {
		k K
		v V
	}
	return func(yield func(K, V) bool) {
		made, enough := make(chan pair, n), make(chan struct{})
		var failed any
		go func() {
			defer close(made)
			defer func() { failed = recover() }()
			for k, v := range seq {
				select {
				case made <- pair{k, v}:
				case <-enough:
					return
				}
			}
		}()
		defer func() {
			close(enough)
			for range made { // it may be at work on one more
			}
		}()
		for p := range made {
			if !yield(p.k, p.v) {
				return
			}
		}
		if failed != nil {
			panic(failed)
		}
	}
}
