package gc_test

import (
	"testing"

	"rewind/engine/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// atWork are two agents, each in a turn.
func atWork(p *enginetest.Project) (a, b *enginetest.Agent) {
	a, b = p.Agent("a"), p.Agent("b")
	for _, x := range []*enginetest.Agent{a, b} {
		x.Start()
		x.Prompt("go")
	}
	return a, b
}
