package torture

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The variables that decide about a run.
const (
	EnvFull   = "REWIND_TORTURE"
	EnvPoints = "REWIND_POINTS"
	EnvSeed   = "REWIND_SEED"
	EnvReport = "REWIND_REPORT"
)

// Full reports whether the full sizes are asked for.
func Full() bool { return os.Getenv(EnvFull) != "" }

// Seed is REWIND_SEED, or the number of the day: what CI has no time for today it does on another day, and a run of one
// day can be repeated.
func Seed() uint64 {
	if s, err := strconv.ParseUint(os.Getenv(EnvSeed), 10, 64); err == nil && s > 0 {
		return s
	}
	return today
}

// today is the number of the day since 1970 at which this process began, by UTC.
var today = uint64(time.Now().Unix() / (24 * 60 * 60))

// Today reports whether case n of many is of today: each is on one day of three, and always at full size.
func Today(n int) bool { return Full() || (uint64(n)+Seed())%3 == 0 }

// Draws has rapid check each property of a package's tests on so many cases, others in every run. It is called before
// flags are parsed: the command line wins.
func Draws(ci, full int) {
	if err := flag.Set("rapid.checks", strconv.Itoa(Points(ci, full))); err != nil {
		panic(err)
	}
}

// OnDisk has the temporary directories of a test be on a disk. Those of a whole run may be in memory, where a file
// system has not the stamps, attributes and limits of a disk. The test cannot be parallel.
func OnDisk(t testing.TB) {
	t.Helper()
	t.Setenv("TMPDIR", "/var/tmp")
}

// Points is how many points a test is asked for, given its sizes.
func Points(ci, full int) int {
	if n, err := strconv.Atoi(os.Getenv(EnvPoints)); err == nil && n > 0 {
		return n
	}
	if Full() {
		return full
	}
	return ci
}

// Figures are what a test of the matrix did.
type Figures struct {
	Row     string  `json:"row"`
	Test    string  `json:"test"`
	Seed    uint64  `json:"seed"`
	Points  int64   `json:"points"`
	Unit    string  `json:"unit,omitempty"`
	Fired   int64   `json:"fired"` // faults, kills and cuts that came about
	Acked   int64   `json:"acked"` // what was acknowledged before them
	Lost    int64   `json:"lost"`  // of that, what was not there afterwards
	Failed  bool    `json:"failed"`
	Seconds float64 `json:"seconds"`
	Execs   int64   `json:"execs,omitempty"` // of a target of fuzzing
	Note    string  `json:"note,omitempty"`  // what found a fault; the file of an input that made a target fail
}

// A Run is a test of the matrix at work. Its counters may be used by any goroutine.
type Run struct {
	Points int    // how many the test is to do
	Seed   uint64 // that all its randomness comes from

	size                       Size
	row                        string
	began                      time.Time
	points, fired, acked, lost atomic.Int64
}

// Begin gives the size and the seed of the calling test, which must be in Sizes. When the test ends, its figures are
// logged and added to the report; one that failed says how it is repeated.
func Begin(t testing.TB) *Run {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	id := callersPackage() + "." + name
	size, ok := sizeOf(id)
	if !ok {
		t.Fatalf("torture: %s has no size", id)
	}
	row, _ := numbers(name)
	r := &Run{Points: Points(size.CI, size.Full), Seed: Seed(), size: size, row: row, began: time.Now()}
	t.Cleanup(func() { r.end(t) })
	return r
}

// callersPackage is the package of the test that called Begin, below the module.
func callersPackage() string {
	pc, _, _, _ := runtime.Caller(2)
	name := runtime.FuncForPC(pc).Name() // rewind/internal/kv_test.TestX
	dir, base := path.Split(strings.TrimPrefix(name, module+"/"))
	base, _, _ = strings.Cut(base, ".")
	return dir + strings.TrimSuffix(base, "_test")
}

var module, _, _ = strings.Cut(reflect.TypeFor[Run]().PkgPath(), "/")

// Point counts a point that was run.
func (r *Run) Point() { r.points.Add(1) }

// Fired counts faults that came about.
func (r *Run) Fired(n int) { r.fired.Add(int64(n)) }

// Acked counts what was acknowledged.
func (r *Run) Acked(n int) { r.acked.Add(int64(n)) }

// Lost counts what was acknowledged and is not there. The test fails by itself.
func (r *Run) Lost(n int) { r.lost.Add(int64(n)) }

func (r *Run) end(t testing.TB) {
	f := Figures{
		Row: r.row, Test: r.size.Test, Seed: r.Seed, Points: r.points.Load(), Unit: r.size.Unit, Fired: r.fired.Load(),
		Acked: r.acked.Load(), Lost: r.lost.Load(),
		Failed: t.Failed(), Seconds: time.Since(r.began).Round(time.Millisecond).Seconds(),
	}
	t.Logf("%s: %d of %d %s, %d faults fired, %d acknowledged, %d lost, seed %d, %.1f s", f.Row, f.Points, r.Points, f.Unit, f.Fired,
		f.Acked, f.Lost, f.Seed, f.Seconds)
	if f.Failed {
		pkg, name, _ := strings.Cut(r.size.Test, ".")
		t.Logf("to repeat: %s=%d %s=%d go test -count=1 -run '^%s$' ./%s", EnvSeed, r.Seed, EnvPoints, r.Points, name, pkg)
	}
	if file := os.Getenv(EnvReport); file != "" {
		if err := Append(file, f); err != nil {
			t.Errorf("torture: report: %v", err)
		}
	}
}

var appending sync.Mutex

// Append adds figures to a report file, one JSON object a line.
func Append(file string, f Figures) error {
	appending.Lock()
	defer appending.Unlock()
	b, err := json.Marshal(f)
	if err != nil {
		return err
	}
	h, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(h, "%s\n", b)
	if cerr := h.Close(); err == nil {
		err = cerr
	}
	return err
}

// Spread gives want points, evenly over the calls 1 to calls and beginning where the seed says; more than there are go
// round again.
func Spread(want, calls int, seed uint64) []int {
	list := make([]int, 0, want)
	for i := range want {
		at := i % calls
		if want < calls {
			at = i * calls / want
		}
		list = append(list, 1+(at+int((seed-1)%uint64(calls)))%calls)
	}
	return list
}

// Alternate gives the elements of a and of b in turn, each in an order that r draws; what is left of the longer one
// comes last. So a part of any size has some of both.
func Alternate[T any](r *rand.Rand, a, b []T) []T {
	list := make([]T, 0, len(a)+len(b))
	for _, l := range [][]T{a, b} {
		r.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
	}
	for i := range max(len(a), len(b)) {
		if i < len(a) {
			list = append(list, a[i])
		}
		if i < len(b) {
			list = append(list, b[i])
		}
	}
	return list
}
