package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rewind/bench/chart"
	"rewind/bench/workload"
)

// A growth is how figures follow what a project grows by: its files, its checkpoints, its conversations. All sizes of an axis are measured in one run,
// round by round.
type growth struct {
	*bench
	Curves []*curve `json:"curves"`
}

// A curve is one figure over one axis; one chart.
type curve struct {
	Figure string   `json:"figure"`
	Axis   string   `json:"axis"`
	Unit   unit     `json:"axis_unit,omitempty"`
	Points []*point `json:"points"`
}

type point struct {
	X     float64   `json:"x"`
	Times []float64 `json:"ms"`
	Floor []float64 `json:"floor_ms,omitempty"`
}

// The figures; beside those of a hook stands the floor.
const (
	figureHook     = "hook, one file edited"
	figureList     = "list"
	figureCheckout = "checkout of 10 files"
	figureCapture  = "prompt hook, 10 KB said since"
)

// The axes.
const (
	axisFiles        = "files"
	axisCheckpoints  = "checkpoints"
	axisConversation = "conversation"
)

var allAxes = []string{axisFiles, axisCheckpoints, axisConversation}

// measureGrowth measures every axis, and draws it.
func (b *bench) measureGrowth(ctx context.Context) error {
	g := &growth{bench: b}
	b.growths = g
	axes := map[string]func(context.Context) error{axisFiles: g.overFiles, axisCheckpoints: g.overCheckpoints, axisConversation: g.overConversation}
	for _, name := range b.opt.axes {
		if err := axes[name](ctx); err != nil {
			return fmt.Errorf("growth over %s: %w", name, err)
		}
		if err := g.write(b.opt.out); err != nil { // an axis can take most of an hour
			return err
		}
	}
	for _, c := range g.Curves {
		fmt.Fprintf(b.out, "\n%s, over %s\n", c.Figure, c.Axis)
		for _, p := range c.Points {
			fmt.Fprintf(b.out, "  %12s %8.2f ms   floor %8s ms\n", c.label(p.X), median(p.Times), number(median(p.Floor), "%.2f"))
		}
	}
	return nil
}

func (c *curve) label(x float64) string {
	if c.Unit == inBytes {
		return inBytes.format(x)
	}
	return thousands(int(x))
}

// steps are the sizes from..to, by a factor of ten.
func steps(from, to int) (list []int) {
	for n := from; n <= to; n *= 10 {
		list = append(list, n)
	}
	return list
}

// A station is one size on an axis: a project, and its point on each curve.
type station struct {
	*site
	swing  *swing
	points map[string]*point
}

// stations are projects on generated trees of their own.
func (g *growth) stations(kind string, files []int) (list []*station) {
	t := &table{bench: g.bench}
	for i, n := range files {
		s := t.siteOn(n, func(ctx context.Context, dir string) error {
			return workload.Generate(ctx, dir, workload.Spec{Files: n, Seed: 1})
		})
		s.dir = filepath.Join(g.dir, fmt.Sprintf("%s-%d", kind, i))
		s.tree = filepath.Join(s.dir, "tree")
		s.peers, s.git = nil, nil
		for _, p := range hookPeers(s.hookRun) {
			if d, ok := p.(*daemonPeer); ok && d.name() == "rewind" {
				s.rewind = d
				s.peers = append(s.peers, p)
			}
			if p.name() == "floor" {
				s.peers = append(s.peers, p)
			}
		}
		list = append(list, &station{site: s, points: map[string]*point{}})
	}
	return list
}

