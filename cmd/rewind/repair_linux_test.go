package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rewind/internal/torture"
)

// files are the contents of a worktree.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		if err != nil || rel == ".agent" {
			return cmpErr(err, fs.SkipDir)
		}
		if e.Type().IsRegular() {
			b, err := os.ReadFile(path)
			all[rel] = string(b)
			return err
		}
		return nil
	}))
	return all
}

func cmpErr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// stored are the bytes of the files below a directory whose names end so.
func stored(t *testing.T, dir, suffix string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && strings.HasSuffix(path, suffix) {
			b, rerr := os.ReadFile(path)
			all[string(b)], err = true, rerr
		}
		return err
	}))
	return all
}

// A past is a project with checkpoints, and what each of them holds.
type past struct {
	dir   string
	ids   []string // newest first
	holds map[string]map[string]string
	seqs  map[string]uint64
}

// newPast makes a project with a store of its own: files that stay, files that change, and files that only old
// checkpoints have.
func newPast(t *testing.T, dir string, steps int) *past {
	t.Helper()
	p := &past{dir: dir, holds: map[string]map[string]string{}, seqs: map[string]uint64{}}
	all := map[string]string{"a.txt": "0\n"}
	for i := range 40 {
		all[fmt.Sprintf("stay/%d/%d.bin", i%4, i)] = noise(int64(i), 3000)
	}
	write(t, dir, all)
	mustHere(t, dir, "init", "--mode", "project")
	note := func() {
		id := checkpoints(t, dir)[0]
		p.ids, p.holds[id] = slices.Insert(p.ids, 0, id), files(t, dir)
		var v struct {
			Operations []struct {
				Seq        uint64
				Checkpoint string
			}
		}
		must(t, json.Unmarshal([]byte(mustHere(t, dir, "ops", "--json")), &v))
		p.seqs[id] = v.Operations[0].Seq
	}
	note()
	for i := range steps {
		write(t, dir, map[string]string{
			"a.txt":      strings.Repeat(fmt.Sprintf("line %d\n", i), i+1),
			"change.bin": noise(int64(1000+i), 3000),
		})
		write(t, dir, map[string]string{fmt.Sprintf("old/%d", i): noise(int64(2000+i), 2000)})
		if i > 2 {
			must(t, os.Remove(filepath.Join(dir, fmt.Sprintf("old/%d", i-3))))
		}
		mustHere(t, dir, "save", fmt.Sprint(i))
		note()
	}
	mustHere(t, dir, "tag", "keep", "@~2")
	return p
}

type verified struct {
	Faults   []string
	LostOps  []struct{ First, Last uint64 } `json:"lost_operations"`
	Lost     []struct{ ID string }
	Affected []struct {
		Checkpoint string
		Whole      bool
		Paths      []string
	}
}

// afterRepair holds a repaired project to its past: nothing wrong is left unsaid, and every checkpoint that is not said
// to be affected is restored to the byte. It returns how many are.
func (p *past) afterRepair(t *testing.T, what, dir string) (affected int) {
	t.Helper()
	code, out, errs := here(dir, "verify", "--json")
	var v verified
	if err := json.Unmarshal([]byte(out), &v); err != nil || code != 0 && code != 15 {
		t.Errorf("%s: verify after the repair: exit code %d\n%s%s", what, code, out, errs)
		return 0
	}
	said := map[string][]string{}
	for _, a := range v.Affected {
		said[a.Checkpoint] = append(a.Paths, "")
	}
	for _, id := range p.ids {
		for _, s := range v.LostOps {
			if s.First <= p.seqs[id] && p.seqs[id] <= s.Last {
				said[id] = []string{""}
			}
		}
	}
	listed := checkpoints(t, dir)
	for _, id := range p.ids {
		lost := said[id]
		if !slices.Contains(listed, id) && lost == nil {
			t.Errorf("%s: checkpoint %.12s is gone without a word", what, id)
			continue
		}
		code, out, errs := here(dir, "checkout", id, "--exact")
		switch {
		case code == 0:
			if now := files(t, dir); !maps.Equal(now, p.holds[id]) {
				t.Errorf("%s: checkpoint %.12s: WRONG FILES: %v", what, id, differing(now, p.holds[id]))
			}
		case lost == nil:
			t.Errorf("%s: checkpoint %.12s is not said to be affected: exit code %d\n%s%s", what, id, code, out, errs)
		case code != 16 && code != 12:
			t.Errorf("%s: checkpoint %.12s: exit code %d\n%s%s", what, id, code, out, errs)
		}
		if lost != nil {
			affected++
		}
	}
	write(t, dir, map[string]string{"after": what})
	if code, out, errs := here(dir, "save"); code != 0 {
		t.Errorf("%s: save after the repair: exit code %d\n%s%s", what, code, out, errs)
	}
	if code, out, errs := here(dir, "verify"); code != 0 && code != 15 {
		t.Errorf("%s: verify at the end: exit code %d\n%s%s", what, code, out, errs)
	}
	return affected
}

