package engine

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	"rewind/internal/bug"
	"rewind/internal/gitinfo"
	"rewind/tree/ignore"
	"rewind/tree/snapshot"
)

// rules is what decides what a snapshot takes.
type rules struct {
	dir        *ignore.Dir
	tracked    snapshot.Tracked
	secret     func(path string) bool
	key        [32]byte
	git        GitHead
	faults     []gitinfo.Fault // what of the user's repository cannot be read
	generation string          // changes with any of dir, tracked and secret
}

// repository is what rules were made from, kept from one capture to the next so that only what changed is made again.
type repository struct {
	files   []gitinfo.File
	fold    bool
	exclude []string
	secrets []string
	allow   []string
	skipped *flagged         // nil: nothing is secret for its content
	tracked snapshot.Tracked // nil: there is no repository, or nothing is known
	rules   rules
	made    int // how many times rules changed
}

// rules reads the user's repository, the exclude files and the configuration. Nothing about the repository is an error: as git does, what
// cannot be read excludes nothing, so more is captured, never less; and without an index what was tracked stays so.
func (e *Engine) rules() (*rules, error) { return e.rulesNow(false) }

// rulesNow is rules; in a hurry git, where it is asked, has less time.
func (e *Engine) rulesNow(hurry bool) (*rules, error) {
	git := e.git.Look(e.project.Root, hurry)
	if len(git.Faults) > 0 && bug.Is("git-fails") {
		return nil, errors.New("engine: the repository cannot be read")
	}
	now := &repository{
		files: git.Files, fold: git.FoldCase, exclude: e.config.exclusions(), secrets: e.config.secretPatterns(), allow: e.config.secretsAllow(),
	}
	var err error
	if now.skipped, err = e.skippedPaths(); err != nil {
		return nil, err
	}
	switch {
	case git.Tracked != nil:
		now.tracked = git.Tracked
	case git.Repo:
		now.tracked = e.lastTracked()
	}
	if !now.same(e.repo) {
		if err := e.makeRules(now); err != nil {
			return nil, err
		}
	}
	r := e.repo.rules
	r.git, r.faults = GitHead{Commit: git.Head.Commit, Branch: git.Head.Branch}, git.Faults
	return &r, nil
}

// same reports whether the rules that was led to are those that n leads to.
func (n *repository) same(was *repository) bool {
	if was == nil || n.fold != was.fold || !slices.Equal(n.exclude, was.exclude) || !slices.Equal(n.secrets, was.secrets) ||
		!slices.Equal(n.allow, was.allow) || !n.skipped.same(was.skipped) {
		return false
	}
	return sameTracked(n.tracked, was.tracked) &&
		slices.EqualFunc(n.files, was.files, func(a, b gitinfo.File) bool { return a.Path == b.Path && bytes.Equal(a.Data, b.Data) })
}

func sameTracked(a, b snapshot.Tracked) bool {
	x, ok := a.(*gitinfo.Tracked)
	y, ok2 := b.(*gitinfo.Tracked)
	return ok && ok2 && x.Equal(y) || a == b
}

func (e *Engine) makeRules(now *repository) error {
	base := []ignore.File{{Path: ignore.BuiltinPath, Data: []byte(strings.Join(now.exclude, "\n") + "\n")}}
	for _, f := range now.files {
		base = append(base, ignore.File{Path: f.Path, Data: f.Data})
	}
	key, err := e.secretKey()
	if err != nil {
		return err
	}
	if e.repo != nil {
		now.made = e.repo.made + 1
	}
	now.rules = rules{
		dir: ignore.New(ignore.Options{FoldCase: now.fold}, base...), secret: secretFiles(now.secrets, now.allow, now.skipped), key: key,
		generation: strconv.Itoa(now.made),
	}
	now.rules.tracked = now.tracked
	e.repo = now
	return nil
}
