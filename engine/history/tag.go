package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rewind/engine/model"
	"rewind/internal/naming"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// Tag gives the checkpoint of a name a tag, which keeps it from gc. force moves a tag that exists; without it
// model.ErrTagExists.
func (h *nameReader) Tag(ctx context.Context, tag, name string, force bool) (*model.Checkpoint, error) {
	h.log.Lock()
	defer h.log.Unlock()
	if err := checkTag(tag); err != nil {
		return nil, err
	}
	cp, err := h.Resolve(name)
	if err != nil {
		return nil, err
	}
	old, err := h.log.Refs.ID(refs.Tag(tag))
	if err != nil {
		return nil, err
	}
	if !old.IsZero() && old != cp.ID && !force {
		return nil, tagExists(tag, old)
	}
	if old == cp.ID {
		return cp, nil
	}
	return cp, h.MoveTag(ctx, tag, old, cp.ID)
}

// checkTag fails with a model.ErrUsage for a name that no tag can have.
func checkTag(tag string) error {
	if err := refs.Tag(tag).Check(); err != nil {
		return model.Usagef("tag: %w", err)
	}
	if err := naming.CheckTag(tag); err != nil {
		return &value.OpError{Op: "tag", Subject: tag, Typed: true, Err: model.Usagef("%w", err)}
	}
	return nil
}

func tagExists(tag string, names objstore.ID) error {
	return &value.OpError{
		Op: "tag", Subject: tag, Typed: true, Err: fmt.Errorf("%w: it names checkpoint %s", model.ErrTagExists, names.Short()),
	}
}

// FreeTag fails unless a tag can be made of a name: a model.ErrUsage, or model.ErrTagExists.
func (h *nameReader) FreeTag(tag string) error {
	if err := checkTag(tag); err != nil {
		return err
	}
	old, err := h.log.Refs.ID(refs.Tag(tag))
	if err == nil && !old.IsZero() {
		err = tagExists(tag, old)
	}
	return err
}

// TagOperation is the operation that moves a tag from one checkpoint to another, the zero id for none. Its changes are
// to be made with it.
func TagOperation(tag string, from, to objstore.ID) refs.Operation {
	return refs.Operation{Kind: refs.KindTag, Message: tag, Changes: []refs.Change{{Name: refs.Tag(tag), Old: from, New: to}}}
}

// Untag deletes a tag; the checkpoint stays.
func (h *nameReader) Untag(ctx context.Context, tag string) error {
	h.log.Lock()
	defer h.log.Unlock()
	old, err := h.log.Refs.ID(refs.Tag(tag))
	if err != nil {
		return err
	}
	if old.IsZero() {
		return &value.OpError{Op: "tag", Subject: tag, Typed: true, Err: model.ErrNotFound}
	}
	return h.MoveTag(ctx, tag, old, objstore.ID{})
}

// MoveTag moves a tag from one checkpoint to another, the zero id for none, with an operation, durably.
func (h *nameReader) MoveTag(ctx context.Context, tag string, from, to objstore.ID) error {
	return h.log.Record(ctx, TagOperation(tag, from, to), refs.Update{Name: refs.Tag(tag), Old: from, New: to})
}

// Tagged is a tag and the checkpoint it names.
type Tagged struct {
	Tag        string
	Checkpoint Listed
}

// Tags lists the tags by name.
func (h *History) Tags(_ context.Context) ([]Tagged, error) {
	all, err := h.log.Refs.List(refs.Tags)
	if err != nil {
		return nil, err
	}
	list := make([]Tagged, 0, len(all))
	for _, r := range all {
		cp, err := h.log.Checkpoint(r.ID)
		if err != nil {
			return nil, err
		}
		l, err := h.Listing(cp)
		if err != nil {
			return nil, err
		}
		list = append(list, Tagged{r.Name.Base(), l})
	}
	return list, nil
}

// Name is something that can be named: a tag, a session, or a branch within one.
type Name struct {
	Kind       NameKind
	Name       string
	Title      string
	Session    string      // of a session and a branch
	Checkpoint objstore.ID // of a tag what it names, else the newest; zero: none
}

// NameKind says what has a name; the value is the word in the API.
type NameKind string

// What has names.
const (
	namesTag     NameKind = "tag"
	namesSession NameKind = "session"
	namesBranch  NameKind = "branch"
)

