package transcript

// everyTurn as UndoTo means all of them.
const everyTurn = "*"

// past knows which turns are still in what the model sees. Every step costs what it changes.
type past struct {
	live    []int          // turns that are not gone, in the order in which the model sees them
	users   map[string]int // of a prompt's id: the turn
	parents map[string]int // of what a prompt continues: the newest turn that did
	moved   bool           // a turn has gone, or is there again, since that was last set to false
}

// goBack takes what a record says about turns that came before it.
func (t *tracker) goBack(l *line) {
	for n := l.Undo; n > 0 && len(t.live) > 0; n-- {
		t.pop()
	}
	if l.UndoTo == everyTurn {
		t.popAll()
	} else if i, ok := t.users[l.UndoTo]; ok {
		t.popTo(i)
	}
	if l.Reset {
		t.popAll()
		t.c.Pending = nil
		for _, p := range l.Again {
			t.again(p, l)
		}
	}
}

// again brings back the turn of a prompt that a record names.
func (t *tracker) again(p prompted, l *line) {
	i, ok := t.users[p.ID]
	if !ok || p.ID == "" {
		t.begin(Turn{
			User: p.ID, Last: p.ID, Summary: oneLine(p.Text, maxSummary), Time: p.Time,
			Start: l.Offset, At: l.Offset, End: l.Offset + l.Size,
		})
		return
	}
	if turn := &t.c.Turns[i]; turn.Gone {
		turn.Gone, t.moved = false, true
		t.live = append(t.live, i)
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

// rejoin takes what a new prompt continues: if an earlier one continued the same, that and all behind it are gone.
func (t *tracker) rejoin(parent string) {
	if i, ok := t.parents[parent]; ok {
		t.popTo(i)
	}
	if t.parents == nil {
		t.parents = make(map[string]int)
	}
	t.parents[parent] = len(t.c.Turns)
}

// popTo makes turn i gone and all that the model sees behind it.
func (t *tracker) popTo(i int) {
	for !t.c.Turns[i].Gone {
		t.pop()
	}
}

func (t *tracker) popAll() {
	for len(t.live) > 0 {
		t.pop()
	}
}

func (t *tracker) pop() {
	last := len(t.live) - 1
	t.c.Turns[t.live[last]].Gone = true
	t.live, t.moved = t.live[:last], true
}
