package browsertest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestTalk: beside a turn stands what was said in it, from its prompt on, its end marked; more of it, and what was said
// before and after, comes when it is asked for, to the first and the last. Read on from there it comes by itself.
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
	b.wait(said + `.length === 30 && ` + said + `[0].includes("turn 1")`)
	b.wait(said + `.at(-1).includes("said 27 of 1")`)
	b.click(`.talk .older:last-child a`)
	b.wait(said + `.length === 102 && ` + said + `.at(-1).includes("said 99 of 1")`)
	b.wait(`document.querySelector(".said + .mark")`)
	b.click(`.talk .older:first-child a`)
	b.wait(said + `[0].includes("turn 0") && ` + said + `.some((w) => w.includes("said 0 of 0"))`)
	b.wait(`!document.querySelector(".talk li:first-child [data-more]")`)
	b.click(`.mark ~ .older a`)
	b.wait(said + `.at(-1).includes("said 99 of 2")`)
	if n := eval[int](b, `document.querySelectorAll(".talk .mark").length`); n != 1 {
		t.Errorf("%d places are marked", n)
	}
	b.hit(`[...document.querySelectorAll(".talk a.button")].find((a) => a.textContent === "Read on from here")`)
	b.wait(`location.search === "?read=1" && ` + said + `[0].includes("turn 1")`)
	b.wait(`(document.querySelector("main").scrollTo(0, 1e7), ` + said + `.at(-1).includes("said 99 of 2"))`)
	if n := eval[int](b, said+`.length`); n != 204 {
		t.Errorf("%d messages", n)
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

// TestSaid: what the model writes is Markdown, what a person types is not; a long answer comes whole, a long prompt can
// be copied, and nothing of it runs, is fetched, or leads elsewhere by itself.
func TestSaid(t *testing.T) {
	p := newProject(t)
	var rows, code strings.Builder
	for i := range 60 {
		fmt.Fprintf(&rows, "| row %d | `f%d.go` | %s |\n", i, i, strings.Repeat("wide ", 30))
		fmt.Fprintf(&code, "line %d := %q\n", i, strings.Repeat("x", 80))
	}
	prompt := "**not bold** " + strings.Repeat("a long prompt ", 600)
	answer := "## What I did\n\nI changed **two** files, see [the issue](https://example.com/1):\n\n1. `parser.go`\n" +
		"2. `store/item.go`, for\n   - this\n   - and that\n\n> A quote\n\n" +
		"```go\nfunc Parse() {\n\treturn nil\n}\n```\n\n" +
		"| file | lines |\n|:--|--:|\n| parser.go | 12 |\n\n" + strings.Join(hostile, "\n\n") +
		"\n\n![p](https://evil.example/p.png)\n\n" +
		"| a | b | c |\n|-|-|-|\n" + rows.String() + "\n\n```\n" + code.String() + "```\n\nthe last words"
	p.hook("prompt", map[string]any{"prompt": prompt})
	p.say("user", prompt)
	p.say("assistant", []any{map[string]any{"type": "text", "text": answer}})
	p.write("README.md", "1")
	p.hook("stop", map[string]any{"stop_hook_active": false})
	p.turn("and on", p.sets("README.md", "2"))
	b := profile(t)
	b.enter(p)
	b.open("/s/claude/" + first + "/t/1")
	b.says(".talk .md h4", "What I did")
	b.says(".talk .said.user", "**not bold**")
	for {
		b.eval(`document.querySelector(".said.assistant .older a")?.click()`)
		if until[string](b, `document.querySelector(".said.assistant .older") ? "more" : "all"`) == "all" {
			break
		}
	}
	b.says(".said.assistant", "the last words")
	const never = `document.querySelectorAll("main .talk :is(script, img, iframe, style, [onload], [style])")`
	if n := eval[int](b, never+`.length`); n > 0 {
		t.Errorf("%d elements of somebody's text", n)
	}
	if bad := eval[string](b, `[...document.querySelectorAll(".md a[target]")].filter((a) =>
		a.rel !== "noopener noreferrer" || !/^https?:/.test(a.protocol)).map((a) => a.outerHTML).join()`); bad != "" {
		t.Error(bad)
	}
	b.eval(`navigator.clipboard.writeText = async (words) => { window.copied = words; }`)
	b.hit(`document.querySelector("[data-copy-from]")`)
	if got := until[string](b, `window.copied`); got != prompt {
		t.Errorf("%d bytes of the prompt are copied, of %d", len(got), len(prompt))
	}
	b.says("[data-copy-from]", "Copied")
	for _, width := range []int64{1440, 390} {
		b.do(chromedp.EmulateViewport(width, 900))
		if wide := eval[float64](b, tooWide); wide > 0 {
			t.Errorf("at %d it is %v pixels too wide", width, wide)
		}
		for _, scheme := range []string{"light", "dark"} {
			b.scheme(scheme)
			b.picture(fmt.Sprintf("said-%d-%s", width, scheme))
			b.eval(`document.querySelector("main").scrollTo(0, document.querySelector(".talk").offsetTop - 80)`)
			b.picture(fmt.Sprintf("said-talk-%d-%s", width, scheme))
			b.eval(`document.querySelector("main").scrollTo(0, 0)`)
		}
	}
}
