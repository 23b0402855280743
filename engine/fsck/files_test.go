package fsck_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/engine"
	"rewind/engine/enginetest"
	"rewind/engine/fsck"
	"rewind/engine/project"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
)

// onDisk is a project whose store lies on a real disk, in tables.
func onDisk(t *testing.T) *enginetest.Project {
	t.Helper()
	p := &enginetest.Project{T: t, Root: t.TempDir(), Home: project.Home{Dir: t.TempDir()}}
	var err error
	p.E, _, err = engine.Init(enginetest.Bg, p.Home, p.Root, project.ModeGlobal, project.Options{})
	p.Must(err)
	for i := range 30 {
		p.Write("f", noise(int64(i)))
		p.Save(fmt.Sprint(i))
	}
	p.Must(p.E.Log.DB.Compact(enginetest.Bg))
	return p
}

// TestRepairFiles: a store with a damaged table is repaired only after its files, and then is whole; the files of one
// in which nothing is wrong are left as they are.
func TestRepairFiles(t *testing.T) {
	p := onDisk(t)
	of := p.E.Project()
	tables, err := filepath.Glob(filepath.Join(of.Store, "db", "*.sst"))
	p.Must(err)
	if len(tables) == 0 {
		t.Fatal("the store has no tables")
	}
	p.Close()
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	o := project.Options{Now: func() time.Time { return now }}
	calls := 0
	told := func(int, int64) { calls++ }
	whole, err := fsck.RepairFiles(enginetest.Bg, &of, o, told)
	if err != nil || whole.Rebuilt || len(whole.Files)+len(whole.Damage) > 0 || whole.Quarantine != "" {
		t.Errorf("nothing is wrong: %+v, %v", whole, err)
	}
	for _, path := range tables {
		raw, err := os.ReadFile(path)
		p.Must(err)
		raw[len(raw)/3] ^= 0xff
		p.Must(os.WriteFile(path, raw, 0o600))
	}
	p.E, err = engine.Open(enginetest.Bg, p.Home, p.Root, o)
	p.Must(err)
	if r, err := p.E.Checker.Repair(enginetest.Bg, nil, nil); !errors.Is(err, kv.ErrCorrupt) || r != nil {
		t.Errorf("a repair before that of the files: %+v, %v", r, err)
	}
	_ = p.E.Close() // its tables are damaged
	for again, progress := range []func(int, int64){told, nil} {
		files, err := fsck.RepairFiles(enginetest.Bg, &of, o, progress)
		p.Must(err)
		if calls == 0 {
			t.Error("nothing is told of the progress")
		}
		if again > 0 { // done before
			if files.Rebuilt {
				t.Error("made anew twice")
			}
			break
		}
		if !files.Rebuilt || files.Keys == 0 || !strings.Contains(files.Quarantine, now.Format("20060102T150405Z")) {
			t.Errorf("%+v", files)
		}
		p.E, err = engine.Open(enginetest.Bg, p.Home, p.Root, o)
		p.Must(err)
		r, err := p.E.Checker.Repair(enginetest.Bg, files, nil)
		p.Must(err)
		if len(r.Left.Faults) > 0 || r.Quarantine != files.Quarantine || r.Files != files ||
			!strings.HasPrefix(r.Operation.Message, fmt.Sprintf("database made anew, of %d keys", files.Keys)) {
			t.Errorf("%+v, %q", r, r.Left.Faults)
		}
		p.Write("f", "on")
		p.Save("on")
		p.Verify()
		p.Close()
	}
}

// TestRepairFilesOfNoStore: where there is no store, none is made.
func TestRepairFilesOfNoStore(t *testing.T) {
	of := enginetest.NewProject(t).E.Project()
	of.Store = filepath.Join(t.TempDir(), "none")
	_, err := fsck.RepairFiles(enginetest.Bg, &of, project.Options{}, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "repair store "+of.Store) {
		t.Errorf("no store: %v", err)
	}
}

// What was done to the database's files is said in the log once, and not at any length.
func TestFilesInTheLog(t *testing.T) {
	many := make([]uint64, 400)
	for i := range many {
		many[i] = uint64(1000 + i)
	}
	for _, c := range []struct {
		files kv.Repaired
		want  string // how the message of the operation begins; "": there is none
		long  int
	}{
		{kv.Repaired{}, "", 0},
		{kv.Repaired{Files: []string{"format"}}, "", 0},
		{kv.Repaired{Rebuilt: true, Keys: 1}, "database made anew, of 1 key", 28},
		{
			kv.Repaired{Rebuilt: true, Keys: 7, Lost: []uint64{900, 901, 905, 905}},
			"database made anew, of 7 keys; operations 900 to 901 are lost; operations 905 to 905 are lost", 93,
		},
		{
			kv.Repaired{Rebuilt: true, Lost: many},
			"database made anew, of 0 keys; operations 1000 to 1001 are lost; ",
			4096,
		},
	} {
		p := enginetest.NewProject(t)
		p.Write("f", "1")
		p.Save("one")
		files := c.files
		r, err := p.E.Checker.Repair(enginetest.Bg, &files, nil)
		p.Must(err)
		did := files.Rebuilt || len(files.Files) > 0
		switch {
		case (r.Operation != nil) != did || len(r.Done) > 0:
			t.Errorf("%+v: %+v, %q", c, r.Operation, r.Done)
		case did && (len(r.Operation.Message) != c.long || !strings.HasPrefix(r.Operation.Message, c.want)):
			t.Errorf("%d bytes: %.200q, want %d of %q", len(r.Operation.Message), r.Operation.Message, c.long, c.want)
		}
	}
}

// Who waits for a check is told how far it has come, and each fault when it is found.
func TestCheckTells(t *testing.T) {
	p := enginetest.NewProject(t)
	for i := range 300 {
		p.Write(fmt.Sprintf("%03d", i), fmt.Sprint("content ", i))
	}
	cp := p.Save("one")
	lost := blobOf(p, cp, "007")
	p.Remove("007")
	drop(p, lost)
	var told []int
	progress := func(n int, _ int64) { told = append(told, n) }
	var faults []error
	f, err := p.E.Checker.Verify(enginetest.Bg, false, progress, func(err error) { faults = append(faults, err) })
	p.Must(err)
	if !slices.Equal(told, []int{256}) || f.Checked < 300 || f.Checked >= 512 {
		t.Errorf("told %v, checked %d", told, f.Checked)
	}
	want := fmt.Sprintf(`verify checkpoint %s: "007": blob %s is missing`, cp.ID.Short(), lost.Id.Short())
	if got := fmt.Sprint(faults); got != "["+want+"]" || fmt.Sprint(f.Faults) != got {
		t.Errorf("told %v, found %v, want %s", faults, f.Faults, want)
	}
	told = nil
	r, err := p.E.Checker.Repair(enginetest.Bg, nil, progress)
	p.Must(err)
	place := fmt.Sprintf(`checkpoint %s: "007"`, cp.ID.Short())
	left := []value.Lost{{Kind: "blob", ID: lost.Id.String(), Place: value.Text(place)}}
	if len(told) < 2 || fmt.Sprint(r.Left.Lost) != fmt.Sprint(left) {
		t.Errorf("told %v, lost are %+v", told, r.Left.Lost)
	}
	mark, _, err := p.E.Log.Objs.Tombstone(lost.Kind, lost.Id.Key())
	if p.Must(err); mark.Reason != objstore.Lost || mark.Text != place || mark.Operation != r.Operation.Seq {
		t.Errorf("it is marked as %+v by operation %d", mark, r.Operation.Seq)
	}
}
