package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// What has to be reached.
const (
	mostWall     = 30 * time.Second
	mostResident = 300 << 20
	mostRatio    = 2.0  // of a hook's median beside gc to its usual one
	leastBack    = 95.0 // percent of the garbage
	mostCommand  = 50 * time.Millisecond
	mostMonth    = 5.0 // percent of the project's size
)

// figures are what was found.
type figures struct {
	Machine  string            `json:"machine"`
	Made     filled            `json:"made"`
	Alone    *collected        `json:"alone,omitempty"`
	Beside   *collected        `json:"daemon,omitempty"`
	Hooks    *calls            `json:"hooks,omitempty"`
	Commands map[string]*calls `json:"commands,omitempty"`
	Replays  []*replayed       `json:"replays,omitempty"`
}

// read takes the figures of earlier runs from a file, if it is there.
func (f *figures) read(path string) error {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(raw, f)
	}
	if err != nil {
		err = fmt.Errorf("-json: %w", err)
	}
	return err
}

// describe says where and when.
func describe() string {
	cpu := runtime.GOARCH
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				cpu = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%s, %d cores; %s; %s; %s", cpu, runtime.NumCPU(), runtime.GOOS, runtime.Version(), time.Now().UTC().Format("2006-01-02 15:04 UTC"))
}

// print writes the table of what this run has measured.
func (f *figures) print(to io.Writer, ops []string) {
	fmt.Fprintln(to, "machine:", f.Machine)
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	defer w.Flush()
	line := func(what, seen, limit string, ok bool) {
		word := "yes"
		if !ok {
			word = "no"
		}
		if limit == "" {
			word = ""
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", what, seen, limit, word)
	}
	if slices.Contains(ops, "store") && f.Beside != nil {
		fmt.Fprintf(to, "store: %d checkpoints, %d objects, %s, made in %v\n", f.Made.Checkpoints, f.Made.Objects, mb(f.Made.Disk), f.Made.Took.Round(time.Second))
		fmt.Fprintln(w, "what\tseen\tto reach\treached")
		for _, g := range []struct {
			where string
			*collected
		}{{"gc alone", f.Alone}, {"gc in the daemon", f.Beside}} {
			line(g.where+": wall", round(g.Wall), round(mostWall), g.Wall <= mostWall)
			line(g.where+": processor", round(g.CPU), "", true)
			line(g.where+": resident at most", mb(g.Peak), mb(mostResident), g.Peak <= mostResident)
			line(g.where+": checkpoints, objects removed", fmt.Sprintf("%d of %d, %d", g.Checkpoints, g.Checkpoints+g.Kept, g.Objects), "", true)
			line(g.where+": on disk", mb(g.DiskBefore)+" to "+mb(g.DiskAfter), "", true)
			line(g.where+": of the garbage's bytes back", fmt.Sprintf("%.1f %%", g.back()), fmt.Sprintf("%.0f %%", leastBack), g.back() >= leastBack)
		}
		h := f.Hooks
		ratio := float64(median(h.During)) / float64(median(h.Before))
		line("hook, median before, during, after gc", round(median(h.Before))+", "+round(median(h.During))+", "+round(median(h.After)), "", true)
		line(fmt.Sprintf("hook, during to before, %d calls", len(h.During)), fmt.Sprintf("%.2f", ratio), fmt.Sprintf("%.0f", mostRatio), ratio <= mostRatio)
		line("hook, 95th percent before, during", round(quantile(h.Before, 95))+", "+round(quantile(h.During, 95)), "", true)
		for _, name := range []string{"list", "show", "status"} {
			c := f.Commands[name]
			line("rewind "+name+", median before and after gc", round(median(c.Before))+", "+round(median(c.After)), round(mostCommand), max(median(c.Before), median(c.After)) <= mostCommand)
		}
	}
	if slices.Contains(ops, "replay") {
		for _, r := range f.Replays {
			r.print(w, line)
		}
	}
}

func mb(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

func round(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%.1f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
