package history

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// A Branch is a session, or a branch within one, as the tree of its family has it.
type Branch struct {
	*model.Session
	Branch    string             // its name: the session's, of a branch within that turn:n@session
	Way       *transcript.Branch // of a branch within a session; nil: all of that
	Title     string
	Parent    string         // the branch that it hangs on; "": it is where its family begins, as far as is known here
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
	Loss      value.Loss     // what its agent has lost of its conversation
	in        *History       // that one's; nil: this one is, or it cannot be asked
	point     objstore.ID    // the checkpoint of its fork point; zero: it has none
}

// Tree is a family of sessions: all that a first one was forked into.
type Tree struct {
	Branches []Branch // each behind what it was forked from, forks of one session by turn and time
	Of       string   // the session that was asked for; "": there is none
	Current  string   // where the project stands; model.Manual or one that may be of another family
	Others   int      // sessions of other families
}

// LocalBranches are the branches that go on in this worktree, for the trees of others of its family. The log's lock is
// not held.
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
		b := Branch{
			Session: s, Branch: s.Name, Title: h.knownTitle(s), Fork: h.forkPoint(ctx, s.Name), Worktree: h.log.Project.Root, in: h,
		}
		if err := t.state(&b); err != nil {
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
		read: h.log.CheckpointsOnce(), // what branches did is remembered
	}
	var err error
	if t.tips, err = h.heads(refs.Sessions); err == nil {
		t.cursors, err = h.heads(refs.Cursors)
	}
	if err != nil {
		return nil, nil, err
	}
	return t, slices.DeleteFunc(h.log.ListSessions(), func(s model.Session) bool { return h.Unseen(&s) }), nil
}

// FamilyTree returns the tree of a session's family. "" means the session where the project is, or else the newest.
// With all it returns the trees of every family, that one first. It reads records, and the session files that changed.
// there has the branches that go on in other worktrees, and known what is there of them; this log's record of such a
// branch ends where the worktree began.
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
	if err := t.learn(list, first, all); err != nil {
		return nil, err
	}
	slices.SortStableFunc(roots, func(a, b *model.Session) int { return -cmp.Compare(one(a.Name == first), one(b.Name == first)) })
	for _, s := range roots {
		if !all && s.Name != first {
			continue
		}
		if err := t.put(s, "", 0); err != nil {
			return nil, err
		}
	}
	out.Others = len(list)
	for i := range t.out {
		b := &t.out[i]
		if b.Way != nil {
			continue
		}
		out.Others--
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

// running reports whether an agent is at work on a session or has it open, with one look at the machine's processes.
// The log's lock is held by Hold.
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
	tips     map[string]objstore.ID // by session, its newest checkpoint
	cursors  map[string]objstore.ID // by session, the checkpoint on which it stands
	met      []int                  // of each of out, and of an original, the branch, from 1, that was last found to clash with it
}

// parent is what a session hangs on; "": nothing that is known here, or lineages that form a circle, which agents'
// files may.
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
func (t *treeMaker) branch(s *model.Session) (Branch, error) {
	if there := t.there[s.Name]; there != nil {
		return *there, nil
	}
	b := Branch{
		Session: s, Branch: s.Name, Title: t.h.knownTitle(s), Fork: t.h.forkPoint(t.ctx, s.Name),
		Worktree: t.h.sessions.Elsewhere(s),
	}
	return b, t.state(&b)
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
	b, err := t.branch(s)
	if err != nil {
		return err
	}
	b.Parent, b.Depth = parent, depth
	t.out = append(t.out, b)
	var ways []transcript.Branch
	if b.in == nil {
		ways = t.h.ways(s)
	}
	return t.putBelow(s, ways, 0, s.Name, depth+1)
}

// putWay adds branch number n within a session, and all that hangs on it.
func (t *treeMaker) putWay(s *model.Session, ways []transcript.Branch, n int, parent string, depth int) error {
	w := &ways[n-1]
	b := Branch{Session: s, Branch: wayName(s.Name, w), Way: w, Parent: parent, Depth: depth, Title: w.Summary}
	var tip *model.Checkpoint
	if b.Fork, tip, _ = t.h.wayPoint(s, ways, w); tip != nil {
		b.Tip, b.Git = tip.ID, tip.Git
		if id, err := objstore.ParseID(b.Fork.Checkpoint); err == nil {
			did, err := t.h.work(workOf{session: s.Name, tip: tip.ID, end: id, way: w.Last()}, s.Began, w.Turns, t.read)
			if err != nil {
				return err
			}
			b.Work = *did
		}
	}
	t.out = append(t.out, b)
	return t.putBelow(s, ways, n, b.Branch, depth+1)
}

