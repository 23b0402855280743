package project

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rewind/engine/model"
	"rewind/internal/osfile"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
)

// ErrNothingToAdopt is returned where no store lies that is not believed.
var ErrNothingToAdopt = fmt.Errorf("%w: no store here needs to be adopted", model.ErrNotFound)

// PlanAdopt looks at the nearest store at or above dir that is passed over. It refuses a store that git tracks. It also
// refuses one with a link, a file with a second name, or anything but files and directories of this user's in it.
func PlanAdopt(ctx context.Context, home Home, dir string, wait time.Duration) (*value.Adoption, error) {
	fail := func(err error) (*value.Adoption, error) { return nil, fmt.Errorf("adopt store: %w", err) }
	p, err := Find(ctx, home, dir, wait)
	var untrusted *untrustedError
	var passed []Passed
	switch {
	case err == nil:
		passed = p.Passed
	case errors.As(err, &untrusted):
		passed = untrusted.passed
	case !errors.Is(err, model.ErrNoProject):
		return nil, err
	}
	for _, over := range passed {
		if !over.store {
			continue
		}
		a, err := inspect(over)
		if err != nil {
			return fail(err)
		}
		return a, nil
	}
	return fail(ErrNothingToAdopt)
}

// errNotAdoptable is returned for a store that cannot be taken over as it lies there.
var errNotAdoptable = errors.New("it cannot be adopted")

func inspect(over Passed) (*value.Adoption, error) {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%s: %w: %s", Marker(over.root), errNotAdoptable, fmt.Sprintf(format, args...))
	}
	tracked, err := trackedMarker(over.root)
	switch {
	case err != nil:
		return nil, refuse("whether git tracks it is not known: %v", err)
	case tracked:
		return nil, refuse("git tracks it: it came with the repository, and every pull could change it. 'rewind init' begins a store of "+
			"your own beside it; "+
			"to keep this one, 'git rm -r --cached %s' first", MarkerDir)
	}
	dir, why, err := ownStore(over.root)
	if why != "" {
		return nil, refuse("%s", why)
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	store := filepath.Join(Marker(over.root), markerStore)
	a := &value.Adoption{
		Root: value.Text(over.root), Store: value.Text(store), Mode: string(ModeProject), Owner: value.Text(osfile.UserName(os.Geteuid())),
		Why: value.Text(over.why),
	}
	if err := inventory(a, dir, ""); err != nil {
		return nil, err
	}
	a.Changed = a.Changed.UTC()
	if !IsStore(store) {
		return nil, refuse("it is not a store")
	}
	b, why, err := readIn(dir, projectFile, maxRecord)
	if err == nil && why == "" {
		if r, err := parseRecord(b); err == nil {
			a.ID, a.Of, a.Created = value.Text(r.ID), value.Text(r.Root), r.Created.UTC()
		}
	}
	return a, nil
}

// maxAdoptDepth bounds the directories in each other; a store has three.
const maxAdoptDepth = 16

// inventory counts what is in a directory of the store, by handles, and refuses what a store does not have.
func inventory(a *value.Adoption, dir worktreefs.Dir, path string) error {
	list, err := dir.ReadDir()
	if err != nil {
		return err
	}
	for _, e := range list {
		st, err := dir.Lstat(e.Name)
		if err != nil {
			return err
		}
		name := filepath.Join(path, e.Name)
		refuse := func(why string) error {
			return fmt.Errorf("%s: %w: %q %s", a.Store, errNotAdoptable, name, why)
		}
		switch {
		case !mine(st):
			return refuse("belongs to " + owner(st))
		case st.Type == worktreefs.TypeDir:
			if strings.Count(name, string(filepath.Separator)) > maxAdoptDepth {
				return refuse("lies too deep")
			}
			sub, err := dir.OpenDir(e.Name)
			if err != nil {
				return err
			}
			err = inventory(a, sub, name)
			sub.Close()
			if err != nil {
				return err
			}
		case st.Type != worktreefs.TypeFile:
			return refuse("is a " + st.Type.String())
		case st.Nlink != 1:
			return refuse("has several names")
		default:
			a.Files++
			a.DiskBytes += st.Size
			if at := time.Unix(0, st.Mtime); at.After(a.Changed) {
				a.Changed = at
			}
		}
	}
	return nil
}

// Adopt makes a store that PlanAdopt has shown this user's: a record in Home, with a new id and a new seal. It does not
// open it.
func Adopt(ctx context.Context, home Home, a *value.Adoption, wait time.Duration) error {
	unlock, err := home.Lock(ctx, wait)
	if err != nil {
		return err
	}
	defer unlock()
	root := string(a.Root)
	now, err := inspect(Passed{root: root, why: string(a.Why), store: true})
	if err != nil {
		return fmt.Errorf("adopt store: %w", err)
	}
	own := home.ByRoot()[root]
	if own != nil && own.Mode == ModeGlobal {
		return model.Usagef("adopt store: %s has a store already, %s: 'rewind init --remove' takes it away", root, own.ID)
	}
	r := (&Record{ID: NewStoreID(), Created: now.Created, Seal: NewSeal(), Mode: ModeProject}).At(root)
	if r.Created.IsZero() {
		r.Created = time.Now().UTC().Truncate(time.Second)
	}
	if own != nil { // a damaged seal: of two records of one directory the wrong one might count
		r.ID = own.ID
	}
	if err := r.seal(root); err != nil {
		return err
	}
	if err := r.Write(home); err != nil {
		return err
	}
	closeToOthers(root)
	if err := WriteMarker(root, r.ID, string(a.ID)); err != nil && !errors.Is(err, errMarker) {
		return err
	}
	return osfile.SyncDir(home.Dir)
}
