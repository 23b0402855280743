package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// call is one call of a tool in a turn, which changes something.
func (p *project) call(command string, change func()) {
	p.Helper()
	id := fmt.Sprintf("toolu_%d", p.records)
	input := map[string]any{"command": command}
	p.say("assistant", []any{map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": input}})
	tool := map[string]any{"tool_name": "Bash", "tool_use_id": id, "tool_input": input}
	p.hook("pre-tool-use", tool)
	change()
	p.hook("post-tool-use", tool)
	p.say("user", []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": "first line\nsecond line"}})
}

// TestSteps: the moment of a turn is all that the turn did, as its row says; its steps stand below it when they are
// asked for, each with what it did alone, and stay while the log goes on. Going back to the turn brings its
// conversation to the end, to a step up to the step.
func TestSteps(t *testing.T) {
	p := newProject(t)
	p.turn("begin", p.sets("begin.txt", "1\n"))
	p.hook("prompt", map[string]any{"prompt": "tidy everything up"})
	p.say("user", "tidy everything up")
	p.call("write one", p.sets("one.txt", "1\n"))
	p.call("write two", p.sets("two.txt", "2\n"))
	p.call("rm parser.go", func() { p.must(os.Remove(filepath.Join(p.dir, "parser.go"))) })
	p.say("assistant", []any{map[string]any{"type": "text", "text": "All tidy."}})
	p.hook("stop", map[string]any{"stop_hook_active": false})
	p.turn("what now", func() {})

	b := profile(t)
	b.enter(p)
	b.open("")
	const turn, steps = `[...document.querySelectorAll(".row")].find((r) => r.innerText.includes("tidy everything"))`,
		`[...document.querySelectorAll(".row.step")].map((r) => r.innerText)`
	b.says("#moment", "No file changed") // of the turn that changed nothing, although one stood where it does
	b.hit(turn + `.querySelector("a")`)
	for _, file := range []string{"one.txt", "two.txt", "parser.go"} {
		b.says("#moment", file)
	}
	b.says("#moment", "3 files changed")
	b.says("#moment", "All tidy.")
	b.wait(`[...document.querySelectorAll("#moment details .text")].some((e) => e.textContent.includes("second line"))`)

	b.press(kb.ArrowRight)
	b.wait(steps + `.length === 3 && ` + steps + `[0].includes("rm parser.go") && ` + steps + `[2].includes("write one")`)
	b.press("j")
	b.wait(`document.querySelector("#moment h1").innerText.includes("rm parser.go")`)
	b.says("#moment", "1 file changed")
	b.says("#moment", "A step of turn 2: tidy everything up")
	p.turn("and then", p.sets("then.txt", "3\n"))
	b.says(".row", "and then")
	b.wait(steps + `.length === 3 && document.querySelector(".row.step a[aria-current]")`)
	b.press(kb.ArrowLeft)
	b.wait(steps + `.length === 0 && ` + turn + `.querySelector("a[aria-current]")`)
	b.says("#moment", "3 files changed")

	b.ask(`#moment [data-path="parser.go"]`)
	b.says("dialog.sheet", "Bring back parser.go as at")
	b.confirm("Brought back parser.go as at")
	if p.read("parser.go") == "" || p.read("two.txt") == "" {
		t.Error("one file as before the turn is not what came back")
	}
	for of, want := range map[string]struct{ head, said, not string }{
		turn: {"tidy everything", "All tidy.", "and then"}, `[...document.querySelectorAll(".row.step")][1]`: {"write two", "write one", "rm parser.go"},
	} {
		b.open("")
		b.hit(turn + `.querySelector("[data-steps]")`)
		b.wait(steps + `.length === 3`)
		b.hit(of + `.querySelector("a")`)
		b.says("#moment h1", want.head)
		b.wait(fmt.Sprintf(`document.querySelector("#moment .talk").innerText.includes(%q)`, want.said))
		b.ask(`#moment [data-act="checkout"]`)
		b.confirm("Went to")
		// where it went
		b.wait(`document.querySelector("#moment .pill.here") && document.querySelector("[data-rows] .row.here a[aria-current]")`)
		ids := `[...document.querySelectorAll("[data-rows] .row")].map((r) => r.dataset.id)`
		// also of a turn in two rows, since it was gone back into
		b.wait(`new Set(` + ids + `).size === ` + ids + `.length`)
		if of != turn {
			b.says("#moment", "2 files changed") // of the row that ends there, all
		}
		id := until[string](b, `document.querySelector(".notice .resume code").innerText.match(/--resume (\S+)/)[1]`)
		talk, err := os.ReadFile(filepath.Join(filepath.Dir(p.file), id+".jsonl"))
		p.must(err)
		if !strings.Contains(string(talk), want.said) || strings.Contains(string(talk), want.not) {
			t.Errorf("the conversation of %s is %s", of, talk)
		}
		b.ask(`.notice [data-act="undo-restore"]`)
		b.confirm("Undone")
	}
}

// TestCompared: what was said on both sides since they parted is there, turn by turn, and what a search finds in a
// conversation opens it.
func TestCompared(t *testing.T) {
	p, fork := usual(t)
	b := profile(t)
	b.enter(p)
	b.open("/compare?a=claude/" + first + "&b=claude/" + fork)
	const own = `[...document.querySelectorAll(".sides section:last-child .turns details")].at(-1)`
	b.wait(`((e) => e && (e.open = true))(` + own + `)`)
	b.wait(own + `.innerText.includes("Done: leave the store, say what it is") && !` + own + `.innerText.includes("document it")`)
	// not its own
	b.wait(`document.querySelector(".sides section:last-child .turns").innerText.includes("claude 5f1c0d2e 4")`)
	b.click(`.sides section:last-child .turns li:last-child a.link`)
	b.says("h1", "leave the store, say what it is")
	b.open("")
	b.says(".branches", "1 branch")
	b.says(".row", "1 branch from here")
	b.open("/find?q=Done")
	b.says("main", "Conversations")
	b.click(`main section:last-of-type .hits a`)
	b.wait(`document.querySelector("[data-moment]")`)
	b.open("/lanes")
	b.wait(`[...document.querySelectorAll(".lanebox .names li")].map((e) => e.textContent).join().includes("another way")`)
}
