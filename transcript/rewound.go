package transcript

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
	"time"
)

// everyTurn as UndoTo means all of them.
const everyTurn = "*"

// past knows which turns are still in what the model sees. Every step costs what it changes.
type past struct {
	live    []int          // turns that are not gone, in the order in which the model sees them
	users   map[string]int // of a prompt's id: the turn; nil: nobody has asked
	parents map[string]int // of a record that is not there, and of theRoot: the turn that prompts go on from which name it
	moved   bool           // a turn has gone, or is there again, since that was last set to false
	left    []int          // turns that have gone since the newest prompt
	words   []uint64       // of each turn, a number for what its prompt says
	now     time.Time      // the newest record's that has one
}

// goBack takes what a record says about turns that came before it.
func (t *tracker) goBack(l *line) {
	how := Back(0) // a memory that was replaced, or cleared, is no way that was left
	if l.Kind == Rewound {
		how = BackByRecord
	}
	for n := l.Undo; n > 0 && len(t.live) > 0; n-- {
		t.pop(how)
	}
	for n := len(t.live); l.UndoFrom > 0 && n > 0 && t.c.Turns[t.live[n-1]].At >= l.UndoFrom; n-- {
		t.pop(how)
	}
	if l.UndoTo == everyTurn {
		t.popAll(how)
	} else if i, ok := t.prompted(l.UndoTo); ok {
		t.popTo(i, how)
	}
	if l.Reset {
		t.popAll(0)
		t.c.Pending = nil
		for _, p := range l.Again {
			t.again(p, l)
		}
	}
}

// prompted is the turn that a prompt began, by its id.
func (t *tracker) prompted(id string) (turn int, ok bool) {
	if id == "" {
		return 0, false
	}
	if t.users == nil {
		t.users = make(map[string]int, len(t.c.Turns))
		for i := range t.c.Turns {
			t.users[t.c.Turns[i].User] = i
		}
	}
	turn, ok = t.users[id]
	return turn, ok
}

// again brings back the turn of a prompt that a record names.
func (t *tracker) again(p prompted, l *line) {
	i, ok := t.prompted(p.ID)
	if !ok {
		t.begin(Turn{
			User: p.ID, Last: p.ID, Summary: oneLine(p.Text, maxSummary), Time: p.Time,
			Start: l.Offset, At: l.Offset, End: l.Offset + l.Size,
		}, wordsOf(p.Text, 0))
		return
	}
	if t.c.Turns[i].Gone {
		t.revive(i)
	}
}

// theRoot is what a record continues that says that it continues nothing; no id is the same.
const theRoot = "\x00"

// continues is the record that l continues; "": it does not say.
func continues(l *line) string {
	if l.Root {
		return theRoot
	}
	return l.Parent
}

// rejoin takes what a new prompt continues: if that is in another turn than the newest one that the model sees, the
// person went there. Nothing is known of a record that is not in the file, but that prompts which continue the same one
// go on from the same place.
func (t *tracker) rejoin(parent string) {
	turn, ok := t.placed(parent)
	if !ok {
		turn, ok = t.parents[parent]
	}
	if ok {
		t.goTo(turn)
		return
	}
	if t.parents == nil {
		t.parents = make(map[string]int)
	}
	t.parents[parent] = len(t.c.Turns)
}

// goTo has the model see what it saw in turn n, 0: before the first: turns behind that are gone, those that lead to it
// are there again.
func (t *tracker) goTo(n int) {
	var path []int // that are gone and lead to it, the newest first
	for n > 0 && t.c.Turns[n-1].Gone {
		path, n = append(path, n-1), t.c.Turns[n-1].After
	}
	for len(t.live) > 0 && t.live[len(t.live)-1] >= n {
		t.pop(BackByParent)
	}
	for _, i := range slices.Backward(path) {
		t.revive(i)
	}
}

// popTo makes turn i gone and all that the model sees behind it.
func (t *tracker) popTo(i int, how Back) {
	for !t.c.Turns[i].Gone {
		t.pop(how)
	}
}

func (t *tracker) popAll(how Back) {
	for len(t.live) > 0 {
		t.pop(how)
	}
}

