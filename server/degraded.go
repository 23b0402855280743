package server

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"rewind/api"
	"rewind/engine/project"
	"rewind/engine/register"
	"rewind/server/rundir"
)

// degraded keeps what went wrong with hooks, by store id, since the last capture that worked: hooks themselves must not
// say it. The files outlive the process and are shared by all; memory is for a disk that takes no more.
type degraded struct {
	ring func(id string) // told of each failure
	home string          // where the run directory is made: without a daemon it may not be there
	dir  rundir.Dir
	mu   sync.Mutex
	mem  map[string]api.Degraded
}

// maxDegradedError is the length in bytes to which an error's text is cut.
const maxDegradedError = 1000

func degradedName(id string) string { return "degraded-" + id + ".json" }

// add counts a failure.
func (d *degraded) add(p *project.Project, err error) {
	defer d.ring(p.ID)
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now().UTC()
	s := d.state(p.ID)
	if s == nil {
		s = &api.Degraded{Since: now}
	}
	text := clean(err)
	s.Last, s.Count, s.Error = now, s.Count+1, api.Text(text[:min(len(text), maxDegradedError)])
	if d.mem == nil {
		d.mem = map[string]api.Degraded{}
	}
	d.mem[p.ID] = *s
	if b, err := json.Marshal(s); err == nil && d.dir != "" {
		if _, err := rundir.Make(d.home); err == nil {
			_ = d.dir.Write(degradedName(p.ID), append(b, '\n'))
		}
	}
}

// clear is called by each capture that works.
func (d *degraded) clear(p *project.Project) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.mem, p.ID)
	if _, err := d.dir.Stat(degradedName(p.ID)); d.dir != "" && err == nil { // mostly it is not there
		d.dir.Remove(degradedName(p.ID))
	}
}

// get is nil when nothing is wrong.
func (d *degraded) get(p *project.Project) *api.Degraded {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state(p.ID)
}

// state is the later, by its count, of what is remembered and what the file says, which `rewind hook` writes too: on a
// full disk the file stays as it was.
func (d *degraded) state(id string) *api.Degraded {
	var newest *api.Degraded
	if s, ok := d.mem[id]; ok {
		newest = &s
	}
	if d.dir != "" {
		if b, err := d.dir.Read(degradedName(id)); err == nil {
			var s api.Degraded
			if json.Unmarshal(b, &s) == nil && s.Count > 0 && (newest == nil || s.Count > newest.Count) {
				newest = &s
			}
		}
	}
	return newest
}

// tellUnanswered says which hooks of a project got no answer, to a client that hears it: it is not said again.
func (s *server) tellUnanswered(ctx context.Context, root string) []string {
	c, some := register.Unanswered(s.home, root)
	if !some || !listens(ctx) {
		return nil
	}
	register.ForgetUnanswered(s.home, root)
	return []string{string(c.Text)}
}

// listens reports whether the client still waits: one that went while this process was stopped is heard of only after a
// moment.
func listens(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(200 * time.Millisecond):
		return true
	}
}
