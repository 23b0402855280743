package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rewind/internal/torture"
)

const module = "../../.."

// TestRunFault: a fault is found by the test that is for it; one that its tests do not see, one that has no patch and
// tests that are not there are problems.
func TestRunFault(t *testing.T) {
	for _, c := range []struct{ fault, tests, want string }{ // what the problem says; empty: there is none
		{"dotgit-spelled", "TestT12Promise10DotGit", ""},
		{"dotgit-spelled", "TestSameName", "NOT FOUND"},
		{"no-such-fault", "TestT12Promise10DotGit", "no test has failed"},
		{"dotgit-spelled", "TestThatIsNotThere", "no test of internal/worktreefs"},
	} {
		o, f := options{dir: module}, torture.Figures{}
		problem := o.runFault(torture.Fault{Name: c.fault, Package: "internal/worktreefs", Tests: c.tests}, &f)
		if (problem == "") != (c.want == "") || !strings.Contains(problem, c.want) ||
			(f.Points == 1) != (c.want == "") {
			t.Errorf("%s by %s: %q, want %q; %+v", c.fault, c.tests, problem, c.want, f)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		rows, share, report string
		jobs                int
		ok                  bool
	}{
		{"", "100%", "a", 1, true},
		{"T1,T6,bugs", "10%", "a,b", 2, true},
		{"T1", "0.5", "a", 1, true},
		{"T99", "10%", "a", 1, false},
		{"", "0%", "a", 1, false},
		{"", "101%", "a", 1, false},
		{"", "x", "a", 1, false},
		{"", "100%", ",", 1, false},
		{"", "100%", "a", 0, false},
	} {
		o := options{atOnce: c.jobs}
		if err := o.set(c.rows, "", c.share, c.report); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// tiny is a module with one thing of each kind but a fault; one target of fuzzing finds its input at once.
var tiny = map[string]string{
	"go.mod": "module tiny\n",
	"x/x_test.go": `package x

import "testing"

func TestT9Whole(t *testing.T)      { t.Run("one", func(*testing.T) {}) }
func TestT9Broken(t *testing.T)     { t.Error("broken") }
func TestPromise01InNoRow(t *testing.T) {}

func FuzzHolds(f *testing.F)  { f.Fuzz(func(*testing.T, []byte) {}) }
func FuzzBreaks(f *testing.F) { f.Fuzz(func(t *testing.T, b []byte) { if len(b) > 2 { t.Error("long") } }) }
`,
}

// TestRunMatrix: every kind is run, what the report has is not run again, pieces of two processes add up, and what has
// failed is named with its input.
func TestRunMatrix(t *testing.T) {
	dir := t.TempDir()
	for name, text := range tiny {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	one, other := filepath.Join(dir, "one"), filepath.Join(dir, "other")
	run := func(only, share string, reports ...string) (added []torture.Figures) {
		t.Helper()
		o := options{dir: dir, atOnce: 2}
		if err := o.set("T9,T15,rest", only, share, strings.Join(reports, ",")); err != nil {
			t.Fatal(err)
		}
		before, err := torture.ReadReports(reports[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := o.runMatrix(); err == nil && strings.Contains(only, "B") {
			t.Errorf("%s: no error", only)
		}
		after, err := torture.ReadReports(reports[0])
		if err != nil {
			t.Fatal(err)
		}
		return after[len(before):]
	}
	tests := func(list []torture.Figures) (names []string) {
		for _, f := range list {
			names = append(names, strings.TrimPrefix(f.Test, "x."))
		}
		slices.Sort(names)
		return names
	}
	holds := run("FuzzHolds", "0.1", one)
	if len(holds) != 1 || holds[0].Points != 1 || holds[0].Execs == 0 || holds[0].Failed {
		t.Errorf("a piece of fuzzing: %+v", holds)
	}
	if got := run("TestT9Whole,rest", "100%", one); !slices.Equal(tests(got), []string{"TestT9Whole", "rest"}) ||
		got[0].Failed ||
		got[1].Failed {
		t.Errorf("first report: %+v", got)
	}
	for _, f := range run("TestT9Whole,TestT9Broken,FuzzBreaks,rest", "100%", other, one) {
		if want := "x/testdata/fuzz/FuzzBreaks/"; !f.Failed || f.Test == "x.FuzzBreaks" &&
			!strings.HasPrefix(f.Note, want) {
			t.Errorf("second report: %+v", f)
		}
	}
	all, err := torture.ReadReports(one, other)
	if want := []string{"FuzzBreaks", "FuzzHolds", "TestT9Broken", "TestT9Whole", "rest"}; err != nil ||
		!slices.Equal(tests(all), want) {
		t.Errorf("together: %v, want %v (%v)", tests(all), want, err)
	}
}

func TestTail(t *testing.T) {
	passes := strings.Repeat("=== RUN   TestX/a\n    --- PASS: TestX/a (0.01s)\n", 1000)
	if got := tail([]byte("=== RUN   TestX\n    x_test.go:1: wrong\n" + passes +
		"--- FAIL: TestX (9s)\n")); got != "x_test.go:1: wrong\n"+
		"--- FAIL: TestX (9s)" {
		t.Error(got)
	}
}
