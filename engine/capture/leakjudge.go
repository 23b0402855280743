package capture

import (
	"context"
	"sync"

	"rewind/engine/project"
	"rewind/engine/secrets"
	"rewind/internal/leaks"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/tree"
)

// A leakJudge looks at contents before they are stored, in mode skip, where a person waits and no agent: a file that
// looks like it holds a secret is not stored at all. nil judges nothing.
type leakJudge struct {
	e        *Worktree
	allow    func(path string) bool
	ctx      context.Context
	scanners sync.Pool
	mu       sync.Mutex
	found    map[string][]value.Finding // by path
	flags    map[objstore.Key]*secrets.LeakFlag
}

func (wt *Worktree) newLeakJudge(ctx context.Context) *leakJudge {
	if wt.log.Config.SecretsMode() != project.SecretsSkip {
		return nil
	}
	return &leakJudge{e: wt, ctx: ctx, allow: wt.log.Config.SecretsAllowed(), found: map[string][]value.Finding{}}
}

// judge implements snapshot.Source.Leak: it reports whether content looks like it holds a secret. What cannot be
// searched does not.
func (j *leakJudge) judge(path string, content []byte) bool {
	if !leaks.Text(content) || j.allow(path) {
		return false
	}
	s, _ := j.scanners.Get().(*leaks.Scanner)
	if s == nil {
		var err error
		if s, err = leaks.New(); err != nil {
			return false
		}
	}
	defer j.scanners.Put(s)
	list, err := s.Find(j.ctx, path, content)
	if err != nil || len(list) == 0 {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.found[path] = list
	return true
}

// flag adds what was found to the capture's batch: with its commit the paths are skipped. Content that was never stored
// is flagged under its keyed hash.
func (j *leakJudge) flag(c *Capture) error {
	if j == nil || len(j.found) == 0 {
		return nil
	}
	j.flags = map[objstore.Key]*secrets.LeakFlag{}
	for _, s := range c.Res.Skips {
		list := j.found[s.Path]
		if s.Reason != tree.ReasonSecret || list == nil {
			continue
		}
		key := objstore.ID(s.Hash).Key()
		f := j.flags[key]
		if f == nil {
			f = &secrets.LeakFlag{Findings: list}
			j.flags[key] = f
		}
		if len(f.Paths) < secrets.MaxFlagPaths { // skips are in the order of their paths
			f.Paths = append(f.Paths, s.Path)
		}
	}
	for key, f := range j.flags {
		if err := c.Tx.Batch().Set(secrets.LeakKey(key), f.Encode()); err != nil {
			return err
		}
	}
	return nil
}

// committed makes the flags count, after the capture's commit.
func (j *leakJudge) committed() {
	if j == nil || len(j.flags) == 0 {
		return
	}
	_ = j.e.leaks.Reflag(j.flags) // flags that cannot be read now are read later
}
