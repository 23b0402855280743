package kv_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/internal/kv"
	"rewind/internal/torture"
)

// An ending is a store as its owner left it, with copies of earlier moments.
type ending struct {
	name  string
	dir   string
	was   []string // copies, oldest first
	files []string // of dir, relative
	steps uint64
	loads int
}

// endings makes stores whose owners have ended in each way. Every step is acknowledged and synced.
func endings(t *testing.T) []*ending {
	t.Helper()
	var all []*ending
	make := func(name string, live func(e *ending, d *kv.DB, copyTo func(string)) *kv.DB) {
		root := t.TempDir()
		e := &ending{name: name, dir: filepath.Join(root, "store")}
		at := filepath.Join(root, "live")
		copyTo := func(to string) { must(t, os.Rename(killedCopy(t, at), to)) }
		d := open(t, at, kv.Options{GroupSync: time.Hour})
		d = live(e, d, func(to string) {
			if to == "" {
				to = filepath.Join(root, fmt.Sprint("was", len(e.was)))
				e.was = append(e.was, to)
			}
			copyTo(to)
		})
		must(t, d.Close())
		must(t, filepath.WalkDir(e.dir, func(path string, f fs.DirEntry, err error) error {
			if err == nil && f.Type().IsRegular() {
				rel, _ := filepath.Rel(e.dir, path)
				e.files = append(e.files, rel)
			}
			return err
		}))
		all = append(all, e)
	}
	grow := func(e *ending, d *kv.DB, n int) {
		for range n {
			e.steps++
			must(t, step(d, e.steps, 3000, kv.Durable))
		}
	}
	ingest := func(e *ending, d *kv.DB, prefix string) {
		must(t, load(d, prefix))
		e.loads += 10
	}
	years := func(e *ending, d *kv.DB, copyTo func(string)) *kv.DB {
		grow(e, d, 20)
		must(t, d.Compact(bg))
		copyTo("")
		ingest(e, d, "Oy")
		grow(e, d, 20)
		copyTo("")
		must(t, d.Close())
		d = open(t, filepath.Join(filepath.Dir(e.dir), "live"), kv.Options{GroupSync: time.Hour})
		ingest(e, d, "Oz")
		grow(e, d, 10)
		copyTo("")
		grow(e, d, 14)
		return d
	}
	make("clean stop", func(e *ending, d *kv.DB, copyTo func(string)) *kv.DB {
		d = years(e, d, copyTo)
		must(t, d.Close())
		copyTo(e.dir)
		return open(t, filepath.Join(filepath.Dir(e.dir), "live"), kv.Options{})
	})
	make("kill -9", func(e *ending, d *kv.DB, copyTo func(string)) *kv.DB {
		d = years(e, d, copyTo)
		copyTo(e.dir)
		return d
	})
	make("kill -9 in the first life", func(e *ending, d *kv.DB, copyTo func(string)) *kv.DB {
		copyTo("")
		grow(e, d, 5)
		copyTo("")
		ingest(e, d, "Oz")
		grow(e, d, 9)
		copyTo(e.dir)
		return d
	})
	return all
}

