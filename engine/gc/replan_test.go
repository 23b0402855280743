package gc_test

import (
	"errors"
	"fmt"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/gc"
)

// TestGCPlansNoMoreThanFourTimes: a gc during which somebody tags what was to go, again and again, gives up in the end,
// and has removed nothing that a tag names.
func TestGCPlansNoMoreThanFourTimes(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	a := p.Agent("a")
	a.Start()
	a.Prompt("go")
	var ids []string
	for i := range 120 {
		ids = append(ids, p.Get(a.Run(fmt.Sprint(i), func() { p.Write("f", fmt.Sprint(i)) })).ID.String())
	}
	tagged := 0
	_, err := p.E.Collector.GC(enginetest.Bg, gc.Options{Keep: 2, Progress: func(int, int64) {
		if tagged < len(ids)-10 {
			_, err := p.E.History.Tag(enginetest.Bg, fmt.Sprint("t", tagged), ids[tagged], false)
			p.Must(err)
			tagged++
		}
	}})
	if !errors.Is(err, gc.ErrReplan) {
		t.Errorf("after %d tags: %v", tagged, err)
	}
	p.Sound()
	for i := range tagged {
		cp, err := p.E.History.Resolve(fmt.Sprint("t", i))
		if err != nil || p.Cat(cp, "f") != fmt.Sprint(i) {
			t.Errorf("t%d: %v", i, err)
		}
	}
}
