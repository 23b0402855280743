package engine

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rewind/internal/gitinfo"
	"rewind/tree"
	"rewind/tree/ignore"
)

// rules is what decides what a snapshot takes.
type rules struct {
	dir        *ignore.Dir
	tracked    tree.Tracked
	secret     func(path string) bool
	key        [32]byte
	git        GitHead
	generation string // changes with any of dir, tracked and secret
}

// repository is what rules were made from, kept from one capture to the next so that only what changed is made again.
type repository struct {
	repo    *gitinfo.Repo // nil: the project is none
	files   []gitinfo.File
	fold    bool
	exclude []string
	secrets []string
	allow   []string
	skipped *flagged // nil: nothing is secret for its content
	tracked *gitinfo.Tracked
	rules   rules
	made    int // how many times rules changed
}

// rules reads the user's repository, the exclude files and the configuration.
func (e *Engine) rules() (*rules, error) {
	now := &repository{exclude: e.config.exclusions(), secrets: e.config.secretPatterns(), allow: e.config.secretsAllow()}
	var err error
	if now.skipped, err = e.skippedPaths(); err != nil {
		return nil, err
	}
	if e.repo != nil {
		now.repo = e.repo.repo
	}
	var git GitHead
	repo, err := gitinfo.Open(e.project.Root)
	switch {
	case errors.Is(err, gitinfo.ErrNoRepo):
		now.repo = nil
	case err != nil:
		return nil, err
	default:
		if now.repo == nil || now.repo.GitDir() != repo.GitDir() || now.repo.CommonDir() != repo.CommonDir() {
			now.repo = repo
		}
		if now.files, now.fold, err = now.repo.Excludes(); err != nil {
			// As git does: what cannot be read excludes nothing, so more is captured, never less.
			e.Notice(fmt.Sprintf("not every exclude file can be read: %v", err))
		}
		if now.tracked, err = now.repo.Tracked(); err != nil {
			return nil, err
		}
		head, err := now.repo.Head()
		if err != nil {
			return nil, err
		}
		git = GitHead{Commit: head.Commit, Branch: head.Branch}
	}
	if !now.same(e.repo) {
		if err := e.makeRules(now); err != nil {
			return nil, err
		}
	}
	r := e.repo.rules
	r.git = git
	return &r, nil
}

// same reports whether the rules that was led to are those that n leads to.
func (n *repository) same(was *repository) bool {
	if was == nil || n.repo != was.repo || n.fold != was.fold || !slices.Equal(n.exclude, was.exclude) || !slices.Equal(n.secrets, was.secrets) ||
		!slices.Equal(n.allow, was.allow) || !n.skipped.same(was.skipped) {
		return false
	}
	return n.tracked.Equal(was.tracked) &&
		slices.EqualFunc(n.files, was.files, func(a, b gitinfo.File) bool { return a.Path == b.Path && bytes.Equal(a.Data, b.Data) })
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
	if now.tracked != nil {
		now.rules.tracked = now.tracked
	}
	e.repo = now
	return nil
}