// earlier are the paths of what a file was before, and of earlier files of its kind that are not there any more.
func (e *ending) earlier(t *testing.T, file string) (paths []string) {
	t.Helper()
	now, err := os.ReadFile(filepath.Join(e.dir, file))
	must(t, err)
	kind := func(name string) string { return strings.Trim(filepath.Base(name), "0123456789") }
	for _, was := range e.was {
		list, err := os.ReadDir(filepath.Join(was, filepath.Dir(file)))
		must(t, err)
		for _, f := range list {
			path := filepath.Join(was, filepath.Dir(file), f.Name())
			b, err := os.ReadFile(path)
			switch {
			case err != nil || kind(f.Name()) != kind(file):
			case f.Name() == filepath.Base(file) && string(b) != string(now):
				paths = append(paths, path)
			case f.Name() != filepath.Base(file) && !slices.Contains(e.files, filepath.Join(filepath.Dir(file), f.Name())):
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// TestT22Promise06DamageMatrix does everything that can happen to a file to every file of a store, after every end of
// its owner. Then all that was acknowledged and synced is there, or the store says that it is damaged: it does not open
// for writing, nothing is removed, what can be read is read, and a repair ends with a store that opens. What is gone is
// never gone without a word.
func TestT22Promise06DamageMatrix(t *testing.T) {
	t.Parallel()
	m := torture.Begin(t)
	type point struct {
		*ending
		file   string
		damage int
	}
	var logs, rest []point
	for _, e := range endings(t) {
		for _, file := range e.files {
			for i := range torture.Damages {
				if p := (point{e, file, i}); strings.HasSuffix(file, ".log") {
					logs = append(logs, p)
				} else {
					rest = append(rest, p)
				}
			}
		}
	}
	r := rand.New(rand.NewPCG(m.Seed, 22))
	points := torture.Alternate(r, logs, rest)
	count, silent := map[string]int{}, 0
	for i := 0; i < m.Points; i++ {
		p := points[i%len(points)]
		dir := filepath.Join(t.TempDir(), "store")
		must(t, os.CopyFS(dir, os.DirFS(p.dir)))
		did, err := torture.Damages[p.damage].Do(r, filepath.Join(dir, p.file), p.earlier(t, p.file))
		must(t, err)
		m.Point()
		if did == "" {
			continue
		}
		what := fmt.Sprintf("%s, %s: %s", p.name, p.file, did)
		m.Fired(1)
		m.Acked(int(p.steps) + p.loads)
		word, lost := p.judge(t, what, dir)
		count[word]++
		if lost > 0 {
			silent++
			m.Lost(lost)
			t.Errorf("%s: SILENT: %d of %d gone", what, lost, int(p.steps)+p.loads)
		}
	}
	t.Logf("%d points there are; %v, %d silent", len(points), count, silent)
}

// judge opens a damaged store. lost counts what is gone without a word.
func (e *ending) judge(t *testing.T, what, dir string) (word string, lost int) {
	t.Helper()
	before := tree(t, dir)
	d, err := kv.Open(bg, dir, kv.Options{Fatal: func(err error) { t.Errorf("%s: fatal: %v", what, err) }})
	if err != nil {
		if !errors.Is(err, kv.ErrCorrupt) && !errors.Is(err, kv.ErrForeign) && !errors.Is(err, kv.ErrNewerFormat) {
			t.Errorf("%s: not told as damage: %v", what, err)
		}
		nothingGone(t, what, dir, before)
		return e.salvage(t, what, dir, err), 0
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Logf("%s: close: %v", what, err)
		}
	}()
	got, err := checkSteps(d, 3000)
	n, lerr := loaded(d)
	switch verr := d.CheckTables(bg); {
	case err == nil && lerr == nil && got == e.steps && n == e.loads:
		return "all there", 0
	case verr != nil:
		return "told by verify", 0
	case err != nil || lerr != nil:
		t.Errorf("%s: reads fail (%v, %v), verify finds nothing", what, err, lerr)
		return "half told", 0
	}
	return "SILENT", int(e.steps-min(got, e.steps)) + e.loads - n
}

// salvage reads what a damaged store still gives, and repairs it.
func (e *ending) salvage(t *testing.T, what, dir string, refused error) string {
	t.Helper()
	word := "refused"
	d, err := kv.Open(bg, dir, kv.Options{Salvage: true})
	if err == nil {
		if d.Damage() == nil {
			t.Errorf("%s: refused (%v), and nothing is wrong when it is opened to be read", what, refused)
		}
		word = "salvaged"
		must(t, d.Close())
	}
	if errors.Is(refused, kv.ErrNewerFormat) {
		return "taken for newer"
	}
	rep, err := kv.Repair(bg, dir, kv.Options{}, kv.RepairOptions{Ours: true, Now: time.Now(), Operation: lostOperation})
	if err != nil {
		t.Errorf("%s: refused (%v), repair: %v", what, refused, err)
		return word
	}
	if len(rep.Damage) == 0 {
		t.Errorf("%s: refused (%v), the repair finds nothing", what, refused)
	}
	d, err = kv.Open(bg, dir, kv.Options{})
	if err != nil {
		t.Errorf("%s: refused (%v), repaired (%+v), and does not open: %v", what, refused, rep, err)
		return word
	}
	if d.LastSeq() != e.steps {
		word += ", the end unnamed"
		t.Errorf("%s: the repair says nothing of operations %d to %d: %+v", what, d.LastSeq()+1, e.steps, rep)
	}
	must(t, d.Close())
	return word + ", repaired"
}

func lostOperation(_ uint64, val []byte) []byte {
	if val == nil {
		return []byte("lost")
	}
	return val
}
