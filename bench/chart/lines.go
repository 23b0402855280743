package chart

import (
	"cmp"
	"slices"
)

// Lines is a small chart of how a figure grows, on logarithmic scales. The first series is drawn as the one that matters.
type Lines struct {
	Title, X         string
	XFormat, YFormat func(float64) string
	Series           []Series
}

// A Series is a line.
type Series struct {
	Name   string
	Points []Point // by X; those that are not over 0 are not drawn
}

// A Point is a place on a line.
type Point struct{ X, Y float64 }

// Where things are, in pixels.
const (
	linesWidth  = 440.0
	linesHeight = 270.0
	areaLeft    = 58.0
	areaRight   = 366.0
	areaTop     = 56.0
	areaBottom  = 220.0
	apart       = 13.0 // between labels at the end of lines
)

// SVG draws it.
func (l Lines) SVG() []byte {
	var xs, ys []float64
	for _, s := range l.Series {
		for _, p := range s.Points {
			if p.X > 0 && p.Y > 0 {
				xs, ys = append(xs, p.X), append(ys, p.Y)
			}
		}
	}
	x, y := scaleOf(xs, areaLeft, areaRight), scaleOf(ys, areaBottom, areaTop)
	var c canvas
	c.begin(linesWidth, linesHeight, l.Title+", "+l.X)
	c.text(12, 20, 13, "", "start", fit(l.Title, 13, linesWidth-24))
	for _, v := range y.ticks(5) {
		c.line(areaLeft, y.at(v), areaRight, y.at(v), "g")
		c.text(areaLeft-8, y.at(v)+4, 10, "m", "end", plain(l.YFormat(v)))
	}
	for _, v := range x.ticks(4) {
		c.line(x.at(v), areaTop, x.at(v), areaBottom, "g")
		c.text(x.at(v), areaBottom+17, 10, "m", "middle", plain(l.XFormat(v)))
	}
	c.text((areaLeft+areaRight)/2, areaBottom+38, 11, "m", "middle", l.X)
	left := 12.0
	for i, s := range l.Series {
		class, dot := classes(i)
		c.line(left, 37, left+22, 37, class)
		c.mark(i, left+11, 37, 3.5, dot)
		c.text(left+28, 41, 11, "m", "start", s.Name)
		left += 28 + wide(s.Name, 11) + 18
		l.draw(&c, s, x, y, class, dot, i)
	}
	for _, e := range l.ends(y) {
		c.text(areaRight+10, e.at+4, 10.5, "", "start", l.YFormat(e.value))
	}
	return c.end()
}

func classes(i int) (line, dot string) {
	if i == 0 {
		return "l", "r"
	}
	return "f", "p"
}

func (l Lines) draw(c *canvas, s Series, x, y scale, class, dot string, sign int) {
	var xy []float64
	for _, p := range s.Points {
		if p.X > 0 && p.Y > 0 {
			xy = append(xy, x.at(p.X), y.at(p.Y))
		}
	}
	if len(xy) == 0 {
		return
	}
	c.path(class, xy)
	for i := 0; i < len(xy); i += 2 {
		c.mark(sign, xy[i], xy[i+1], 3.5, dot)
	}
}

// An end is the label of a line at its last point.
type end struct{ value, at float64 }

// ends places the labels so that none is over another.
func (l Lines) ends(y scale) (list []end) {
	for _, s := range l.Series {
		if n := len(s.Points); n > 0 && s.Points[n-1].Y > 0 {
			list = append(list, end{s.Points[n-1].Y, y.at(s.Points[n-1].Y)})
		}
	}
	slices.SortStableFunc(list, func(a, b end) int { return cmp.Compare(a.at, b.at) })
	for i := 1; i < len(list); i++ {
		list[i].at = max(list[i].at, list[i-1].at+apart)
	}
	for i := len(list) - 1; i >= 0; i-- { // those that went over the bottom push the others up
		floor := areaBottom - apart*float64(len(list)-1-i)
		list[i].at = min(list[i].at, floor)
	}
	return list
}
