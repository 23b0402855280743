package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// style is that of all charts. Nothing is drawn behind them: the page shows through.
const style = `<style>
text{font-family:system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:#1f2328}
.m{fill:#59636e}.g{stroke:#d1d9e0;stroke-width:1}.t{stroke:#1a7f37;stroke-width:2}
.r{fill:#0969da;stroke:#0969da}.p{fill:none;stroke:#59636e;stroke-width:1.5}.l{fill:none;stroke:#0969da;stroke-width:2}.f{fill:none;stroke:#59636e;stroke-width:1.5;stroke-dasharray:5 3}
@media (prefers-color-scheme:dark){text{fill:#f0f6fc}.m{fill:#9198a1}.g{stroke:#3d444d}.t{stroke:#3fb950}.r{fill:#4493f8;stroke:#4493f8}.p{stroke:#9198a1}.l{stroke:#4493f8}.f{stroke:#9198a1}}
</style>
`

// A canvas takes shapes.
type canvas struct{ b bytes.Buffer }

func (c *canvas) begin(width, height float64, title string) {
	fmt.Fprintf(&c.b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%[1]s\" height=\"%[2]s\" viewBox=\"0 0 %[1]s %[2]s\" "+
		"role=\"img\">\n<title>%[3]s</title>\n%[4]s", num(width), num(height), escape(title), style)
}

func (c *canvas) end() []byte {
	c.b.WriteString("</svg>\n")
	return c.b.Bytes()
}

// text writes a line at its baseline; anchor is start, middle or end.
func (c *canvas) text(x, y, size float64, class, anchor, s string) {
	if class != "" {
		class = ` class="` + class + `"`
	}
	fmt.Fprintf(&c.b, "<text x=\"%s\" y=\"%s\" font-size=\"%s\" text-anchor=\"%s\"%s>%s</text>\n", num(x), num(y),
		num(size), anchor, class, escape(s))
}

func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(&c.b, "<line x1=\"%s\" y1=\"%s\" x2=\"%s\" y2=\"%s\" class=\"%s\"/>\n", num(x1), num(y1), num(x2),
		num(y2), class)
}

// mark draws a sign around a point; n chooses it.
func (c *canvas) mark(n int, x, y, r float64, class string) {
	switch n % 3 {
	case 0:
		fmt.Fprintf(&c.b, "<circle cx=\"%s\" cy=\"%s\" r=\"%s\" class=\"%s\"/>\n", num(x), num(y), num(r), class)
	case 1:
		fmt.Fprintf(&c.b, "<rect x=\"%s\" y=\"%s\" width=\"%[3]s\" height=\"%[3]s\" class=\"%s\"/>\n", num(x-r),
			num(y-r), num(2*r), class)
	default:
		r *= 1.25
		fmt.Fprintf(&c.b, "<path d=\"M%s %sL%s %sL%s %sL%s %sZ\" class=\"%s\"/>\n", num(x), num(y-r), num(x+r), num(y),
			num(x), num(y+r), num(x-r), num(y), class)
	}
}

// num writes a coordinate, to a tenth.
func num(v float64) string {
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // cannot fail
	return b.String()
}

// wide is how much room a line of text takes at most, nearly: nobody knows the font.
func wide(s string, size float64) float64 { return 0.58 * size * float64(len([]rune(s))) }

// fit cuts a line to the room that there is.
func fit(s string, size, room float64) string {
	r := []rune(s)
	for len(r) > 1 && wide(string(r), size) > room {
		r = append(r[:len(r)-2], '…')
	}
	return string(r)
}

// A scale maps values to places, by their logarithm.
type scale struct {
	low, high float64 // powers of ten
	from, to  float64 // places
}

// scaleOf holds all values that are over 0, from one power of ten to another.
func scaleOf(values []float64, from, to float64) scale {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if v > 0 && !math.IsInf(v, 0) {
			low, high = min(low, v), max(high, v)
		}
	}
	if low > high {
		low, high = 1, 1
	}
	l, h := math.Floor(math.Log10(low)+1e-9), math.Ceil(math.Log10(high)-1e-9)
	if h <= l {
		h = l + 1
	}
	return scale{l, h, from, to}
}

func (s scale) at(v float64) float64 {
	share := (math.Log10(v) - s.low) / (s.high - s.low)
	return s.from + share*(s.to-s.from)
}

// ticks are the powers of ten, not more than so many.
func (s scale) ticks(most int) (list []float64) {
	step := math.Ceil((s.high - s.low) / float64(most))
	for e := s.low; e <= s.high+1e-9; e += step {
		list = append(list, math.Pow(10, e))
	}
	return list
}

// plain writes a tick's value without places that say nothing.
func plain(s string) string {
	return strings.NewReplacer(".00 ", " ", ".0 ", " ").Replace(s)
}
