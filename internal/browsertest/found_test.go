package browsertest

import (
	"fmt"
	"strings"
	"testing"
)

// TestFound: a hit opens the file at the line, which is marked, with the prompt that wrote it. Files are found by their
// names, what is gone says with which turn, and what forks have as a copy is there once, with how
// many have it.
func TestFound(t *testing.T) {
	p, _ := usual(t)
	var text strings.Builder
	for i := range 3_000 {
		fmt.Fprintln(&text, "line", i)
	}
	p.turn("a long list", p.sets("long.txt", text.String()))
	p.turn("guard the list", p.sets("long.txt", strings.Replace(text.String(), "line 2500\n", "guarded by Mu\n", 1)))
	b := profile(t)
	b.enter(p)
	b.open("/find?q=by+mu")
	b.says("[data-found=lines]", "guarded")
	b.click(`[data-found=lines] li > a`)
	b.says(".code .hit", "guarded by Mu")
	b.says(".code .hit .wrote", "guard the list")
	b.wait(`document.querySelector(".code .hit mark").innerText === "by Mu"`)
	b.wait(`(({top, bottom}) => top > 0 && bottom < innerHeight)(document.querySelector(".code .hit").getBoundingClientRect())`)
	first := `Number(document.querySelector(".code > span").dataset.n)`
	for eval[float64](b, first) > 1 {
		now := eval[float64](b, first)
		b.click(`.code > a.older:first-child`)
		b.wait(fmt.Sprintf(`%s < %v`, first, now))
	}
	if n := eval[int](b, `new Set([...document.querySelectorAll(".code > span")].map((l) => l.dataset.n)).size`); n != 3_000 {
		t.Errorf("%d lines of 3000 are there", n)
	}
	b.click(`.code .wrote a`)
	b.says("main", "guard the list")

	b.open("/find?q=ITEM.go")
	b.says(".hits", "store/item.go")
	b.says(".hits .sub", "gone with turn 3")
	b.click(`[data-found=names] .sub span:last-child a`)
	b.says("main", "make the store larger")

	b.open("/find?q=done:+fix+the")
	b.says("[data-found=said]", "fix the")
	b.says("[data-found=said] .sub", "and in 1 fork")
	if n := eval[int](b, `document.querySelectorAll("[data-found=said] li").length`); n != 1 {
		t.Errorf("it was said %d times", n)
	}
}
