package browsertest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// faulty has the page's requests go through window.fault(path, send), where a test has set one. lost gets no answer
// though
// it is sent, dead is not sent, wrong is answered with an error, slow takes a second and a half.
func (b *tab) faulty() {
	b.Helper()
	b.do(command(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
		const real = window.fetch.bind(window);
		window.faults = {
			lost: async (send) => { await (await send()).text(); window.sent = true; throw new TypeError("Failed to fetch"); },
			dead: async () => { throw new TypeError("Failed to fetch"); },
			wrong: async () => new Response("<p>The disk is full</p>", {status: 500}),
			slow: async (send) => { await new Promise((done) => setTimeout(done, 1500)); return send(); },
			held: (send) => new Promise((done) => { window.release = () => done(send()); }),
		};
		window.fault = null; // [what of the path, which fault]
		window.fetch = (path, words) => {
			const send = () => real(path, words);
			return window.fault && String(path).includes(window.fault[0]) ? window.faults[window.fault[1]](send) : send();
		};`}))
}

// breaks has requests whose path has some words fail in one way; "": none.
func (b *tab) breaks(path, way string) {
	b.Helper()
	if way == "" {
		b.eval(`window.fault = null`)
		return
	}
	b.eval(fmt.Sprintf(`window.fault = [%q, %q]; window.sent = false`, path, way))
}

// operations is how many there are that somebody asked for: what is found of session files comes when it comes.
func (p *project) operations() (n int) {
	p.Helper()
	var r struct{ Operations []struct{ Kind string } }
	p.must(json.Unmarshal([]byte(p.rewind("ops", "--all", "--json")), &r))
	for _, o := range r.Operations {
		switch o.Kind {
		case "event", "import", "lost", "note":
		default:
			n++
		}
	}
	return n
}

// fails has what the sheet says fail in every way, and be done once at last: the sheet stays, says why, and tries
// again.
func (b *tab) fails(p *project, words string) {
	b.Helper()
	const again = `dialog.sheet[open] .fate .again`
	press := `dialog.sheet button[value=do]`
	for _, fault := range []struct{ way, says string }{
		{"wrong", "The disk is full"}, {"dead", "The daemon does not answer"}, {
			"lost",
			"To try again does not do it twice",
		},
	} {
		b.breaks("/do", fault.way)
		b.click(press)
		b.says("dialog.sheet[open] .fate", fault.says)
		b.wait(`!document.querySelector("dialog.sheet button[value=do]").disabled`)
		press = again
	}
	b.wait(`window.sent`)
	was := p.operations()
	b.breaks("/do", "")
	b.click(again)
	b.wait(`!document.querySelector("dialog.sheet[open]")`)
	b.says(".notice", words)
	if now := p.operations(); now != was {
		b.Errorf("%s: it was done again: %d operations, and then %d: %.3000s", words, was, now, p.rewind("ops",
			"--all"))
	}
	if n := eval[int](b, `document.querySelectorAll(".notice .failure").length`); n != 0 {
		b.Errorf("%s: %d notices say that it failed", words, n)
	}
}

// TestFaults: each act whose request is lost, refused, or whose answer is lost says so, can be tried again, and is done
// once.
func TestFaults(t *testing.T) {
	p, fork := usual(t)
	b := profile(t)
	b.faulty()
	b.enter(p)
	b.moment("fix the parser")
	b.ask(here)
	b.fails(p, "Went to")
	b.ask(`.notice [data-act="undo-restore"]`)
	b.fails(p, "Undone")
	if p.read("CHANGES.md") == "" {
		t.Error("the going back was not undone")
	}
	b.moment("document it")
	b.ask(`main [data-act=fork]`)
	b.fails(p, "Forked")
	b.ask(`main [data-act=worktree]`)
	b.fails(p, "Forked")
	of := fork
	menu := func(verb, words string) {
		t.Helper()
		b.open("/tree")
		row := fmt.Sprintf(`li:has([data-act="%s"][data-name*="%s"])`, verb, of)
		b.click(row + ` button.more`)
		b.ask(row + fmt.Sprintf(` [data-act="%s"]`, verb))
		if verb == "rename" {
			b.do(chromedp.SetValue(chromedp.CSS(`dialog.sheet [name=title]`), "called anew"))
		}
		if eval[bool](b, `!!document.querySelector("dialog.sheet [name=last]")`) {
			b.click(`dialog.sheet [name=last]`)
		}
		b.fails(p, words)
	}
	menu("clone", "Cloned")
	menu("rename", "Renamed")
	of = first
	menu("switch", "Switched")
	of = fork
	menu("switch", "Switched")
	b.open("/compare?a=claude/" + first + "&b=claude/" + fork)
	b.ask(`[data-act=pick]`)
	b.fails(p, "Brought in")
	menu("promote", "Promoted")
	menu("archive", "Archived")
	menu("delete", "Deleted")
	p.rewind("checkout", "turn:1", "--code-only", "--session", first)
	b.open("/s/claude/" + first)
	b.ask(`.ahead li:nth-child(1) [data-act=forward]`)
	b.fails(p, "Went forward")
}

// TestFaultyPlans: a preview that does not come says so in the sheet, and is asked for again; one that is slow is
// drawn in
// outline; another choice cannot be done before its plan is there. What is being done when its sheet is closed is told.
func TestFaultyPlans(t *testing.T) {
	p, _ := usual(t)
	b := profile(t)
	b.faulty()
	b.enter(p)
	b.moment("fix the parser")
	for way, says := range map[string]string{"wrong": "The disk is full", "dead": "The daemon does not answer"} {
		b.breaks("/plan", way)
		b.click(here)
		b.says("dialog.sheet[open] .failure", says)
		b.breaks("/plan", "")
		b.click("dialog.sheet .again")
		b.wait(`document.querySelector("dialog.sheet[open] button[value=do]")`)
		b.press("\x1b")
		b.wait(`!document.querySelector("dialog[open]")`)
	}
	b.breaks("/plan", "held")
	b.click(here)
	b.wait(`document.querySelector("dialog.sheet[open] .skeleton")`)
	b.eval(`release()`)
	b.wait(`document.querySelector("dialog.sheet[open] button[value=do]")`)
	b.eval(`window.release = null`)
	b.eval(`((e) => { e.focus(); e.click(); })(document.querySelector("dialog.sheet [value=code]"))`)
	b.wait(`window.release && document.querySelector("dialog.sheet[aria-busy=true]")`)
	if b.eval(`document.querySelector("dialog.sheet button[value=do]")?.click()`); p.read("CHANGES.md") == "" {
		t.Error("what was not shown was done")
	}
	b.breaks("/plan", "")
	b.eval(`release()`)
	b.wait(previewed)
	b.wait(`document.activeElement.value === "code"`) // who chooses stays where they are

	b.breaks("/do", "slow")
	b.click(`dialog.sheet button[value=do]`)
	b.says("dialog.sheet", "Doing it…")
	b.press("\x1b")
	b.wait(`!document.querySelector("dialog[open]")`)
	b.says(".notice", "Went to")
	b.ask(`.notice [data-act="undo-restore"]`)
	b.breaks("/do", "lost")
	b.click(`dialog.sheet button[value=do]`)
	b.press("\x1b")
	b.says(".notice.bad", "The daemon does not answer")
	b.breaks("/do", "")
	b.click(`.notice.bad .again`)
	b.says(".notice", "Undone")
	b.wait(`!document.querySelector(".notice.bad")`)
	if p.read("CHANGES.md") == "" {
		t.Error("it was not undone")
	}
}

// process is the daemon's.
func (p *project) process() int {
	p.Helper()
	id, err := strconv.Atoi(regexp.MustCompile(`process (\d+)`).FindStringSubmatch(p.rewind("daemon", "status"))[1])
	p.must(err)
	return id
}

// TestKilledInAnAct: the daemon is killed while an act is asked for. The sheet says that nobody knows; with the next
// daemon it is tried again, and done once.
func TestKilledInAnAct(t *testing.T) {
	p, _ := usual(t)
	b := profile(t)
	b.enter(p)
	b.moment("fix the parser")
	for _, act := range []struct{ button, words string }{{here, "Went to"}, {`main [data-act=fork]`, "Forked"}} {
		b.ask(act.button)
		id := p.process()
		p.must(syscall.Kill(id, syscall.SIGSTOP)) // it is killed before it answers
		b.click(`dialog.sheet button[value=do]`)
		b.says("dialog.sheet", "Doing it…")
		p.must(syscall.Kill(id, syscall.SIGKILL))
		b.says("dialog.sheet[open] .fate", "It is not known whether it was done")
		p.rewind("list", "--limit", "1") // it starts the next one
		was := p.operations()
		b.wait(`document.querySelector(".offline").hidden`)
		b.click("dialog.sheet .again")
		b.says(".notice", act.words)
		if now := p.operations(); now == was {
			t.Errorf("%s: nothing was done", act.words)
		}
	}
	if p.read("CHANGES.md") != "" {
		t.Error("it did not go back")
	}
	b.expect(unreached)
}

// TestChosenIsShown: the pane shows the chosen row or says why not, and keys act on nothing else: while it is slow,
// when it
// fails, and when another row is chosen meanwhile.
func TestChosenIsShown(t *testing.T) {
	p, _ := usual(t)
	b := profile(t)
	b.faulty()
	b.enter(p)
	b.open("")
	const chosen = `document.querySelector("[data-rows] a[aria-current]").closest(".row").dataset.id`
	const shown = `document.querySelector("#moment [data-moment]")?.dataset.moment`
	closed := `!document.querySelector("dialog[open]")`
	b.wait(chosen + ` === ` + shown)
	for way, says := range map[string]string{"wrong": "The disk is full", "dead": "The daemon does not answer"} {
		was := eval[string](b, chosen)
		b.breaks("/t/", way)
		b.press("j")
		b.wait(chosen + ` !== "` + was + `"`)
		b.says("#moment .failure", says)
		b.press("g")
		b.says(".notice.bad", "Nothing is shown that this can be done with")
		if !eval[bool](b, closed) {
			t.Error("what is not chosen can be done")
		}
		b.breaks("", "")
		b.click("#moment .again")
		b.wait(chosen + ` === ` + shown)
		b.click(".notice.bad .close")
	}
	was := eval[string](b, chosen)
	b.breaks("/t/", "held")
	b.press("k")
	b.wait(`document.querySelector("#moment .skeleton") && window.release`)
	b.eval(`window.older = release`)
	b.press("k") // another meanwhile
	b.wait(`window.release !== older`)
	b.eval(`release()`)
	b.wait(chosen + ` === ` + shown + ` && ` + chosen + ` !== "` + was + `"`)
	b.eval(`older()`)
	b.breaks("", "")
	b.press("g")
	b.wait(previewed)
	if eval[string](b, `document.querySelector("dialog.sheet [name=name]").value`) != eval[string](b, chosen) {
		t.Error("the key acts on another row")
	}
	b.press("\x1b")

	// What did not come is there with the next event.
	b.breaks("/t/", "dead")
	b.press("j")
	b.says("#moment .failure", "does not answer")
	b.breaks("", "")
	p.turn("meanwhile", p.sets("meanwhile.go", "package notes\n"))
	b.says(".row", "meanwhile")
	b.wait(chosen + ` === ` + shown)
}

// TestFaultySwaps: what comes into a list, or below a row, says when it does not come, and is asked for again.
func TestFaultySwaps(t *testing.T) {
	p := newProject(t)
	p.hook("prompt", map[string]any{"prompt": "tidy up"})
	p.say("user", "tidy up")
	p.call("write one", p.sets("one.txt", "1\n"))
	p.call("write two", p.sets("two.txt", "2\n"))
	p.hook("stop", map[string]any{"stop_hook_active": false})
	for i := range 100 {
		p.write("README.md", fmt.Sprintln("version", i))
		p.rewind("save", fmt.Sprintf("saved %03d", i))
	}
	b := profile(t)
	b.faulty()
	b.enter(p)
	b.do(chromedp.EmulateViewport(1440, 300))
	b.open("")
	b.breaks("before=", "dead")
	b.eval(`document.querySelector(".log").scrollTo(0, 1e6)`)
	b.says(".rows .older", "The daemon does not answer. Try again")
	b.breaks("", "")
	b.hit(`document.querySelector(".rows .older a")`)
	b.wait(`(document.querySelector(".log").scrollTo(0, 1e6), document.querySelector(".rows").textContent.includes("tidy up"))`)
	const turn = `[...document.querySelectorAll(".row")].find((r) => r.textContent.includes("tidy up"))`
	b.breaks("/steps", "wrong")
	b.hit(turn + `.querySelector("[data-steps]")`)
	b.wait(`document.querySelector(".rows .failure").textContent.includes("The disk is full")`)
	b.breaks("", "")
	b.hit(`document.querySelector(".rows .failure .again")`)
	b.wait(`document.querySelectorAll(".row.step").length === 2 && !document.querySelector(".rows .failure")`)
	b.breaks("/p/", "wrong") // what happens meanwhile
	p.write("README.md", "the newest\n")
	p.rewind("save", "saved meanwhile")
	b.says(".notice.bad", "The disk is full")
	b.breaks("", "")
	b.hit(`document.querySelector(".notice.bad .again")`)
	b.wait(`document.querySelector(".rows").textContent.includes("saved meanwhile")`)
	if strings.Contains(b.text(), "The disk is full") {
		t.Error("the notice stays")
	}
}
