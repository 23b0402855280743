package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
)

func (h *hookRun) find(name string) *hookResult {
	if i := slices.IndexFunc(h.result, func(r *hookResult) bool { return r.Name == name }); i >= 0 {
		return h.result[i]
	}
	return &hookResult{}
}

// report prints the tables of one size.
func (h *hookRun) report(w io.Writer) {
	floor := h.find("floor")
	fmt.Fprintf(w, "\nhook: generated tree, %s\n", h.stats)
	for _, r := range h.result {
		fmt.Fprintf(w, "  %-16s %s\n", r.Name, r.What)
	}
	fmt.Fprintf(w, "\n%-28s %8s %8s %8s %8s %8s %9s %8s %8s\n", fmt.Sprintf("one call, n = %d", h.opt.calls), "min", "median", "p99", "x floor", fmt.Sprintf("%d: p50", burst), "p99", "x single", "x floor")
	for _, r := range h.result {
		v := walls(r.Calls)
		if len(v) == 0 {
			continue
		}
		fmt.Fprintf(w, "  %-26s %8.2f %8.2f %8.2f %8s", r.Name, slices.Min(v), median(v), highest(v, 99), number(median(ratios(r.Calls, floor.Calls)), "%.2f"))
		if many := walls(r.AtOnce); len(many) > 0 {
			half := median(many)
			over := 0.0
			if f := median(walls(floor.AtOnce)); f > 0 {
				over = half / f
			}
			fmt.Fprintf(w, " %8.2f %9.2f %8.1f %8s", half, highest(many, 99), half/median(v), number(over, "%.2f"))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "\n%-28s %8s %8s %8s %8s %8s %9s %8s %8s\n", "daemon", "watched", "RSS, MB", "peak, MB", "idle, ms", "cold, ms", "captures", "burst", "late")
	for _, r := range h.result {
		if d := r.Daemon; d != nil {
			fmt.Fprintf(w, "  %-26s %8d %8s %8s %8.0f %8s %9d %8d %8d\n", r.Name, d.Watches, number(float64(d.Resident)/1e6, "%.1f"), number(float64(d.Peak)/1e6, "%.1f"),
				ms(d.Idle), number(median(walls(d.Cold)), "%.1f"), d.Single, d.Together, d.Late)
		}
	}
	fmt.Fprintf(w, `Whole processes of the client, in ms, for git of both its processes; x floor: median of the ratios round by round. %d: so many at once, each
after an edit of its own. Watched: directories. Idle: CPU used in %v without a call, to 10 ms. Cold: a call without a daemon. Captures: checkpoints
of calls one after the other; burst: of %d bursts, where one capture serves all that wait; late: taken after the answer.
A peer whose newest checkpoint is not the tree has FAILED.
`, burst, h.opt.idle, h.opt.bursts)
	for _, r := range h.result {
		for _, said := range slices.Sorted(maps.Keys(r.Complaints)) {
			fmt.Fprintf(w, "%s, %d times: %q\n", r.Name, r.Complaints[said], said)
		}
		switch {
		case r.Failure != "":
			fmt.Fprintf(w, "%s FAILED: %s\n", r.Name, r.Failure)
		case r.Note != "":
			fmt.Fprintf(w, "%s: %s\n", r.Name, r.Note)
		}
	}
}
