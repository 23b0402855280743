package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// TestEntering: an address lets one browser in, once, and its token leaves the address; the page goes on in another tab
// and with another daemon, and without its cookie says what to do.
func TestEntering(t *testing.T) {
	p := newProject(t)
	p.turn("fix the parser", p.sets("parser.go", "package notes\n"))
	address := p.address()
	b := profile(t)
	b.do(chromedp.Navigate(address))
	b.wait(`document.querySelector(".row")`)
	_, token, _ := strings.Cut(address, "#")
	if at := eval[string](b, `location.href + history.length + document.referrer`); strings.Contains(at, token) || strings.Contains(at, "#") {
		t.Errorf("the token stays in %s", at)
	}
	if script := eval[string](b, `document.cookie`); script != "" {
		t.Errorf("the script reads the cookie: %s", script)
	}
	b.base = eval[string](b, `location.href`)

	second := b.another()
	second.open("")
	second.says(".row", "fix the parser")
	stranger := profile(t)
	stranger.do(chromedp.Navigate(address))
	stranger.says(".used", "used or is too old")
	stranger.base = b.base
	stranger.open("")
	stranger.says("main", "Nobody has let this browser in")
	stranger.expect("status of 401")

	second.shut()
	p.rewind("daemon", "stop")
	b.says(".offline", "does not answer")
	p.turn("after the daemon was restarted", p.sets("more.go", "package notes\n"))
	b.says(".row", "after the daemon was restarted")

	b.wait(`document.querySelector(".offline").hidden`)
	b.expect(unreached)
	b.do(chromedp.Reload())
	b.says(".row", "after the daemon was restarted")

	b.do(command(network.ClearBrowserCookies, cdp.Empty{}))
	p.rewind("daemon", "stop")
	p.turn("nobody sees this", p.sets("more.go", "package more\n"))
	b.says(".offline", "not let in any more")
	b.expect(unreached, "status of 401")
	b.do(chromedp.Reload())
	b.says("main", "rewind ui")
	b.expect("status of 401")
}

// TestLive: what a hook reports while somebody looks appears by itself, and what is being read stays where it is.
func TestLive(t *testing.T) {
	p, fork := usual(t)
	b := profile(t)
	b.enter(p)
	tree, lanes := b.another(), b.another()
	tree.open("/tree")
	lanes.open("/lanes")
	dots := eval[int](lanes, `document.querySelectorAll("circle").length`)
	b.press("j")
	chosen := `document.querySelector(".row a[aria-current]").closest(".row").dataset.id`
	reading := until[string](b, chosen)
	b.wait(`document.querySelector("#moment [data-moment]").dataset.moment === "` + reading + `"`)

	tool := p.open("while somebody looks")
	p.write("live.go", "package notes\n")
	p.hook("post-tool-use", tool)
	b.says(".row:first-child", "while somebody looks")
	b.says(".row:first-child", "live.go")
	b.wait(`document.querySelector(".side .pill.live")`)
	p.hook("stop", map[string]any{"stop_hook_active": false})
	if now := eval[string](b, chosen+` + document.querySelector("#moment [data-moment]").dataset.moment`); now != reading+reading {
		t.Errorf("%s was being read, and now it is %s", reading, now)
	}
	p.rewind("forks", "rename", fork, "a new name")
	tree.do(command(page.BringToFront, cdp.Empty{}))
	tree.says(".tree", "a new name")
	lanes.do(command(page.BringToFront, cdp.Empty{}))
	lanes.wait(fmt.Sprintf(`document.querySelectorAll("circle").length > %d`, dots))
}
