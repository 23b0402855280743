package browsertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestPurging: what would go is shown and asked about; nothing goes before, and then it goes for good, once, whatever
// becomes of the requests. By a file, by a text, and by what a moment says of itself.
func TestPurging(t *testing.T) {
	p, _ := usual(t)
	const key = "AKIA" + "Q3EGRIQ4WUBIY5T7"
	p.turn("keep the key", p.sets("keys.env", "AWS_ACCESS_KEY_ID="+key+"\n"))
	p.turn("note a word", p.sets("notes.txt", "the word is xylophone-banana\n"))
	p.must(os.Remove(filepath.Join(p.dir, "notes.txt")))
	b := profile(t)
	b.faulty()
	b.enter(p)
	cp := b.checkpoint("note a word")
	b.open("/c/" + cp + "/file?path=keys.env")
	b.ask(`main [data-act=purge]`)
	b.says("dialog.sheet h2", "Purge keys.env")
	b.says("dialog.sheet", "It cannot be undone")
	b.says("dialog.sheet", "Still in the project")
	b.pictures("purge")
	b.click(`dialog.sheet button[value=do]`) // the browser asks for the tick
	b.wait(`!document.querySelector("dialog.sheet [name=sure]").checked`)
	if !strings.Contains(p.rewind("cat", cp+":keys.env"), key) {
		t.Fatal("it was purged before anybody said so")
	}
	b.click(`dialog.sheet [name=sure]`)
	b.fails(p, "Purged for good: keys.env")
	b.says(".notice", "Still in the project")
	if n := eval[int](b, `document.querySelectorAll('.notice [data-act="undo-restore"]').length`); n != 0 {
		t.Error("it offers to undo it")
	}
	if out, err := p.command("cat", cp+":keys.env").CombinedOutput(); err == nil || strings.Contains(string(out), key) {
		t.Errorf("it is there: %s", out)
	}

	b.open("")
	b.ask(`.log [data-act=purge]`)
	b.says("dialog.sheet h2", "Purge a secret")
	b.pictures("purge-text")
	b.do(chromedp.SendKeys(chromedp.CSS(`dialog.sheet [name=text]`), "no file has this word"))
	b.click(`dialog.sheet button[value=do]`)
	b.says("dialog.sheet", "No file of any checkpoint and no conversation has it")
	b.do(chromedp.SetValue(chromedp.CSS(`dialog.sheet [name=text]`), "xylophone-banana"))
	b.eval(`document.querySelector("dialog.sheet [name=text]").dispatchEvent(new Event("change", { bubbles: true }))`)
	b.says("dialog.sheet", "notes.txt")
	b.click(`dialog.sheet [name=sure]`)
	p.write("again.txt", "xylophone-banana, too\n") // what was shown is not all any more
	p.rewind("save")
	b.click(`dialog.sheet button[value=do]`)
	b.says("dialog.sheet", "Something changed since this was shown")
	b.says("dialog.sheet", "again.txt")
	b.click(`dialog.sheet [name=sure]`)
	b.confirm("Purged for good: what has a text in it")
	if strings.Contains(eval[string](b, `document.querySelector(".notices").outerHTML`), "xylophone") {
		t.Error("the notice has the text")
	}
	if out, err := p.command("grep", "xylophone").CombinedOutput(); err == nil {
		t.Errorf("it is there: %s", out)
	}
	b.expect("status of 404", "status of 400")
}

// TestPurgingFound: a secret that was said in a conversation is named beside its moment, by what it is and where. From
// there it is purged by its name, without anybody typing it; nothing goes before somebody says so.
func TestPurgingFound(t *testing.T) {
	p := newProject(t)
	const key = "AKIA" + "Q3EGRIQ4WUBIY5T7"
	p.turn("fix the parser", p.sets("parser.go", "package notes\n"))
	p.turn("print the environment", func() {
		p.say("assistant", []any{map[string]any{"type": "text", "text": "It says AWS_ACCESS_KEY_ID=" + key}})
		p.write("done.txt", "done\n")
	})
	b := profile(t)
	b.enter(p)
	row := b.row("print the environment")
	const found = `document.querySelector("main [data-act=purge][data-found]")`
	for range 200 { // conversations are searched behind the captures
		if b.open(row); eval[bool](b, "!!"+found) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	b.says(".pill", "may hold a secret")
	name := eval[string](b, found+".dataset.found")
	b.ask(`main [data-act=purge][data-found]`)
	b.says("dialog.sheet h2", "Purge what was found in a conversation: "+name)
	b.says("dialog.sheet", "It cannot be undone")
	b.says("dialog.sheet", "The agents' own session files, which still have it")
	b.pictures("purge-found")
	if eval[bool](b, `document.querySelector("dialog.sheet [name=text]") !== null`) {
		t.Error("it asks for the text of what was found")
	}
	b.click(`dialog.sheet button[value=do]`) // the browser asks for the tick
	b.wait(`!document.querySelector("dialog.sheet [name=sure]").checked`)
	if out, _ := p.command("grep", "--conversation", key).CombinedOutput(); !strings.Contains(string(out), "It says") {
		t.Fatalf("it was purged before anybody said so: %s", out)
	}
	b.click(`dialog.sheet [name=sure]`)
	b.confirm("Purged for good: what was found in a conversation: " + name)
	if strings.Contains(eval[string](b, `document.querySelector(".notices").outerHTML`), key) {
		t.Error("the notice has the secret")
	}
	if out, _ := p.command("grep", "--conversation", key).CombinedOutput(); strings.Contains(string(out), "It says") {
		t.Errorf("it is there: %s", out)
	}
	b.open(row)
	if eval[bool](b, "!!"+found) {
		t.Error("what was purged is named still")
	}
}
