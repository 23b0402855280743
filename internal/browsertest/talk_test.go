package browsertest

import (
	"fmt"
	"path/filepath"
	"testing"
)

// TestTalk: beside a moment stand the last messages before it, its place marked; what was said before and after comes
// when it is asked for, to the first and the last.
func TestTalk(t *testing.T) {
	p := newProject(t)
	for turn := range 3 {
		p.open(fmt.Sprintf("turn %d", turn))
		for i := range 100 {
			p.say("assistant", []any{map[string]any{"type": "text", "text": fmt.Sprintf("said %d of %d", i, turn)}})
		}
		p.write("README.md", fmt.Sprint(turn))
		p.hook("stop", map[string]any{"stop_hook_active": false})
	}
	b := profile(t)
	b.enter(p)
	b.moment("turn 1")
	said := `[...document.querySelectorAll(".said")].map((e) => e.innerText)`
	b.wait(said + `.length === 30 && ` + said + `.at(-1).includes("said 99 of 1")`)
	b.wait(`document.querySelector(".said + .mark")`)
	b.click(`.talk .older a`)
	b.wait(said + `[0].includes("turn 0") && ` + said + `.some((w) => w.includes("said 0 of 0"))`)
	b.wait(`!document.querySelector(".talk li:first-child [data-more]")`)
	b.click(`.mark ~ .older a`)
	b.wait(said + `.at(-1).includes("said 99 of 2")`)
	if n := eval[int](b, `document.querySelectorAll(".talk .mark").length`); n != 1 {
		t.Errorf("%d places are marked", n)
	}
}

// TestFindEverywhere: one search over all projects, each with what it has, and the way to it.
func TestFindEverywhere(t *testing.T) {
	p := newProject(t)
	p.turn("mend the needle", p.sets("parser.go", "package notes // a needle\n"))
	other := *p
	other.dir = filepath.Join(p.home, "src", "other")
	other.set()
	other.begin("00000002-1111-4222-8333-444455556666")
	other.turn("another needle", other.sets("it.txt", "also a needle\n"))
	b := profile(t)
	b.enter(p)
	b.open("/find?q=needle")
	b.says("main", "mend the needle")
	b.says("main", "parser.go:1") // it comes behind the prompts
	b.wait(`!document.querySelector("main .older")`)
	b.open("/find?q=nothinghasit")
	b.says("main", "Nothing has this")
	b.open("/find?q=needle")
	b.click(`main .sub .link`)
	b.wait(`document.querySelectorAll("main .in").length === 2`)
	b.says("main", "another needle")
	b.says("main", "it.txt")
	b.click(`main .in h2 a[href*="/find"]`)
	b.wait(`document.body.dataset.project`)
	b.open("/../../find?q=nowhereatall")
	b.says("main", "Nothing has this")
	b.open("/../../projects")
	b.press("/")
	b.wait(`document.activeElement.type === "search"`)
	b.eval(`document.activeElement.value = ""`) // of a key that is sent only the press can be refused
	b.press("needle\r")
	b.wait(`document.querySelectorAll("main .in").length === 2`)
}
