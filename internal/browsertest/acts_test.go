package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// ask presses a button and waits for the sheet that says what it would do.
func (b *tab) ask(selector string) {
	b.Helper()
	b.click(selector)
	b.wait(previewed)
}

// previewed is whether a sheet says what would be done: it is no outline, nor that of an earlier choice.
const previewed = `document.querySelector("dialog.sheet[open]:not([aria-busy=true]) form:not([data-old])") && ` +
	`!document.querySelector("dialog.sheet .skeleton")`

// confirm does what the sheet says and waits for the notice.
func (b *tab) confirm(words string) {
	b.Helper()
	b.wait(stands)
	b.click(`dialog.sheet button[value=do]`)
	b.wait(`!document.querySelector("dialog.sheet[open]")`)
	b.says(".notice", words)
}

// stands is whether the sheet's button is where it was a look before: the mouse comes a while behind what is measured,
// and on a busy machine to where the button no longer is.
const stands = `(() => {
	const {x, y} = document.querySelector("dialog.sheet button[value=do]").getBoundingClientRect();
	const was = window.stoodAt;
	window.stoodAt = x + " " + y;
	return was === window.stoodAt;
})()`

// choose makes a choice of the sheet, and waits for what would be done then.
func (b *tab) choose(selector string) {
	b.Helper()
	b.eval(`document.querySelector("dialog.sheet form").dataset.old = "1"`)
	b.click(selector)
	b.wait(previewed)
}

// moment opens a checkpoint that the log has with some words.
func (b *tab) moment(words string) {
	b.Helper()
	b.open("")
	b.open(b.row(words))
}

const here = `main [data-act="checkout"]`

// TestGoingBack: from the button to the files and the conversation, and back again by the notice and by the list of
// restores.
func TestGoingBack(t *testing.T) {
	p, _ := usual(t)
	b := profile(t)
	b.enter(p)
	whole := p.read("README.md")

	b.moment("fix the parser")
	b.ask(here)
	b.says("dialog.sheet", "README.md")
	b.says("dialog.sheet", "goes on in a new session")
	b.says("dialog.sheet", "3 turns and 3 checkpoints lie behind it")
	b.says("dialog.sheet", "can be undone for 180 days")
	if p.read("README.md") != whole {
		t.Error("looking changed a file")
	}
	b.do(chromedp.SendKeys(chromedp.CSS(`dialog.sheet [name=tag]`), "kept-name"))
	b.confirm("Went to")
	if got := p.read("README.md"); got == whole || p.read("CHANGES.md") != "" {
		t.Errorf("it did not go back: %s", got)
	}
	b.says(".notice .resume", "claude --resume")
	b.says(".notice", "Rewound from turn 3 of ")
	b.says(".notice", "The prompt that was taken back")
	if tags := p.rewind("tag"); !strings.Contains(tags, "kept-name") {
		t.Errorf("no tag: %s", tags)
	}
	b.ask(`.notice [data-act="undo-restore"]`)
	b.confirm("Undone")
	if p.read("README.md") != whole || p.read("CHANGES.md") == "" {
		t.Error("the notice's undo did not bring it back")
	}

	b.moment("fix the parser")
	b.ask(here)
	b.choose(`dialog.sheet [value=code]`)
	b.confirm("Went to")
	if p.read("README.md") == whole {
		t.Error("code only did not go back")
	}
	b.open("/ops")
	b.ask(`.ops [data-act="undo-restore"]`)
	b.confirm("Undone")
	if p.read("README.md") != whole {
		t.Error("the list's undo did not bring it back")
	}

	b.moment("fix the parser")
	b.ask(here)
	b.choose(`dialog.sheet [value=conversation]`)
	b.confirm("Went to")
	if p.read("README.md") != whole {
		t.Error("conversation only changed code")
	}

	b.moment("document it")
	b.ask(`main [data-act="checkout"]:nth-of-type(2)`)
	b.says("dialog.sheet", "The prompt that is taken back")
	b.choose(`dialog.sheet [value=code]`)
	b.confirm("Went to")
	if strings.Contains(b.text(), "The prompt that was taken back") {
		t.Error("the code alone took the prompt back")
	}
	if p.read("README.md") == whole || p.read("parser.go") == "" {
		t.Error("before the turn is not the state before it")
	}
	b.open("/c/" + b.checkpoint("document it") + "/file?path=README.md")
	b.ask(here)
	b.confirm("Brought back")
	if p.read("README.md") != whole || p.read("CHANGES.md") != "" {
		t.Error("one file is not what came back")
	}
}

// TestChangedMeanwhile: what was shown is done, or nothing; what a checkpoint does not have stays unless it is asked
// for exactly.
func TestChangedMeanwhile(t *testing.T) {
	p, _ := usual(t)
	b := profile(t)
	b.enter(p)
	b.moment("fix the parser")
	b.ask(here)
	b.choose(`dialog.sheet [value=code]`)
	p.write("README.md", "somebody's\n")
	p.write("mine.txt", "of no checkpoint\n")
	b.click(`dialog.sheet button[value=do]`)
	b.says("dialog.sheet[open]", "Something changed since this was shown")
	if p.read("README.md") != "somebody's\n" || p.read("CHANGES.md") == "" {
		t.Error("something was done")
	}
	b.confirm("Went to")
	if p.read("mine.txt") == "" || p.read("CHANGES.md") != "" {
		t.Error("what the second sheet said was not done")
	}

	p.open("run for long")
	b.moment("document it")
	b.ask(here)
	b.says("dialog.sheet .alarm", "is at work")
	b.click(`dialog.sheet [value=cancel]`)
	b.wait(`!document.querySelector("dialog.sheet[open]")`)
}

