package browsertest

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"rewind/internal/torture"
)

var screens = flag.String("screens", "",
	"a directory for pictures of every view: TestViews looks in all widths and both schemes")

// tooWide is how much wider a document, or what scrolls in it, is than it may be. Drawings scroll for themselves.
const tooWide = `Math.max(document.documentElement.scrollWidth - innerWidth,
	...[...document.querySelectorAll("main, main.view-timeline > *")].map((e) => e.scrollWidth - e.clientWidth))`

// TestViews: every view shows what it is for, and the browser has nothing to say of it. No view is wider than its
// window.
func TestViews(t *testing.T) {
	p, fork := usual(t)
	p.rewind("checkout", "turn:3", "--code-only", "--session", first)
	b := profile(t)
	b.enter(p)
	shows := map[string]string{
		"steps": "Steps of the turn",
		"log":   "fix the parser", "session": "fix the parser", "turn": "and a changelog", "step": "a step of turn 4",
		"tree":  "another way",
		"lanes": "Who changed what", "restores": "undo", "compare": "In common", "find": "parser.go",
		"files": "CHANGES.md",
		"file":  "A small library.", "blame": "document it", "projects": "notes", "missing": "",
	}
	for name, path := range b.views(fork) {
		for _, width := range []int64{1440, 1024, 390} {
			b.do(chromedp.EmulateViewport(width, 900))
			b.open(path)
			b.wait(fmt.Sprintf(`document.body.innerText.toLowerCase().includes(%q)`, strings.ToLower(shows[name])))
			if name == "missing" {
				b.expect("status of 404")
			}
			if wide := eval[float64](b, tooWide); wide > 0 {
				t.Errorf("%s at %d is %v pixels too wide", name, width, wide)
			}
			for _, scheme := range []string{"light", "dark"} {
				if *screens != "" {
					b.scheme(scheme)
					b.picture(fmt.Sprintf("%s-%d-%s", name, width, scheme))
				}
			}
		}
	}
}

// TestNarrowed: a log whose window is made narrower fits into it, with all its sessions, which came when it was wide.
func TestNarrowed(t *testing.T) {
	p, _ := usual(t)
	b := profile(t)
	b.enter(p)
	b.open("/s/claude/" + first)
	b.says(".side", "another way")
	for _, width := range []int64{1440, 1100, 765, 390, 330} {
		b.do(chromedp.EmulateViewport(width, 900))
		b.wait(fmt.Sprintf(`innerWidth === %d`, width))
		if wide := eval[float64](b, tooWide); wide > 0 {
			t.Errorf("the log at %d is %v pixels too wide", width, wide)
		}
		const hidden = `[...document.querySelectorAll(".branches li")].filter((li) =>
			li.getBoundingClientRect().right > document.querySelector(".side").getBoundingClientRect().right)
			.map((li) => li.innerText).join("; ")`
		if names := eval[string](b, hidden); names != "" {
			t.Errorf("at %d these sessions are out of sight: %s", width, names)
		}
		b.picture(fmt.Sprintf("narrowed-%d", width))
	}
}

