package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const sample = `package p

const mode = 0o644

func f(a, b []int, ok bool) error {
	if len(a) <= 3 && !ok {
		g(a[0])
		return nil
	}
	if ok {
		return g(a[1:])
	} else if b == nil {
		return nil
	}
	go g(10)
	_ = g(nil)
	return nil
}
`

// made are all mutants of sample.
const made = `6 operand
-	if len(a) <= 3 && !ok {
+	if len(a) <= 3 {
6 operand
-	if len(a) <= 3 && !ok {
+	if !ok {
6 comparison
-	if len(a) <= 3 && !ok {
+	if len(a) < 3 && !ok {
6 constant
-	if len(a) <= 3 && !ok {
+	if len(a) <= 4 && !ok {
6 constant
-	if len(a) <= 3 && !ok {
+	if len(a) <= 2 && !ok {
6 connective
-	if len(a) <= 3 && !ok {
+	if len(a) <= 3 || !ok {
6 negation
-	if len(a) <= 3 && !ok {
+	if len(a) <= 3 && ok {
7 call
-		g(a[0])
7 constant
-		g(a[0])
+		g(a[1])
8 return
-		return nil
11 constant
-		return g(a[1:])
+		return g(a[2:])
11 constant
-		return g(a[1:])
+		return g(a[0:])
12 comparison
-	} else if b == nil {
+	} else if b != nil {
13 return
-		return nil
15 constant
-	go g(10)
+	go g(11)
15 constant
-	go g(10)
+	go g(9)
`