func differing(a, b map[string]string) (names []string) {
	for _, m := range []map[string]string{a, b} {
		for name := range m {
			if a[name] != b[name] && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// damageKinds are the files of a project's store, by where they are.
var damageKinds = map[string]string{
	"table": "store/db/*.sst", "log": "store/db/*.log", "manifest": "store/db/MANIFEST-*", "options": "store/db/OPTIONS-*",
	"marker": "store/db/marker.*",
	"format": "store/format", "tide": "store/tide", "ballast": "store/ballast", "project": "store/project.json", "id": "id",
}

// damageFile flips a bit of a file, cuts its end off, or renames one that is all name.
func damageFile(t *testing.T, r *rand.Rand, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	name := filepath.Base(path)
	if len(b) == 0 {
		to := path[:len(path)-1] + string(path[len(path)-1]^1)
		must(t, os.Rename(path, to))
		return "renamed to " + filepath.Base(to)
	}
	what := ""
	if r.IntN(4) == 0 {
		n := r.IntN(len(b))
		b, what = b[:n], fmt.Sprintf("%s cut at %d of %d", name, n, len(b))
	} else {
		i, bit := r.IntN(len(b)), r.IntN(8)
		b[i] ^= 1 << bit
		what = fmt.Sprintf("%s byte %d of %d bit %d", name, i, len(b), bit)
	}
	must(t, os.WriteFile(path, b, 0o600))
	return what
}

// TestT6Promise06RepairMatrix damages every kind of file of a project's store, repairs it by the command line, and
// holds what comes of it to what was there: every checkpoint restores to the byte, or is said to be affected; nothing
// of the old store is gone; what was not damaged is not affected.
func TestT6Promise06RepairMatrix(t *testing.T) {
	t.Parallel()
	seeds, first := uint64(3), 3*torture.Seed()
	if torture.Full() {
		seeds, first = 100, 0
	}
	root := memoryDir(t)
	p := newPast(t, filepath.Join(root, "p"), 5)
	for kind, pattern := range damageKinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			repaired, affected, refused := 0, 0, 0
			for i := range seeds {
				r := rand.New(rand.NewPCG(first+i, 606))
				dir := filepath.Join(root, fmt.Sprintf("%s-%d", kind, i))
				clone(t, p.dir, dir)
				list, err := filepath.Glob(filepath.Join(dir, ".agent/rewind", pattern))
				must(t, err)
				if len(list) == 0 {
					t.Fatalf("the store has no %s", kind)
				}
				what := damageFile(t, r, list[r.IntN(len(list))])
				if code, out, errs := here(dir, "verify"); code != 0 && code != 16 && code != 17 {
					t.Errorf("%s: verify: exit code %d\n%s%s", what, code, out, errs)
				}
				before := stored(t, filepath.Join(dir, ".agent/rewind/store/db"), ".sst")
				code, out, errs := here(dir, "verify", "--repair")
				switch {
				case code == 17: // it cannot be told from a newer store
					refused++
					discard(t, dir)
					continue
				case code != 0 && code != 15:
					t.Errorf("%s: repair: exit code %d\n%s%s", what, code, out, errs)
				case strings.Contains(out, "quarantine"):
					repaired++
				}
				if strings.Contains(out, "the database was made anew") {
					after := stored(t, filepath.Join(dir, ".agent/rewind/store"), "")
					for b := range before {
						if !after[b] {
							t.Errorf("%s: a file of the old database is gone", what)
						}
					}
				}
				n := p.afterRepair(t, what, dir)
				affected += n
				if n > 0 && code != 15 {
					t.Errorf("%s: %d checkpoints are affected, the repair ended with %d", what, n, code)
				}
				discard(t, dir)
			}
			t.Logf("%d repaired, %d taken for newer, %d checkpoints affected of %d", repaired, refused, affected, int(seeds)*len(p.ids))
			if kind != "table" && kind != "log" && affected > 0 {
				t.Errorf("%d checkpoints are affected by damage that is in no data", affected)
			}
		})
	}
}
