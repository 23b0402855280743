package enginetest

import (
	"fmt"
	"sync/atomic"
	"syscall"

	"rewind/engine"
	"rewind/engine/project"
	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
)

// ReadFails holds that a read that fails gives no wrong answer. It asks a copy of the project, then other copies, one
// for each key that the question reads: that read fails there, once. Each such copy has to fail, and then to give the
// same answer when it is asked again, or to give it at once. Of more than most reads only most are tried, spread
// evenly. The copies share the project's directory, which ask leaves as it is. what names the question.
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

// asked asks a copy of the project on a copy of a disk, where the fail-th read of a key fails; 0: none does. It returns
// the answer, and how many reads there were.
func (p *Project) asked(disk *kvtest.CrashFS, fail int, ask func(q *Project) (string, error)) (string, int) {
	p.T.Helper()
	var reads, at atomic.Int64 // at: the read that fails; negative while nothing is asked
	at.Store(-1)
	fault := func() error {
		if at.Load() >= 0 && reads.Add(1) == at.Load() {
			return fmt.Errorf("read %d: %w", fail, syscall.EIO)
		}
		return nil
	}
	q := p.Copied(disk, fault)
	defer q.Close()
	at.Store(int64(fail))
	got, err := ask(q)
	p.Must(err)
	return got, int(reads.Load())
}

// Copied is the project with its store on a copy of a disk, where fault says before each key that is read whether that
// fails. It has the project's directory, and the caller closes it.
func (p *Project) Copied(disk *kvtest.CrashFS, fault func() error) *Project {
	p.T.Helper()
	q := *p
	q.FS = disk.Clone(100, 1)
	var err error
	q.E, err = engine.Open(Bg, p.Home, p.Root, project.Options{KV: kv.Options{FS: q.FS, ReadFault: fault}})
	p.Must(err)
	q.E.Log.Now = p.E.Log.Now
	return &q
}
