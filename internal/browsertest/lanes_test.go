package browsertest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// beside has another agent take a turn in a session of its own.
func (p *project) beside(agent, session, prompt, file string) {
	p.Helper()
	one := *p
	one.agent, one.session, one.file = agent, session, ""
	one.hook("prompt", map[string]any{"prompt": prompt})
	tool := map[string]any{"tool_name": "Bash", "tool_use_id": session, "tool_input": map[string]any{"command": "make"}}
	one.hook("pre-tool-use", tool)
	one.write(file, prompt+"\n")
	one.hook("post-tool-use", tool)
	one.hook("stop", map[string]any{"stop_hook_active": false})
}

// lanesAt looks at the lanes at each width, in both schemes, and that what scrolls in them is as wide as it may be.
func (b *tab) lanesAt(name string) {
	b.Helper()
	for _, width := range []int64{1440, 1024, 390} {
		b.do(chromedp.EmulateViewport(width, 900))
		b.open("/lanes")
		b.wait(`document.querySelector(".strip, .stripbox .sub")`)
		for _, scheme := range []string{"light", "dark"} {
			b.scheme(scheme)
			b.picture(fmt.Sprintf("%s-%d-%s", name, width, scheme))
		}
		b.scheme("light")
		if wide := eval[float64](b, tooWide); wide > 0 {
			b.Errorf("%s at %d is %v pixels too wide", name, width, wide)
		}
		// Names stay at the left and times at the top, and they leave room for what is drawn.
		b.eval(`box = document.querySelector(".lanebox"); box.scrollTo(1e6, 1e6)`)
		const off = `((of, side) => Math.abs(document.querySelector(of).getBoundingClientRect()[side]
			- box.getBoundingClientRect()[side]))`
		for _, stays := range []string{`(".names", "left")`, `(".ticks", "top")`} {
			if by := eval[float64](b, off+stays); by > 2 {
				b.Errorf("%s at %d: %s is %v pixels off", name, width, stays, by)
			}
		}
		if share := eval[float64](b, `document.querySelector(".names").offsetWidth / box.clientWidth`); share > 0.4 {
			b.Errorf("%s at %d: names take %v of the width", name, width, share)
		}
		const last = `[...document.querySelectorAll(".names li")].at(-1).getBoundingClientRect().bottom
			<= box.getBoundingClientRect().bottom`
		if !eval[bool](b, last) {
			b.Errorf("%s at %d: the last lane is out of reach", name, width)
		}
	}
	b.do(chromedp.EmulateViewport(1440, 900))
}

// signs are how the turns of each session are drawn, by what the legend says of it.
func (b *tab) signs() map[string]string {
	b.Helper()
	return eval[map[string]string](b, `Object.fromEntries([...document.querySelectorAll(".legend li")]
		.filter((li) => li.querySelector(".sign")).map((li) => {
			const turn = li.querySelector(".turn");
			return [li.textContent.trim(), getComputedStyle(turn).fill + " " + turn.outerHTML.replace(/class="[^"]*"/, "")];
		}))`)
}

// faint are the lines of the legend whose sign can hardly be told from the ground: its contrast is below 3.
const faint = `(() => {
	const pen = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
	const light = (colour) => {
		pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1);
		const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map((v) => v / 255)
			.map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const ground = light(getComputedStyle(document.querySelector(".lanebox")).backgroundColor);
	return [...document.querySelectorAll(".legend li")].filter((li) => li.querySelector(".sign")).filter((li) => {
		const of = light(getComputedStyle(li.querySelector(".turn")).fill);
		return (Math.max(of, ground) + 0.05) / (Math.min(of, ground) + 0.05) < 3;
	}).map((li) => li.textContent.trim()).join("; ");
})()`

// TestLanesOfOneAgent: the sessions of one agent, three of each, are told from each other by colour, and by shape where
// there is none; the legend names them, and none is faint.
func TestLanesOfOneAgent(t *testing.T) {
	p := newProject(t)
	for n, agent := range []string{"claude", "codex", "gemini", "droid", "another"} {
		for i := range 3 {
			session := fmt.Sprintf("0199%d%d00-1111-4222-8333-444455556666", n, i)
			p.beside(agent, session, fmt.Sprintf("attempt %d of %s", i, agent), fmt.Sprintf("%s%d.txt", agent, i))
		}
	}
	b := profile(t)
	b.enter(p)
	b.lanesAt("lanes-one-agent")
	b.open("/lanes")
	for _, how := range []string{"light", "dark", "forced"} {
		if how == "forced" {
			b.media("", "forced-colors", "active")
		} else {
			b.scheme(how)
		}
		signs, looks := b.signs(), map[string]string{}
		for words, look := range signs {
			if other, ok := looks[look]; ok && (how != "forced" || agentOf(words) == agentOf(other)) {
				t.Errorf("%s: %s looks like %s", how, words, other)
			}
			looks[look] = words
		}
		if len(signs) < 13 {
			t.Errorf("the legend names %v", signs)
		}
		if words := eval[string](b, faint); words != "" {
			t.Errorf("%s: these are faint: %s", how, words)
		}
	}
	b.media("", "forced-colors", "none")
	b.says(".legend", "claude: attempt 0 of claude")
	b.says(".legend", "claude: attempt 2 of claude")
	// A name has the sign of its lane.
	const differ = `((lanes) => [...document.querySelectorAll(".names li")].filter((li, i) =>
			li.querySelector(".turn").getAttribute("class") !== lanes[i].getAttribute("class").replace("lane", "turn"))
		.map((li) => li.innerText).join("; "))(document.querySelectorAll(".chart .lane"))`
	if names := eval[string](b, differ); names != "" {
		t.Errorf("these names have the sign of another lane: %s", names)
	}
}

