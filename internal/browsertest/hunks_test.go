package browsertest

import (
	"fmt"
	"strings"
	"testing"
)

// TestHunks: of a file the parts that are chosen go to what they were before a turn, and nothing else does; what was
// shown is done, or nothing.
func TestHunks(t *testing.T) {
	p := newProject(t)
	lines := func(first, last string) string {
		var b strings.Builder
		for i := range 40 {
			fmt.Fprintf(&b, "line %d%s\n", i, map[int]string{0: first, 39: last}[i])
		}
		return b.String()
	}
	p.turn("write it", p.sets("list.txt", lines("", "")))
	p.turn("change both ends", p.sets("list.txt", lines(" changed", " changed")))
	b := profile(t)
	b.faulty()
	b.enter(p)
	b.moment("change both ends")
	b.ask(`main [data-act=hunks]`)
	b.says("dialog.sheet h2", "Set parts of list.txt as at")
	if n := eval[int](b, `document.querySelectorAll("dialog.sheet [name=hunks]").length`); n != 2 {
		t.Fatalf("%d hunks", n)
	}
	if eval[bool](b, `!!document.querySelector("dialog.sheet button[value=do]")`) {
		t.Error("nothing is chosen, and can be done")
	}
	b.choose(`dialog.sheet [name=hunks][value="1"]`)
	b.wait(`document.querySelector("dialog.sheet button[value=do]")`)
	b.pictures("hunks")
	p.write("list.txt", "above\n"+lines(" changed", " changed, too"))
	b.click(`dialog.sheet button[value=do]`)
	b.says("dialog.sheet[open]", "Something changed since this was shown")
	p.write("list.txt", lines(" changed", " changed"))
	b.choose(`dialog.sheet [name=hunks][value="0"]`)
	b.choose(`dialog.sheet [name=hunks][value="0"]`)
	b.fails(p, "Set parts of list.txt")
	if got := p.read("list.txt"); got != lines(" changed", "") {
		t.Errorf("what is there: %s", got)
	}
	b.ask(`.notice [data-act="undo-restore"]`)
	b.confirm("Undone")
	if got := p.read("list.txt"); got != lines(" changed", " changed") {
		t.Errorf("it was not undone: %s", got)
	}
}
