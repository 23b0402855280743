package gc_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rewind/engine/enginetest"
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

// TestTidyGoesOn: a run that is ended when it has thinned the log and not collected yet is not counted as one, and the
// next does the rest.
func TestTidyGoesOn(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	p.Set("gc.keep_all", "0s")
	p.Set("gc.keep_safety", "0s")
	for i := range 10 {
		p.Write("f", enginetest.Big(fmt.Sprint(i)))
		p.Save(fmt.Sprint(i))
	}
	ran := filepath.Join(p.E.Log.Project.Store, gc.GcRan)
	p.Must(os.MkdirAll(filepath.Dir(ran), 0o700))
	if _, err := p.E.Collector.Tidy(endsWhen{enginetest.Bg, func() bool { return len(p.Listed()) < 10 }}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("ended: %v", err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("what was ended counts as a run")
	}
	p.Reopen()
	p.Sound()
	r, err := p.E.Collector.Tidy(enginetest.Bg)
	if err != nil || r == nil || r.Objects == 0 {
		t.Errorf("the next: %+v, %v", r, err)
	}
	p.Sound()
	if r, err := p.E.Collector.Tidy(enginetest.Bg); r != nil || err != nil {
		t.Errorf("twice: %+v, %v", r, err)
	}
	p.E.Log.Config, err = project.LoadConfig(p.Home, p.Root)
	p.Must(err)
	later(p, 25*time.Hour)
	if r, err := p.E.Collector.Tidy(enginetest.Bg); r == nil || err != nil {
		t.Errorf("a day later: %+v, %v", r, err)
	}
}
