package project

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"rewind/engine/model"
	"rewind/internal/gitinfo"
	"rewind/internal/osfile"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
)

// ErrUntrusted is returned where what lies in a directory is not believed, and nothing else was found. See
// untrustedError.
var ErrUntrusted = errors.New("rewind does not trust the store that is there")

// Passed is a marker that was passed over: nothing of it was opened.
type Passed struct {
	root    string // the directory it lies in
	why     string
	store   bool   // there is something by the name of a store
	missing bool   // all that is wrong is that the store it names is not in Home
	names   string // its id; "": it names none
}

// String tells it in one line.
func (p Passed) String() string {
	if p.missing {
		return fmt.Sprintf("passed over %s: the store that it names is not here; it may be another machine's or user's", Marker(p.root))
	}
	return fmt.Sprintf("passed over %s: %s", Marker(p.root), p.why)
}

// untrustedError is returned where no project was found, but markers were. It is ErrUntrusted, or ErrStoreGone where
// all that is wrong is that the stores they name are not in Home.
type untrustedError struct {
	dir    string
	passed []Passed // the nearest first
	home   Home
}

// storeMissing reports whether the nearest marker only names a store that is not here.
func (e *untrustedError) storeMissing() bool { return e.passed[0].missing }

func (e *untrustedError) Error() string {
	switch p := e.passed[0]; {
	case !p.missing:
		return fmt.Sprintf("find project of %s: %v: %v", e.dir, model.ErrNoProject, p)
	case p.names == "":
		return fmt.Sprintf("open project %s: %v: the marker names none", p.root, model.ErrStoreGone)
	default:
		return fmt.Sprintf("open project %s: %v: %s; the marker may be another machine's or user's", p.root, model.ErrStoreGone,
			e.home.storeDir(p.names))
	}
}

// Is makes it one of two errors.
func (e *untrustedError) Is(target error) bool {
	if e.storeMissing() {
		return target == model.ErrStoreGone
	}
	return target == ErrUntrusted || target == model.ErrNoProject
}

// mine reports whether something belongs to who runs this.
func mine(st worktreefs.Stat) bool { return int(st.Uid) == os.Geteuid() }

func owner(st worktreefs.Stat) string { return osfile.UserName(int(st.Uid)) }

// notMine says why a directory is not one that only this user writes in; "": it is. The user's own group may: with a
// umask of 002 all that git or tar puts back is so, and who is in the group is the user's own business.
func notMine(st worktreefs.Stat) string {
	switch {
	case !mine(st):
		return "it belongs to " + owner(st)
	case st.Perm&0o002 != 0, st.Perm&0o020 != 0 && int(st.Gid) != os.Getegid():
		return "others may write in it; 'chmod go-w' closes it, if what lies there is yours"
	}
	return ""
}

// sealName is the file in a store in project mode that its record in Home has, too. Nobody has seen it, so nobody can
// bring it.
const sealName = "seal"

// maxSeal bounds it in bytes.
const maxSeal = 256

// NewSeal makes a secret that a store and its project's record share.
func NewSeal() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand
	return hex.EncodeToString(b[:])
}

// ownStore opens the store's directory of a project in project mode. why says what keeps it from being believed.
func ownStore(root string) (worktreefs.Dir, string, error) { return ownStoreAt(root, markerStore) }

func ownStoreAt(root, name string) (dir worktreefs.Dir, why string, err error) {
	above, why := openMarker(root)
	if above == nil {
		if why == "" {
			err = worktreefs.ErrNotExist
		}
		return nil, why, err
	}
	defer above.Close()
	if why != "" {
		return nil, why, nil
	}
	dir, err = above.OpenDir(name)
	if errors.Is(err, worktreefs.ErrNotDir) {
		return nil, "its store is not a directory", nil
	}
	if err != nil {
		return nil, "", err
	}
	st, err := dir.Stat()
	if err == nil {
		why = notMine(st)
	}
	if err != nil || why != "" {
		dir.Close()
		return nil, why, err
	}
	return dir, "", nil
}

// Sealed says why the store in root is not the one of the record; "": it is. The error is worktreefs.ErrNotExist where
// there is none.
func (r *Record) Sealed(root string) (why string, err error) {
	dir, why, err := ownStore(root)
	if dir == nil {
		return why, err
	}
	defer dir.Close()
	if r.Seal == "" {
		return "its record has no seal", nil
	}
	b, why, err := readIn(dir, sealName, maxSeal)
	if errors.Is(err, worktreefs.ErrNotExist) {
		return "its store has no seal of this user's", nil
	}
	if err != nil || why != "" {
		return why, err
	}
	if string(bytes.TrimSpace(b)) != r.Seal {
		return "its store has another seal than the one that was made here", nil
	}
	// without an index that can be read the seal alone decides
	if tracked, err := trackedMarker(root); err == nil && tracked {
		return "git tracks its store", nil
	}
	return "", nil
}

