package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"rewind/bench/workload"
)

// median of the values; 0 without any.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// highest is the value that p of 100 values do not exceed: the nearest rank; 0 without any.
func highest(v []float64, p int) float64 {
	if len(v) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(v))[max((len(v)*p+99)/100, 1)-1]
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

func walls(list []sample) (v []float64) {
	for _, s := range list {
		v = append(v, ms(s.Wall))
	}
	return v
}

// ratios divides the times of two peers round by round.
func ratios(of, by []sample) (v []float64) {
	for i := range min(len(of), len(by)) {
		if by[i].Wall > 0 {
			v = append(v, float64(of[i].Wall)/float64(by[i].Wall))
		}
	}
	return v
}

// find gives the result of a peer; an empty one when it does not take part.
func (b *bench) find(name string) *result {
	for _, r := range b.result {
		if r.Name == name {
			return r
		}
	}
	return &result{}
}

func number(v float64, format string) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf(format, v)
}

func (b *bench) report(w io.Writer) {
	user := ""
	if b.opt.repo {
		user = ", inside a git repository of the user's"
	}
	fmt.Fprintf(w, "corpus:  %s: %s%s\n", b.corpus, b.stats, user)
	fmt.Fprint(w, "peers:\n")
	for _, r := range b.result {
		fmt.Fprintf(w, "  %-11s %s\n", r.Name, r.What)
	}
	b.times(w, "first snapshot", func(r *result) []sample { return r.First }, nil)
	b.times(w, fmt.Sprintf("checkpoint after one edited line, n = %d", b.opt.n), func(r *result) []sample { return r.Save }, nil)
	b.times(w, "restore of an earlier checkpoint", func(r *result) []sample { return r.Restore }, func(r *result) string {
		if len(r.Disk) == 0 {
			return "" // it keeps nothing
		}
		return fmt.Sprintf("%d of %d right, byte for byte", r.Right, len(r.Restore))
	})
	b.disk(w)
	fmt.Fprint(w, `
Times are whole processes from start to end, in ms; x columns are medians of the ratios round by round.
git (but git-fsync) does not wait for the disk: after a power cut its last checkpoints can be lost or damaged.
rewind has fsynced before it answers. Its checkout stores what it replaces first, git read-tree does not.
Everything unwritten is flushed between turns. Page cache warm. git gc is off but in the "after gc" columns.
`)
	for _, r := range b.result {
		if r.Failure != "" {
			fmt.Fprintf(w, "%s FAILED: %s\n", r.Name, r.Failure)
		}
	}
}

// times prints one table of times.
func (b *bench) times(w io.Writer, title string, of func(*result) []sample, tail func(*result) string) {
	fmt.Fprintf(w, "\n%-41s %9s %9s %9s %9s %8s %9s\n", title, "min", "median", "max", "cpu", "x empty", "x rewind")
	for _, r := range b.result {
		list := of(r)
		if len(list) == 0 {
			continue
		}
		var cpu []float64
		for _, s := range list {
			cpu = append(cpu, ms(s.CPU))
		}
		v := walls(list)
		line := fmt.Sprintf("  %-39s %9.1f %9.1f %9.1f %9.1f %8s %9s", r.Name, slices.Min(v), median(v), slices.Max(v), median(cpu),
			number(median(ratios(list, of(b.find("empty")))), "%.1f"), number(median(ratios(list, of(b.find("rewind")))), "%.2f"))
		if tail != nil {
			line += "  " + tail(r)
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// disk prints what stores take.
func (b *bench) disk(w io.Writer) {
	fmt.Fprintf(w, "\n%-15s %25s %25s %25s %25s\n", "disk", "first snapshot, MB", "after gc/compaction, MB", "a checkpoint, KB", "after gc/compaction, KB")
	fmt.Fprintf(w, "%-15s%s\n", "", strings.Repeat(fmt.Sprintf(" %12s %12s", "apparent", "du"), 4))
	n := float64(b.opt.n)
	for _, r := range b.result {
		if _, ok := r.Disk[diskLastTidy]; !ok {
			continue
		}
		pair := func(d workload.Disk, unit float64, format string) {
			fmt.Fprintf(w, " "+format+" "+format, float64(d.Apparent)/unit, float64(d.Blocks)/unit)
		}
		fmt.Fprintf(w, "  %-13s", r.Name)
		pair(r.Disk[diskFirst], 1e6, "%12.1f")
		pair(r.Disk[diskFirstTidy], 1e6, "%12.1f")
		pair(r.Disk[diskLast].Sub(r.Disk[diskFirst]), 1e3*n, "%12.2f")
		pair(r.Disk[diskLastTidy].Sub(r.Disk[diskFirstTidy]), 1e3*n, "%12.2f")
		fmt.Fprintln(w)
	}
}

// hookJSON is the operation hook on one tree.
type hookJSON struct {
	Files  int            `json:"files"`
	Stats  workload.Stats `json:"stats"`
	Calls  int            `json:"calls"`
	Burst  int            `json:"burst"`
	Bursts int            `json:"bursts"`
	Peers  []*hookResult  `json:"peers"`
}

// writeJSON writes everything that was measured.
func (b *bench) writeJSON(path string) error {
	var hooks []hookJSON
	for _, h := range b.hookRuns {
		hooks = append(hooks, hookJSON{h.stats.Files, h.stats, b.opt.calls, burst, b.opt.bursts, h.result})
	}
	var lines []line
	var notes []string
	if b.tables != nil {
		lines, notes = b.tables.lines, b.tables.notes
	}
	out, err := json.MarshalIndent(struct {
		Corpus  string         `json:"corpus"`
		Stats   workload.Stats `json:"stats"`
		Repo    bool           `json:"inside_git_repository"`
		N       int            `json:"n"`
		Machine machine        `json:"machine"`
		Peers   []*result      `json:"peers"`
		Hooks   []hookJSON     `json:"hooks,omitempty"`
		Table   []line         `json:"table,omitempty"`
		Notes   []string       `json:"notes,omitempty"`
	}{b.corpus, b.stats, b.opt.repo, b.opt.n, b.machine, b.result, hooks, lines, notes}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(out, '\n'), 0o644)
}
