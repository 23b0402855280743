package apply_test

import (
	"os"
	"testing"

	"pgregory.net/rapid"

	"rewind/internal/torture"
	"rewind/internal/worktreefs/faultfs"
	"rewind/tree"
)

// drawn is a test whose failures are those of one drawn case.
type drawn struct {
	testing.TB
	rt *rapid.T
}

func (d drawn) Error(args ...any)            { d.rt.Error(args...) }
func (d drawn) Errorf(f string, args ...any) { d.rt.Errorf(f, args...) }
func (d drawn) Fatal(args ...any)            { d.rt.Fatal(args...) }
func (d drawn) Fatalf(f string, args ...any) { d.rt.Fatalf(f, args...) }

// drawDatabase draws a state of a database: it has any of the files that SQLite makes, all of one age, or there is
// none.
func drawDatabase(rt *rapid.T, of string) applyState {
	s := applyState{"other": nf(of, 0o644)}
	has := func(name string) bool { return rapid.Bool().Draw(rt, of+" has "+name) }
	if !has("x.db") {
		return s
	}
	age := rapid.SampledFrom([]string{"A", of}).Draw(rt, "age of "+of) // both ends can have the same database
	perm := rapid.SampledFrom([]uint16{0o644, 0o600}).Draw(rt, "permissions of "+of)
	s["x.db"] = nf(liteHead+age, perm)
	if has("log") {
		s["x.db-wal"] = nf(walHead+age+of, perm)
		if has("index") {
			s["x.db-shm"] = nf("i"+of, perm)
		}
	} else if has("journal") {
		s["x.db-journal"] = nf(age+of, perm)
	}
	return s
}

// TestDatabaseModel: from any state of a database to any other, forwards and back, cut short as often as it likes
// wherever it likes: no file lies beside a database of another age at any of these moments, and the last run reaches
// its end.
func TestDatabaseModel(t *testing.T) {
	checks := 20 // of a hundred cases each
	if torture.Full() {
		checks = 400
	}
	property := func(rt *rapid.T) {
		t := drawn{t, rt}
		from, to := drawDatabase(rt, "A"), drawDatabase(rt, "B")
		plain := rapid.Bool().Draw(rt, "plain renames")
		b, steps := applyBlobs{}.add(from).add(to), stepsBetween(from, to)
		dir := applyDir(t)
		defer os.RemoveAll(dir)
		buildState(t, dir, from)
		for range rapid.IntRange(0, 6).Draw(rt, "cuts") {
			run := steps
			if rapid.Bool().Draw(rt, "back") {
				run = tree.Reverse(steps)
			}
			s := &faultfs.Script{CrashAt: rapid.IntRange(1, 40).Draw(rt, "cut at"), Plain: plain}
			_, err := runApply(t, dir, run, b, s)
			if _, two := age(dir); two != nil {
				t.Fatalf("%v, after a run with %v of\n%s", two, err, s.Log())
			}
		}
		if rapid.Bool().Draw(rt, "ends where it began") {
			mustReach(t, dir, tree.Reverse(steps), b, from)
		} else {
			mustReach(t, dir, steps, b, to)
		}
	}
	for range checks {
		rapid.Check(t, property)
	}
}

// TestT10DatabaseCutTwice: a run that was cut short anywhere, and the next one too, forwards or back.
func TestT10DatabaseCutTwice(t *testing.T) {
	const calls = 30 // more than a run of these steps makes
	s := ages()["both have a log"]
	from, to := s[0], s[1]
	b, steps := applyBlobs{}.add(from).add(to), stepsBetween(from, to)
	for first := range calls {
		for second := range calls {
			for _, back := range []bool{false, true} {
				dir := applyDir(t)
				buildState(t, dir, from)
				_, _ = runApply(t, dir, steps, b, &faultfs.Script{CrashAt: 1 + first})
				again, end := steps, to
				if back {
					again, end = tree.Reverse(steps), from
				}
				_, _ = runApply(t, dir, again, b, &faultfs.Script{CrashAt: 1 + second})
				mustReach(t, dir, again, b, end)
				if t.Failed() {
					t.Fatalf("cut at call %d, then at %d, back: %v", 1+first, 1+second, back)
				}
			}
		}
	}
}