// Names lists all names that somebody has given, or an agent: tags by name, then sessions, the newest first, each with
// the branches within it. It is told from records; no session file is read.
func (h *nameReader) Names(context.Context) ([]Name, error) {
	defer h.log.Hold()()
	all, err := h.log.Refs.List(refs.Tags)
	if err != nil {
		return nil, err
	}
	list := make([]Name, 0, len(all))
	for _, r := range all {
		list = append(list, Name{Kind: namesTag, Name: r.Name.Base(), Checkpoint: r.ID})
	}
	if err := h.log.LoadSessions(); err != nil {
		return nil, err
	}
	if err := h.loadKnown(); err != nil {
		return nil, err
	}
	for _, s := range h.log.ListSessions() {
		if s.LaneOf != "" || h.Unseen(&s) {
			continue
		}
		one := Name{Kind: namesSession, Name: s.Name, Title: h.knownTitle(&s), Session: s.Name}
		if one.Checkpoint, err = h.NewestOf(s.Name); err != nil {
			return nil, err
		}
		list = append(list, one)
		ways := h.ways(&s)
		for i := range ways {
			list = append(list, Name{
				Kind: namesBranch, Name: wayName(s.Name, &ways[i]), Title: ways[i].Summary, Session: s.Name,
			})
		}
	}
	return list, nil
}

// Alike are the names that are like one, by name, id or title, the most alike first.
func Alike(list []Name, name string) (out []Name) {
	is, spelled := map[string]int{}, []string{}
	for i, n := range list {
		_, id := model.SplitSession(n.Name)
		for _, s := range []string{n.Name, id, model.OneLine(n.Title)} {
			if _, known := is[s]; s != "" && !known {
				is[s] = i
				spelled = append(spelled, s)
			}
		}
	}
	given := map[int]bool{}
	for _, s := range naming.Nearest(name, spelled, len(spelled)) {
		if i := is[s]; !given[i] {
			given[i] = true
			out = append(out, list[i])
		}
	}
	return out
}

// maxNear is how many names are given for one that nobody has.
const maxNear = 5

// Near are the names that are most like one that is not found: of sessions and branches alone, or of whatever a
// checkpoint is called by. Of one that is there, and has not what was asked, there are none.
func (h *nameReader) Near(ctx context.Context, name string, sessions bool) (out []string) {
	n, err := naming.Parse(name)
	switch {
	case sessions:
		_, err = h.sessions.FindSession(name)
	case err == nil && n.Kind == naming.Word:
		name = n.Text
		_, err = h.base("", n)
	default:
		return nil
	}
	if err == nil {
		return nil
	}
	all, err := h.Names(ctx)
	if err != nil {
		return nil
	}
	if sessions {
		all = slices.DeleteFunc(all, func(n Name) bool { return n.Kind == namesTag })
	}
	for _, n := range Alike(all, name) {
		if len(out) < maxNear {
			out = append(out, n.Name)
		}
	}
	if !sessions && n.Digits() {
		out = append(out, h.idsNear(name, maxNear-len(out))...)
	}
	return out
}

// NearPath are the paths that are most like one that a checkpoint does not have: of what is in the directory that it
// has of it.
func (h *nameReader) NearPath(e *model.PathError) []string {
	cp, err := h.log.Checkpoint(e.Checkpoint)
	for path := e.Path; err == nil && path != ""; {
		dir, name := tree.Split(path)
		ent, missing := tree.Lookup(h.log.Objs, cp.Tree, dir)
		if missing != nil {
			path = dir
			continue
		}
		entries, _ := tree.List(h.log.Objs, ent.ID) // of a file there are none: what is no tree is not found
		names := make([]string, len(entries))
		for i := range entries {
			names[i] = entries[i].Name
		}
		near := naming.Nearest(name, names, maxNear)
		for i := range near {
			near[i] = tree.Join(dir, near[i])
		}
		return near
	}
	return nil
}

// idsNear are checkpoints whose ids begin as one does that no checkpoint has, as far as that goes.
func (h *nameReader) idsNear(id string, most int) (list []string) {
	for id = strings.ToLower(id); most > 0 && len(id) > naming.MinDigits; {
		id = id[:len(id)-1]
		found, err := h.log.Objs.Resolve(objstore.Checkpoint, id)
		var several *objstore.AmbiguousError
		switch {
		case err == nil:
			return []string{found.Short()}
		case errors.As(err, &several):
			for _, c := range several.Candidates[:min(most, len(several.Candidates))] {
				list = append(list, c.Short())
			}
			return list
		}
	}
	return nil
}
