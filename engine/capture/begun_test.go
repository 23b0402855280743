package capture_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/hooks"
)

// The first hook of an old session does not wait until the turns of its file are counted, nor do those that come
// meanwhile; they are taken in behind it, in their order, in turns of the right numbers.
func TestFirstEventOfALargeSession(t *testing.T) {
	p, k := enginetest.Begun(t)
	text := strings.Repeat("x", 40<<10)
	for n := range 40 {
		k.Line("user", fmt.Sprintf(`{"role":"user","content":"prompt %d %s"}`, n, text))
		k.Say("done")
	}
	var order []string
	var all sync.WaitGroup
	prompt := func(what string, meanwhile func()) {
		k.Send(hooks.Event{Kind: hooks.Prompt, Prompt: what}, capture.HandleOptions{Long: meanwhile, Late: func() bool {
			return true
		}})
	}
	prompt("first heard of", func() {
		order = append(order, "one")
		answered := make(chan struct{})
		all.Go(func() {
			prompt("meanwhile", func() {
				order = append(order, "two")
				all.Go(func() { prompt("and then", func() { order = append(order, "three"); close(answered) }) })
				<-answered
			})
		})
		<-answered // while this is still being counted
	})
	all.Wait()
	if s := p.Session(k.Name()); s.Turn != 43 || s.Prompt != "and then" || len(order) != 3 {
		t.Errorf("turn %d, prompt %q, answered %q", s.Turn, s.Prompt, order)
	}
	// A small one is counted while its agent waits.
	small := p.Talker(2)
	small.Line("user", `{"role":"user","content":"one"}`)
	small.Say("done")
	small.Send(hooks.Event{Kind: hooks.Prompt, Prompt: "two"}, capture.HandleOptions{Long: func() { t.Error("a small file takes long") }})
	if s := p.Session(small.Name()); s.Turn != 2 {
		t.Errorf("turn %d", s.Turn)
	}
}
