package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// more opens the menu of the moment that is shown, and presses something of it.
func (b *tab) more(selector string) {
	b.Helper()
	b.click(`[popovertarget="moment-menu"]`)
	b.wait(`document.querySelector("#moment-menu:popover-open")`)
	b.click(`#moment-menu ` + selector)
}

// pictures are of what a tab shows, in all widths and both schemes, which fit the window.
func (b *tab) pictures(name string) {
	b.Helper()
	for _, width := range []int64{1440, 1024, 390} {
		b.do(chromedp.EmulateViewport(width, 900))
		shown := strings.Replace(tooWide, "> *", "> :not(.side)", 1) // the sessions scroll in a narrow window
		if eval[bool](b, `!!document.querySelector("dialog[open]")`) {
			shown = `Math.max(...[...document.querySelectorAll("dialog[open], dialog[open] .body")]
				.map((e) => e.scrollWidth - e.clientWidth))`
		}
		if wide := eval[float64](b, shown); wide > 0 {
			b.Errorf("%s at %d is %v pixels too wide", name, width, wide)
		}
		for _, scheme := range []string{"light", "dark"} {
			if *screens != "" {
				b.scheme(scheme)
				b.picture(fmt.Sprintf("%s-%d-%s", name, width, scheme))
			}
		}
	}
	b.do(chromedp.EmulateViewport(1440, 900))
}

// TestKeeping: the files as they are are saved, with a message and a name; a moment is named, a name moved from one to
// another and taken away. Each says so where its request is lost, and is done once.
func TestKeeping(t *testing.T) {
	p, _ := usual(t)
	b := profile(t)
	b.faulty()
	b.enter(p)
	p.write("mine.txt", "mine\n")
	b.open("")
	b.ask(`[data-act=save]`)
	b.says("dialog.sheet", "mine.txt")
	b.says("dialog.sheet", "No file is changed")
	b.pictures("save")
	b.do(chromedp.SendKeys(chromedp.CSS(`dialog.sheet [name=message]`), "before lunch"))
	b.do(chromedp.SendKeys(chromedp.CSS(`dialog.sheet [name=tag]`), "lunch"))
	b.fails(p, "Saved: before lunch")
	if out := p.rewind("show", "lunch"); !strings.Contains(out, "before lunch") || !strings.Contains(out, "mine.txt") {
		t.Errorf("what is saved: %s", out)
	}
	b.open("")
	b.ask(`[data-act=save]`)
	b.says("dialog.sheet", "Nothing has changed since the newest checkpoint")
	b.do(chromedp.SendKeys(chromedp.CSS(`dialog.sheet [name=message]`), "after lunch"))
	b.do(chromedp.SendKeys(chromedp.CSS(`dialog.sheet [name=tag]`), "not a name"))
	b.confirm("Saved: after lunch")
	b.says(".notice", "It is saved, without the name “not a name”")

	b.moment("document it")
	b.more(`[data-act=tag]`)
	b.wait(previewed)
	b.says("dialog.sheet h2", "Name turn 2")
	b.do(chromedp.SendKeys(chromedp.CSS(`dialog.sheet [name=tag]`), "works"))
	b.pictures("tag")
	b.fails(p, "Named: turn 2")
	b.moment("fix the parser")
	b.more(`[data-act=tag]`)
	b.wait(previewed)
	b.do(chromedp.SendKeys(chromedp.CSS(`dialog.sheet [name=tag]`), "works"))
	b.click(`dialog.sheet button[value=do]`)
	b.says("dialog.sheet", "is the name of turn 2")
	b.click(`dialog.sheet [name=force]`)
	b.confirm("Named: turn 1")
	if out := p.rewind("tag"); !strings.Contains(out, "works") || strings.Contains(out, "document it") {
		t.Errorf("the name was not moved: %s", out)
	}
	b.moment("fix the parser")
	b.says("main .pill", "works")
	b.ask(`main [data-act=untag]`)
	b.fails(p, "Took the name “works” away")
	if out := p.rewind("tag"); strings.Contains(out, "works") {
		t.Errorf("the name is there: %s", out)
	}
	b.moment("fix the parser")
	b.more(`[data-act=tag]`)
	b.wait(previewed)
	b.do(chromedp.SendKeys(chromedp.CSS(`dialog.sheet [name=tag]`), "not a name"))
	b.click(`dialog.sheet button[value=do]`)
	b.says("dialog.sheet .fate", "tag")
	b.expect("status of 400")
}

// TestDifferences: what has changed since a moment, and between any two, one way and the other.
func TestDifferences(t *testing.T) {
	p, _ := usual(t)
	b := profile(t)
	b.enter(p)
	p.write("mine.txt", "mine\n")
	b.open("/diff")
	b.says("main h1", "the files as they are")
	b.says("main", "mine.txt")
	b.moment("document it")
	b.more(`[data-since]`)
	b.says("main", "CHANGES.md")
	b.says("main", "mine.txt")
	b.pictures("since")
	b.hit(`[...document.querySelectorAll("main a.button")].find((a) => a.textContent === "The other way round")`)
	b.wait(`document.querySelector("main h1").textContent.trim().startsWith("the files as they are")`)
	b.says("main .status.deleted", "deleted")

	b.open("")
	b.press("c")
	b.says(".versus", "Compare")
	b.press("c")
	b.says(".versus", "choose another moment first")
	b.press("j")
	b.press("j")
	b.pictures("versus")
	b.click(`.versus a`)
	b.wait(`location.pathname.endsWith("/diff") && document.querySelector("main h1")`)
	b.wait(`document.querySelector(".versus").hidden`)
	b.says("main h1", "turn 3")
	turned := eval[string](b, `document.querySelector("main a.button").href`)
	if !strings.Contains(turned, "from=") || !strings.Contains(turned, "to=") {
		t.Error(turned)
	}
	b.open("")
	b.press("d")
	b.wait(`location.pathname.endsWith("/diff")`)
	b.moment("document it")
	b.more(`[data-versus]`)
	b.says(".versus", "document it")
	b.open("/ops")
	b.says(".versus", "document it")
	b.click(`.versus button`)
	b.wait(`document.querySelector(".versus").hidden`)
}

// TestReverting: a turn is taken out of the files, what came after it stays, and it can be undone.
func TestReverting(t *testing.T) {
	p, _ := usual(t)
	b := profile(t)
	b.faulty()
	b.enter(p)
	whole := p.read("README.md")
	b.moment("document it")
	b.ask(`main [data-act=revert]`)
	b.says("dialog.sheet h2", "Take out the change of turn 2")
	b.says("dialog.sheet", "README.md")
	b.pictures("revert")
	b.fails(p, "Took out the change of turn 2")
	if p.read("README.md") == whole || p.read("CHANGES.md") == "" || p.read("store/all.go") == "" {
		t.Error("not the turn alone was taken out")
	}
	b.ask(`.notice [data-act="undo-restore"]`)
	b.confirm("Undone")
	if p.read("README.md") != whole {
		t.Error("it was not undone")
	}

	p.write("README.md", strings.Replace(whole, "notes.Parse(text)", "notes.Parse(mine)", 1))
	b.moment("document it")
	b.ask(`main [data-act=revert]`)
	b.says("dialog.sheet", "yours")
	b.choose(`dialog.sheet [name=merge]`)
	b.says("dialog.sheet", "would have conflict markers")
	b.confirm("Took out the change of turn 2")
	b.says(".notice", "conflict markers now")
	if !strings.Contains(p.read("README.md"), "<<<<<<<") {
		t.Errorf("there are no markers: %s", p.read("README.md"))
	}
}
