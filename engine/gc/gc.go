package gc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/objstore"
)

// ErrClock is returned by gc when the clock and the log cannot both be right.
var ErrClock = errors.New("the clock is in doubt")

// ErrCollecting is returned while another gc of the project is under way.
var ErrCollecting = errors.New("gc is under way")

// Options say what goes. The zero value is the policy of the settings.
type Options struct {
	DryRun   bool
	Keep     int           // keep only so many checkpoints of each session; 0: as the policy says
	Older    time.Duration // remove checkpoints that are older; 0: as the policy says
	MaxSize  int64         // make the policy stricter until the store fits; 0: as the settings say; less than zero: whatever its size
	resting  bool          // nobody waits: rest as long as it works
	Progress model.Progress
}

// gcState is what all views of a store share of gc.
type gcState struct {
	Mu       sync.Mutex // held while a gc is under way
	changing bool       // rows of turns wait for the end of what a gc changes in the log. Mu is held
}

// GC thins the log as the policy says, then removes what nothing leads to any more, and gives the space back. It holds
// the worktree for some milliseconds at a time, and stands back while events are taken in. Stopped or killed anywhere
// it has removed nothing that anything leads to, and the next one goes on. It refuses, having removed nothing, when the
// clock is in doubt (ErrClock), when anything that must be read cannot be (kv.ErrCorrupt), and while another is under
// way (ErrCollecting).
func (co *Collector) GC(ctx context.Context, o Options) (*value.Collected, error) {
	if err := co.log.Damage(); err != nil {
		return nil, err
	}
	if !co.Run.Mu.TryLock() {
		return nil, fmt.Errorf("gc: %w", ErrCollecting)
	}
	defer co.Run.Mu.Unlock()
	res := &value.Collected{Grace: co.log.Config.Get("gc.grace").(string)}
	var err error
	if res.DiskBefore, err = co.log.DB.DiskBytes(); err != nil {
		return nil, err
	}
	r := retentionOf(co.log.Config)
	r.newest, r.older = o.Keep, o.Older
	limit := o.MaxSize
	if limit == 0 {
		limit = co.log.Config.Get("gc.max_size").(int64)
	}
	p := &pacer{ctx: ctx, e: co, throttle: o.resting, progress: o.Progress}
	for {
		size, err := co.gcRound(p, r, o, res)
		if err != nil {
			return nil, &value.OpError{Op: "gc", Subject: co.log.Project.Root, Err: err}
		}
		res.DiskAfter = size
		res.Fits = limit <= 0 || size <= limit
		if res.Fits || res.Rounds == len(stricter) {
			return res, nil
		}
		stricter[res.Rounds](&r)
		res.Rounds++
	}
}

// gcRound thins the log and collects once, by the retention r, and returns the size of the store afterwards in bytes.
func (co *Collector) gcRound(p *pacer, r retention, o Options, res *value.Collected) (size int64, err error) {
	plan, swept, err := co.gcOnce(p, r, o)
	if err != nil {
		return 0, err
	}
	res.Kept, res.Young = plan.Kept, plan.Young
	if o.DryRun {
		res.Checkpoints, res.Safety, res.Objects, res.Bytes = plan.Removed, plan.Safety, swept.Objects, swept.Bytes
		return max(res.DiskBefore-swept.Bytes, 0), nil
	}
	res.Checkpoints, res.Safety = res.Checkpoints+plan.Removed, res.Safety+plan.Safety
	res.Objects, res.Bytes = res.Objects+swept.Objects, res.Bytes+swept.Bytes
	if swept.Objects > 0 || plan.Removed > 0 {
		if err := co.log.DB.Compact(p.ctx); err != nil {
			return 0, err
		}
	}
	return co.log.DB.DiskBytes()
}

// gcOnce lists the objects, by which it reads the store from then on, thins the log and removes what nothing leads to
// any more.
func (co *Collector) gcOnce(p *pacer, r retention, o Options) (plan *gcPlan, swept objstore.Swept, err error) {
	c, err := co.beginCollection(p.ctx, p)
	if err != nil {
		return nil, swept, err
	}
	defer c.End()
	read, err := co.gcReader(c)
	for try := 1; err == nil; try++ {
		if plan, err = co.planGC(p, read); err == nil {
			err = plan.clock.trusted(r)
		}
		if err == nil {
			plan.decideAsked(r)
			err = plan.squashAll(p)
		}
		if err == nil && !o.DryRun {
			err = plan.carryOut(p.ctx, p)
		}
		if !errors.Is(err, ErrReplan) || try == maxTries {
			break
		}
		read, err = co.gcReader(c) // again, since carryOut has written squash records
	}
	if co.Run.changing { // the plan that began was not carried out to its end
		err = errors.Join(err, co.changed(p.ctx))
	}
	if err == nil && !o.DryRun {
		_ = co.ledger.BringUp() // else who asks next has to wait for all rows
	}
	if err == nil {
		swept, err = co.collect(p.ctx, c, plan, p, o)
	}
	return plan, swept, err
}

// maxTries is how often a gc plans at most, while what comes into the log needs what was to go.
const maxTries = 4

// collect marks what is reached and removes the rest.
func (co *Collector) collect(
	ctx context.Context, c *objstore.Collection, plan *gcPlan, p *pacer, o Options,
) (objstore.Swept, error) {
	m := &reach{e: co, c: c, plan: plan, pace: p, read: plan.read}
	if err := m.roots(); err != nil {
		return objstore.Swept{}, err
	}
	if err := m.writeBarrier(); err != nil {
		return objstore.Swept{}, err
	}
	if o.DryRun {
		dead, _ := c.Dead()
		return dead, nil
	}
	for {
		err := co.sweepSet(m)
		if err == nil {
			break
		}
		if !errors.Is(err, objstore.ErrOpenTx) && !errors.Is(err, objstore.ErrBarrier) {
			return objstore.Swept{}, err
		}
		if err := m.writeBarrier(); err != nil {
			return objstore.Swept{}, err
		}
		if err := wait(ctx, 2*time.Millisecond); err != nil {
			return objstore.Swept{}, err
		}
	}
	return c.Sweep(ctx, p.pause)
}

// sweepSet ends the marking under the log's lock, with nothing left to mark.
func (co *Collector) sweepSet(m *reach) error {
	co.log.Lock()
	defer co.log.Unlock()
	if err := m.sinceRoots(); err != nil {
		return err
	}
	return m.c.StartSweep()
}

// beginCollection registers a collection at a moment without an open transaction, for which it waits.
func (co *Collector) beginCollection(ctx context.Context, p *pacer) (*objstore.Collection, error) {
	for {
		co.log.Lock()
		c, err := co.log.Objs.Collect()
		co.log.Unlock()
		if err == nil {
			if err = c.List(ctx, p.pause); err != nil {
				c.End()
			}
			return c, err
		}
		if !errors.Is(err, objstore.ErrOpenTx) {
			return nil, err
		}
		if err := wait(ctx, 2*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
