package history

import (
	"cmp"
	"context"
	"slices"

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

// FamilyTree is the tree of a session's family ("": of the one where the project stands, or else the newest); with all, those of every
// family, that one's first. It is told from records: no session file is read.
func (h *History) FamilyTree(ctx context.Context, session string, all bool) (*Tree, error) {
	defer h.log.Hold()()
	if err := h.log.LoadSessions(); err != nil {
		return nil, err
	}
	if err := h.loadKnown(); err != nil {
		return nil, err
	}
	at, err := h.sessions.Position()
	if err != nil {
		return nil, err
	}
	t := &treeMaker{h: h, ctx: ctx, children: map[string][]*model.Session{}, known: map[string]bool{}, read: h.log.Checkpoints()}
	list := slices.DeleteFunc(h.log.ListSessions(), func(s model.Session) bool { return h.Unseen(&s) })
	for i := range list {
		t.known[list[i].Name] = true
	}
	out := &Tree{Current: at.Session, Of: at.Session}
	if session != "" {
		if out.Of, err = h.sessions.FindSession(session); err != nil {
			return nil, err
		}
	} else if !t.known[out.Of] {
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
	first := t.rootOf(h.log.Records[out.Of])
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
		b.Running = h.running(b.Session)
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
	known    map[string]bool
	children map[string][]*model.Session
	read     func(objstore.ID) (*model.Checkpoint, error)
	out      []Branch
	points   []*model.Checkpoint // of each of out, its fork point; nil: none, or without code
	met      []int               // of each of out, and of an original, the branch, from 1, that was last found to clash with it
}

// parent is what a session hangs on; "": nothing that is known here, or lineages that form a circle, which agents' files may.
func (t *treeMaker) parent(s *model.Session) string {
	p := s.From()
	if !t.known[p] {
		return ""
	}
	met := map[string]bool{s.Name: true}
	for q := p; q != ""; q = t.h.log.Records[q].From() {
		if met[q] {
			return ""
		}
		met[q] = true
	}
	return p
}

func (t *treeMaker) rootOf(s *model.Session) string {
	for s != nil {
		p := t.parent(s)
		if p == "" {
			return s.Name
		}
		s = t.h.log.Records[p]
	}
	return ""
}

// put appends a session and all below it.
func (t *treeMaker) put(s *model.Session, parent string, depth int) error {
	if err := t.ctx.Err(); err != nil {
		return err
	}
	b := Branch{Session: s, Parent: parent, Depth: depth, Title: t.h.knownTitle(s), Fork: t.h.forkPoint(t.ctx, s.Name)}
	point, err := t.state(&b)
	if err != nil {
		return err
	}
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
	w, err := t.h.work(p.Name, p.Tip, point, p.Began, t.read)
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
