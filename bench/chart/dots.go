// Package chart draws figures as SVG: plain shapes and text, no script, colours for a light and a dark page. The same
// figures give the same bytes.
package chart

import "slices"

// Dots is a chart of many figures: a row each, with what was measured, what stands beside it and what it has to reach
// on one logarithmic scale a panel.
type Dots struct {
	Title, Note string
	Panels      []Panel // those without rows are left out
}

// A Panel is the rows of one unit.
type Panel struct {
	Name, Unit string
	Format     func(float64) string
	Rows       []Row
}

// A Row is one figure. Values that are not over 0 are not drawn.
type Row struct {
	Label, At string
	Value     float64
	Goal      float64 // 0: none
	Peers     []Peer
}

// A Peer is something else that was measured with it.
type Peer struct {
	Name  string
	Value float64
}

// Where things are, in pixels.
const (
	dotsWidth   = 940
	labelLeft   = 12.0
	labelRoom   = 236.0
	plotLeft    = 262.0
	plotRight   = 560.0
	valueLeft   = 576.0
	valueRight  = dotsWidth - 12.0
	valueColumn = 70.0 // where names begin behind values
	lineHeight  = 15.0
	rowGap      = 10.0
)

func (r Row) height() float64 { return lineHeight*float64(max(2, 1+len(r.Peers))) + rowGap }

// SVG draws it.
func (d Dots) SVG() []byte {
	height := 64.0
	for _, p := range d.Panels {
		if len(p.Rows) > 0 {
			height += 40
		}
		for _, r := range p.Rows {
			height += r.height()
		}
	}
	var c canvas
	c.begin(dotsWidth, height, d.Title)
	c.text(labelLeft, 22, 15, "", "start", fit(d.Title, 15, dotsWidth-24))
	y := 36.0
	for _, p := range d.Panels {
		if len(p.Rows) > 0 {
			y = p.draw(&c, y)
		}
	}
	c.mark(0, labelLeft+5, y+14, 4.5, "r")
	c.text(labelLeft+16, y+18, 11, "m", "start", "rewind")
	for i := range 3 {
		c.mark(i, labelLeft+78+13*float64(i), y+14, 4, "p")
	}
	c.text(labelLeft+114, y+18, 11, "m", "start", "beside it")
	c.line(labelLeft+190, y+7, labelLeft+190, y+21, "t")
	c.text(labelLeft+198, y+18, 11, "m", "start", "to reach")
	c.text(valueRight, y+18, 11, "m", "end", fit(d.Note, 11, valueRight-plotLeft-20))
	return c.end()
}

func (p Panel) draw(c *canvas, y float64) float64 {
	var all []float64
	bottom := y + 40
	for _, r := range p.Rows {
		all = append(all, r.Value, r.Goal)
		for _, o := range r.Peers {
			all = append(all, o.Value)
		}
		bottom += r.height()
	}
	s := scaleOf(all, plotLeft, plotRight)
	c.text(labelLeft, y+20, 12, "m", "start", p.Name)
	for _, v := range s.ticks(6) {
		c.text(s.at(v), y+20, 10, "m", "middle", plain(p.Format(v)))
		c.line(s.at(v), y+26, s.at(v), bottom-rowGap, "g")
	}
	y += 40
	for _, r := range p.Rows {
		p.row(c, s, r, y)
		y += r.height()
	}
	return y
}

func (p Panel) row(c *canvas, s scale, r Row, y float64) {
	c.text(labelLeft, y+4, 12, "", "start", fit(r.Label, 12, labelRoom))
	c.text(labelLeft, y+4+lineHeight, 10.5, "m", "start", fit(r.At, 10.5, labelRoom))
	if r.Goal > 0 {
		c.line(s.at(r.Goal), y-9, s.at(r.Goal), y+9, "t")
	}
	var places []float64
	for _, o := range r.Peers {
		if o.Value > 0 {
			places = append(places, s.at(o.Value))
		}
	}
	if r.Value > 0 {
		places = append(places, s.at(r.Value))
	}
	if len(places) > 1 {
		c.line(slices.Min(places), y, slices.Max(places), y, "g")
	}
	for i, o := range r.Peers {
		at := y + 4 + lineHeight*float64(i+1)
		if o.Value > 0 {
			c.mark(i, s.at(o.Value), y, 4, "p")
		}
		c.mark(i, valueLeft+4, at-4, 4, "p")
		c.text(valueLeft+14, at, 10.5, "m", "start", p.Format(o.Value))
		c.text(valueLeft+valueColumn, at, 10.5, "m", "start", fit(o.Name, 10.5, valueRight-valueLeft-valueColumn))
	}
	if r.Value > 0 {
		c.mark(0, s.at(r.Value), y, 4.5, "r")
	}
	c.mark(0, valueLeft+4, y, 4.5, "r")
	c.text(valueLeft+14, y+4, 12, "", "start", p.Format(r.Value))
}