// TestBranches: fork, another directory, clone, switch, rename, promote, archive, delete, and a pick from a comparison.
func TestBranches(t *testing.T) {
	p, fork := usual(t)
	b := profile(t)
	b.enter(p)
	b.moment("document it")
	b.ask(`main [data-act=fork]`)
	b.do(chromedp.SendKeys(chromedp.CSS(`dialog.sheet [name=title]`), "a third way"))
	b.confirm("Forked")
	b.ask(`main [data-act=worktree]`)
	b.confirm("Forked")
	if _, err := os.Stat(filepath.Join(p.dir+"-2", "README.md")); err != nil {
		t.Error(err)
	}
	of := fork
	menu := func(verb string) {
		t.Helper()
		b.open("/tree")
		row := fmt.Sprintf(`li:has([data-act="%s"][data-name*="%s"])`, verb, of)
		b.click(row + ` button.more`)
		b.ask(row + fmt.Sprintf(` [data-act="%s"]`, verb))
	}
	menu("clone")
	b.confirm("Cloned")
	menu("rename")
	b.do(chromedp.SetValue(chromedp.CSS(`dialog.sheet [name=title]`), "called anew"))
	b.confirm("Renamed")
	b.open("/tree")
	b.says(".tree", "called anew")
	of = first
	menu("switch")
	b.confirm("Switched")
	if p.read("store/doc.go") != "" || p.read("CHANGES.md") == "" {
		t.Error("it did not switch to the first")
	}
	of = fork
	menu("switch")
	b.confirm("Switched")
	if p.read("store/doc.go") == "" {
		t.Error("it did not switch back")
	}
	b.open("/compare?a=claude/" + first + "&b=claude/" + fork)
	b.ask(`[data-act=pick]`)
	b.says("dialog.sheet", "of the change")
	b.confirm("Brought in")
	menu("promote")
	b.confirm("Promoted")
	menu("archive")
	b.confirm("Archived")
	menu("delete")
	if eval[bool](b, `!!document.querySelector("dialog.sheet [name=last]")`) {
		b.click(`dialog.sheet [name=last]`)
	}
	b.confirm("Deleted")
}

// TestKeys: all that the sheet of keys names, without a mouse; dialogs give the focus back.
func TestKeys(t *testing.T) {
	p, _ := usual(t)
	p.rewind("checkout", "turn:3", "--code-only", "--session", first)
	b := profile(t)
	b.enter(p)
	chosen := `document.querySelector(".row a[aria-current]").closest(".row").dataset.id`
	top := until[string](b, chosen)
	for _, down := range []string{"j", "["} {
		b.press(down)
		b.wait(chosen + ` !== "` + top + `" && document.querySelector("#moment [data-moment]").dataset.moment === ` + chosen)
		b.press(map[string]string{"j": "k", "[": "]"}[down])
		b.wait(chosen + ` === "` + top + `"`)
	}
	sheet, closed := previewed, `!document.querySelector("dialog[open]")`
	for _, key := range []string{"g", "b", "f", "u"} {
		b.press(key)
		b.wait(sheet)
		b.press("\x1b")
		b.wait(closed)
	}
	b.press("[") // from "make the store larger" to what was before it, and back, by keys alone
	b.wait(chosen + ` !== "` + top + `"`)
	for _, going := range []struct {
		key, words string
		store      bool
	}{{"g", "Went to", false}, {"u", "Undone", true}} {
		b.press(going.key)
		b.wait(sheet)
		b.wait(`document.activeElement.matches("dialog.sheet")`)
		b.press("\r")
		b.wait(closed)
		b.says(".notice", going.words)
		if (p.read("store/all.go") != "") != going.store {
			t.Errorf("%s: %s", going.key, p.rewind("status"))
		}
	}
	split := eval[bool](b, `!!document.querySelector(".diff.split")`)
	b.press("s")
	b.wait(fmt.Sprintf(`!!document.querySelector(".diff.split") !== %v`, split))
	b.press("/")
	b.wait(`document.activeElement.type === "search"`)
	b.press("\x1b")
	b.wait(`document.activeElement.type !== "search"`)
	for _, key := range []string{"t tree", "a lanes", "r ops", "l timeline"} {
		b.press(key[:1])
		b.wait(`document.querySelector("main").dataset.at === "` + key[2:] + `" && document.readyState === "complete"`)
	}
	b.do(chromedp.Focus(chromedp.CSS("[data-keys]")))
	b.press("\r")
	b.wait(`document.querySelector("dialog.keys[open]")`)
	b.press("\x1b")
	b.wait(closed + ` && document.activeElement.matches("[data-keys]")`)
	b.do(chromedp.Reload())
	b.wait(`document.readyState === "complete"`)
	b.press("\t")
	b.wait(`document.activeElement.matches(".skip")`)
	b.press("\r")
	b.wait(`document.activeElement.id === "main"`)
}
