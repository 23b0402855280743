package history

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"rewind/engine/model"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// A Branch is a session as the tree of its family has it.
type Branch struct {
	*model.Session
	Title     string
	Parent    string         // the session that it hangs on; "": it is where its family begins, as far as is known here
	Depth     int            // of the root: 0
	Fork      *model.Lineage // nil: it is no fork
	Tip       objstore.ID    // its newest checkpoint, of a fork that nobody has gone on with that of its fork point; zero: none
	Git       model.GitHead  // of Tip
	Work      Work           // since its fork point, of the root since its beginning
	Current   bool           // the project stands here
	Running   bool           // its agent is at work, or has it open
	Rewound   bool           // it stands before its newest checkpoint: redo would go on
	Conflicts []Clash        // with others that go on from what it was forked from, the first maxClashes
	Clashes   int            // how many there are
	Worktree  string         // the root of the other worktree of the family in which it goes on; "": it goes on here
	in        *History       // that one's; nil: this one is, or it cannot be asked
	point     *model.Checkpoint
}

// A Clash is another branch that has changed files which one has changed too, each since its own fork point.
type Clash struct {
	With  string
	Paths []string // the first maxClashPaths
	Files int
}

const (
	maxClashes    = 8
	maxClashPaths = 8
)

// Tree is a family of sessions: all that a first one was forked into.
type Tree struct {
	Branches []Branch // each behind what it was forked from, forks of one session by turn and time
	Of       string   // the session that was asked for; "": there is none
	Current  string   // where the project stands; model.Manual or one that may be of another family
	Others   int      // sessions of other families
}

// LocalBranches are the branches that go on in this worktree, for the trees of others of its family. The log's lock is not held.
func (h *History) LocalBranches(ctx context.Context) (list []Branch, err error) {
	defer h.log.Hold()()
	t, all, err := h.newTree(ctx)
	if err != nil {
		return nil, err
	}
	for i := range all {
		s := &all[i]
		if h.sessions.Elsewhere(s) != "" {
			continue
		}
		b := Branch{Session: s, Title: h.knownTitle(s), Fork: h.forkPoint(ctx, s.Name), Worktree: h.log.Project.Root, in: h}
		if b.point, err = t.state(&b); err != nil {
			return nil, err
		}
		b.Running = h.running(s)
		list = append(list, b)
	}
	return list, ctx.Err()
}

// newTree begins a tree of the sessions that people know of. The log's lock is held.
func (h *History) newTree(ctx context.Context) (*treeMaker, []model.Session, error) {
	if err := h.log.LoadSessions(); err != nil {
		return nil, nil, err
	}
	if err := h.loadKnown(); err != nil {
		return nil, nil, err
	}
	t := &treeMaker{
		h: h, ctx: ctx, children: map[string][]*model.Session{}, known: map[string]*model.Session{}, there: map[string]*Branch{},
		read: h.log.Checkpoints(),
	}
	return t, slices.DeleteFunc(h.log.ListSessions(), func(s model.Session) bool { return h.Unseen(&s) }), nil
}

