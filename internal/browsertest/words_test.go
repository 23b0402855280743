package browsertest

import (
	"strings"
	"testing"
)

// heads are the headings of the sheets of acts on a session, in the tree.
var heads = map[string]string{
	"clone": "Clone “fix the parser”: make a session like it", "rename": "Rename “fix the parser”",
	"archive": "Archive “fix the parser”", "delete": "Delete “fix the parser”",
}

// TestWords: the sheet of each act is headed by a sentence that says what is done to what, and says what becomes of
// sessions before it is done.
func TestWords(t *testing.T) {
	p, fork := usual(t)
	b := profile(t)
	b.enter(p)
	head := func(selector, want string) {
		t.Helper()
		b.ask(selector)
		if got := eval[string](b, `document.querySelector("#sheet-title").innerText`); got != want {
			t.Errorf("the sheet is headed %q, and not %q", got, want)
		}
	}
	shut := func() {
		b.press("\x1b")
		b.wait(`!document.querySelector("dialog[open]")`)
	}
	for verb, want := range heads {
		b.open("/tree")
		row := `li:has(button[data-act="` + verb + `"][data-name*="` + first + `"])`
		b.click(row + " button.more")
		head(row+` [data-act="`+verb+`"]`, want)
	}
	b.open("/tree")
	row := `li:has(button[data-act="promote"][data-name*="` + fork + `"])`
	b.click(row + " button.more")
	head(row+` [data-act="promote"]`, "Make “[Fork @2] another way” the main session")
	b.says("dialog.sheet", ") will be main")
	b.open("/compare?a=claude/" + first + "&b=claude/" + fork)
	head(`[data-act="pick"][data-name*="`+first+`"]`, "Bring here the change of turn 3 of 5f1c0d2e: make the store larger")
	b.open("/s/claude/" + first + "/t/2")
	head(here, "Go back to turn 2 of 5f1c0d2e: document it")
	shut()
	head(`main [data-act="fork"]`, "Fork: make the session “[Fork @2] fix the parser”")
	shut()
	head(`main [data-act="worktree"]`, "Fork into another directory: make the session “[Fork @2] fix the parser”")
	shut()
	b.ask(here)
	b.confirm("Went to turn 2 of 5f1c0d2e: document it")
	b.ask(`.notice [data-act="undo-restore"]`)
	if got := eval[string](b, `document.querySelector("#sheet-title").innerText`); !strings.HasPrefix(got, "Undo: return to ") {
		t.Errorf("an undo is headed %q", got)
	}
}

// TestNoticesGo: what is told of an act goes when that is undone, by the page or elsewhere.
func TestNoticesGo(t *testing.T) {
	p, _ := usual(t)
	b := profile(t)
	b.enter(p)
	b.open("/s/claude/" + first)
	b.hit(`[...document.querySelectorAll(".row")].find((r) => r.innerText.includes("document it")).querySelector("a")`)
	b.says("#moment h1", "document it")
	b.ask(`#moment [data-act="checkout"]`)
	b.confirm("Went to turn 2")
	b.press("u")
	b.wait(previewed)
	b.confirm("Undone")
	b.wait(`document.querySelectorAll(".notice").length === 1`)
	p.rewind("undo-restore", eval[string](b, `document.querySelector('.notice [data-act="undo-restore"]').dataset.name`))
	b.wait(`document.querySelectorAll(".notice").length === 0`)
}

// TestConflict: a change that collides has no plain button, and says that markers are in the file then, with the way to
// them.
func TestConflict(t *testing.T) {
	p := newProject(t)
	text := "# notes\n\nA small library.\n"
	p.turn("one way", p.sets("README.md", text+"\nOne way.\n"))
	p.rewind("checkout", "before:1@"+first, "--code-only")
	p.begin("00000002-1111-4222-8333-444455556666")
	p.turn("the other way", p.sets("README.md", text+"\nThe other way.\n"))
	b := profile(t)
	b.enter(p)
	b.open("/compare?a=claude/" + first + "&b=claude/" + p.session)
	b.ask(`[data-act="pick"][data-name*="` + first + `"]`)
	b.says("dialog.sheet", "1 file would have conflict markers")
	b.says("dialog.sheet .diff > ins", "<<<<<<<") // as the file will have them
	if eval[bool](b, `document.querySelector("dialog.sheet button[value=do]").matches(".main")`) {
		t.Error("a conflict has the button of what is safe")
	}
	b.confirm("1 file has conflict markers now")
	if !strings.Contains(p.read("README.md"), "<<<<<<<") {
		t.Errorf("no markers are in the file: %s", p.read("README.md"))
	}
	b.click(".notice .warn a")
	b.says(".diff", "<<<<<<<")
}
