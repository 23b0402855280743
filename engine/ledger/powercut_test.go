package ledger_test

import (
	"reflect"
	"strings"
	"testing"

	"rewind/engine"
	"rewind/engine/enginetest"
	"rewind/engine/ledger"
	"rewind/engine/project"
	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
)

// TestT2PowerCutInAFold cuts the power at every write while the rows of a store are folded anew, in batches of three
// operations, as after gc or for a store that has none: who opens what is left answers the same, and verify finds
// nothing.
func TestT2PowerCutInAFold(t *testing.T) {
	p, sessions := worked(t)
	want := all(p, sessions)
	for _, percent := range []int{0, 50, 100} {
		from := p.FS.Clone(100, 0)
		disk := kvtest.NewFaultFS(from)
		e, err := engine.Open(enginetest.Bg, p.Home, p.Root, project.Options{KV: kv.Options{FS: disk}})
		p.Must(err)
		b := e.Log.DB.NewBatch()
		p.Must(ledger.Changed(e.Log.DB, b))
		p.Must(b.Commit(enginetest.Bg, kv.Written))
		p.Must(b.Close())
		ledger.InSlices(e.Ledger, 3)
		var left []*kvtest.CrashFS
		disk.Hook(func(c kvtest.Call) {
			if c.Kind == kvtest.Write && strings.HasSuffix(c.Path, ".log") {
				left = append(left, from.Clone(percent, uint64(len(left))))
			}
		})
		_, err = e.Ledger.Turns(sessions[0])
		disk.Hook(nil)
		p.Must(err)
		p.Must(e.Close())
		if len(left) < 5 {
			t.Fatalf("%d%%: the fold was written in %d parts", percent, len(left))
		}
		for i, fs := range left {
			e, err := engine.Open(enginetest.Bg, p.Home, p.Root, project.Options{KV: kv.Options{FS: fs}})
			if err != nil {
				t.Fatalf("%d%%, cut %d: %v", percent, i, err)
			}
			for session, list := range want {
				got, err := e.Ledger.Turns(session)
				if p.Must(err); !reflect.DeepEqual(got, list) {
					t.Errorf("%d%%, cut %d, %s: %+v\nwant %+v", percent, i, session, got, list)
				}
			}
			if wrong, err := e.Ledger.Check(); err != nil || len(wrong) > 0 {
				t.Errorf("%d%%, cut %d: %q, %v", percent, i, wrong, err)
			}
			p.Must(e.Close())
		}
	}
}