// putBelow adds what hangs on a session (n 0), or on branch number n within it: branches within it that parted there,
// and the forks that were made of its turns.
func (t *treeMaker) putBelow(s *model.Session, ways []transcript.Branch, n int, parent string, depth int) error {
	in := map[int]int{} // of turns, the branch that they are in
	for i := range ways {
		for _, turn := range ways[i].Turns {
			in[turn] = i + 1
		}
	}
	type hanging struct {
		turn int
		fork *model.Session // nil: way is
		way  int
	}
	var below []hanging
	for i := range ways {
		if ways[i].Within == n {
			below = append(below, hanging{turn: ways[i].After, way: i + 1})
		}
	}
	for _, c := range t.children[s.Name] {
		if in[c.Fork.Turn] == n {
			below = append(below, hanging{turn: c.Fork.Turn, fork: c})
		}
	}
	slices.SortStableFunc(below, func(a, b hanging) int {
		if c := cmp.Compare(a.turn, b.turn); c != 0 || a.fork == nil || b.fork == nil {
			return cmp.Or(c, cmp.Compare(one(a.fork != nil), one(b.fork != nil)))
		}
		return cmp.Or(a.fork.Fork.Time.Compare(b.fork.Fork.Time), cmp.Compare(a.fork.Began, b.fork.Began),
			cmp.Compare(a.fork.Name, b.fork.Name))
	})
	for _, at := range below {
		var err error
		if at.fork != nil {
			err = t.put(at.fork, parent, depth)
		} else {
			err = t.putWay(s, ways, at.way, parent, depth)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// learn reads the session files of a family, or of all, that are not known as they are; not those of other worktrees.
func (t *treeMaker) learn(list []model.Session, first string, all bool) error {
	if !t.h.log.Config.Detects() {
		return nil
	}
	var family []model.SessionInfo
	for i := range list {
		s := &list[i]
		if t.there[s.Name] == nil && t.h.sessions.Elsewhere(s) == "" && (all || t.rootOf(s) == first) {
			family = append(family, model.SessionInfo{Session: *s})
		}
	}
	err := t.h.readAll(t.ctx, family)
	t.h.keepKnown(t.ctx)
	return err
}

// knownTitle is a session's title, as a list of sessions has found it in its file last, or how its newest prompt
// begins.
func (h *talkReader) knownTitle(s *model.Session) string {
	k := h.known.of(s.Name)
	if k == nil || s.Agent == transcript.Codex && s.Title != "" { // the file of one of Codex does not say
		return cmp.Or(s.Title, s.Prompt)
	}
	return cmp.Or(k.Title, s.Title, s.Prompt)
}

// A ForkName is what tells a fork from others.
type ForkName struct {
	Prompt   string // how the first prompt begins that it was given itself; "": nobody has gone on with it
	Borrowed bool   // its title is only that of what it was forked from
}

// ForkName is that of a session; zero: it is no fork.
func (h *turnReader) ForkName(session string) (ForkName, error) {
	s, err := h.log.StoredSession(session)
	if err != nil || s == nil || s.Fork == nil {
		return ForkName{}, err
	}
	l, err := h.readTurns(turnAt{session: session})
	if err != nil {
		return ForkName{}, err
	}
	out := ForkName{}
	for i := range l.rows {
		if out.Prompt, err = l.prompt(l.rows[i].Asked); err != nil || out.Prompt != "" {
			break
		}
	}
	from, fromErr := h.log.StoredSession(s.Fork.Session)
	if err = cmp.Or(err, fromErr); err == nil && from != nil {
		out.Borrowed = transcript.SameTitle(h.knownTitle(s), h.knownTitle(from))
	}
	return out, err
}

// ForkName is that of a branch where it goes on, also in another worktree; zero: it is within a session.
func (b *Branch) ForkName(here *History) (ForkName, error) {
	if b.Way != nil {
		return ForkName{}, nil
	}
	return cmp.Or(b.in, here).ForkName(b.Name)
}

// TitleOf is a session's title: as its file has it, else as it was given when the session was made.
func (h *talkReader) TitleOf(s *model.Session) (string, error) {
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

// state tells the code of a branch.
func (t *treeMaker) state(b *Branch) error {
	if b.Fork != nil {
		if id, err := objstore.ParseID(b.Fork.Checkpoint); err == nil {
			b.point = id
		}
	}
	b.Loss = t.h.toldLoss(b.Session)
	if b.Imported {
		return nil
	}
	if b.Tip = t.tips[b.Name]; b.Tip.IsZero() {
		return nil
	}
	w, err := t.h.work(workOf{session: b.Name, tip: b.Tip, end: b.point}, b.Began, nil, t.read)
	if err != nil {
		return err
	}
	b.Work, b.Git = *w, w.git
	at := t.cursors[b.Name]
	b.Rewound = !at.IsZero() && at != b.Tip
	return nil
}

// heads are the checkpoints that refs of a class name, by session.
func (h *talkReader) heads(class string) (map[string]objstore.ID, error) {
	all, err := h.log.Refs.List(class)
	heads := make(map[string]objstore.ID, len(all))
	for _, r := range all {
		heads[r.Name.Base()] = r.ID
	}
	return heads, err
}
