package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

var update = flag.Bool("update", false, "write the goldens anew")

func milli(v float64) string {
	if v >= 1000 {
		return fmt.Sprintf("%.1f s", v/1000)
	}
	return fmt.Sprintf("%.2f ms", v)
}

func size(v float64) string { return fmt.Sprintf("%.0f B", v) }

func dots() Dots {
	return Dots{
		Title: "figures <beside> others & goals",
		Note:  "a processor, 2 cores; a system; a file system; 2026-11-22, and more than there is room for in one line of a chart",
		Panels: []Panel{
			{Name: "time", Unit: "ms", Format: milli, Rows: []Row{
				{
					Label: "hook, one file edited", At: "750 files", Value: 3.91, Goal: 3.4,
					Peers: []Peer{
						{"F: the same hook, a daemon that does nothing", 2.31},
						{"git add -A; git write-tree", 95.2},
					},
				},
				{
					Label: "a label that is so long that nobody could ever read it",
					At:    "1,000,000 files, 10,000 checkpoints, and so on and so on", Value: 25, Goal: 25,
				},
				{
					Label: "first snapshot", At: "28,000 files", Value: 1800, Goal: 2000,
					Peers: []Peer{
						{"floor", 1500},
						{"git", 9500},
						{"another one with a name that has no end to it at all, or so", 40000},
					},
				},
			}},
			{Name: "nothing", Unit: "ms", Format: milli},
			{
				Name: "size", Unit: "B", Format: size,
				Rows: []Row{{Label: "an edit", Value: 600, Goal: 600, Peers: []Peer{{"git", 0}}}},
			},
		},
	}
}

func TestGoldens(t *testing.T) {
	for name, got := range map[string][]byte{
		"dots": dots().SVG(), "one": Dots{Title: "none"}.SVG(),
	} {
		file := filepath.Join("testdata", name+".svg")
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is another chart (go test -update): %v", file, err)
		}
		readable(t, name, got)
	}
}

// A box is the room that a text takes.
type box struct {
	text                     string
	left, right, top, bottom float64
}

// readable fails when a chart is no XML, a text lies over another one or outside, or there is a script.
func readable(t *testing.T, name string, svg []byte) {
	t.Helper()
	var width, height float64
	var boxes []box
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		attr := map[string]string{}
		for _, a := range e.Attr {
			attr[a.Name.Local] = a.Value
		}
		f := func(key string) float64 {
			v, err := strconv.ParseFloat(attr[key], 64)
			if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s: %s of %s: %q", name, key, e.Name.Local, attr[key])
			}
			return v
		}
		switch e.Name.Local {
		case "svg":
			width, height = f("width"), f("height")
		case "script", "foreignObject", "image":
			t.Errorf("%s has a %s", name, e.Name.Local)
		case "text":
			var text string
			if err := d.DecodeElement(&text, &e); err != nil {
				t.Fatal(err)
			}
			x, y, size := f("x"), f("y"), f("font-size")
			room := wide(text, size)
			b := box{text: text, left: x, top: y - 0.8*size, bottom: y + 0.2*size}
			switch attr["text-anchor"] {
			case "middle":
				b.left -= room / 2
			case "end":
				b.left -= room
			}
			b.right = b.left + room
			boxes = append(boxes, b)
		case "circle":
			if f("cx") < 0 || f("cx") > width || f("cy") > height {
				t.Errorf("%s: a mark is outside", name)
			}
		}
	}
	for i, a := range boxes {
		if a.left < 0 || a.right > width || a.top < 0 || a.bottom > height {
			t.Errorf("%s: %q is outside: %+v", name, a.text, a)
		}
		for _, b := range boxes[:i] {
			if a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom {
				t.Errorf("%s: %q lies over %q", name, a.text, b.text)
			}
		}
	}
}

func TestScale(t *testing.T) {
	for _, c := range []struct {
		values    []float64
		low, high float64
	}{{nil, 0, 1}, {[]float64{0, -1}, 0, 1}, {[]float64{10}, 1, 2}, {[]float64{2, 3}, 0, 1}, {
		[]float64{1, 1000},
		0,
		3,
	}, {[]float64{0.5, 1e6}, -1, 6}} {
		if s := scaleOf(c.values, 0, 100); s.low != c.low || s.high != c.high {
			t.Errorf("%v: from 10^%v to 10^%v, want %v to %v", c.values, s.low, s.high, c.low, c.high)
		}
	}
	s := scale{0, 2, 100, 300}
	if at := s.at(10); at != 200 {
		t.Errorf("10 is at %v", at)
	}
	if n := len(scale{0, 9, 0, 1}.ticks(4)); n > 5 {
		t.Errorf("%d ticks", n)
	}
}

func TestFit(t *testing.T) {
	if got := fit("a long line", 10, 30); got != "a lo…" {
		t.Errorf("%q", got)
	}
	if got := fit("short", 10, 300); got != "short" {
		t.Errorf("%q", got)
	}
}
