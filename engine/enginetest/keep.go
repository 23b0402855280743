package enginetest

import (
	"slices"

	"rewind/engine/capture"
	"rewind/engine/gc"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/internal/value"
)

// Set changes a setting of the project.
func (p *Project) Set(key string, values ...string) {
	p.T.Helper()
	p.Must(project.SetConfig(p.Home, p.Root, key, values))
	var err error
	p.E.Log.Config, err = project.LoadConfig(p.Home, p.Root)
	p.Must(err)
}

// Gc collects, and holds that nothing that is left is broken.
func (p *Project) Gc(o gc.Options) *value.Collected {
	p.T.Helper()
	r := p.Collect(o)
	p.Sound()
	return r
}

// Collect collects without a look at what is left.
func (p *Project) Collect(o gc.Options) *value.Collected {
	p.T.Helper()
	r, err := p.E.Collector.GC(Bg, o)
	if err != nil {
		p.T.Fatalf("gc: %v", err)
	}
	return r
}

// Sound holds that all that refs and operations lead to is there, and that lists and single steps can be shown.
func (p *Project) Sound() {
	p.T.Helper()
	if _, err := p.E.Checker.Verify(Bg, true, nil, func(err error) { p.T.Fatalf("after gc: %v", err) }); err != nil {
		p.T.Fatalf("after gc: %v", err)
	}
	for _, cp := range p.Listed() {
		if _, err := p.E.History.Show(Bg, cp.ID.String(), nil); err != nil {
			p.T.Fatalf("after gc: show %s: %v", cp.ID.Short(), err)
		}
	}
}

// Listed are all checkpoints, folded ones too, newest first.
func (p *Project) Listed() []history.Listed {
	p.T.Helper()
	l, err := p.E.History.List(Bg, history.ListOptions{All: true})
	if err != nil {
		p.T.Fatalf("list: %v", err)
	}
	return l.Checkpoints
}

// Has reports whether a checkpoint is listed.
func (p *Project) Has(cp *model.Checkpoint) bool {
	return slices.ContainsFunc(p.Listed(), func(l history.Listed) bool { return l.ID == cp.ID })
}

// Tagged names the checkpoint that an event made, so that gc keeps it.
func (p *Project) Tagged(name string, h *capture.Handled) {
	p.T.Helper()
	_, err := p.E.History.Tag(Bg, name, p.Get(h).ID.String(), false)
	p.Must(err)
}
