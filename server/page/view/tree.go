package view

import (
	"strconv"

	"rewind/api"
)

// lane measures of the drawing, in pixels: a branch is a row.
const (
	laneRow  = 52
	laneStep = 18
	laneEdge = 14
)

// shownClashes is how many branches are named that one conflicts with.
const shownClashes = 3

// Tree is a stretch of the drawing of a project's branches: a row each, behind what it was forked from.
type Tree struct {
	Rows   []treeRow
	Edges  []edge // all that go through it
	Width  int    // of the drawing
	Height int
	More   string // the address of the stretch below; "": there is none
}

// treeRow is a branch with the state of its code.
type treeRow struct {
	Branch
	N           int // its place among all
	X, Y        int // of its dot
	Checkpoint  string
	Checkpoints int
	Files       int
	Point       string // the name of its fork point; "": it is no fork
	PointHref   string
	Commit      string
	NoCode      string
	Conflicts   []string // with whom
	Parent      string
}

// edge leads from a branch down to one that was forked from it.
type edge struct{ X1, Y1, X2, Y2 int }

// DrawTree lays the branches of an answer out, a stretch of all that it has the places of.
func (f Frame) DrawTree(r *api.TreeResponse) *Tree {
	all, from, to := r.Places, r.From, r.From+len(r.Branches)
	t := &Tree{Height: len(r.Branches) * laneRow}
	if to < len(all) {
		t.More = f.Path("tree") + "?from=" + strconv.Itoa(to)
	}
	place := func(i int) (x, y int) { return laneEdge + all[i].Depth*laneStep, (i-from)*laneRow + laneRow/2 }
	at, through := map[string]int{}, map[int]bool{}
	for i := range all {
		at[all[i].Branch] = i
		x, y := place(i)
		t.Width = max(t.Width, x+laneEdge) // of every stretch the same
		parent, ok := at[all[i].Parent]
		if !ok || parent >= to || i < from {
			continue
		}
		px, py := place(parent)
		if i >= to { // of those that go on below one is drawn for all
			if through[px] {
				continue
			}
			through[px] = true
		}
		t.Edges = append(t.Edges, edge{px, py, x, y})
	}
	branches := f.Branches(r.Branches, "")
	for i := from; i < to; i++ {
		b := &r.Branches[i-from]
		row := treeRow{
			Branch: branches[i-from], N: i, Checkpoint: b.Checkpoint, Checkpoints: b.Checkpoints, Files: b.Files, Parent: b.Parent,
		}
		row.X, row.Y = place(i)
		if b.Git != nil {
			row.Commit = b.Git.Commit[:min(8, len(b.Git.Commit))]
		}
		if b.Fork != nil {
			row.NoCode = string(b.Fork.NoCode)
			if b.Fork.Checkpoint != "" {
				row.Point, row.PointHref = "fork:"+b.Session, f.Path("c", b.Fork.Checkpoint)
			}
		}
		row.NoCode = brief(row.NoCode)
		for _, c := range b.Conflicts[:min(len(b.Conflicts), shownClashes)] {
			row.Conflicts = append(row.Conflicts, short(c.Session)+": "+count(c.Files, "file"))
		}
		if more := len(b.Conflicts) - len(row.Conflicts); more > 0 {
			row.Conflicts = append(row.Conflicts, count(more, "more branch"))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Branching is the document of the tree.
func Branching(f Frame, t *Tree) Page {
	f.At = "tree"
	return Page{Frame: f, Title: "Tree · " + f.Name, Data: t, name: "tree"}
}
