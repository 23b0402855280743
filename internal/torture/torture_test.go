package torture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

// later are the promises and rows for which there is no test yet.
var later = struct {
	promises []int
	rows     []string
}{}

const promises = 21

// TestEveryPromiseHasATest: each of the promises and each row of the matrix has a test whose name has its number.
func TestEveryPromiseHasATest(t *testing.T) {
	tests, err := Works(root)
	if err != nil {
		t.Fatal(err)
	}
	proved, filled := map[int]int{}, map[string]int{}
	for _, x := range tests {
		filled[x.Row]++
		for _, p := range x.Promises {
			if proved[p]++; p > promises {
				t.Errorf("%s: there is no promise %d", x.ID(), p)
			}
		}
	}
	for p := 1; p <= promises; p++ {
		if proved[p] == 0 && !slices.Contains(later.promises, p) {
			t.Errorf("promise %d has no test", p)
		}
	}
	for _, r := range Rows {
		if filled[r.Name] == 0 && !slices.Contains(later.rows, r.Name) {
			t.Errorf("row %s has no test", r.Name)
		}
	}
	for _, s := range Sizes {
		if !slices.ContainsFunc(tests, func(x Work) bool { return x.ID() == s.Test }) {
			t.Errorf("%s has a size and does not exist", s.Test)
		}
	}
}

// TestSizesAreWhatIsAsked: the tests of a row together have as many points as the row asks for, in CI and as torture.
func TestSizesAreWhatIsAsked(t *testing.T) {
	for _, r := range Rows {
		ci, full := 0, 0
		for _, s := range Sizes {
			if row, _ := numbers(s.Test[strings.LastIndexByte(s.Test, '.')+1:]); row == r.Name && s.Unit == r.Unit {
				ci, full = ci+s.CI, full+s.Full
			}
		}
		if !slices.Contains(later.rows, r.Name) && (ci < r.CI || full < r.Full) {
			t.Errorf("row %s: %d and %d %s, asked for are %d and %d", r.Name, ci, full, r.Unit, r.CI, r.Full)
		}
	}
}

// TestRowsAreDescribed: docs/proofs.md has what CI runs of each row, and what torture does.
func TestRowsAreDescribed(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "proofs.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Rows {
		line := fmt.Sprintf("\n| %s | all | all | ", r.Name)
		if r.Unit != "" {
			line = fmt.Sprintf("\n| %s | %d %s | %d | ", r.Name, r.CI, r.Unit, r.Full)
		}
		if strings.HasPrefix(r.Name, "T") && !strings.Contains(string(text), line) {
			t.Errorf("docs/proofs.md lacks %q", line)
		}
	}
}