func (t *tracker) pop(how Back) {
	last := len(t.live) - 1
	turn := &t.c.Turns[t.live[last]]
	turn.Gone, turn.Back = true, how
	if how != 0 {
		turn.Left = t.now
	}
	t.live, t.moved, t.left = t.live[:last], true, append(t.left, turn.Index-1)
}

// revive has the model see a turn again that was gone, behind those that it sees.
func (t *tracker) revive(i int) {
	turn := &t.c.Turns[i]
	turn.Gone, turn.Back, turn.Left = false, 0, time.Time{}
	t.live, t.moved = append(t.live, i), true
}

// rerun takes the words of a new prompt. Where the person went back behind one turn alone and said the same again, that
// was no way of its own: it was tried once more.
func (t *tracker) rerun(words uint64) {
	if len(t.left) == 1 && t.words[t.left[0]] == words {
		t.c.Turns[t.left[0]].Back = 0
	}
	t.left, t.words = t.left[:0], append(t.words, words)
}

// saying is a number for what a prompt says. Of a long one only the beginning was read: then the length of its record
// tells it from others.
func saying(l *line) uint64 {
	if l.says.Cut {
		return wordsOf(l.Text, l.Size)
	}
	return wordsOf(l.Text, 0)
}

func wordsOf(text string, size int64) uint64 {
	h := fnv.New64a()
	word(h, text)
	_ = binary.Write(h, binary.LittleEndian, size)
	return h.Sum64()
}

// Back says how it is known that a person left a turn, and what came behind it, for another way.
type Back byte

// The ways to know.
const (
	BackByParent Back = iota + 1 // a later prompt goes on from further up: a message has two children
	BackByRecord                 // the agent's record says so: thread_rolled_back, a segment's history_base, $rewindTo
)

// Branch is a way that a person left within one session: the turns that they went back behind, together.
type Branch struct {
	After   int   // the turn behind which it parted; 0: before the first prompt
	Turns   []int // its own, ascending
	Within  int   // the number, from 1, of the branch that it parted from; 0: what the model sees
	How     Back
	Left    time.Time // when it was left, as far as the agent says
	Message string    // id of the last message before it
	Summary string    // how its first prompt begins
	At      time.Time // when its last prompt was said
}

// Last is the turn that a branch ends with.
func (b *Branch) Last() int { return b.Turns[len(b.Turns)-1] }

// Branches are the ways that were left in a session with these turns, by their first turns, each behind the one that it
// parted from. What nothing has answered is none, nor what was said again word for word in its place, nor a memory that
// was compacted.
func Branches(turns []Turn) []Branch {
	left := func(i int) bool { return i >= 0 && turns[i].Gone && turns[i].Back != 0 }
	next := make([]int, len(turns)) // where a turn that was left goes on: behind the newest, others were left before
	for i := range turns {
		if up := turns[i].After - 1; left(i) && left(up) {
			next[up] = i
		}
	}
	var all []Branch
	in, answered := make([]int, len(turns)), []bool{}
	for i := range turns {
		if !left(i) {
			continue
		}
		up, within := turns[i].After-1, 0
		if left(up) {
			within = in[up]
		}
		if within == 0 || next[up] != i {
			b := Branch{After: up + 1, Within: within, How: turns[i].Back, Summary: turns[i].Summary}
			if up >= 0 {
				b.Message = turns[up].Last
			}
			all, answered = append(all, b), append(answered, false)
			within = len(all)
		}
		b := &all[within-1]
		b.Turns, b.Left, b.At = append(b.Turns, i+1), turns[i].Left, turns[i].Time
		in[i], answered[within-1] = within, answered[within-1] || turns[i].Messages > 1
	}
	return onlyAnswered(all, answered)
}

// onlyAnswered leaves those out that nothing has answered: what parted from one of these parted from what that did.
func onlyAnswered(all []Branch, answered []bool) (out []Branch) {
	at := make([]int, len(all)) // of each of all the number in out, of one that is none that of where it parted from
	for i, b := range all {
		if b.Within > 0 {
			b.Within = at[b.Within-1]
		}
		if at[i] = b.Within; answered[i] {
			out, at[i] = append(out, b), len(out)+1
		}
	}
	return out
}
