package snapshot

import (
	"context"
	"slices"
	"strings"
	"time"

	"rewind/internal/worktreefs"
	"rewind/tree"
	"rewind/tree/ignore"
)

// Uncaptured says why nothing new below a directory is captured. It returns the line of a note for the directory, or
// for one above, and the rule that caused it; by is nil if there is no rule. ok is false where it is captured, also
// where a tracked path lies below, and where it cannot be looked at. dir is relative to the root. It lists the
// directories on the way.
func Uncaptured(src Source, dir string) (why tree.Skip, by *ignore.Rule, ok bool) {
	if src.Rules == nil {
		src.Rules = ignore.New(ignore.Options{})
	}
	src.Cache = nil
	if src.now == nil {
		src.now = time.Now
	}
	s := newScan(context.Background(), src)
	n := &node{rules: src.Rules, dir: src.Root}
	for name := range strings.SplitSeq(dir, "/") {
		s.readRules(n, s.ruleFilesIn(n))
		c := &node{parent: n, name: name, path: tree.Join(n.path, name), depth: n.depth + 1}
		if ours, _ := s.isOurs(n, name); ours {
			return tree.Skip{Path: c.path, Reason: tree.ReasonBuiltin}, nil, true
		}
		if ignored, rule := n.rules.Match(name, true); ignored && (s.Tracked == nil || !s.Tracked.Below(dir)) {
			reason := tree.ReasonIgnored
			if rule.Builtin() {
				reason = tree.ReasonBuiltin
			}
			return tree.Skip{Path: c.path, Reason: reason}, rule, true
		}
		names, err := s.enterAlone(c)
		if err != nil {
			return why, nil, false
		}
		defer c.dir.Close() //nolint:errcheck // only read
		if what := s.whatForeign(c, names); what != 0 {
			return tree.Skip{Path: c.path, Reason: tree.ReasonBuiltin, Size: what}, nil, true
		}
		c.rules = n.rules.Child(name)
		n = c
	}
	return why, nil, false
}

// ruleFilesIn lists the ignore files in a directory.
func (s *scan) ruleFilesIn(n *node) (names []worktreefs.Dirent) {
	for _, name := range s.RuleFiles {
		if st, err := n.dir.Lstat(name); err == nil {
			names = append(names, worktreefs.Dirent{Name: name, Type: st.Type})
		}
	}
	return names // .gitignore, .rewindignore: sorted
}

// enterAlone opens and lists a directory that is no task.
func (s *scan) enterAlone(n *node) ([]worktreefs.Dirent, error) {
	dir, err := n.parent.dir.OpenDir(n.name)
	if err != nil {
		return nil, err
	}
	n.dir = dir
	names, err := dir.ReadDir()
	if err != nil {
		dir.Close() //nolint:errcheck // only read
		return nil, err
	}
	slices.SortFunc(names, func(a, b worktreefs.Dirent) int { return strings.Compare(a.Name, b.Name) })
	return names, nil
}
