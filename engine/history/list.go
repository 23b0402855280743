package history

import (
	"context"
	"errors"
	"io"

	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/engine/sessions"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// Describe fills in what tells the sessions of an error apart for a person: title, turns, when they were heard of. What
// cannot be read is left out.
func (h *History) Describe(ctx context.Context, several *sessions.SeveralSessionsError) {
	all, err := h.sessions.SessionNames()
	if err != nil || len(several.Sessions) > 0 {
		return
	}
	defer h.log.Hold()()
	if h.log.LoadSessions() != nil || h.loadKnown() != nil {
		return
	}
	for _, name := range several.Names {
		s := h.log.Session(name)
		if s == nil {
			continue
		}
		info := model.SessionInfo{Session: *s, Title: s.Title, Turns: int(s.Turn)}
		info.Missing = model.Understood(s.Agent) && sessions.FileMissing(s)
		fi, err := sessions.StatSession(s)
		if err != nil || info.Missing {
			fi = nil
		}
		if h.readInfo(&info, fi) != nil || info.Turns == 0 {
			info.Turns = int(s.Turn)
		}
		several.Sessions = append(several.Sessions, sessions.Candidate{SessionInfo: info, Short: sessions.ShortOf(name, all)})
		if ctx.Err() != nil {
			return
		}
	}
}

// Listed is a checkpoint in a list.
type Listed struct {
	*model.Checkpoint
	Short    string // unique prefix of the id
	Target   string // of a step that was found in a call, what that was about; not in a list
	Whose    string // what its session is called beside its turn; "": the project has no other session
	Current  bool   // the worktree stands on it
	Tags     []string
	Messages []string // messages that were put on it later, the oldest first
	Safety   bool
	Aside    bool // not on the branch: left behind by a later step, or in the current session's family on another line
}

// ListOptions select checkpoints.
type ListOptions struct {
	Filter
	All   bool // safety checkpoints and minor ones too
	Steps bool // minor ones too
	Limit int  // at most so many; 0: all

	Before uint64 // only older ones than this operation; 0: all
}

// newer reports whether an operation is newer than those that are asked for.
func (o *ListOptions) newer(seq uint64) bool { return o.Before > 0 && seq >= o.Before }

// ListResult is what List found.
type ListResult struct {
	Checkpoints []Listed
	More        bool // older ones were left out by the limit
	Folded      int  // minor ones were left out
}

// List returns checkpoints, newest first by operation sequence. What a newer one says of an older is known on each
// page: whether it is folded, and on the line. So of those in front of a page as much is read as that needs, and
// nothing is looked up.
func (h *History) List(_ context.Context, o ListOptions) (*ListResult, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if o.Session != "" {
		var err error
		if o.Session, err = h.sessions.FindSession(o.Session); errors.Is(err, model.ErrNotFound) {
			return &ListResult{}, nil
		} else if err != nil {
			return nil, err
		}
	}
	d, err := h.dresser()
	if err != nil {
		return nil, err
	}
	line, err := h.tips() // grows backwards: parents are older
	if err != nil {
		return nil, err
	}
	branch, err := h.branch()
	if err != nil {
		return nil, err
	}
	res := &ListResult{}
	later := map[objstore.ID]*model.Checkpoint{} // of each step, the newest of its session that came after it on its line
	read := h.log.Checkpoints()
	err = h.log.Made(func(op *refs.Operation) error {
		safety := op.Kind == refs.KindSafety
		if safety && !o.All || !o.ofSession(op.Session) {
			return nil
		}
		if o.Limit > 0 && len(res.Checkpoints) == o.Limit {
			res.More = true
			return kv.ErrStop
		}
		cp, err := read(op.Checkpoint)
		if err != nil {
			return err
		}
		if line[cp.ID] && len(cp.Parents) > 0 {
			line[cp.Parents[0]] = true
		}
		hide := !o.All && !o.Steps && !safety && oplog.Folded(cp, later[cp.ID]) && d.bare(cp)
		if !safety && len(cp.Parents) > 0 {
			on := cp.Parents[0]
			if was := later[on]; was == nil || was.Session != cp.Session {
				later[on] = cp
			}
		}
		if o.newer(op.Seq) {
			return nil
		}
		told, err := d.told(cp)
		if err != nil || !o.Has(told) {
			return err
		}
		if hide {
			res.Folded++
			return nil
		}
		off, err := branch.off(cp.Session, cp.Cause.Turn, cp.Seq)
		if err != nil {
			return err
		}
		l, err := d.dress(cp)
		l.Aside = !safety && (off || !line[cp.ID])
		res.Checkpoints = append(res.Checkpoints, l)
		return err
	})
	return res, err
}

// cursor is where the current session stands; zero before the first checkpoint.
func (h *History) cursor() (objstore.ID, error) {
	at, err := h.sessions.Position()
	if err != nil {
		return objstore.ID{}, err
	}
	cur, err := h.sessions.Current(at.Session)
	if err != nil || cur == nil {
		return objstore.ID{}, err
	}
	return cur.ID, nil
}

// tips are the checkpoints at which branches end and sessions stand.
func (h *History) tips() (map[objstore.ID]bool, error) {
	tips := map[objstore.ID]bool{}
	for _, class := range []string{refs.Sessions, refs.Cursors} {
		all, err := h.log.Refs.List(class)
		if err != nil {
			return nil, err
		}
		for _, r := range all {
			tips[r.ID] = true
		}
	}
	return tips, nil
}

func (h *History) tagsByID() (map[objstore.ID][]string, error) {
	all, err := h.log.Refs.List(refs.Tags)
	if err != nil {
		return nil, err
	}
	m := map[objstore.ID][]string{}
	for _, r := range all {
		m[r.ID] = append(m[r.ID], r.Name.Base())
	}
	return m, nil
}

// Listing dresses one checkpoint as List would.
func (h *History) Listing(cp *model.Checkpoint) (Listed, error) {
	tags, err := h.tagsByID()
	if err != nil {
		return Listed{}, err
	}
	cursor, err := h.cursor()
	if err != nil {
		return Listed{}, err
	}
	notes, err := h.log.MessagesOn(cp.ID)
	if err != nil {
		return Listed{}, err
	}
	d := dresser{
		h: h, teller: h.teller(), tags: tags, notes: map[objstore.Key][]string{cp.ID.Key(): notes}, cursor: cursor,
		whose: h.sessions.Whose(),
	}
	l, err := d.dress(cp)
	l.Target = h.TargetIn(cp)
	return l, err
}

// Shown is a checkpoint with all that belongs to it.
type Shown struct {
	Listed
	Changes []tree.Change // against the first parent, limited to the paths asked for
	Skips   []tree.Skip
	Secrets map[string]bool   // secret files of Skips that changed since the first parent
	Gone    map[string]string // files of Changes of which a content is gone, and the word for it
	Leaks   []value.Leak      // files of Changes that got what looks like a secret
	Said    []value.SaidLeak  // what was said meanwhile and looks like one

	GitGone    model.GitHead      // where git's repository stood before it, if there is none any more
	Uncaptured []value.Uncaptured // files that the turn edited up to it, and that no checkpoint has as they were
}

// Show returns a checkpoint, what it changed and what it skipped.
func (h *History) Show(ctx context.Context, name string, paths []string) (*Shown, error) {
	cp, err := h.Resolve(name)
	if err != nil {
		return nil, err
	}
	from, err := h.log.Before(cp)
	if err != nil {
		return nil, err
	}
	var changes []tree.Change
	err = tree.Diff(h.log.Objs, from, cp.Tree, func(ch tree.Change) error {
		changes = append(changes, ch)
		return nil
	})
	if err != nil {
		return nil, err
	}
	s, err := h.shown(ctx, cp, changes, paths)
	if err != nil {
		return nil, err
	}
	behind := uint64(0)
	if len(cp.Parents) > 0 {
		if parent, err := h.log.Checkpoint(cp.Parents[0]); err == nil {
			behind = parent.Seq
		}
	}
	s.Said, _ = h.leaks.SaidBy(cp.Session, behind, cp.Seq) // hints, as of Status
	if s.GitGone, err = h.gitGone(cp, cp); err != nil {
		return nil, err
	}
	if cp.Cause.Event != model.EventSafety {
		s.Uncaptured, err = h.uncaptured(cp.Session, s.Cause.Turn, cp.Seq)
	}
	return s, err
}

// showRow is Show for a turn: what its end skipped, and what all of it changed. Of a turn without code there is no
// checkpoint.
func (h *History) showRow(ctx context.Context, r *Row, paths []string) (*Shown, error) {
	if r.NoCode {
		said, _ := h.leaks.SaidIn(r.Of, r.Turn)
		return &Shown{Said: said}, nil
	}
	s, err := h.shown(ctx, r.Checkpoint, r.Changes, paths)
	if err == nil && len(r.Steps) > 0 {
		s.GitGone, err = h.gitGone(r.Steps[0], r.Checkpoint)
	}
	if err == nil {
		s.Said, _ = h.leaks.SaidIn(r.Of, r.Turn) // hints, as of Status
		s.Uncaptured, err = h.uncaptured(r.Of, r.Turn, r.sequence)
	}
	return s, err
}

func (h *History) shown(
	ctx context.Context, cp *model.Checkpoint, changes []tree.Change, paths []string,
) (*Shown, error) {
	s := &Shown{Gone: map[string]string{}}
	var err error
	if s.Listed, err = h.Listing(cp); err != nil {
		return nil, err
	}
	if s.Skips, err = h.log.Note(cp); err != nil {
		return nil, err
	}
	if len(cp.Parents) > 0 {
		parent, err := h.log.Checkpoint(cp.Parents[0])
		if err != nil {
			return nil, err
		}
		before, err := h.log.Note(parent)
		if err != nil {
			return nil, err
		}
		s.Secrets = ChangedSecrets(before, s.Skips)
	}
	only, err := model.NewPathSet(paths)
	if err != nil {
		return nil, err
	}
	s.Leaks, _ = h.leaks.Added(ctx, changes, only) // hints, as of Status
	for _, ch := range changes {
		if !only.Has(ch.Path) {
			continue
		}
		s.Changes = append(s.Changes, ch)
		why, err := h.log.GoneChange(nil, ch)
		if err != nil {
			return nil, err
		}
		if why != "" {
			s.Gone[ch.Path] = why
		}
	}
	return s, nil
}

// Cat opens a file as a checkpoint holds it; the target of a symlink; size is in bytes. The caller closes it.
func (h *History) Cat(_ context.Context, name, path string) (content io.ReadCloser, size int64, err error) {
	cp, err := h.Resolve(name)
	if err != nil {
		return nil, 0, err
	}
	path, err = model.CleanPath(path)
	if err != nil {
		return nil, 0, err
	}
	ent, err := h.log.Lookup(cp, path)
	if err != nil {
		return nil, 0, err
	}
	if ent.Type == tree.TypeDir {
		return nil, 0, &value.OpError{Op: "cat", Subject: path, Typed: true, Err: model.Usagef("it is a directory")}
	}
	r, err := h.log.Objs.Open(ent.ID)
	if err != nil {
		return nil, 0, err
	}
	return r, r.Size(), nil
}

// ChangedSecrets lists the secret files of now that were not there before, or with another hash.
func ChangedSecrets(before, now []tree.Skip) map[string]bool {
	was := map[tree.Skip]bool{}
	for _, s := range before {
		was[s] = true
	}
	out := map[string]bool{}
	for _, s := range now {
		if s.Reason == tree.ReasonSecret && !was[s] {
			out[s.Path] = true
		}
	}
	return out
}
