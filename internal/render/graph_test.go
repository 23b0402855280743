package render

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rewind/api"
	"rewind/internal/term"
)

func drawn(nodes []graphNode) (text string) {
	for _, l := range drawGraph(nodes) {
		text += fmt.Sprintf("%s %d\n", l.node, l.row)
		for _, link := range l.links {
			text += link.text + "\n"
		}
	}
	return text
}

func TestDrawGraph(t *testing.T) {
	t.Parallel()
	o := func(parent int) graphNode { return graphNode{sign: "o", parent: parent} }
	for name, c := range map[string]struct {
		nodes []graphNode
		want  string
	}{
		"nothing":  {nil, ""},
		"one line": {[]graphNode{{sign: "@", parent: 1}, o(2), o(graphRoot)}, "@ 0\no 1\no 2\n"},
		"a fork":   {[]graphNode{{sign: "@", parent: 2}, {sign: "~", parent: 3}, o(3), o(graphRoot)}, "@ 0\n│ ~ 1\no │ 2\n├─╯\no 3\n"},
		"two forks of one row": {
			[]graphNode{{sign: "@", parent: 3}, o(3), o(3), o(graphRoot)},
			"@ 0\n│ o 1\n├─╯\n│ o 2\n├─╯\no 3\n",
		},
		"a line that is crossed": {
			[]graphNode{o(4), o(3), o(4), o(5), o(5), o(graphRoot)},
			"o 0\n│ o 1\n│ │ o 2\n├─│─╯\n│ o 3\no │ 4\n├─╯\no 5\n",
		},
		"what is not listed": {
			[]graphNode{{sign: "@", parent: 2, elided: 3}, o(graphOlder), o(graphOlder)},
			"@ 0\n┊\n│ o 1\n│ ┊\no 2\n┊\n",
		},
		"two that begin, and a column that is free again": {
			[]graphNode{o(4), o(graphRoot), o(3), o(graphRoot), o(graphRoot)},
			"o 0\n│ o 1\n│   o 2\n│   o 3\no 4\n",
		},
		"below one that goes on from it": {[]graphNode{o(graphRoot), o(0), o(1)}, "o 2\no 1\no 0\n"},
	} {
		if got := drawn(c.nodes); got != c.want {
			t.Errorf("%s:\n%swant\n%s", name, got, c.want)
		}
	}
}

// TestGraphLeadsToParents: whoever follows the lines with a finger comes from each row to the one that it goes on from,
// past a dotted line exactly where something is not listed, and nowhere else.
func TestGraphLeadsToParents(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 14).Draw(t, "rows")
		place := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
			for i := 0; i < n && yield(i); i++ { //nolint:revive // the yield is the condition
			}
		})).Draw(t, "order")
		if rapid.Bool().Draw(t, "sorted") {
			slices.Sort(place)
		}
		nodes := make([]graphNode, n)
		for i := range n { // row place[i] goes on from one of those behind i
			node := graphNode{sign: "o", parent: rapid.SampledFrom([]int{graphRoot, graphOlder}).Draw(t, "end")}
			if i+1 < n && rapid.IntRange(0, 4).Draw(t, "ends") > 0 {
				node.parent = place[rapid.IntRange(i+1, min(n-1, i+5)).Draw(t, "parent")]
				node.elided = rapid.IntRange(0, 1).Draw(t, "elided")
			}
			nodes[place[i]] = node
		}
		checkDrawing(t, nodes, slices.IsSorted(place))
	})
}

func checkDrawing(t *rapid.T, nodes []graphNode, sorted bool) {
	var grid [][]rune
	at, rows := map[int]int{}, map[int]int{} // lines by row, rows by line
	for i, l := range drawGraph(nodes) {
		if _, twice := at[l.row]; twice || sorted && l.row != i {
			t.Fatalf("row %d is in place %d:\n%s", l.row, i, drawn(nodes))
		}
		at[l.row], rows[len(grid)] = len(grid), l.row
		grid = append(grid, []rune(l.node))
		for _, link := range l.links {
			grid = append(grid, []rune(link.text))
		}
	}
	if len(at) != len(nodes) {
		t.Fatalf("%d of %d rows are drawn:\n%s", len(at), len(nodes), drawn(nodes))
	}
	for row, n := range nodes {
		line := at[row]
		end, dotted := follow(grid, line, slices.Index(grid[line], 'o'))
		parent, known := rows[end]
		if !known {
			parent = graphRoot
			if dotted {
				parent = graphOlder
			}
		}
		if parent != n.parent || dotted != (n.elided > 0 || n.parent == graphOlder) {
			t.Fatalf("row %d leads to %d (dotted: %v), and goes on from %d:\n%s", row, parent, dotted, n.parent, drawn(nodes))
		}
	}
}

