package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"rewind/bench/workload"
	"rewind/internal/torture"
)

// small are the options of a run that takes seconds.
var small = []string{
	"-quick", "-rounds", "2", "-first", "1", "-edits", "6", "-history", "30", "-objects", "100", "-transcript", "30000",
	"-age", "0", "-idle", "0",
}

// realTree makes a corpus.
func realTree(t *testing.T, files int) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("missing tool: git")
	}
	dir := filepath.Join(t.TempDir(), "corpus")
	if err := workload.Generate(t.Context(), dir, workload.Spec{Files: files, Seed: 3}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A whole run on small trees: every row is there, right, and nothing stays behind.
func TestTableRun(t *testing.T) {
	if !torture.Today(1) { // the tool is tested here, and no promise: on one day of three
		return
	}
	corpus := realTree(t, 200)
	scratch, results := t.TempDir(), t.TempDir()
	file, svg := filepath.Join(results, "out.json"), filepath.Join(results, "out.svg")
	var out, errs bytes.Buffer
	if err := run(append([]string{
		"-corpus", corpus, "-files", "60,1k", "-scratch", scratch, "-json", file, "-svg",
		svg,
	}, small...), &out, &errs); err != nil {
		t.Fatalf("%v\n%s%s", err, &out, &errs)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got kept
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, l := range got.Table {
		seen[l.Row] = true
		least := math.SmallestNonzeroFloat64
		if l.Row == "edits" {
			least = 0 // a few small ones may lie in blocks that there were
		}
		if l.Failure != "" || l.Value < least || l.Peer != "" && min(l.PeerValue, l.Ratio) < least {
			t.Errorf("%+v", l)
		}
	}
	for _, row := range rowNames() {
		if want := !slices.Contains(asked, row) && row != "scan" &&
			(row != "memory" || runtime.GOOS == "linux"); seen[row] != want {
			t.Errorf("row %s: %v, want %v\n%s", row, seen[row], want, &out)
		}
	}
	for _, want := range []string{
		"the corpus has no 1,000 distinct files", "hook, watcher off: skipped",
		"copies of them",
	} {
		if !slices.ContainsFunc(got.Notes, func(n string) bool { return strings.Contains(n, want) }) {
			t.Errorf("nothing is said of %q: %q", want, got.Notes)
		}
	}
	drawn, again := svg, filepath.Join(results, "again.svg")
	if err := run([]string{"-draw", file, "-svg", again}, &out, &errs); err != nil {
		t.Fatal(err)
	}
	b, err = os.ReadFile(drawn)
	if err != nil || !bytes.Contains(b, []byte("hook, one file edited")) {
		t.Errorf("SVG: %v", err)
	}
	if a, err := os.ReadFile(again); err != nil || !bytes.Equal(a, b) {
		t.Errorf("what is drawn from the JSON is another picture: %v", err)
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// What a line has to reach is decided by its ratio or its value, and told so that it can be read.
func TestLines(t *testing.T) {
	var out bytes.Buffer
	tab := &table{bench: &bench{say: func(string, ...any) {}}}
	tab.add("hook", "within", "1 file", inMillis, []float64{3, 6, 9}, "floor", []float64{2, 3, 6}, within(1.5))
	tab.add("hook", "over", "1 file", inMillis, []float64{4}, "floor", []float64{2}, within(1.5))
	tab.add("first", "less", "1 file", inMillis, []float64{100}, "git", []float64{2500}, lessBy(20))
	tab.add("first", "not less", "1 file", inMillis, []float64{100}, "git", []float64{400}, lessBy(20))
	tab.add("start", "under", "", inMillis, []float64{25}, "", nil, under(25, inMillis, ""))
	tab.add("edits", "bytes", "", inBytes, []float64{601}, "", nil, under(600, inBytes, ""))
	tab.add("read", "beside", "", inMillis, []float64{25}, "git", []float64{5}, nothing)
	tab.add("read", "nobody beside", "", inMillis, []float64{25}, "git", nil, nothing)
	tab.add("read", "nothing", "", inMillis, nil, "", nil, nothing)
	var reached, ratios []string
	for _, l := range tab.lines {
		reached, ratios = append(reached, l.Reached), append(ratios, ratioText(l.Ratio))
	}
	if want := []string{"yes", "no", "yes", "no", "yes", "no", "", ""}; !slices.Equal(reached, want) {
		t.Errorf("reached %q, want %q", reached, want)
	}
	if want := []string{"1.50", "2.00", "1/25.0", "1/4.00", "-", "-", "5.00", "-"}; !slices.Equal(ratios, want) {
		t.Errorf("ratios %q, want %q", ratios, want)
	}
	if len(tab.notes) != 1 || !strings.Contains(tab.notes[0], "nobody beside, : skipped beside git") {
		t.Errorf("notes %q", tab.notes)
	}
	tab.report(&out)
	for _, want := range []string{
		"within                                1 file                         6.00 ms  floor                                            " +
			"3.00 ms    1.50  <= 1.5 x             yes\n",
		"nothing                                                            FAILED: it was not measured\n",
		"<= 600 B             no\n",
		">= 20 x less         yes\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no line %q:\n%s", want, &out)
		}
	}
	if err := tab.failed(); err == nil || !strings.Contains(err.Error(), "nothing: it was not measured") ||
		strings.Contains(err.Error(), "over") {
		t.Errorf("failures: %v", err)
	}
	if svg := tab.picture(); !bytes.Contains(svg, []byte(">not less<")) || bytes.Contains(svg, []byte(">nothing<")) {
		t.Errorf("the chart has other rows:\n%s", svg)
	}
}

func TestUnits(t *testing.T) {
	for _, c := range []struct {
		u    unit
		v    float64
		want string
	}{
		{inMillis, 0.534, "0.53 ms"},
		{inMillis, 9.994, "9.99 ms"},
		{inMillis, 9.996, "10.0 ms"},
		{inMillis, 99.96, "100 ms"},
		{inMillis, 9999, "9999 ms"},
		{inMillis, 12345, "12.3 s"},
		{inBytes, 600, "600 B"},
		{inBytes, 1024, "1024 B"},
		{inBytes, 35_500, "35.5 KB"},
		{inBytes, 36.7e6, "36.7 MB"},
		{inBytes, 1e9, "1.00 GB"},
		{inBytes, 0, "0 B"},
	} {
		if got := c.u.format(c.v); got != c.want {
			t.Errorf("%v %s is %q, want %q", c.v, c.u, got, c.want)
		}
	}
	if got := thousands(1234567) + thousands(12) + thousands(123); got != "1,234,56712123" {
		t.Error(got)
	}
}

// The picture in README is that of the table that is kept.
func TestPictureOfResults(t *testing.T) {
	results, again := filepath.Join("..", "results"), filepath.Join(t.TempDir(), "again.svg")
	if err := draw(filepath.Join(results, "peers.json"), again); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(again)
	if err != nil {
		t.Fatal(err)
	}
	if want, err := os.ReadFile(filepath.Join(results, "peers.svg")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("bench/results/peers.svg is not the picture of peers.json (go run ./bench/peers -draw): %v", err)
	}
}

// Growth keeps the figures of an axis beside those of others, which stay.
func TestGrowth(t *testing.T) {
	var out bytes.Buffer
	b := &bench{opt: options{out: filepath.Join(t.TempDir(), "results")}, out: &out}
	err := caught(func() {
		b.keepGrowth("files", "", []int{1000, 10_000}, []string{figureHook},
			[]series{{figureHook: {3, 4, 5}, floorOf + figureHook: {2}}, {figureHook: {4}}})
		b.keepGrowth("conversation", inBytes, []int{100_000}, []string{figureCapture}, []series{{figureCapture: {4}}})
		b.keepGrowth("files", "", []int{1000}, []string{figureHook}, []series{{figureHook: {6}}})
	})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(b.opt.out, "growth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Curves []curve }
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	want := []curve{
		{figureCapture, "conversation", inBytes, []point{{1e5, []float64{4}, nil}}},
		{figureHook, "files", "", []point{{1000, []float64{6}, nil}}},
	}
	if !reflect.DeepEqual(got.Curves, want) {
		t.Errorf("kept %+v, want %+v", got.Curves, want)
	}
	if !strings.Contains(out.String(), "10,000      4.00 ms") {
		t.Errorf("printed %q", out.String())
	}
	if got := steps(10, 1000); !slices.Equal(got, []int{10, 100, 1000}) {
		t.Errorf("steps %v", got)
	}
}
