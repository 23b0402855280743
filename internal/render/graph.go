package render

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"rewind/api"
	"rewind/internal/term"
)

// This file draws what goes on from what, as a tree that grows upwards: a column for each line of rows, the newest row
// first.
//
//	@      the newest row
//	│ o    the newest of another line
//	│ ┊    3 checkpoints are not listed
//	├─╯    both lines begin at the row below
//	o      which is the row that both go on from

// graphRoot is the row that one goes on from which goes on from nothing, and graphOlder of one that goes on from what
// is not listed.
const (
	graphRoot  = -1
	graphOlder = -2
)

// A graphNode is a row of a graph.
type graphNode struct {
	sign   string // one column: what stands for it
	parent int    // the row that it goes on from; or graphRoot, graphOlder
	elided int    // checkpoints between the two
}

// A graphLine is a row as it is drawn.
type graphLine struct {
	row   int
	node  string // what stands before the row
	at    int    // the column of its sign
	under string // what stands before more lines of it
	links []graphLink
}

// A graphLink is a line between two rows.
type graphLink struct {
	text   string
	elided int // what it stands for; 0: a line only
}

// Columns of a graph: what is waited for in each.
const freeColumn = -1

// drawGraph draws rows, the newest first. Their order is kept where no row comes below one that it goes on from;
// parents make no circle.
func drawGraph(nodes []graphNode) []graphLine {
	lines := make([]graphLine, 0, len(nodes))
	var columns []int // the row that each leads to
	// that of the row above, if it leads nowhere: a row right below would be taken for where it leads
	ended := freeColumn
	for _, row := range graphOrder(nodes) {
		n, at := nodes[row], slices.Index(columns, row)
		for i := 0; at < 0; i++ {
			if i == len(columns) {
				columns = append(columns, freeColumn)
			}
			if columns[i] == freeColumn && i != ended {
				at = i
			}
		}
		columns[at] = n.parent
		line := graphLine{row: row, at: 2 * at, node: drawColumns(columns, at, n.sign)}
		if ended = freeColumn; n.parent < 0 {
			ended = at
		}
		if n.parent == graphRoot {
			columns[at] = freeColumn
		}
		line.under = drawColumns(columns, -1, "")
		if n.elided > 0 || n.parent == graphOlder {
			line.links = append(line.links, graphLink{drawColumns(columns, at, "┊"), n.elided})
		}
		if n.parent == graphOlder {
			columns[at] = freeColumn
		}
		if other := otherColumn(columns, at); other >= 0 {
			left, right := min(at, other), max(at, other)
			line.links = append(line.links, graphLink{text: drawJoin(columns, left, right)})
			columns[right] = freeColumn
		}
		for len(columns) > 0 && columns[len(columns)-1] == freeColumn {
			columns = columns[:len(columns)-1]
		}
		lines = append(lines, line)
	}
	return lines
}

// graphOrder is the order of the list, each row behind all that go on from it.
func graphOrder(nodes []graphNode) []int {
	waiting := make([]int, len(nodes)) // how many go on from a row and are not drawn
	for _, n := range nodes {
		if n.parent >= 0 {
			waiting[n.parent]++
		}
	}
	order, drawn := make([]int, 0, len(nodes)), make([]bool, len(nodes))
	first := 0
	for len(order) < len(nodes) {
		for drawn[first] {
			first++
		}
		next := first
		for drawn[next] || waiting[next] > 0 {
			next++
		}
		drawn[next], order = true, append(order, next)
		if p := nodes[next].parent; p >= 0 {
			waiting[p]--
		}
	}
	return order
}

// otherColumn is another column that leads to the same row; -1: none.
func otherColumn(columns []int, at int) int {
	for i, row := range columns {
		if i != at && row >= 0 && row == columns[at] {
			return i
		}
	}
	return -1
}