// seal gives the store in root a seal of its own, and its copy of the record.
func (r *Record) seal(root string) error { return r.SealIn(root, markerStore) }

// SealIn gives the store below root that name leads to a seal, and its copy of the record.
func (r *Record) SealIn(root, name string) error {
	dir, why, err := ownStoreAt(root, name)
	if err == nil && why != "" {
		err = errors.New(why)
	}
	if err != nil {
		return &value.OpError{Op: "seal store of", Subject: root, Err: err}
	}
	defer dir.Close()
	plain := *r
	plain.Seal = "" // it stands in one file
	b, err := plain.text()
	if err == nil {
		err = errors.Join(replaceIn(dir, projectFile, b), replaceIn(dir, sealName, []byte(r.Seal+"\n")))
	}
	if err != nil {
		return &value.OpError{Op: "seal store of", Subject: root, Err: err}
	}
	return nil
}

// closeToOthers takes from others what a stash or a backup gave them; the store is one of this user's.
func closeToOthers(root string) {
	above, why := openMarker(root)
	if above == nil || why != "" {
		return
	}
	defer above.Close()
	if st, err := above.Lstat(markerStore); err == nil && st.Type == worktreefs.TypeDir && st.Perm != 0o700 {
		closeBelow(above, markerStore, storeDepth)
	}
}

// storeDepth is how many levels of directories a store has, itself included: quarantine/<time>/db/archive.
const storeDepth = 5

// closeBelow closes a directory and those below it, its own first: nobody else can come into what is closed next. What
// cannot be closed is refused when it is opened.
func closeBelow(above worktreefs.Dir, name string, levels int) {
	if levels == 0 || above.Chmod(name, 0o700) != nil {
		return
	}
	dir, err := above.OpenDir(name)
	if err != nil {
		return
	}
	defer dir.Close()
	list, err := dir.ReadDir()
	if err != nil {
		return
	}
	for _, ent := range list {
		if st, err := dir.Lstat(ent.Name); err == nil && st.Type == worktreefs.TypeDir {
			closeBelow(dir, ent.Name, levels-1)
		}
	}
}

// trackedMarker reports whether git's index has a path below .agent/rewind, or one that .agent/rewind lies below: then
// a commit can have brought it. An error says that the index cannot be read.
func trackedMarker(root string) (bool, error) {
	rel := MarkerDir
	for _, dir := range []string{filepath.Join(root, agentName), Marker(root)} {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true, nil // a repository of its own: all in it can come from a commit
		}
	}
	top, ok, err := gitinfo.Toplevel(root)
	if err != nil || !ok {
		return false, err
	}
	if above, err := filepath.Rel(top, root); err != nil {
		return false, err
	} else if above != "." {
		rel = filepath.ToSlash(above) + "/" + MarkerDir
	}
	repo, err := gitinfo.Open(top)
	if err != nil {
		return false, err
	}
	return asked.ask(repo, rel)
}

// indexOf is the index that trackedMarker asks for root, or where one would come.
func indexOf(root string) string {
	if top, ok, err := gitinfo.Toplevel(root); err == nil && ok {
		if repo, err := gitinfo.Open(top); err == nil {
			return repo.Index()
		}
	}
	return filepath.Join(root, ".git")
}

// answers keeps what indexes said, while they are the same files.
type answers struct {
	mu   sync.Mutex
	last map[string]answer // by index and path
}

type answer struct {
	index os.FileInfo
	holds bool
}

var asked answers

// maxAnswers bounds how many are kept; indexSettlesAfter is the age from which on an index that changes has another
// time.
const (
	maxAnswers        = 256
	indexSettlesAfter = 2 * time.Second
)

func (a *answers) ask(repo *gitinfo.Repo, rel string) (bool, error) {
	key := repo.Index() + "\x00" + rel
	now := statOrNil(repo.Index())
	a.mu.Lock()
	was, ok := a.last[key]
	a.mu.Unlock()
	if ok && now != nil && unchanged(was.index, now) {
		return was.holds, nil
	}
	parts := strings.Split(rel, "/")
	holds, err := repo.Holds(func(path []byte) bool { return worktreefs.OnTheWay(path, parts) })
	if err != nil || now == nil || time.Since(now.ModTime()) < indexSettlesAfter {
		return holds, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last == nil || len(a.last) >= maxAnswers {
		a.last = map[string]answer{}
	}
	a.last[key] = answer{now, holds}
	return holds, nil
}
