package apply_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"rewind/internal/value"
	"rewind/internal/worktreefs/faultfs"
	"rewind/tree"
	"rewind/tree/apply"
)

// ages are states of one database; what a file has behind its magic says which one it belongs to.
func ages() map[string][2]applyState {
	db := func(age string) applyNode { return nf(liteHead+age, 0o644) }
	wal := func(age string) applyNode { return nf(walHead+age, 0o644) }
	shm := nf("i", 0o644)
	return map[string][2]applyState{
		"both have a log": {
			{"x.db": db("A"), "x.db-wal": wal("A"), "x.db-shm": shm},
			{"x.db": db("B"), "x.db-wal": wal("B")},
		},
		"the log goes":  {{"x.db": db("A"), "x.db-wal": wal("A")}, {"x.db": db("B")}},
		"the log comes": {{"x.db": db("A")}, {"x.db": db("B"), "x.db-wal": wal("B")}},
		"there is none": {{"x.db": db("A")}, {"x.db": db("B")}},
		"a journal for a log": {
			{"x.db": db("A"), "x.db-wal": wal("A")},
			{"x.db": db("B"), "x.db-journal": nf("B", 0o644)},
		},
		"only the log": {{"x.db": db("B"), "x.db-wal": wal("B")}, {"x.db": db("B"), "x.db-wal": wal("B again")}},
	}
}

// age is the age of a database as it lies, "" for none, and an error if its files are of two.
func age(dir string) (string, error) {
	read := func(name string) (string, bool) {
		b, err := os.ReadFile(filepath.Join(dir, name))
		return strings.TrimPrefix(strings.TrimPrefix(string(b), liteHead), walHead), !errors.Is(err, fs.ErrNotExist)
	}
	is, _ := read("x.db")
	for _, c := range []string{"x.db-wal", "x.db-journal"} {
		if log, ok := read(c); ok && !strings.HasPrefix(log, is[:min(1, len(is))]) {
			return is, fmt.Errorf("%s is of %q, and the database of %q", c, log, is)
		}
	}
	return is, nil
}

func conflicts(r apply.Result, path string) bool {
	return slices.ContainsFunc(r.Conflicts, func(c value.Conflict) bool { return string(c.Path) == path })
}

// A program that has the database open, with or without a step of its own, has all of it stay.
func TestDatabaseThatIsOpen(t *testing.T) {
	for name, s := range ages() {
		for _, held := range []string{"x.db", "x.db-wal"} {
			if _, ok := s[0][held]; !ok {
				continue
			}
			dir := applyDir(t)
			buildState(t, dir, s[0])
			f, err := os.OpenFile(filepath.Join(dir, held), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			r, err := runApply(t, dir, stepsBetween(s[0], s[1]), applyBlobs{}.add(s[0]).add(s[1]), &faultfs.Script{})
			f.Close()
			if d := readState(t, dir).diff(s[0]); err != nil || d != "" {
				t.Errorf("%s, %s open: %v, tree differs:\n%s", name, held, err, d)
			}
			if !conflicts(r, "x.db") || r.Done != 0 {
				t.Errorf("%s, %s open: %+v", name, held, r)
			}
			for _, c := range r.Conflicts {
				if c.SavedAs != "" {
					t.Errorf("%s, %s open: %+v", name, held, c)
				}
			}
		}
	}
}

// Whatever a program does with the database, and whenever, all of it is of one age afterwards.
func TestDatabaseUsedMeanwhile(t *testing.T) {
	programs := map[string]func(dir string) func(){
		"commits and ends":       func(dir string) func() { return commit(dir, true, false) },
		"commits without asking": func(dir string) func() { return commit(dir, false, false) },
		"changes the database": func(dir string) func() {
			if is, err := age(dir); err == nil {
				_ = os.WriteFile(filepath.Join(dir, "x.db"), []byte(liteHead+is+" changed"), 0o644)
			}
			return func() {}
		},
		"stays open": func(dir string) func() {
			f, err := os.OpenFile(filepath.Join(dir, "x.db"), os.O_RDWR, 0)
			if err != nil {
				return func() {}
			}
			return func() { f.Close() }
		},
		"commits and stays open": func(dir string) func() { return commit(dir, true, true) },
	}
	for state, s := range ages() {
		b := applyBlobs{}.add(s[0]).add(s[1])
		for does, program := range programs {
			for n := 1; ; n++ {
				dir, hit, done := applyDir(t), false, func() {}
				buildState(t, dir, s[0])
				fs := &faultfs.Script{Before: func(i int, _ faultfs.Call) {
					if i == n {
						hit = true
						done = program(dir)
					}
				}}
				r, err := runApply(t, dir, stepsBetween(s[0], s[1]), b, fs)
				if err != nil {
					t.Fatal(err)
				}
				if !hit {
					break
				}
				is, err := age(dir)
				if err != nil || is[:1] == s[0]["x.db"].data[len(liteHead):][:1] && s[0]["x.db"] != s[1]["x.db"] &&
					!conflicts(r, "x.db") {
					t.Errorf("%s, a program %s before call %d: %q, %v, %+v\n%s", state, does, n, is, err, r.Conflicts,
						fs.Log())
				}
				done()
			}
		}
	}
}

// commit is what a program does that finds a database: what it writes into the log is of the age that it has read.
func commit(dir string, polite, stays bool) (end func()) {
	f, err := os.OpenFile(filepath.Join(dir, "x.db"), os.O_RDWR, 0)
	if err != nil {
		return func() {}
	}
	lock := unix.Flock_t{Type: unix.F_RDLCK, Start: 1<<30 + 2, Len: 510}
	if polite {
		if err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &lock); err != nil {
			f.Close()
			return func() {}
		}
	}
	is, _ := age(dir)
	log, err := os.OpenFile(filepath.Join(dir, "x.db-wal"), os.O_RDWR|os.O_CREATE, 0o644)
	if err == nil {
		if st, _ := log.Stat(); st.Size() == 0 {
			_, _ = log.WriteString(walHead + is)
		}
		_, _ = log.Seek(0, 2)
		_, _ = log.WriteString(" committed")
	}
	if !stays {
		f.Close()
		log.Close()
		return func() {}
	}
	return func() { f.Close(); log.Close() }
}

// A run that was cut short, and a program that uses what lies there then, leave a database of one age when the run goes
// on or back.
func TestDatabaseUsedBetweenRuns(t *testing.T) {
	for state, s := range ages() {
		b := applyBlobs{}.add(s[0]).add(s[1])
		steps := stepsBetween(s[0], s[1])
		for n := 1; ; n++ {
			fired := false
			for _, back := range []bool{false, true} {
				dir := applyDir(t)
				buildState(t, dir, s[0])
				fs := &faultfs.Script{CrashAt: n}
				_, err := runApply(t, dir, steps, b, fs)
				if fired = fired || err != nil; err == nil {
					continue
				}
				commit(dir, true, false)
				next := steps
				if back {
					next = tree.Reverse(steps)
				}
				r, err := runApply(t, dir, next, b, &faultfs.Script{})
				if err != nil {
					t.Fatal(err)
				}
				if is, err := age(dir); err != nil {
					t.Errorf("%s, cut short at call %d, back %v: %q, %v, %+v\n%s", state, n, back, is, err, r.Conflicts,
						fs.Log())
				}
			}
			if !fired {
				break
			}
		}
	}
}
