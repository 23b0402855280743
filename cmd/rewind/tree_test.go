package main

import (
	"slices"
	"strings"
	"testing"

	"rewind/api"
)

// Lines of a tree that grows downwards: a bar goes on exactly as long as another fork of the same session comes below.
func TestBranchStems(t *testing.T) {
	b := func(session, parent string, depth int) api.Branch {
		return api.Branch{Session: session, Parent: parent, Depth: depth}
	}
	list := []api.Branch{
		b("a", "", 0), b("b", "a", 1), b("c", "b", 2), b("d", "c", 3), b("e", "b", 2), b("f", "a", 1), b("g", "f", 2), b("h", "", 0),
		b("i", "h", 1),
	}
	want := []string{"", "├─ ", "│  ├─ ", "│  │  ╰─ ", "│  ╰─ ", "╰─ ", "   ╰─ ", "", "╰─ "}
	if got := branchStems(list, false); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for i := range want {
		want[i] = strings.NewReplacer("─", "", "   ", "  ", "│  ", "│ ").Replace(want[i])
	}
	if got := branchStems(list, true); !slices.Equal(got, want) {
		t.Errorf("dense: got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := branchStems(nil, false); len(got) != 0 {
		t.Errorf("of nothing: %q", got)
	}
}
