package bisect_test

import (
	"fmt"
	"testing"

	"rewind/engine/bisect"
	"rewind/engine/enginetest"
)

// BenchmarkStep28k is what a test in a project of 28,000 files costs besides the test: a verdict taken in, and the next state laid out.
func BenchmarkStep28k(b *testing.B) {
	p := enginetest.OpenProject(b, b.TempDir(), b.TempDir())
	defer p.Close()
	for dir := range 700 {
		for f := range 40 {
			p.Write(fmt.Sprintf("src/m%d/p%d/f%d.go", dir/20, dir, f), fmt.Sprintf("package p%d\n// %d\n", dir, f))
		}
	}
	p.Save("begin")
	for i := range 64 {
		p.Write("src/m3/p61/f4.go", fmt.Sprintln(i))
		p.Write(fmt.Sprintf("src/m%d/p%d/f5.go", i%5, i%5*20), fmt.Sprintln(i))
		p.Save("")
	}
	r, err := p.E.Bisector.Start(enginetest.Bg, bisect.Options{Bad: "@"}, nil)
	p.Must(err)
	steps := 0
	for b.Loop() {
		if r.Answer != nil {
			b.StopTimer()
			r, err = p.E.Bisector.Start(enginetest.Bg, bisect.Options{Hand: true, Bad: "@", Good: []string{"@~64"}}, nil)
			p.Must(err)
			b.StartTimer()
		}
		as := bisect.Bad
		if steps++; r.End && steps > 1 || steps%2 == 0 {
			as = bisect.Good
		}
		r, err = p.E.Bisector.Mark(enginetest.Bg, r.Session, "", as, "", nil)
		p.Must(err)
	}
}