// drawColumns draws the lines that go on, and a sign in column at.
func drawColumns(columns []int, at int, sign string) string {
	var b strings.Builder
	for i, row := range columns {
		switch {
		case i == at:
			b.WriteString(sign + " ")
		case row == freeColumn:
			b.WriteString("  ")
		default:
			b.WriteString("│ ")
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// drawJoin draws the line of one column going over into that of another.
func drawJoin(columns []int, left, right int) string {
	var b strings.Builder
	for i, row := range columns {
		switch {
		case i == left:
			b.WriteString("├─")
		case i == right:
			b.WriteString("╯ ")
		case i > left && i < right && row != freeColumn:
			b.WriteString("│─")
		case i > left && i < right:
			b.WriteString("──")
		case row == freeColumn:
			b.WriteString("  ")
		default:
			b.WriteString("│ ")
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// graphWidth is how much of a terminal a graph may take: a quarter, and of a narrow one three lines.
func graphWidth(width int) int { return max(width/4, 5) }

// cutLanes shortens what stands before a row. Its sign, in column at, stays: what goes is lanes.
func cutLanes(node string, at, width int) string {
	all := []rune(node) // each is a column
	if len(all) <= width || at < width-1 {
		return term.Truncate(node, width)
	}
	return string(all[:width-2]) + "…" + string(all[at])
}

// nodesOf are the nodes of the graph of rows.
func nodesOf(rows []Row, follows func(i int) *api.Link) []graphNode {
	nodes := make([]graphNode, len(rows))
	for i := range rows {
		nodes[i] = graphNode{sign: strings.TrimSpace(rows[i].mark), parent: graphRoot}
		if nodes[i].sign == "" {
			nodes[i].sign = "o"
		}
		switch l := follows(i); {
		case l == nil:
		case l.Row < 0 || l.Row >= len(rows):
			nodes[i].parent = graphOlder
		default:
			nodes[i].parent, nodes[i].elided = l.Row, l.Elided
		}
	}
	return nodes
}

// graphed puts the rows of a list into the order of their graph, and what is drawn before and below each into them.
func (pr *Printer) graphed(rows []Row, follows func(i int) *api.Link) []Row {
	nodes := nodesOf(rows, follows)
	cut := func(text string) string {
		if pr.Width > 0 {
			return term.Truncate(text, graphWidth(pr.Width))
		}
		return text
	}
	lines := drawGraph(nodes)
	out := make([]Row, len(rows))
	for i, l := range lines {
		out[i] = rows[l.row]
		if out[i].mark = l.node; pr.Width > 0 {
			out[i].mark = cutLanes(l.node, l.at, graphWidth(pr.Width))
		}
		detail, last := out[i].below, i == len(lines)-1
		forked := ""
		if link := follows(l.row); link != nil && link.Fork != nil {
			forked = Relation(link.Fork)
		}
		out[i].below = func(w io.Writer) error {
			if forked != "" {
				if _, err := fmt.Fprintln(w, pr.Styled(term.Dim, cut(l.under)+"  "+forked)); err != nil {
					return err
				}
			}
			if detail != nil {
				if err := detail(&prefixed{w: w, prefix: pr.Styled(term.Dim, cut(l.under)) + "  "}); err != nil {
					return err
				}
			}
			for _, link := range l.links {
				text := cut(link.text)
				if link.elided > 0 {
					text += fmt.Sprintf("  (%s not listed)", Count(link.elided, "checkpoint"))
				} else if last {
					break // that older ones are not shown is said
				}
				if _, err := fmt.Fprintln(w, pr.Styled(term.Dim, text)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return out
}

// prefixed writes lines with something before each.
type prefixed struct {
	w      io.Writer
	prefix string
	within bool // a line has begun
}

func (p *prefixed) Write(b []byte) (int, error) {
	var out bytes.Buffer
	for line := range bytes.Lines(b) {
		if !p.within {
			out.WriteString(p.prefix)
		}
		out.Write(line)
		p.within = line[len(line)-1] != '\n'
	}
	if _, err := p.w.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(b), nil
}
