package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rewind/engine/gc"
	"rewind/engine/project"
)

// endsWhen is a context that ends when something has come about.
type endsWhen struct {
	context.Context
	over func() bool
}

func (c endsWhen) Err() error {
	if c.over() {
		return context.Canceled
	}
	return nil
}

// TestTidyGoesOn: a run that is ended when it has thinned the log and not collected yet is not counted as one, and the next does the rest.
func TestTidyGoesOn(t *testing.T) {
	p := newProject(t)
	p.set("gc.grace", "0s")
	p.set("gc.keep_all", "0s")
	p.set("gc.keep_safety", "0s")
	for i := range 10 {
		p.write("f", big(fmt.Sprint(i)))
		p.save(fmt.Sprint(i))
	}
	ran := filepath.Join(p.e.Log.Project.Store, gc.GcRan)
	p.must(os.MkdirAll(filepath.Dir(ran), 0o700))
	if _, err := p.e.Collector.Tidy(endsWhen{bg, func() bool { return len(p.listed()) < 10 }}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("what was ended counts as a run")
	}
	p.reopen()
	p.sound()
	r, err := p.e.Collector.Tidy(bg)
	if err != nil || r == nil || r.Objects == 0 {
		t.Errorf("the next: %+v, %v", r, err)
	}
	p.sound()
	if r, err := p.e.Collector.Tidy(bg); r != nil || err != nil {
		t.Errorf("twice: %+v, %v", r, err)
	}
	p.e.Log.Config, err = project.LoadConfig(p.home, p.root)
	p.must(err)
	p.later(25 * time.Hour)
	if r, err := p.e.Collector.Tidy(bg); r == nil || err != nil {
		t.Errorf("a day later: %+v, %v", r, err)
	}
}