// picture puts what the tab shows into the directory of pictures.
func (b *tab) picture(name string) {
	b.Helper()
	if *screens == "" {
		return
	}
	shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.MkdirAll(*screens, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(*screens, name+".png"), shot, 0o644)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// axe is the script of axe-core.
func axe(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(installed(t, "axe", "axe-core@4.14.1"), "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestAxe: axe-core finds nothing serious or critical in any view and dialog, light and dark.
func TestAxe(t *testing.T) {
	needBrowser(t)
	script := axe(t)
	empty := newProject(t)
	p, fork := usual(t)
	p.turn(strings.Repeat("a line of a log that somebody has pasted\n", 40), p.sets("log.txt", "1\n"))
	p.rewind("checkout", "turn:3", "--code-only", "--session", first)
	b := profile(t)
	b.enter(p)
	look := func(name string) {
		if !torture.Today(len(name)) && *screens == "" { // each view on one day of three
			return
		}
		b.eval(script)
		// Of the rules only those of colours have another answer in the dark.
		for scheme, rules := range map[string]string{"light": "{}", "dark": `{runOnly: ["color-contrast", "link-in-text-block"]}`} {
			b.scheme(scheme)
			b.picture(name + "-" + scheme)
			found := eval[[]struct {
				ID, Impact string
				Nodes      []struct{ HTML, Any string }
			}](b, `axe.run(`+rules+`).then((r) => r.violations.map((v) => ({ID: v.id, Impact: v.impact,
				Nodes: v.nodes.map((n) => ({HTML: n.html, Any: n.any.map((a) => a.message).join()}))})))`)
			for _, v := range found {
				if v.Impact == "serious" || v.Impact == "critical" {
					t.Errorf("%s, %s: %s, %s: %d times, %.500s", name, scheme, v.ID, v.Impact, len(v.Nodes),
						v.Nodes[0].HTML+v.Nodes[0].Any)
				}
			}
		}
	}
	b.do(command(page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true}))
	for name, path := range b.views(fork) {
		b.open(path)
		look(name)
		if name == "missing" {
			b.expect("status of 404")
		}
	}
	b.open("/s/claude/" + fork)
	look("forked")
	b.open("/s/claude/" + first + "/t/5")
	look("long")
	b.open("")
	b.press("?")
	look("keys")
	b.press("\x1b")
	b.press("s")
	look("split")
	b.press("s")
	b.press("g")
	b.wait(previewed)
	look("sheet")
	b.confirm("Went to")
	look("notice")
	b.eval(`document.querySelector(".offline").hidden = false`)
	look("offline")
	b.open("/tree")
	b.click("button.more")
	look("menu")
	stranger := profile(t)
	stranger.base = b.base
	stranger.do(command(page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true}))
	b = stranger
	b.open("")
	b.expect("status of 401")
	look("refused")
	b.enter(empty)
	for _, path := range []string{"", "/tree", "/lanes", "/ops", "/find?q=nothing", "/find"} {
		b.open(path)
		look("empty" + strings.NewReplacer("/", "-", "?", "-").Replace(path))
	}
}

// hostile are texts that would run, lead elsewhere or break out where a template did not escape them.
var hostile = []string{
	`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `"><svg onload=alert(1)>`, `' onmouseover='alert(1)`,
	`</title><script>alert(1)</script>`, `</textarea><script>alert(1)</script>`, `<iframe srcdoc='<script>alert(1)</script>'>`,
	`<meta http-equiv=refresh content=0>`, `<base href=//evil.example>`, `javascript:alert(1)`, `<style>@import'//evil.example'</style>`,
}

// TestT16Texts: what an agent, a repository or a person wrote is text in every view, whatever it is.
func TestT16Texts(t *testing.T) {
	p := newProject(t)
	all := strings.Join(hostile, "\n")
	for i, text := range hostile {
		p.turn(text, func() {
			p.write(strings.ReplaceAll(text, "/", "_"), all)
			p.write("README.md", fmt.Sprintf("%d\n%s\n", i, all))
		})
	}
	p.rewind("fork", "turn:2", "--title", strings.Join(hostile[:3], " "))
	p.rewind("forks", "rename", first, hostile[1])
	p.rewind("checkout", "turn:3", "--code-only", "--session", first)
	b := profile(t)
	b.enter(p)
	b.do(command(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `window.alert = () => console.error("a script ran")`,
	}))
	cp := b.checkpoint("onerror")
	for _, path := range []string{
		"", "/c/" + cp, "/tree", "/lanes", "/ops", "/c/" + cp + "/files", "/c/" + cp + "/file?path=README.md&blame=1",
		"/find?q=" + "%3Cscript%3Ealert(1)%3C%2Fscript%3E", "/find?q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E",
	} {
		b.open(path)
		if n := eval[int](b, `document.querySelectorAll("main script, main img, main iframe, main base, main meta, main style, main [onload], main [onmouseover], main [onerror]").length`); n > 0 {
			t.Errorf("%s has %d elements of somebody's text", path, n)
		}
	}
	b.open("/c/" + cp)
	b.click(`[data-act="checkout"]`)
	b.wait(previewed)
	b.says("dialog.sheet", "<")
}

// TestT16Elsewhere: a page of another origin reads nothing and changes nothing, in a browser that was let in.
func TestT16Elsewhere(t *testing.T) {
	p := newProject(t)
	p.turn("fix the parser", p.sets("parser.go", "package notes\n"))
	b := profile(t)
	b.enter(p)
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><link rel=icon href=data:,><p>elsewhere")
	}))
	defer evil.Close()
	other := b.another()
	other.do(chromedp.Navigate(evil.URL))
	before := p.rewind("list", "--all", "--json")
	script, err := os.ReadFile(filepath.Join("testdata", "elsewhere.js"))
	p.must(err)
	_, ways, _ := strings.Cut(string(script), "\n")
	tried := eval[map[string]string](other, fmt.Sprintf("(%s)(%q)", strings.TrimSpace(ways), b.base))
	if len(tried) != 10 {
		t.Errorf("not all was tried: %v", tried)
	}
	for way, got := range tried {
		if got != "nothing" {
			t.Errorf("%s: %.200s", way, got)
		}
	}
	if after := p.rewind("list", "--all", "--json"); after != before {
		t.Errorf("something changed:\n%s\n%s", before, after)
	}
	if len(other.heard()) == 0 {
		t.Error("the browser says of no request that it was refused")
	}
}