func TestMutantsOf(t *testing.T) {
	list, err := mutantsOf("p.go", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range list {
		line := 1 + strings.Count(sample[:m.start], "\n")
		if line != m.line {
			t.Errorf("line %d, want %d: %+v", m.line, line, m)
		}
		got = append(got, fmt.Sprintf("%d %s\n%s", m.line, m.kind, m.diff([]byte(sample))))
		if _, err := mutantsOf("p.go", m.apply([]byte(sample))); err != nil {
			t.Errorf("%+v: %v", m, err)
		}
	}
	if got := strings.Join(got, ""); got != made {
		t.Errorf("got\n%s", got)
	}
}

// TestTogether: a source with all mutants has each of them, nested in those of what it is in.
func TestTogether(t *testing.T) {
	list, err := mutantsOf("p.go", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	all := map[int]mutant{}
	for i, m := range list {
		all[i+1] = m
	}
	got := string(together([]byte(sample), all))
	if lines := strings.Count(got, "\n"); lines != strings.Count(sample, "\n") {
		t.Errorf("%d lines", lines)
	}
	for _, want := range []string{
		"	if mutantOn__ != 8 { g(a[func() int { if mutantOn__ == 9 { return 1 }; return 0 }()]) }\n",
		"	if mutantOn__ != 10 { return nil }\n",
		"	} else if func() bool { if mutantOn__ == 13 { return b != nil }; return b == nil }() {\n",
		"func() bool { if mutantOn__ == 7 { return len(a) <= 3 && ok }; return func() bool { if mutantOn__ == 6 " +
			"{ return len(a) <= 3 || !ok }; return func() bool { if mutantOn__ == 5 " +
			"{ return len(a) <= 2 && !ok }; return ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q", want)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
	for text, want := range map[string]bool{
		"a > 0": true, "a >\n0": true, "a > // b\n0": false, "recover() == 0": false, "a(func() {\n}) == 0": false,
	} {
		list, err := mutantsOf("p.go", []byte("package p\n\nvar x = "+text+"\n"))
		if err != nil || list[0].fits([]byte("package p\n\nvar x = "+text+"\n")) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// tiny is a module: Max has a test, the others have none. Faults in limit, Never and Print are no part of a program
// with several: in Print it would compile there only. Loop does not end with a fault in its fifth line. The test of
// mixed fails in a program with several.
var tiny = map[string]string{
	"go.mod": "module tiny\n",
	"p/p.go": `package p

func Max(a, b int) int {
	if a > b {
		return a
	}
	return b
}

func Twice(a int) int { return a * 2 }

func Half() uint64 { return 2 }

const limit = 1

func Never() int {
	panic("never")
}

func Print() {
	n := len("")
	println(n)
}
`,
	"mixed/mixed.go": `package mixed

func Is(a int) bool { return a > 0 }
`,
	"mixed/mixed_test.go": `package mixed

import (
	"os"
	"strings"
	"testing"
)

func TestIs(t *testing.T) {
	if strings.Contains(os.Getenv("GOFLAGS"), "together") {
		t.Fatal("several")
	}
	if Is(0) || !Is(1) {
		t.Error("wrong")
	}
}
`,
	"p/p_test.go": `package p

import (
	"os"
	"testing"
)

func TestMax(t *testing.T) {
	os.MkdirTemp("", "left")
	if Max(1, 2) != 2 || Max(2, 1) != 2 {
		t.Error("wrong")
	}
}
`,
	"loop/loop.go": `package loop

func Loop(n int) {
	for n > 0 {
		step(&n)
	}
}

func step(n *int) { *n-- }
`,
	"loop/loop_test.go": `package loop

import "testing"

func TestLoop(*testing.T) { Loop(3) }
`,
	"none/none.go": "package none\n\nconst one = 1\n",
	"bad/bad.go":   "package bad\n\nconst one = 1\n",
	"bad/bad_test.go": `package bad

import "testing"

func TestBad(t *testing.T) { t.Error("as it is") }
`,
}

func mutate(ctx context.Context, t *testing.T, o options) (string, error) {
	t.Helper()
	var out strings.Builder
	err := mutateTo(ctx, t, &out, o)
	return out.String(), err
}

// mutateTo runs the command on a package of tiny, and holds that nothing is left and nothing changed.
func mutateTo(ctx context.Context, t *testing.T, out io.Writer, o options) error {
	t.Helper()
	dir, tmp := t.TempDir(), t.TempDir()
	for name, text := range tiny {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TMPDIR", tmp)
	o.dir, o.out = dir, out
	err := o.run(ctx)
	after := map[string]string{}
	if err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		after[strings.TrimPrefix(path, dir+"/")] = string(raw)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(tiny, after) {
		t.Errorf("the module has changed: %q", after)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	return err
}

func TestRun(t *testing.T) {
	got, err := mutate(t.Context(), t, options{pkg: "p", n: 1000, seed: 7, jobs: 2, least: time.Hour})
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	for _, want := range []string{
		"p: 10 of 10 faults, 6 in one program, SEED=7, ",
		"p/p.go:4: comparison: SURVIVED\n-\tif a > b {\n+\tif a >= b {\n", // equal in effect
		"p/p.go:5: return: found by TestMax\n",
		"p/p.go:10: constant: SURVIVED\n-func Twice(a int) int { return a * 2 }\n+func Twice(a int) int { return a * 3 }\n",
		"p/p.go:12: constant: SURVIVED\n-func Half() uint64 { return 2 }\n+func Half() uint64 { return 1 }\n",
		"p/p.go:17: call: does not compile\n",
		"p/p.go:22: call: does not compile\n",
		"p: 10 drawn, 10 tried, 8 built, 1 found (0 by a hang), 7 survived: 12 %\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q", want)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
}

func TestRunApart(t *testing.T) {
	got, err := mutate(t.Context(), t, options{pkg: "mixed", n: 1000, seed: 7, jobs: 1, least: time.Hour})
	if err != nil || !strings.HasPrefix(got, "mixed: not in one program, whose tests fail without a fault: TestIs\n"+
		"mixed: 2 of 2 faults, 0 in one program, ") ||
		!strings.Contains(got, "mixed: 2 drawn, 2 tried, 2 built, 2 found (0 by a hang), 0 survived: 100 %\n") {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestRunHangs(t *testing.T) {
	got, err := mutate(t.Context(), t, options{pkg: "loop", n: 1, seed: 1, jobs: 1, at: "loop.go:5,none.go:1"})
	if err != nil || !strings.Contains(got, "loop/loop.go:5: call: found by a hang\n") ||
		!strings.Contains(got, "1 built, 1 found (1 by a hang), 0 survived: 100 %") {
		t.Errorf("%v\n%s", err, got)
	}
}

// cancelled ends a run when its first line is printed.
type cancelled struct {
	strings.Builder
	cancel func()
}

func (c *cancelled) Write(b []byte) (int, error) {
	c.cancel()
	return c.Builder.Write(b)
}

func TestRunInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out := &cancelled{cancel: cancel}
	err := mutateTo(ctx, t, out, options{pkg: "p", n: 1000, seed: 7, jobs: 2, least: time.Hour})
	if !errors.Is(err, context.Canceled) || !strings.Contains(out.String(), "10 drawn, 0 tried") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestRunRefuses(t *testing.T) {
	for _, c := range []struct {
		o    options
		want string
	}{
		{options{pkg: "p", n: 0, jobs: 1}, "at least 1"},
		{options{pkg: "p", n: 1, jobs: 1, at: "p.go:1"}, "no place for a fault"},
		{options{pkg: "nowhere", n: 1, jobs: 1}, "go list nowhere"},
		{options{pkg: "none", n: 1, jobs: 1}, "no test binary"},
		{options{pkg: "bad", n: 1, jobs: 1}, "as it is"},
		{options{pkg: "bad", n: 1, jobs: 1, at: "bad.go:3", tests: "Other"}, ""},
		{options{pkg: "bad", n: 1, jobs: 1, slow: "^TestBad$"}, "as it is"},
		{options{pkg: "bad", n: 1, jobs: 1, slow: "^TestBad$", tests: "Bad"}, "as it is"},
	} {
		if got, err := mutate(t.Context(), t, c.o); (err == nil) != (c.want == "") || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%+v: %v, want %q\n%s", c.o, err, c.want, got)
		}
	}
}
