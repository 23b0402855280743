package gc_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rewind/engine"
	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/project"
	"rewind/internal/kv"
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

// TestTidyWhenDue: gc runs by itself once a day, and once an hour while the store is too large or the disk nearly full;
// whether the settings say so is asked each time.
func TestTidyWhenDue(t *testing.T) {
	p := &enginetest.Project{T: t, Root: t.TempDir(), Home: project.Home{Dir: t.TempDir()}}
	var err error
	// On a real disk, which knows how much of it is free.
	p.E, _, err = engine.Init(enginetest.Bg, p.Home, p.Root, project.ModeGlobal, project.Options{})
	p.Must(err)
	t.Cleanup(p.Close)
	p.Write("f", enginetest.Big("1"))
	p.Save("one")
	now := time.Now().Truncate(time.Second)
	p.E.Log.Now = func() time.Time { return now }
	const large = "100000GiB"
	for _, c := range []struct {
		ago        time.Duration
		auto       string
		size, free string
		due        bool
	}{
		{24 * time.Hour, "true", "0", "0", true},
		{24*time.Hour - time.Second, "true", "0", "0", false},
		{48 * time.Hour, "false", "0", "0", false},
		{-time.Second, "true", "0", "0", true},
		{0, "true", "1", large, false},
		{time.Hour - time.Second, "true", "1", large, false},
		{time.Hour, "true", "1", "0", true},
		{time.Hour, "true", large, "0", false},
		{2 * time.Hour, "true", "0", large, true},
		{2 * time.Hour, "true", "0", "1", false},
		{2 * time.Hour, "false", "1", large, false},
	} {
		p.Set("gc.auto", c.auto)
		p.Set("gc.max_size", c.size)
		p.Set("gc.min_free", c.free)
		p.Must(p.E.Log.DB.Touch(gc.GcRan, now.Add(-c.ago)))
		r, err := p.E.Collector.Tidy(enginetest.Bg)
		if p.Must(err); (r != nil) != c.due {
			t.Errorf("%+v: %+v", c, r)
		}
		ran, err := p.E.Log.DB.Touched(gc.GcRan)
		if p.Must(err); ran.Equal(now) != (c.due || c.ago == 0) {
			t.Errorf("%+v: it ran at %v", c, ran)
		}
	}
	// As large as it may be it fits.
	p.Set("gc.auto", "true")
	p.Set("gc.min_free", "0")
	size, err := p.E.Log.DB.DataBytes()
	p.Must(err)
	for _, most := range []int64{size, size - 1} {
		p.Set("gc.max_size", fmt.Sprint(most))
		p.Must(p.E.Log.DB.Touch(gc.GcRan, now.Add(-time.Hour)))
		r, err := p.E.Collector.Tidy(enginetest.Bg)
		if p.Must(err); (r != nil) != (most < size) {
			t.Errorf("%d of %d bytes: %+v", size, most, r)
		}
	}
}

// TestTidyInDoubt: a run by itself that does not trust the clock, or that another one is in the way of, is none and no
// error. One that finds the store damaged is told, and not tried again before its time.
func TestTidyInDoubt(t *testing.T) {
	for name, c := range map[string]struct {
		hurt func(p *enginetest.Project) (mend func())
		bad  bool
	}{
		"clock": {func(p *enginetest.Project) func() { later(p, -time.Hour); return func() {} }, false},
		"another": {func(p *enginetest.Project) func() {
			p.E.Collector.Run.Mu.Lock()
			return p.E.Collector.Run.Mu.Unlock
		}, false},
		"damage": {func(p *enginetest.Project) func() { dropOperation(p, 3); return func() {} }, true},
	} {
		p := enginetest.NewProject(t)
		for i := range 4 {
			p.Write("f", enginetest.Big(fmt.Sprint(i)))
			p.Save(fmt.Sprint(i))
		}
		p.Must(os.MkdirAll(p.E.Log.Project.Store, 0o700))
		mend := c.hurt(p)
		r, err := p.E.Collector.Tidy(enginetest.Bg)
		if r != nil || (err != nil) != c.bad {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		mend()
		if _, err := p.E.Log.DB.Touched(gc.GcRan); (err == nil) != c.bad {
			t.Errorf("%s: counts as a run: %v", name, err)
		}
	}
}

// dropOperation takes an operation out of the log behind the engine's back.
func dropOperation(p *enginetest.Project, seq uint64) {
	p.T.Helper()
	b := p.E.Log.DB.NewBatch()
	p.Must(b.Delete(kv.OperationKey(seq)))
	p.Must(b.Commit(enginetest.Bg, kv.Written))
}
