package snapshot

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"rewind/tree/ignore"
)

// What becomes of a database decides about its companions also where only one of them was reported, or has another
// stamp.
func TestCompanionsWithoutAFullScan(t *testing.T) {
	for _, watch := range []bool{true, false} {
		v := unwatched(t)
		if watch {
			v = oversee(t)
		}
		v.rules = ignore.New(ignore.Options{}, ignore.File{Path: "x", Data: []byte("*-wal\n*-journal\nout/\n")})
		v.tracked = paths{"out/in.db"}
		steps := []func(){
			func() { write(t, v.root+"/a.db-wal", walHead); write(t, v.root+"/other", "x") },
			func() { write(t, v.root+"/a.db", liteHead) },
			func() { write(t, v.root+"/a.db-wal", walHead+"more") },
			func() { write(t, v.root+"/a.db", "no database") },
			func() { write(t, v.root+"/a.db-wal", "no log") },
			func() { write(t, v.root+"/a.db-wal", walHead+"again") },
			func() { check(t, os.Remove(v.root+"/a.db")) },
			func() { check(t, os.Remove(v.root+"/a.db-wal")); write(t, v.root+"/a.db", liteHead+"b") },
			func() { write(t, v.root+"/out/in.db-wal", "early"); write(t, v.root+"/out/in.db", "none") },
			func() { write(t, v.root+"/out/in.db", liteHead) },
			func() { write(t, v.root+"/out/in.db", liteHead+strings.Repeat("x", 400)) },
		}
		for i, step := range steps {
			age()
			step()
			age()
			r, x, err := v.snap(nil)
			check(t, err)
			full, err := Take(context.Background(), sourceOf(t, v.root, newMemStore(), v.source))
			check(t, err)
			if r.Root != full.Root || fmt.Sprint(noted(r)) != fmt.Sprint(noted(full)) {
				t.Errorf("watched %v, step %d: not as a full scan finds it:\n%q\n%q", watch, i, noted(r), noted(full))
			}
			x.commit()
			v.prev = r.Root
			v.cache.Committed()
		}
		if v.incremental == 0 && watch {
			t.Error("nothing was incremental")
		}
	}
}
