package find

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// share calls do for each of n pieces of work, in order of their beginning, by as many goroutines as there are
// processors, each of which reads for itself; until do says that it is enough, or fails. What was left out is in r
// afterwards.
func (f *Finder) share(
	ctx context.Context, r *reading, n int, do func(r *reading, i int) (more bool, err error),
) error {
	var next atomic.Int64
	var mu sync.Mutex
	var failed error
	var wg sync.WaitGroup
	work := func(own *reading) (err error) {
		defer func() {
			if p := recover(); p != nil { // no request has this goroutine: a panic would end the daemon
				err = fmt.Errorf("search: internal error: %v\n%s", p, debug.Stack())
			}
		}()
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return nil
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			more, err := do(own, i)
			if err != nil {
				return err
			}
			if !more {
				next.Store(int64(n))
			}
		}
	}
	for range min(runtime.GOMAXPROCS(0), n) {
		own := f.readingAs(r)
		wg.Go(func() {
			err := work(own)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				next.Store(int64(n))
				failed = err
			}
			maps.Copy(r.large, own.large)
			maps.Copy(r.gone, own.gone)
		})
	}
	wg.Wait()
	return failed
}
