package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestMerged: of a file that a going back merges the sheet has what becomes of it, from what it is now, and that is
// done. So it is of a change that is taken out.
func TestMerged(t *testing.T) {
	p := newProject(t)
	between := strings.Repeat("between\n", 9)
	p.write("both.txt", "first\n"+between+"last\n")
	p.rewind("save", "what I began")
	p.turn("change the first line", p.sets("both.txt", "first of the agent\n"+between+"last\n"))
	p.write("both.txt", "first of the agent\n"+between+"last of mine\n")
	p.rewind("save", "what I did")
	b := profile(t)
	b.enter(p)
	const lines = `[...document.querySelectorAll(".sheet .diff > :is(ins, del)")]
		.map((e) => e.tagName + " " + e.textContent.trim()).join()`
	const back = "DEL first of the agent,INS first"
	b.moment("change the first line")
	b.ask(`main [data-act="checkout"]:nth-of-type(2)`)
	b.says("dialog.sheet", "1 file merged")
	b.picture("sheet-merged")
	if has := eval[string](b, lines); has != back {
		t.Errorf("the sheet of going back says %s", has)
	}
	b.press("\x1b")
	b.wait(`!document.querySelector("dialog[open]")`)
	b.ask(`[data-act="revert"]`)
	if has := eval[string](b, lines); has != back {
		t.Errorf("the sheet of taking it out says %s", has)
	}
	b.press("\x1b")
	b.wait(`!document.querySelector("dialog[open]")`)
	b.ask(`main [data-act="checkout"]:nth-of-type(2)`)
	b.confirm("Went to")
	if got := p.read("both.txt"); got != "first\n"+between+"last of mine\n" {
		t.Errorf("it became %q", got)
	}
}

// TestReturned: a file that its person removed behind a turn that had changed it comes back when that is taken back.
// The sheet says so, and the notice.
func TestReturned(t *testing.T) {
	p := newProject(t)
	p.write("gone.txt", "first\n")
	p.rewind("save", "what I began")
	p.turn("change it", p.sets("gone.txt", "of the agent\n"))
	p.must(os.Remove(filepath.Join(p.dir, "gone.txt")))
	b := profile(t)
	b.enter(p)
	b.moment("change it")
	b.ask(`main [data-act="checkout"]:nth-of-type(2)`)
	b.says("dialog.sheet", "1 file that you had removed comes back")
	b.picture("sheet-returned")
	b.confirm("Went to")
	b.says(".notice", "1 file that you had removed came back")
	if got := p.read("gone.txt"); got != "first\n" {
		t.Errorf("it became %q", got)
	}
}

// TestSheet: heading and buttons of a sheet stand, however much is in it, and the middle scrolls from its beginning;
// the
// focus is on the sheet, where Enter does what it says. What is taken back, what is yours and what is kept are groups,
// and each file shows what changes in it.
func TestSheet(t *testing.T) {
	p, _ := usual(t)
	p.turn("write many", func() {
		for i := range 60 {
			p.write(fmt.Sprintf("many/file%02d.txt", i), "one\ntwo\n")
		}
		p.write("README.md", p.read("README.md")+"\nA line of the turn.\n")
	})
	p.write("mine.txt", "mine\n")
	p.rewind("save", "what I wrote")
	b := profile(t)
	b.enter(p)
	b.moment("fix the parser")
	cp := until[string](b, `document.querySelector('a[href$="/files"]').pathname.match(/\/c\/([0-9a-f]+)\/files/)[1]`)
	b.open("/c/" + cp) // its state, and not the turn: what is yours goes
	const at = `((e) => { const r = document.querySelector(e).getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight && r.height > 0; })`
	for _, size := range [][2]int64{{1440, 900}, {1024, 600}, {390, 700}} {
		b.do(chromedp.EmulateViewport(size[0], size[1]))
		b.open("/c/" + cp)
		b.ask(here)
		for _, stands := range []string{
			"#sheet-title", "dialog.sheet button[value=do]",
			"dialog.sheet button[value=cancel]",
		} {
			if !eval[bool](b, at+fmt.Sprintf("(%q)", stands)) {
				t.Errorf("%v: %s is out of sight", size, stands)
			}
		}
		b.wait(`document.activeElement.matches("dialog.sheet")`)
		if eval[bool](b,
			`((e) => e.scrollTop !== 0 || e.scrollHeight <= e.clientHeight)(document.querySelector(".sheet .body"))`) {
			t.Errorf("%v: the middle does not scroll from its beginning", size)
		}
		if wide := eval[float64](b,
			`((e) => e.scrollWidth - e.clientWidth)(document.querySelector(".sheet .body"))`); wide > 0 {
			t.Errorf("%v: what is in the sheet is %v pixels too wide", size, wide)
		}
		for _, scheme := range []string{"light", "dark"} {
			b.scheme(scheme)
			b.picture(fmt.Sprintf("sheet-%d-%s", size[0], scheme))
		}
		b.press(" ")
		b.wait(`document.querySelector(".sheet .body").scrollTop > 0`)
		b.press("\x1b")
		b.wait(`!document.querySelector("dialog[open]")`)
	}
	b.do(chromedp.EmulateViewport(1440, 900))
	b.ask(here)
	groups := eval[string](b,
		`[...document.querySelectorAll(".sheet h3")].map((e) => e.firstChild.textContent.trim()).join()`)
	if groups != "Taken back,Yours,Conversation" {
		t.Errorf("the groups are %s", groups)
	}
	const readme = `[...document.querySelectorAll(".sheet details.file")].find((e) => e.textContent.includes("README.md"))`
	b.hit(readme + `.querySelector("summary")`)
	b.wait(readme + `.querySelector(".diff > del")?.textContent.includes("## Use") || ` + readme + `.innerText.includes("A line of the turn.")`)
	if n := eval[int](b, readme+`.querySelectorAll(".diff > ins").length`); n != 0 {
		t.Errorf("going back adds %d lines", n)
	}
	b.press("\x1b")

	b.moment("write many")
	b.ask(`main [data-act="checkout"]:nth-of-type(2)`)
	b.says(".sheet h3", "Taken back")
	b.says(".sheet", "The prompt that is taken back")
	b.choose(`dialog.sheet [value=code]`)
	if !eval[bool](b, `document.activeElement.value === "code"`) {
		t.Error("the focus leaves the choice")
	}
	b.eval(`document.querySelector("dialog.sheet").focus()`)
	b.press("\r")
	b.says(".notice", "Went to")
	if strings.Contains(p.read("README.md"), "A line of the turn") || p.read("mine.txt") == "" {
		t.Error("it did not go back as it said")
	}

	b.moment("leave the store") // a few files: what changes in them is there at once
	b.ask(`main [data-act="checkout"]:nth-of-type(2)`)
	b.press("\x1b")
	b.open("/compare?a=claude/" + first + "&b=another way")
	b.ask(`[data-act=pick]`)
	b.says(".sheet h3", "Brought here")
	b.wait(`document.querySelector(".sheet .diff > ins, .sheet .diff > del")`)
}
