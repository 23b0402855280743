package enginetest

import (
	"bytes"
	"syscall"

	"rewind/engine"
	"rewind/engine/project"
	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
)

// ReadFails holds that a disk that fails gives no wrong answer. It asks a copy of the project, then other copies, one
// for each read of the store's tables that the question makes: that read fails there, once. Each such copy has to fail,
// and then to give the same answer when it is asked again, or to give it at once. Of more than most reads only most are
// tried, spread evenly. The copies share the project's directory, which ask leaves as it is. what names the question.
func (p *Project) ReadFails(what string, most int, ask func(q *Project) (string, error)) {
	p.T.Helper()
	disk := p.FS.Clone(100, 1)
	want, reads := p.asked(disk, 0, ask)
	if reads == 0 {
		p.T.Fatalf("%s: nothing is read", what)
	}
	most = min(most, reads)
	for i := range most {
		n := 1 + i*reads/most
		p.asked(disk, n, func(q *Project) (string, error) {
			got, first := ask(q)
			var err error
			if first != nil {
				got, err = ask(q)
			}
			if err != nil || got != want {
				p.T.Fatalf("%s: read %d of %d fails (%v), then %v:\n%s\nwant\n%s",
					what, n, reads, first, err, got, want)
			}
			return got, nil
		})
	}
}

// asked asks a copy of the project on a copy of a disk, where the read fail of tables fails; 0: none does. It returns
// the answer, and how many reads there were.
func (p *Project) asked(disk *kvtest.CrashFS, fail int, ask func(q *Project) (string, error)) (string, int) {
	p.T.Helper()
	q := *p
	q.FS = disk.Clone(100, 1)
	faulty := kvtest.NewFaultFS(q.FS)
	var err error
	q.E, err = engine.Open(Bg, p.Home, p.Root, project.Options{KV: kv.Options{FS: faulty}})
	p.Must(err)
	defer q.Close()
	q.E.Log.Now = p.E.Log.Now
	db := q.E.Log.DB
	for range 4 { // the memtables grow, until they leave the block cache no room once it is trimmed
		var key, val []byte
		p.Must(db.Scan(kv.Range{Reverse: true}, func(k, v []byte) error {
			key, val = bytes.Clone(k), bytes.Clone(v)
			return kv.ErrStop
		}))
		b := db.NewBatch()
		p.Must(b.Set(key, val))
		p.Must(b.Commit(Bg, kv.Written))
		p.Must(db.Compact(Bg))
	}
	db.TrimCaches()
	faulty.Hook(func(c kvtest.Call) {
		if c.Kind == kvtest.Read { // so that the next read of a key comes here too
			db.TrimCaches()
		}
	})
	faulty.Set(&kvtest.Fault{Kind: kvtest.Read, N: fail, Path: ".sst", Err: syscall.EIO})
	got, err := ask(&q)
	p.Must(err)
	return got, faulty.Calls(kvtest.Read)
}
