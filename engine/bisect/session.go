package bisect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"rewind/engine/model"
	"rewind/internal/osfile"
	"rewind/internal/treecopy"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/objstore"
)

// Manual is the session that a person leads, of which a project has one. Any other is a command's that runs, and is
// named after its process.
const Manual = "manual"

// ErrBroken is returned for a session whose file cannot be read.
var ErrBroken = errors.New("what is kept of the bisection cannot be read")

// ErrNone is returned where no session is under way.
var ErrNone = errors.New("no bisection is under way")

// ErrOvertaken is returned for an answer to what is not asked any more.
var ErrOvertaken = errors.New("another answer was taken in meanwhile, and this one was not")

// entry is a verdict, as it was given.
type entry struct {
	Time       time.Time   `json:"time"`
	Checkpoint objstore.ID `json:"checkpoint"`
	As         Verdict     `json:"as"`
	Why        string      `json:"why,omitempty"`
}

// record is what is kept of a session.
type record struct {
	Order   order         `json:"order"`
	End     objstore.ID   `json:"end"`  // the line ends there; zero: with the first checkpoint
	Line    []point       `json:"line"` // empty: no bad one is known yet
	Log     []entry       `json:"log"`
	Links   []Link        `json:"links,omitempty"`
	NoLinks bool          `json:"no_links,omitempty"`
	Mounts  Mounts        `json:"mounts,omitzero"`
	Copied  treecopy.Size `json:"copied,omitzero"`   // of directories that are shown
	Mounted []string      `json:"mounted,omitempty"` // of Links, those that are to be mounted for At
	Asked   []string      `json:"asked,omitempty"`   // the links that were asked for
	Assumed []string      `json:"assumed,omitempty"`
	Left    []string      `json:"left,omitempty"`    // paths that were purged, and told of
	Unsaved []objstore.ID `json:"unsaved,omitempty"` // states of the worktree that no operation names
	At      objstore.ID   `json:"at"`                // which checkpoint is asked about; zero: none
}

const (
	recordName = "session.json"
	maxRecord  = 64 << 20 // bytes
)

// home is the directory of the project's sessions.
func (b *Bisector) home() string { return b.log.Home.BisectDir(b.log.Project.ID) }

func (b *Bisector) dir(session string) string { return filepath.Join(b.home(), session) }

// checkName refuses what is no name of a session.
func checkName(session string) error {
	var process, at int64
	_, err := fmt.Sscanf(session, "run-%d-%d", &process, &at)
	if session == Manual || err == nil && session == fmt.Sprintf("run-%d-%d", process, at) {
		return nil
	}
	return &value.OpError{Op: "bisection", Subject: session, Typed: true, Err: model.ErrNotFound}
}

// load reads a session. Errors: ErrNone, ErrBroken.
func (b *Bisector) load(session string) (*record, error) {
	raw, err := osfile.ReadSmall(filepath.Join(b.dir(session), recordName), maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		if _, lerr := os.Lstat(b.dir(session)); lerr == nil {
			err = ErrBroken
		} else {
			err = ErrNone
		}
		return nil, fmt.Errorf("bisect: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("bisect: %w", err)
	}
	r := &record{}
	if err := json.Unmarshal(raw, r); err != nil {
		return nil, fmt.Errorf("bisect: %w: %s: %w", ErrBroken, filepath.Join(b.dir(session), recordName), err)
	}
	return r, nil
}

// save writes a session: durably, where a person leads it.
func (b *Bisector) save(session string, r *record) error {
	err := os.MkdirAll(b.dir(session), 0o700)
	for range 10 { // one that ends takes the directory above away where nothing is in it
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
		err = os.MkdirAll(b.dir(session), 0o700)
	}
	if err != nil {
		return err
	}
	if err := b.write(session, recordName, r, session != Manual); err != nil {
		return &value.OpError{Op: "bisect: write", Subject: b.dir(session), Err: err}
	}
	return nil
}

// write writes a file of a session.
func (b *Bisector) write(session, name string, v any, hint bool) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	o := osfile.Options{Temporary: ".new-", Hint: hint}
	return osfile.Write(filepath.Join(b.dir(session), name), o, func(w io.Writer) error {
		_, err := w.Write(raw)
		return err
	})
}

// remove takes a session away, with its scratch directory and what a command has made in it, git repositories too; one
// that is not there is no error. What is linked in it stays.
func (b *Bisector) remove(session string) error {
	all, err := os.OpenRoot(b.home())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer all.Close()
	if err := treecopy.Remove(all, session); err != nil {
		return &value.OpError{Op: "bisect: remove", Subject: b.dir(session), Err: err}
	}
	if session != Manual {
		b.forget(session)
	}
	above, err := worktreefs.OpenRoot(filepath.Dir(b.home()))
	if err != nil {
		return err
	}
	defer above.Close()
	if err := above.Rmdir(filepath.Base(b.home())); err != nil && !errors.Is(err, worktreefs.ErrNotEmpty) &&
		!errors.Is(err, worktreefs.ErrNotExist) {
		return err
	}
	return nil
}

// sweep removes the sessions of processes that are gone.
func (b *Bisector) sweep() error {
	list, err := os.ReadDir(b.home())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range list {
		if rest, ok := strings.CutPrefix(e.Name(), "run-"); ok {
			digits, _, _ := strings.Cut(rest, "-")
			if process, err := strconv.Atoi(digits); err == nil && process > 0 && syscall.Kill(process, 0) == nil {
				continue
			}
			if err := b.remove(e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// verdicts are those of the line.
func (r *record) verdicts() []Verdict {
	out := make([]Verdict, len(r.Line))
	for i := range r.Line {
		out[i] = r.Line[i].As
	}
	return out
}

// at is the position of a checkpoint on the line, by its state; -1: it is not on it.
func (r *record) at(cp *model.Checkpoint) int {
	same := -1
	for i := range r.Line {
		if r.Line[i].Checkpoint == cp.ID {
			return i
		}
		if same < 0 && r.Line[i].Tree == cp.Tree {
			same = i
		}
	}
	return same
}

// mark puts a verdict on the point at a position, and on all that have the same files.
func (r *record) mark(at int, as Verdict) {
	root := r.Line[at].Tree
	for i := range r.Line {
		if r.Line[i].Tree == root {
			r.Line[i].As = as
		}
	}
}
