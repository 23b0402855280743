package compare_test

import (
	"fmt"
	"testing"

	"rewind/engine/compare"
	"rewind/engine/enginetest"
)

// BenchmarkCompare28k compares two branches of 100 checkpoints each in a project of 28,000 files; each checkpoint
// changed two files, and a third of the files was changed by both.
func BenchmarkCompare28k(b *testing.B) {
	p := enginetest.OpenProject(b, b.TempDir(), b.TempDir())
	defer p.Close()
	text := func(dir, f, n int) string {
		s := fmt.Sprintf("package p%d\n", dir)
		for i := range 40 {
			if i == n%40 {
				s += fmt.Sprintf("// changed %d\n", n)
			} else {
				s += fmt.Sprintf("// line %d of %d\n", i, f)
			}
		}
		return s
	}
	name := func(dir, f int) string { return fmt.Sprintf("src/m%d/p%d/f%d.go", dir/20, dir, f) }
	for dir := range 700 {
		for f := range 40 {
			p.Write(name(dir, f), text(dir, f, -1))
		}
	}
	root := p.Save("begin")
	var tips [2]string
	for side := range tips {
		if side > 0 {
			exactly(p, root.ID)
		}
		for i := range 100 {
			p.Write(name(i*7%700, 3), text(i*7%700, 3, i+side))
			p.Write(name((i*3+side*300)%700, 5), text((i*3+side*300)%700, 5, i))
			tips[side] = p.Save("").ID.String()
		}
	}
	for b.Loop() {
		r, err := p.E.Compare(enginetest.Bg, nil, compare.Options{A: tips[0], B: tips[1]}, 3)
		p.Must(err)
		if r.Ancestor == nil || r.Ancestor.ID != root.ID || len(r.Overlaps) < 30 || len(r.Sides[1].Steps) != 100 {
			b.Fatalf("%v, %d overlaps, %d steps", r.Ancestor, len(r.Overlaps), len(r.Sides[1].Steps))
		}
	}
}
