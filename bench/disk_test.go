package bench

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"rewind/bench/workload"
	"rewind/internal/kv"
	"rewind/objstore"
)

// maxPerEdit is what one edit of one line may cost on disk, in bytes.
const maxPerEdit = 1024

// The cost of a checkpoint is the promise that a store can keep every state: everything that 1,000 one-line edits of a
// 100 KiB file 3 folders deep add to the store counts, keys, trees, log and leftovers alike. It holds for any usual line.
func TestDiskPerEdit(t *testing.T) {
	t.Run("lines=50", func(t *testing.T) { diskPerEdit(t, false) })
	t.Run("lines=116", func(t *testing.T) { diskPerEdit(t, true) })
}

func diskPerEdit(t *testing.T, wide bool) {
	const edits = 1000
	root := t.TempDir()
	file, err := workload.BigFile(root, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := newProject(t, root)
	before := p.account()
	ed := p.editor([]string{file})
	if wide {
		ed.Wide()
	}
	for range edits {
		p.edit(ed)
		p.save()
	}
	asItLies := p.disk(nil).Sub(before.disk)
	after := p.account()
	grown := after.disk.Sub(before.disk)
	t.Logf("%d edits, bytes per edit: %s", edits, perEdit(grown, edits))
	t.Logf("before compaction: %s", perEdit(asItLies, edits))
	t.Log(after.minus(before).table(edits))
	if grown.Apparent >= maxPerEdit*edits {
		t.Errorf("an edit costs %d bytes, the limit is %d", grown.Apparent/edits, maxPerEdit)
	}
	if grown.Blocks >= maxPerEdit*edits {
		t.Errorf("an edit costs %d bytes of blocks, the limit is %d", grown.Blocks/edits, maxPerEdit)
	}
	if n := after.rows["operation"].n - before.rows["operation"].n; n != edits {
		t.Errorf("%d operations for %d edits", n, edits)
	}
	if n := after.rows["object checkpoint"].n - before.rows["object checkpoint"].n; n != edits {
		t.Errorf("%d checkpoints for %d edits", n, edits)
	}
}

func perEdit(d workload.Disk, n int64) string {
	return fmt.Sprintf("%d apparent, %d in blocks", d.Apparent/n, d.Blocks/n)
}

// A row counts entries of one kind.
type row struct{ n, keys, values int64 }

// An account is what a compacted store holds and takes.
type account struct {
	disk  workload.Disk
	rows  map[string]row
	files map[string]row // on disk; values are lengths
}

func (p *project) account() account {
	p.tb.Helper()
	a := account{rows: map[string]row{}, files: map[string]row{}}
	add := func(name string, key, value int64) {
		r := a.rows[name]
		a.rows[name] = row{r.n + 1, r.keys + key, r.values + value}
	}
	p.compacted(func(db *kv.DB) {
		const objectKey = 2 + int64(len(objstore.ID{}))
		err := objstore.New(db).Walk(p.tb.Context(), func(k objstore.Kind, _ objstore.ID, i objstore.Info) error {
			if i.Damage != nil {
				return i.Damage
			}
			add("object "+k.String(), objectKey, i.Stored)
			if i.Index == 0 {
				add("  of these whole, "+k.String(), objectKey, i.Stored)
			}
			return nil
		})
		if err != nil {
			p.tb.Fatal(err)
		}
		for name, prefix := range map[string]byte{"operation": kv.PrefixOperation, "ref": kv.PrefixRef, "stat cache": kv.PrefixStat, "journal": kv.PrefixJournal} {
			err := db.Scan(kv.Range{Prefix: []byte{prefix}}, func(key, val []byte) error {
				add(name, int64(len(key)), int64(len(val)))
				return nil
			})
			if err != nil {
				p.tb.Fatal(err)
			}
		}
	})
	p.close()
	a.disk = p.disk(func(path string, size workload.Disk) {
		r := a.files[fileKind(path)]
		a.files[fileKind(path)] = row{r.n + 1, 0, r.values + size.Apparent}
	})
	p.open()
	return a
}

func (a account) minus(b account) account {
	sub := func(x, y map[string]row) map[string]row {
		m := map[string]row{}
		for name := range x {
			m[name] = row{x[name].n - y[name].n, x[name].keys - y[name].keys, x[name].values - y[name].values}
		}
		for name := range y {
			if _, ok := x[name]; !ok {
				m[name] = row{-y[name].n, -y[name].keys, -y[name].values}
			}
		}
		return m
	}
	return account{disk: a.disk.Sub(b.disk), rows: sub(a.rows, b.rows), files: sub(a.files, b.files)}
}

// table lists growth, per edit in the last columns.
func (a account) table(edits int64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "growth\n%-28s %8s %10s %10s %12s\n", "", "entries", "keys", "values", "bytes/edit")
	var sum int64
	line := func(name string, r row) {
		fmt.Fprintf(&b, "%-28s %8d %10d %10d %12.1f\n", name, r.n, r.keys, r.values, float64(r.keys+r.values)/float64(edits))
	}
	for _, name := range slices.Sorted(maps.Keys(a.rows)) {
		line(name, a.rows[name])
		if name[0] != ' ' {
			sum += a.rows[name].keys + a.rows[name].values
		}
	}
	fmt.Fprintf(&b, "%-28s %41.1f\n", "the database around them", float64(a.disk.Apparent-sum)/float64(edits))
	for _, name := range slices.Sorted(maps.Keys(a.files)) {
		line("file "+name, a.files[name])
	}
	return b.String()
}
