package view

import (
	"rewind/api"
)

// lane measures of the drawing, in pixels: a branch is a row.
const (
	laneRow  = 52
	laneStep = 18
	laneEdge = 14
)

// Tree is the drawing of a project's branches: a row each, behind what it was forked from.
type Tree struct {
	Rows   []treeRow
	Edges  []edge
	Width  int // of the drawing
	Height int
}

// treeRow is a branch with the state of its code.
type treeRow struct {
	Branch
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

// DrawTree lays the branches out.
func (f Frame) DrawTree(list []api.Branch) *Tree {
	t := &Tree{Height: len(list) * laneRow}
	at := map[string]int{}
	branches := f.Branches(list, "")
	for i := range list {
		b := &list[i]
		row := treeRow{
			Branch: branches[i], X: laneEdge + b.Depth*laneStep, Y: i*laneRow + laneRow/2, Checkpoint: b.Checkpoint,
			Checkpoints: b.Checkpoints, Files: b.Files, Parent: b.Parent,
		}
		at[b.Session] = i
		t.Width = max(t.Width, row.X+laneEdge)
		if b.Git != nil {
			row.Commit = b.Git.Commit[:min(8, len(b.Git.Commit))]
		}
		if b.Fork != nil {
			row.NoCode = string(b.Fork.NoCode)
			if b.Fork.Checkpoint != "" {
				row.Point, row.PointHref = "fork:"+b.Session, f.Path("c", b.Fork.Checkpoint)
			}
			if parent, ok := at[b.Parent]; ok {
				p := t.Rows[parent]
				t.Edges = append(t.Edges, edge{p.X, p.Y, row.X, row.Y})
			}
		}
		for _, c := range b.Conflicts {
			row.Conflicts = append(row.Conflicts, short(c.Session)+": "+count(c.Files, "file"))
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