// agentOf is the agent that a line of the legend is of.
func agentOf(words string) string {
	agent, _, _ := strings.Cut(words, ":")
	return agent
}

// TestLanes: two agents have two colours, which a legend explains; the time has a scale, and can be drawn wider; what a
// turn did is said where one points at it, in words.
func TestLanes(t *testing.T) {
	p := newProject(t)
	p.turn("fix the parser", p.sets("parser.go", "package notes\n"))
	p.beside("codex", "0199aaaa-1111-4222-8333-444455556666", "write a changelog", "CHANGES.md")
	p.turn("document it", p.sets("README.md", "# notes\n"))
	p.turn("say no more", func() {})
	p.rewind("checkout", "turn:1", "--code-only", "--session", first)
	b := profile(t)
	b.enter(p)
	b.lanesAt("lanes-two")

	b.open("/lanes")
	const fills = `[...new Set([...document.querySelectorAll(".chart circle")].map((c) => getComputedStyle(c).fill))].length`
	if n := eval[int](b, fills); n != 3 { // and what no agent did
		t.Errorf("%d colours", n)
	}
	for _, words := range []string{"claude", "codex", "no agent", "you are here", "somebody went back"} {
		b.says(".legend", words)
	}
	ticks := eval[string](b, `document.querySelector(".ticks").textContent`)
	if !regexp.MustCompile(`\d\d:\d\d`).MatchString(ticks) {
		t.Errorf("the scale says %q", ticks)
	}
	const dot = `[...document.querySelectorAll(".chart a")].find((a) => a.ariaLabel.includes("%s"))`
	b.eval(fmt.Sprintf(dot, "changelog") + `.dispatchEvent(new PointerEvent("pointerover", {bubbles: true}))`)
	b.says(".pointed", "codex turn 1: write a changelog (1 file: CHANGES.md)")
	b.wait(`document.querySelector(".chart a > title").textContent.includes("write a changelog")`) // at the pointer, too
	b.eval(fmt.Sprintf(dot, "document it") + `.focus()`)
	b.says(".pointed", "claude turn 2: document it (1 file: README.md)")
	hash := regexp.MustCompile(`\b[0-9a-f]{7,}\b`)
	const words = `[...document.querySelectorAll(".chart a")].map((a) => a.ariaLabel).join("\n")`
	if all := eval[string](b, words); hash.MatchString(all) {
		t.Errorf("a turn is told by a number: %s", all)
	}

	b.media("", "forced-colors", "active")
	const here = `((s) => s.stroke !== s.fill)(getComputedStyle(document.querySelector(".chart .here")))`
	if !eval[bool](b, here) {
		t.Error("with the system's colours alone nothing says which turn is the current one")
	}
	b.media("", "forced-colors", "none")

	const wide = `document.querySelector(".chart").clientWidth`
	was := eval[int](b, wide)
	for _, zoom := range []string{"2", "4", "8"} {
		b.click(`[data-zoom=in][href]`)
		b.wait(`new URLSearchParams(location.search).get("zoom") === "` + zoom + `"`)
	}
	b.wait(fmt.Sprintf(`%s > %d && !document.querySelector("[data-zoom=in][href]")`, wide, 4*was))
	b.wait(`document.querySelector(".strip, .stripbox .sub")`) // it stays
	// What is in the middle is in sight afterwards, too, though the scale is another one.
	off := `(() => { const [a, box] = [` + fmt.Sprintf(dot, "document it") + `, document.querySelector(".lanebox")];
		const [at, edge] = [a.getBoundingClientRect(), box.getBoundingClientRect()];
		return (at.left + at.right - edge.left - edge.right) / 2; })()`
	b.eval(`document.querySelector(".lanebox").scrollLeft += ` + off + `; dots = document.querySelectorAll("circle").length`)
	p.write("more.txt", "more\n")
	p.rewind("save", "saved meanwhile")
	b.wait(`document.querySelectorAll("circle").length > dots`)
	if by := eval[float64](b, `Math.abs(`+off+`) - document.querySelector(".lanebox").clientWidth / 2`); by > 0 {
		t.Errorf("what was in the middle is %v pixels out of sight", by)
	}
	b.says(".pointed", "document it")
	b.click(`[data-zoom=out][href]`)
	b.wait(`location.search.includes("zoom=4")`)
}

// TestManyLanes: thirty sessions, of which each has its lane.
func TestManyLanes(t *testing.T) {
	p := newProject(t)
	for i := range 30 {
		p.begin(fmt.Sprintf("%08d-1111-4222-8333-444455556666", i))
		text := fmt.Sprintf("package notes // %d\n", i)
		prompt := fmt.Sprintf("give the parser its feature number %d, with tests", i)
		p.turn(prompt, p.sets(fmt.Sprintf("of%d.go", i), text))
	}
	b := profile(t)
	b.enter(p)
	b.lanesAt("lanes-many")
	if n := eval[int](b, `document.querySelectorAll(".names li").length`); n < 30 {
		t.Errorf("%d lanes", n)
	}
	b.says(".legend", "claude, 30 sessions: each has its sign beside its name")
}