func leave(list []*station) error {
	var errs []error
	for _, s := range list {
		errs = append(errs, s.hookRun.stop(), os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}

// curves begins a curve for each figure, with a point for each station.
func (g *growth) curves(axis string, u unit, list []*station, x func(i int) int, figures ...string) {
	for _, f := range figures {
		c := &curve{Figure: f, Axis: axis, Unit: u}
		for i, s := range list {
			p := &point{X: float64(x(i))}
			s.points[f] = p
			c.Points = append(c.Points, p)
		}
		g.Curves = append(g.Curves, c)
	}
}

func (g *growth) overFiles(ctx context.Context) (err error) {
	most := 100_000
	switch {
	case g.opt.large:
		most = 1_000_000
	case g.opt.quick:
		most = 10_000
	}
	sizes := steps(1000, most)
	list := g.stations("files", sizes)
	defer func() { err = errors.Join(err, leave(list)) }()
	g.curves(axisFiles, "", list, func(i int) int { return sizes[i] }, figureHook, figureCheckout, figureList)
	for _, s := range list {
		if err := s.begin(ctx); err != nil {
			return err
		}
	}
	return g.rounds(ctx, list)
}

func (g *growth) overCheckpoints(ctx context.Context) (err error) {
	most := g.opt.history
	if g.opt.large {
		most *= 10
	}
	counts := steps(10, most)
	same := make([]int, len(counts))
	for i := range same {
		same[i] = 1000
	}
	list := g.stations("checkpoints", same)
	defer func() { err = errors.Join(err, leave(list)) }()
	g.curves(axisCheckpoints, "", list, func(i int) int { return counts[i] }, figureHook, figureCheckout, figureList)
	for i, s := range list {
		if err := s.begin(ctx); err != nil {
			return err
		}
		if err := s.rewind.history(ctx, s.files, counts[i]); err != nil {
			return err
		}
	}
	return g.rounds(ctx, list)
}

// rounds measures hooks, checkouts and lists of all stations, in turns.
func (g *growth) rounds(ctx context.Context, list []*station) error {
	for _, s := range list {
		var err error
		if s.swing, err = newSwing(s.hookRun, s.rewind.tree, func() (string, error) { return s.rewind.save(ctx) }); err != nil {
			return err
		}
	}
	flushDisk()
	time.Sleep(g.opt.age)
	for round := range g.opt.rounds + warmCalls {
		for i := range list {
			s := list[(i+round)%len(list)]
			if err := s.measure(ctx, round); err != nil {
				return fmt.Errorf("%s: %w", s.label, err)
			}
		}
	}
	return nil
}

// measure is one round of one station: an empty hook, a hook after an edit, a list, and there and back. The first rounds do not count.
func (s *station) measure(ctx context.Context, round int) error {
	ed, err := s.both()
	if err != nil {
		return err
	}
	keep := func(into *[]float64, took sample, err error) error {
		if err == nil && round >= warmCalls {
			*into = append(*into, ms(took.Wall))
		}
		time.Sleep(restTime)
		return err
	}
	hook := s.points[figureHook]
	err = turns(ctx, round, func() error {
		took, err := s.hook(ctx, s.floorCommand(), 0, ed)
		return keep(&hook.Floor, took, err)
	}, func() error {
		took, err := s.hook(ctx, s.rewind.world.command(), 0, ed)
		return keep(&hook.Times, took, err)
	})
	if err != nil {
		return err
	}
	took, out, err := s.rewind.do(ctx, "list")
	if err := keep(&s.points[figureList].Times, took, err); err != nil {
		return err
	}
	var l struct{ Checkpoints []json.RawMessage }
	if err := json.Unmarshal([]byte(out), &l); err != nil || len(l.Checkpoints) < 2 {
		return errors.Join(err, errors.New("list: no checkpoints"))
	}
	if round%2 > 0 {
		return nil
	}
	now, err := s.rewind.save(ctx)
	if err != nil {
		return err
	}
	// Edits since then are no part of it: it begins at one of the two. They were a session's, which a checkout would keep unless it is exact.
	if _, err := s.rewind.checkout(ctx, s.swing.ids[0], "--exact"); err != nil {
		return err
	}
	for _, to := range []int{1, 0} {
		flushDisk()
		took, err := s.rewind.checkout(ctx, s.swing.ids[to], "--exact")
		if err = keep(&s.points[figureCheckout].Times, took, errors.Join(err, s.swing.check(s.rewind.tree, to))); err != nil {
			return err
		}
	}
	_, err = s.rewind.checkout(ctx, now, "--exact")
	return err
}

func (g *growth) overConversation(ctx context.Context) (err error) {
	most := int(g.opt.transcript)
	if g.opt.large {
		most = 1e9
	}
	lengths := steps(10_000, most)
	list := g.stations("talks", make([]int, len(lengths)))
	home := g.stations("talk", []int{1000})[0]
	defer func() { err = errors.Join(err, leave([]*station{home})) }()
	g.curves(axisConversation, inBytes, list, func(i int) int { return lengths[i] }, figureCapture)
	if err := home.begin(ctx); err != nil {
		return err
	}
	var talks []*talk
	for i, n := range lengths {
		k, err := home.rewind.newTalk(i+1, int64(n))
		if err != nil {
			return err
		}
		talks = append(talks, k)
		g.say("growth: a conversation of %s", inBytes.format(float64(n)))
		if err := k.take(ctx); err != nil {
			return err
		}
	}
	for round := range g.opt.rounds + warmCalls {
		for i := range talks {
			j := (i + round) % len(talks)
			p := list[j].points[figureCapture]
			one := func(c command, into *[]float64, grows bool) func() error {
				return func() error { return talks[j].turn(ctx, c, into, grows, round >= warmCalls) }
			}
			if err := turns(ctx, round, one(home.floorCommand(), &p.Floor, false), one(home.rewind.world.command(), &p.Times, true)); err != nil {
				return err
			}
		}
	}
	err = home.rewind.taken(ctx, talks...)
	for _, k := range talks {
		err = errors.Join(err, os.Remove(k.path))
	}
	return err
}

// write keeps the figures, and the chart of each curve; those of axes that are not measured stay as they are.
func (g *growth) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var kept struct {
		Machine machine  `json:"machine"`
		Curves  []*curve `json:"curves"`
	}
	file := filepath.Join(dir, "growth.json")
	if raw, err := os.ReadFile(file); err == nil && len(g.opt.axes) < len(allAxes) {
		if err := json.Unmarshal(raw, &kept); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	kept.Machine = g.machine
	kept.Curves = append(g.Curves, slices.DeleteFunc(kept.Curves, func(c *curve) bool { return slices.Contains(g.opt.axes, c.Axis) })...)
	out, err := json.MarshalIndent(kept, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, append(out, '\n'), 0o644); err != nil {
		return err
	}
	names := map[string]string{figureHook: "hook", figureList: "list", figureCheckout: "checkout", figureCapture: "capture"}
	for _, c := range g.Curves {
		l := chart.Lines{Title: c.Figure, X: "over " + c.Axis, XFormat: c.label, YFormat: inMillis.format}
		mine, floor := chart.Series{Name: "rewind"}, chart.Series{Name: "a daemon that does nothing"}
		for _, p := range c.Points {
			mine.Points = append(mine.Points, chart.Point{X: p.X, Y: median(p.Times)})
			if len(p.Floor) > 0 {
				floor.Points = append(floor.Points, chart.Point{X: p.X, Y: median(p.Floor)})
			}
		}
		l.Series = append(l.Series, mine)
		if len(floor.Points) > 0 {
			l.Series = append(l.Series, floor)
		}
		if err := os.WriteFile(filepath.Join(dir, "growth-"+names[c.Figure]+"-"+c.Axis+".svg"), l.SVG(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
