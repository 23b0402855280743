package later

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rewind/engine/project"
)

// However often something is to be done, it is done once when the time has come; In puts it off or brings it forward,
// By only asks for it; it comes again when it says so; after the end nothing begins.
func TestWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var mu sync.Mutex // of ran and again: each project's work runs in a goroutine of its own
		var ran []string
		again := map[string]time.Duration{}
		w := New(func(p *project.Project) time.Duration {
			if len(p.Notices) > 0 {
				t.Error("the notices of a request are handed on")
			}
			mu.Lock()
			defer mu.Unlock()
			ran = append(ran, fmt.Sprint(p.ID, " ", time.Since(begin)))
			d := again[p.ID]
			delete(again, p.ID)
			return d
		})
		a, b, c := &project.Project{ID: "a", Notices: []string{"moved"}}, &project.Project{ID: "b"}, &project.Project{ID: "c"}
		for range 3 { // put off by each
			w.In(5*time.Second, a)
			time.Sleep(time.Second)
		}
		w.By(10*time.Second, b)
		w.By(time.Second, b) // it is to be done anyway
		w.In(time.Hour, c)
		w.In(2*time.Second, c) // earlier
		mu.Lock()
		again["c"] = 7 * time.Second
		mu.Unlock()
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := []string{"c 5s", "a 7s", "c 12s", "b 13s"}; !slices.Equal(ran, want) {
			t.Errorf("%q, want %q", ran, want)
		}
		w.In(time.Second, a)
		w.End()
		w.In(time.Second, b)
		w.By(time.Second, c)
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(ran) != 4 {
			t.Errorf("after the end: %q", ran[4:])
		}
	})
}
