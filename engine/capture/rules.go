package capture

import (
	"bytes"
	"path/filepath"
	"slices"
	"strconv"

	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/secrets"
	"rewind/internal/gitinfo"
	"rewind/internal/worktreefs"
	"rewind/tree/ignore"
	"rewind/tree/snapshot"
)

// rules decide what a snapshot takes.
type rules struct {
	Dir        *ignore.Dir
	Tracked    snapshot.Tracked
	Secret     func(path string) bool
	Key        [32]byte
	git        model.GitHead
	gitDirs    []string        // git's directories in the worktree that are not called .git
	repo       bool            // there is a repository
	faults     []gitinfo.Fault // what could not be read of the user's repository
	generation string          // another value for other rules, tracked files or secrets
}

// repository is what rules were made from. It is kept from one capture to the next, and rules are made anew only when
// it changes.
type repository struct {
	files   []gitinfo.File
	fold    bool
	exclude []string
	secrets []string
	allow   []string
	skipped *secrets.Flagged // paths skipped for their content; nil: none
	tracked snapshot.Tracked // nil: there is no repository, or nothing is known
	rules   rules
	made    int // how many times rules were made anew
}

// Rules reads the user's repository, the exclude files and the configuration. Nothing about the repository is an error:
// as git does, what cannot be read excludes nothing, so more is captured, never less; and without an index what was
// tracked stays so.
func (wt *Worktree) Rules() (*rules, error) { return wt.rulesNow(false) }

// rulesNow is Rules. In a hurry git, where it must be run, has less time.
func (wt *Worktree) rulesNow(hurry bool) (*rules, error) {
	git := wt.git.Read(wt.log.Project.Root, hurry)
	now := &repository{
		files: git.Files, fold: git.FoldCase, exclude: wt.log.Config.Exclusions(),
		secrets: wt.log.Config.SecretPatterns(),
		allow:   wt.log.Config.SecretsAllow(),
	}
	var err error
	if now.skipped, err = wt.leaks.SkippedPaths(); err != nil {
		return nil, err
	}
	switch {
	case git.Tracked != nil:
		now.tracked = git.Tracked
	case git.Repo:
		now.tracked = wt.lastTracked()
	}
	if !now.same(wt.repo) {
		if err := wt.makeRules(now); err != nil {
			return nil, err
		}
	}
	r := wt.repo.rules
	r.repo = git.Repo
	r.git, r.faults = model.GitHead{Commit: git.Head.Commit, Branch: git.Head.Branch}, git.Faults
	r.gitDirs = git.Dirs
	return &r, nil
}

// same reports whether was leads to the same rules.
func (n *repository) same(was *repository) bool {
	if was == nil || n.fold != was.fold || !n.skipped.Same(was.skipped) {
		return false
	}
	sameLists := slices.Equal(n.exclude, was.exclude) && slices.Equal(n.secrets, was.secrets)
	if !sameLists || !slices.Equal(n.allow, was.allow) {
		return false
	}
	return sameTracked(n.tracked, was.tracked) &&
		slices.EqualFunc(n.files, was.files,
			func(a, b gitinfo.File) bool { return a.Path == b.Path && bytes.Equal(a.Data, b.Data) })
}

func sameTracked(a, b snapshot.Tracked) bool {
	x, ok := a.(*gitinfo.Tracked)
	y, ok2 := b.(*gitinfo.Tracked)
	return ok && ok2 && x.Equal(y) || a == b
}

func (wt *Worktree) makeRules(now *repository) error {
	key, err := wt.secretKey()
	if err != nil {
		return err
	}
	if wt.repo != nil {
		now.made = wt.repo.made + 1
	}
	now.rules = rules{
		Dir: project.RulesAtRoot(now.exclude, now.files, now.fold), Secret: secrets.SecretFiles(now.secrets, now.allow,
			now.skipped), Key: key,
		generation: strconv.Itoa(now.made),
	}
	now.rules.Tracked = now.tracked
	wt.repo = now
	return nil
}

// Source is a snapshot's, with all that decides what it takes: every look at the worktree begins with it.
func (wt *Worktree) Source(root worktreefs.Dir, r *rules) snapshot.Source {
	return snapshot.Source{
		Root: root, Rules: r.Dir, RuleFiles: project.RuleFiles, Tracked: r.Tracked,
		SizeLimit: wt.log.Config.SizeLimit(), Secret: r.Secret,
		StoreSecrets: wt.log.Config.StoreSecrets(), SecretKey: r.Key, GitDirs: r.gitDirs, Linked: wt.isLinked,
	}
}

// isLinked reports whether a directory of the worktree is one that git has linked to a repository.
func (wt *Worktree) isLinked(dir string, dotGit []byte) bool {
	return gitinfo.IsLinked(filepath.Join(wt.log.Project.Root, filepath.FromSlash(dir)), dotGit)
}
