package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"rewind/api"
	"rewind/bench/workload"
	"rewind/engine"
	"rewind/engine/history"
)

// A curve is how one figure follows what a project grows by. All sizes of an axis are measured in one run, round by
// round.
type curve struct {
	Figure string  `json:"figure"`
	Axis   string  `json:"axis"`
	Unit   unit    `json:"axis_unit,omitempty"`
	Points []point `json:"points"`
}

type point struct {
	X     float64   `json:"x"`
	Times []float64 `json:"ms"`
	Floor []float64 `json:"floor_ms,omitempty"`
}

// The figures, which are series; beside those of a hook stands one of the floor.
const (
	figureHook     = "hook, one file edited"
	figureList     = "list"
	figureCheckout = "checkout of 10 files"
	figureCapture  = "prompt hook, 10 KB said since"
	floorOf        = "floor of "
)

var (
	allAxes = []string{"files", "checkpoints", "conversation"}
	work    = []string{figureHook, figureCheckout, figureList}
)

// measureGrowth measures every axis that was asked for, and keeps the figures.
func (b *bench) measureGrowth() {
	files, more := 100_000, 1
	if b.opt.quick {
		files = 10_000
	}
	if b.opt.large {
		files, more = 1_000_000, 10
	}
	for _, axis := range allAxes {
		switch {
		case len(b.opt.axes) > 0 && !slices.Contains(b.opt.axes, axis):
		case axis == "files":
			sizes := steps(1000, files)
			b.over(axis, "", sizes, work, func(i int) *site { return b.generated(axis, sizes[i]) }, nil)
		case axis == "checkpoints":
			sizes := steps(10, more*b.opt.history)
			one := func(i int) *site { return b.generated(fmt.Sprint(axis, i), 1000) }
			b.over(axis, "", sizes, work, one, func(s *site, i int) { s.history(sizes[i]) })
		default:
			b.overConversation(axis, steps(10_000, more*int(b.opt.transcript)))
		}
	}
}

// over measures the hooks, checkouts and lists of a site for each size, in turns. The first rounds do not count.
func (b *bench) over(axis string, u unit, sizes []int, figures []string, make func(int) *site, grow func(*site, int)) {
	var sites []*site
	defer func() {
		for _, s := range sites {
			if err := s.stop(); err != nil {
				b.say("growth: %v", err)
			}
		}
	}()
	var swings []*swing
	var got []series
	for i := range sizes {
		s := make(i)
		sites = append(sites, s)
		s.begin()
		if grow != nil {
			grow(s, i)
		}
		swings, got = append(swings, s.newSwing()), append(got, series{})
	}
	b.settle()
	for round := range warmCalls + b.opt.rounds {
		for i := range sites {
			i = (i + round) % len(sites)
			sites[i].works(round, got[i].from(round, warmCalls), swings[i])
		}
	}
	b.keepGrowth(axis, u, sizes, figures, got)
}

// works is one round of one site: an empty hook, a hook after an edit, a list, and every other time there and back.
func (s *site) works(round int, into series, sw *swing) {
	ed := s.both()
	hook := func(c command) func(int) float64 {
		return func(int) float64 {
			took, said := s.hook(c, 0, ed)
			want(said == "", "the hook said %.300q", said)
			s.wait(restTime)
			return took
		}
	}
	s.turn(round, into, part{floorOf + figureHook, hook(s.floor)}, part{figureHook, hook(s.rewind.c)})
	s.turn(0, into, part{figureList, func(int) float64 {
		var l api.ListResponse
		took := s.rewind.ask(&l, "list")
		want(len(l.Checkpoints) > 1, "no checkpoints")
		return took
	}})
	if round%2 > 0 {
		return
	}
	now, _ := s.rewind.save()
	// Edits since then are no part of it: it begins at one of the two. They were a session's, which a checkout would
	// keep unless it is exact.
	s.rewind.checkout(sw.ids[0], "--exact")
	for _, to := range []int{1, 0} {
		s.turn(0, into, part{figureCheckout, func(int) float64 { return sw.goes(s.rewind, to, "--exact") }})
	}
	s.rewind.checkout(now, "--exact")
}

// history gives a site's project checkpoints of a person's, one after each edit, until there are n. Each looks at the
// whole tree.
func (s *site) history(n int) {
	w := s.rewind
	w.watched(func(e *engine.Engine) {
		list := get(e.History.List(w.ctx, history.ListOptions{}))
		editor := get(workload.NewEditor(w.tree, s.files, 7))
		for i := len(list.Checkpoints); i < n; i++ {
			if i%2000 == 0 {
				w.say("history: %d of %d checkpoints", i, n)
			}
			get(editor.Next())
			want(!get(e.Worktree.Save(w.ctx, "", "", nil)).Unchanged, "an edit was not saved")
		}
	})
}

// overConversation has prompts in conversations of all sizes, in one project.
func (b *bench) overConversation(axis string, sizes []int) {
	home := b.generated("talks", 1000)
	defer func() {
		if err := home.stop(); err != nil {
			b.say("growth: %v", err)
		}
	}()
	home.begin()
	var talks []*talk
	var got []series
	for i, n := range sizes {
		talks, got = append(talks, home.newTalk(i+1, int64(n))), append(got, series{})
	}
	for round := range warmCalls + b.opt.rounds {
		for i := range talks {
			i = (i + round) % len(talks)
			b.turn(round, got[i].from(round, warmCalls), talks[i].parts(floorOf+figureCapture, figureCapture)...)
		}
	}
	home.taken(talks...)
	b.keepGrowth(axis, inBytes, sizes, []string{figureCapture}, got)
}

// keepGrowth prints the curves of an axis, and puts them in the place of those that were kept: an axis can take most of
// an hour.
func (b *bench) keepGrowth(axis string, u unit, sizes []int, figures []string, got []series) {
	var kept struct {
		Machine machine  `json:"machine"`
		Curves  []*curve `json:"curves"`
	}
	file := filepath.Join(b.opt.out, "growth.json")
	if raw, err := os.ReadFile(file); err == nil {
		must(json.Unmarshal(raw, &kept))
	}
	kept.Machine = b.machine
	kept.Curves = slices.DeleteFunc(kept.Curves, func(c *curve) bool { return c.Axis == axis })
	for _, f := range figures {
		c := &curve{Figure: f, Axis: axis, Unit: u}
		fmt.Fprintf(b.out, "\n%s, over %s\n", f, axis)
		for i, x := range sizes {
			c.Points = append(c.Points, point{float64(x), got[i][f], got[i][floorOf+f]})
			fmt.Fprintf(b.out, "  %14s %s %8.2f ms", thousands(x), u, median(got[i][f]))
			if floor := got[i][floorOf+f]; floor != nil {
				fmt.Fprintf(b.out, "   floor %8.2f ms", median(floor))
			}
			fmt.Fprintln(b.out)
		}
		kept.Curves = append(kept.Curves, c)
	}
	must(errors.Join(os.MkdirAll(b.opt.out, 0o755), writeJSON(file, kept)))
}

// steps are the sizes from..to, by a factor of ten.
func steps(from, to int) (list []int) {
	for n := from; n <= to; n *= 10 {
		list = append(list, n)
	}
	return list
}