// TestDesignLinksProofs: the tables of promises, the short one of DESIGN.md and the whole one of docs/proofs.md, name
// for each promise a test that has its number.
func TestDesignLinksProofs(t *testing.T) {
	for _, name := range []string{"DESIGN.md", "docs/proofs.md"} {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		_, section, _ := strings.Cut(string(text), "\n## Promises\n")
		section, _, _ = strings.Cut(section, "\n## ")
		linked := map[int]bool{}
		for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \| .*$`).FindAllStringSubmatch(section, -1) {
			for _, test := range regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(row[0], -1) {
				_, numbers := numbers(test[1])
				for _, n := range numbers {
					linked[n] = linked[n] || strconv.Itoa(n) == row[1]
				}
			}
		}
		for p := 1; p <= promises; p++ {
			if !linked[p] && !slices.Contains(later.promises, p) {
				t.Errorf("%s: the row of promise %d names no test with its number", name, p)
			}
		}
	}
}

func TestNumbers(t *testing.T) {
	for name, want := range map[string]struct {
		row      string
		promises []int
	}{
		"TestT7Promise04Storm":         {"T7", []int{4}},
		"TestT03ConnectAfterKill":      {"T3", nil},
		"TestKillSaveT1":               {"T1", nil},
		"TestP6FlippedEnvelopes":       {"", []int{6}},
		"TestPromise07GroupLoop":       {"", []int{7}},
		"TestT10Promise11Promise12Two": {"T10", []int{11, 12}},
		"TestT99Nothing":               {"", nil},
		"TestHTTP2":                    {"", nil},
	} {
		row, promises := numbers(name)
		if row != want.row || !slices.Equal(promises, want.promises) {
			t.Errorf("%s: %s %v, want %+v", name, row, promises, want)
		}
	}
}

// TestFaultsHavePatches: every fault of the list is somewhere in the code, every one in the code is in the list, and
// each promise but those for later has one.
func TestFaultsHavePatches(t *testing.T) {
	listed, promised := map[string]bool{}, map[int]bool{}
	for _, f := range Faults {
		if listed[f.Name] {
			t.Errorf("%s is listed twice", f.Name)
		}
		listed[f.Name], promised[f.Promise] = true, true
		if FaultOf(f.Name) != f {
			t.Errorf("%s is not found by its name", f.Name)
		}
		if _, err := regexp.Compile(f.Tests); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
	for p := 1; p <= promises; p++ {
		if !promised[p] {
			t.Errorf("promise %d has no fault", p)
		}
	}
	files, err := filepath.Glob(Patch(root, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".patch"); !listed[name] {
			t.Errorf("%s has a patch and is not in the list", name)
		}
	}
	if len(files) != len(Faults) {
		t.Errorf("%d patches, %d faults", len(files), len(Faults))
	}
}

// TestFaultsApply: each patch still fits the code that it is about, changes it, and what it makes can be parsed.
func TestFaultsApply(t *testing.T) {
	dir, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Faults {
		overlay, err := Overlay(dir, f.Name, t.TempDir())
		if err != nil {
			t.Error(err)
			continue
		}
		b, err := os.ReadFile(overlay)
		if err != nil {
			t.Fatal(err)
		}
		var o struct{ Replace map[string]string }
		if err := json.Unmarshal(b, &o); err != nil || len(o.Replace) == 0 {
			t.Fatalf("%s: %s: %v", f.Name, b, err)
		}
		for from, to := range o.Replace {
			was, err := os.ReadFile(from)
			if err != nil {
				t.Fatal(err)
			}
			now, err := os.ReadFile(to)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Equal(was, now) {
				t.Errorf("%s changes nothing in %s", f.Name, from)
			}
			if _, err := parser.ParseFile(token.NewFileSet(), to, now, 0); err != nil {
				t.Errorf("%s: %v", f.Name, err)
			}
		}
	}
}

// TestToday: each case is on one day of three, and always at full size.
func TestToday(t *testing.T) {
	for n := range 9 {
		days := 0
		for day := range 3 {
			t.Setenv(EnvSeed, fmt.Sprint(20784+day))
			if t.Setenv(EnvFull, ""); Today(n) {
				days++
			}
			if t.Setenv(EnvFull, "1"); !Today(n) {
				t.Errorf("case %d is not there at full size", n)
			}
		}
		if days != 1 {
			t.Errorf("case %d is on %d days of three", n, days)
		}
	}
}

// TestAlternate: any beginning has some of both, and all is there once.
func TestAlternate(t *testing.T) {
	got := Alternate(rand.New(rand.NewPCG(1, 2)), []int{1, 2}, []int{10, 20, 30, 40})
	for i, n := range got[:4] {
		if (n >= 10) != (i%2 == 1) {
			t.Errorf("%v: not in turn", got)
		}
	}
	if slices.Sort(got); !slices.Equal(got, []int{1, 2, 10, 20, 30, 40}) {
		t.Errorf("%v", got)
	}
}

func TestSpread(t *testing.T) {
	if got := Spread(4, 8, 1); !slices.Equal(got, []int{1, 3, 5, 7}) {
		t.Error(got)
	}
	if got := Spread(4, 8, 2); !slices.Equal(got, []int{2, 4, 6, 8}) {
		t.Error(got)
	}
	if got := Spread(5, 3, 3); !slices.Equal(got, []int{3, 1, 2, 3, 1}) {
		t.Error(got)
	}
}
