package bench

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"rewind/bench/workload"
	"rewind/engine/capture"
	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/objstore"
)

// What one edit of one line may cost on disk, in bytes.
const (
	maxPerEdit     = 600
	maxPerWideEdit = 720 // a line of 116 bytes
	maxPerToolEdit = 720 // by an agent's tool, between two events
)

// The cost of a checkpoint is the promise that a store can keep every state: everything that 1,000 one-line edits of a
// 100 KiB file 3 folders deep add to the store counts, keys, trees, log and leftovers alike.
func TestDiskPerEdit(t *testing.T) {
	save := func(p *project, edit func()) {
		edit()
		p.save()
	}
	t.Run("lines=50", func(t *testing.T) { diskPerEdit(t, maxPerEdit, 1, false, save) })
	t.Run("lines=116", func(t *testing.T) { diskPerEdit(t, maxPerWideEdit, 1, true, save) })
	t.Run("hooks", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 1))
		diskPerEdit(t, maxPerToolEdit, 2, false, func(p *project, edit func()) { p.toolEdit(rng, edit) })
	})
}

// toolEdit is an edit as an agent's tool makes it: an event before, which finds nothing changed, and one after. The
// session has no file: what its conversation takes is held down by a test of its own.
func (p *project) toolEdit(rng *rand.Rand, edit func()) {
	p.tb.Helper()
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	call := []byte("toolu_01")
	for range 22 {
		call = append(call, digits[rng.IntN(len(digits))])
	}
	ev := hooks.Event{
		Agent: hooks.Claude, Kind: hooks.BeforeTool, Name: "PreToolUse", Session: sessionID(1), Cwd: p.root,
		Tool: hooks.Tool{Name: "Edit", Call: string(call)},
	}
	for _, after := range []bool{false, true} {
		if after {
			edit()
			ev.Kind, ev.Name = hooks.AfterTool, "PostToolUse"
		}
		h, err := p.e.Worktree.Handle(p.tb.Context(), ev, capture.HandleOptions{ID: rng.Uint64()})
		if err != nil {
			p.tb.Fatal(err)
		}
		if !h.Recorded {
			p.tb.Fatalf("%s was not recorded", ev.Name)
		}
	}
}

// diskPerEdit makes edits, each with as many operations, and holds what an edit costs under a limit.
func diskPerEdit(t *testing.T, limit, operations int64, wide bool, make func(p *project, edit func())) {
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
		make(p, func() { p.edit(ed) })
	}
	asItLies := p.disk(nil).Sub(before.disk)
	after := p.account()
	grown := after.disk.Sub(before.disk)
	t.Logf("%d edits, bytes per edit: %s", edits, perEdit(grown, edits))
	t.Logf("before compaction: %s", perEdit(asItLies, edits))
	t.Log(after.minus(before).table(edits))
	if grown.Apparent >= limit*edits {
		t.Errorf("an edit costs %d bytes, the limit is %d", grown.Apparent/edits, limit)
	}
	if grown.Blocks >= limit*edits {
		t.Errorf("an edit costs %d bytes of blocks, the limit is %d", grown.Blocks/edits, limit)
	}
	if n := after.rows["operation"].n - before.rows["operation"].n; n != operations*edits {
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
		const objectKey = 2 + int64(len(objstore.Key{}))
		err := objstore.New(db).Walk(p.tb.Context(), func(k objstore.Kind, _ objstore.Key, i objstore.Info) error {
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
		for name, prefix := range map[string]byte{
			"operation": kv.PrefixOperation, "ref": kv.PrefixRef, "stat cache": kv.PrefixStat,
			"journal": kv.PrefixJournal, "session": kv.PrefixSession,
		} {
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