// FamilyTree is the tree of a session's family ("": of the one where the project stands, or else the newest); with all, those of every
// family, that one's first. It is told from records: no session file is read. there are the branches that go on in other worktrees, and
// known of them are told as they are there; the record that this log has of one ends where the worktree began.
func (h *History) FamilyTree(ctx context.Context, session string, all bool, there []Branch) (*Tree, error) {
	defer h.log.Hold()()
	t, list, err := h.newTree(ctx)
	if err != nil {
		return nil, err
	}
	at, err := h.sessions.Position()
	if err != nil {
		return nil, err
	}
	list = t.join(list, there)
	for i := range list {
		t.known[list[i].Name] = &list[i]
	}
	out := &Tree{Current: at.Session, Of: at.Session}
	if session != "" {
		if out.Of, err = h.sessions.FindSession(session); err != nil {
			if out.Of = t.beginsSo(session); out.Of == "" {
				return nil, err
			}
		}
	} else if t.known[out.Of] == nil {
		if out.Of = ""; len(list) > 0 {
			out.Of = list[0].Name
		}
	}
	var roots []*model.Session
	for i := range list {
		s := &list[i]
		if p := t.parent(s); p != "" {
			t.children[p] = append(t.children[p], s)
		} else {
			roots = append(roots, s)
		}
	}
	first := t.rootOf(t.known[out.Of])
	slices.SortStableFunc(roots, func(a, b *model.Session) int { return -cmp.Compare(one(a.Name == first), one(b.Name == first)) })
	for _, s := range roots {
		if !all && s.Name != first {
			continue
		}
		if err := t.put(s, "", 0); err != nil {
			return nil, err
		}
	}
	out.Others = len(list) - len(t.out)
	for i := range t.out {
		b := &t.out[i]
		b.Current = b.Name == at.Session
		if b.in == nil {
			b.Running = b.Worktree == "" && h.running(b.Session)
		}
	}
	t.clashes()
	out.Branches = t.out
	return out, nil
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// running reports whether an agent is at work on a session or has it open, with one look at the machine's processes. The log's lock is held
// by Hold.
func (h *History) running(s *model.Session) bool {
	_, is := h.sessions.AtWork(s, h.log.Processes())
	return is
}

// treeMaker puts a tree together.
type treeMaker struct {
	h        *History
	ctx      context.Context
	known    map[string]*model.Session
	there    map[string]*Branch // those that go on in other worktrees
	children map[string][]*model.Session
	read     func(objstore.ID) (*model.Checkpoint, error)
	out      []Branch
	points   []*model.Checkpoint // of each of out, its fork point; nil: none, or without code
	met      []int               // of each of out, and of an original, the branch, from 1, that was last found to clash with it
}

// parent is what a session hangs on; "": nothing that is known here, or lineages that form a circle, which agents' files may.
func (t *treeMaker) parent(s *model.Session) string {
	p := s.From()
	if t.known[p] == nil {
		return ""
	}
	met := map[string]bool{s.Name: true}
	for q := p; q != "" && t.known[q] != nil; q = t.known[q].From() {
		if met[q] {
			return ""
		}
		met[q] = true
	}
	return p
}

// join adds the sessions that go on in other worktrees to a list; what this log has of one gives way.
func (t *treeMaker) join(list []model.Session, there []Branch) []model.Session {
	at := map[string]int{}
	for i := range list {
		at[list[i].Name] = i
	}
	for i := range there {
		b := &there[i]
		k, copied := at[b.Name]
		if copied && t.h.sessions.Elsewhere(&list[k]) == "" {
			continue // it is this worktree's
		}
		if t.there[b.Name] = b; copied {
			list[k] = *b.Session
		} else {
			list = append(list, *b.Session)
		}
	}
	return list
}

// beginsSo is the session of another worktree whose name, or id, begins so; "": none, or several.
func (t *treeMaker) beginsSo(name string) (found string) {
	for full, b := range t.there {
		if full == name || strings.HasPrefix(b.ID, name) || strings.HasPrefix(full, name) {
			if found != "" {
				return ""
			}
			found = full
		}
	}
	return found
}

// branch tells a branch, but for where it stands in the tree.
func (t *treeMaker) branch(s *model.Session) (b Branch, point *model.Checkpoint, err error) {
	if there := t.there[s.Name]; there != nil {
		return *there, there.point, nil
	}
	b = Branch{Session: s, Title: t.h.knownTitle(s), Fork: t.h.forkPoint(t.ctx, s.Name), Worktree: t.h.sessions.Elsewhere(s)}
	point, err = t.state(&b)
	return b, point, err
}

func (t *treeMaker) rootOf(s *model.Session) string {
	for s != nil {
		p := t.parent(s)
		if p == "" {
			return s.Name
		}
		s = t.known[p]
	}
	return ""
}

// put appends a session and all below it.
func (t *treeMaker) put(s *model.Session, parent string, depth int) error {
	if err := t.ctx.Err(); err != nil {
		return err
	}
	b, point, err := t.branch(s)
	if err != nil {
		return err
	}
	b.Parent, b.Depth = parent, depth
	t.out, t.points = append(t.out, b), append(t.points, point)
	below := t.children[s.Name]
	slices.SortStableFunc(below, func(a, b *model.Session) int {
		return cmp.Or(cmp.Compare(a.Fork.Turn, b.Fork.Turn), a.Fork.Time.Compare(b.Fork.Time), cmp.Compare(a.Began, b.Began),
			cmp.Compare(a.Name, b.Name))
	})
	for _, c := range below {
		if err := t.put(c, s.Name, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// knownTitle is a session's title, as a list of sessions has found it in its file last, or how its newest prompt begins.
func (h *History) knownTitle(s *model.Session) string {
	k := h.known.of(s.Name)
	if k == nil || s.Agent == transcript.Codex && s.Title != "" { // the file of one of Codex does not say
		return cmp.Or(s.Title, s.Prompt)
	}
	return cmp.Or(k.Title, s.Title, s.Prompt)
}

// TitleOf is a session's title: as its file has it, else as it was given when the session was made.
func (h *History) TitleOf(s *model.Session) (string, error) {
	if s.Title != "" && s.Agent == transcript.Codex {
		return s.Title, nil // the file does not say
	}
	c, err := h.Conversation(s, s.Cursor.Transcript)
	if err != nil {
		return "", err
	}
	if c.Title == "" {
		return s.Title, nil
	}
	return c.Title, nil
}

// state tells the code of a branch; it gives the checkpoint of its fork point, if it has one.
func (t *treeMaker) state(b *Branch) (point *model.Checkpoint, err error) {
	if b.Fork != nil {
		if id, err := objstore.ParseID(b.Fork.Checkpoint); err == nil {
			if point, err = t.read(id); err != nil {
				return nil, err
			}
		}
	}
	if b.Imported {
		return point, nil
	}
	if b.Tip, err = t.h.NewestOf(b.Name); err != nil || b.Tip.IsZero() {
		return point, err
	}
	tip, err := t.read(b.Tip)
	if err != nil {
		return point, err
	}
	b.Git = tip.Git
	at, err := t.h.log.Refs.ID(refs.Cursor(b.Name))
	if err != nil {
		return point, err
	}
	b.Rewound = !at.IsZero() && at != b.Tip
	w, err := t.h.work(b.Name, b.Tip, point, b.Began, t.read)
	if err != nil {
		return point, err
	}
	b.Work = *w
	return point, nil
}

// clashes finds which branches have changed the same files as others that were forked from the same session, or as that one since.
func (t *treeMaker) clashes() {
	at := map[string]int{}
	for i := range t.out {
		at[t.out[i].Name] = i
	}
	groups := map[string][]int{}
	t.met = make([]int, len(t.out)+1)
	for i := range t.out {
		if p := t.out[i].Parent; p != "" {
			groups[p] = append(groups[p], i)
		}
	}
	for parent, group := range groups {
		byPath := map[string][]int{}
		for _, i := range group {
			for _, p := range t.out[i].Work.paths {
				byPath[p] = append(byPath[p], i)
			}
		}
		for _, i := range group {
			t.clash(i, t.sinceFork(at[parent], i), byPath)
		}
	}
}

// sinceFork is what a session did since the fork point of branch i, which was made of it; nil: nothing that is known.
func (t *treeMaker) sinceFork(parent, i int) *Branch {
	p, point := t.out[parent], t.points[i]
	if point == nil || p.Tip.IsZero() || p.Tip == point.ID {
		return nil
	}
	in, read := t.h, t.read
	if p.in != nil {
		in, read = p.in, p.in.log.Checkpoints()
	}
	w, err := in.work(p.Name, p.Tip, point, p.Began, read)
	if err != nil {
		return nil // a hint is missing, and the tree is told
	}
	p.Work = *w
	return &p
}

// clash tells with whom branch i clashes: with its original (nil: that has not gone on), and with its siblings.
func (t *treeMaker) clash(i int, original *Branch, byPath map[string][]int) {
	b := &t.out[i]
	add := func(with int, name, path string) {
		if t.met[with] != i+1 {
			t.met[with] = i + 1
			if b.Clashes++; b.Clashes > maxClashes {
				return
			}
			b.Conflicts = append(b.Conflicts, Clash{With: name})
		}
		for k := range b.Conflicts {
			if c := &b.Conflicts[k]; c.With == name {
				if c.Files++; len(c.Paths) < maxClashPaths {
					c.Paths = append(c.Paths, path)
				}
			}
		}
	}
	if original != nil {
		for _, p := range original.Work.paths {
			if _, mine := slices.BinarySearch(b.Work.paths, p); mine {
				add(len(t.out), original.Name, p)
			}
		}
	}
	for _, p := range b.Work.paths {
		for _, k := range byPath[p] {
			if k != i {
				add(k, t.out[k].Name, p)
			}
		}
	}
}