// follow goes down from a place; end is the line of the row where it comes out, -1: it comes to an end.
func follow(grid [][]rune, line, column int) (end int, dotted bool) {
	for line++; line < len(grid) && column < len(grid[line]); line++ {
		switch grid[line][column] {
		case 'o':
			return line, dotted
		case '│', '├':
		case '┊':
			dotted = true
		case '╯':
			for column--; grid[line][column] != '├'; column-- { //nolint:revive // to the left until it joins
			}
		default:
			return -1, dotted
		}
	}
	return -1, dotted
}

// TestListGraphWidths: at every width the rows of a graph have their columns, and what is drawn leaves room for them.
func TestListGraphWidths(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 14, 10, 0, 0, time.UTC)
	for width, want := range map[int]string{
		40: `
@    1111111  4   clean up what no…  -20
│ ~  2222222  12  日本語のテキスト…
│ ┊  (2 checkpoints not listed)
├─╯
o    3333333  3   what is \x1b[31m…
o    4444444      works, before th…
`,
		80: `
@    1111111  14:09      claude  turn:4   clean up what nobody needs…  ~1 -20
│ ~  2222222  11:10      codex   turn:12  日本語のテキストを直して、…  +1
│ ┊  (2 checkpoints not listed)
├─╯
o    3333333  Thu 08:10  claude  turn:3   what is \x1b[31mthis\u202e…  no change
o    4444444  Wed 12:10                   works, before the\x1b[2J l…  ~2
`,
		120: `
@    1111111  14:09      claude 5f1c0d2e      turn:4   clean up what nobody needs any more               ~1 -20
│ ~  2222222  11:10      codex 01a1f866-12ce  turn:12  日本語のテキストを直して、テストを書いてください  +1
│ ┊  (2 checkpoints not listed)
├─╯
o    3333333  Thu 08:10  claude 5f1c0d2e      turn:3   what is \x1b[31mthis\u202e for?                   no change
o    4444444  Wed 12:10                                works, before the\x1b[2J login                    ~2
`,
		200: `
@    1111111  14:09      claude 5f1c0d2e      turn:4   clean up what nobody needs any more               ~1 -20     main.go, -old/a.go, -old/b.go, -old/c.go, and 17 more
│ ~  2222222  11:10      codex 01a1f866-12ce  turn:12  日本語のテキストを直して、テストを書いてください  +1         +src/a very long directory/with a file.go
│ ┊  (2 checkpoints not listed)
├─╯
o    3333333  Thu 08:10  claude 5f1c0d2e      turn:3   what is \x1b[31mthis\u202e for?                   no change
o    4444444  Wed 12:10                                works, before the\x1b[2J login                    ~2         main.go, and 1 more
`,
	} {
		s, out, _ := term.Test("", true, "NO_COLOR=1")
		s.Width, s.Now = width, func() time.Time { return now }
		a := &Printer{Streams: s}
		rows := listedRows(now)
		rows[0].Follows, rows[1].Follows, rows[2].Follows = &api.Link{Row: 2}, &api.Link{Row: 2, Elided: 2}, &api.Link{Row: 3}
		if err := a.ListRows(out, a.RowsOfTurns(rows, RowOptions{Graph: true})); err != nil {
			t.Fatal(err)
		}
		if got := "\n" + out.String(); got != want {
			t.Errorf("at %d columns:\n%s", width, got)
		}
	}
	// Forty lines beside each other leave room for what a row says.
	s, out, _ := term.Test("", true, "NO_COLOR=1")
	s.Width, s.Now = 40, func() time.Time { return now }
	rows := slices.Repeat(listedRows(now)[:1], 40)
	for i := range rows {
		rows[i].Follows = &api.Link{Row: len(rows) - 1, Elided: i}
		rows[i].Current = i == 30
	}
	rows[len(rows)-1].Follows = nil
	a := &Printer{Streams: s}
	if err := a.ListRows(out, a.RowsOfTurns(rows, RowOptions{Graph: true})); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if n := term.Width(strings.TrimSuffix(line, "\n")); n > 40 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

// TestLanesLeaveTheMark: however many lines are drawn beside each other, the sign of the row itself is seen.
func TestLanesLeaveTheMark(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		node  string
		at    int
		width int
		want  string
	}{
		{"@", 0, 7, "@"},
		{"│ │ │ @", 6, 7, "│ │ │ @"},
		{"│ │ │ @ │", 6, 7, "│ │ │…@"},
		{"│ │ @ │ │ │", 4, 7, "│ │ @…"},
		{"│ │ │ │ │ ~", 10, 7, "│ │ │…~"},
		{"│ │ │ │ │ ~ │ │", 10, 5, "│ │…~"},
	} {
		if got := cutLanes(c.node, c.at, c.width); got != c.want {
			t.Errorf("%q of %d columns: %q, want %q", c.node, c.width, got, c.want)
		}
	}
}
