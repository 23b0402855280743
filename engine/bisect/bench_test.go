package bisect_test

import (
	"fmt"
	"testing"

	"rewind/engine/bisect"
	"rewind/engine/enginetest"
)

// BenchmarkStep28k is what a test in a project of 28,000 files costs besides the test: a verdict taken in, and the next
// state laid out.
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
	o := bisect.Options{Bad: "@", Good: []string{"@~64"}}
	r, err := p.E.Bisector.Start(enginetest.Bg, o, nil)
	p.Must(err)
	for b.Loop() {
		if r.Answer != nil {
			b.StopTimer()
			p.Must(p.E.Bisector.Reset(r.Session))
			r, err = p.E.Bisector.Start(enginetest.Bg, o, nil)
			p.Must(err)
			b.StartTimer()
		}
		as := bisect.Bad
		if r.End && r.Left < 64 {
			as = bisect.Good
		}
		r, err = p.E.Bisector.Mark(enginetest.Bg, r.Session, bisect.Said{As: as}, nil)
		p.Must(err)
	}
}
