package browsertest

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// TestEntering: an address lets one browser in, once, and its token leaves the address; the page goes on in another tab and with another
// daemon, and without its cookie says what to do.
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
	stranger.says("main", "nobody has let this browser in")
	stranger.expect("status of 401")

	second.shut()
	p.rewind("daemon", "stop")
	b.says(".offline", "does not answer")
	p.turn("after the daemon was restarted", p.sets("more.go", "package notes\n"))
	b.says(".row", "after the daemon was restarted")

	b.wait(`document.querySelector(".offline").hidden`)
	b.expect("CONNECTION_REFUSED", "INCOMPLETE_CHUNKED")
	b.do(chromedp.Reload())
	b.says(".row", "after the daemon was restarted")

	b.do(command(network.ClearBrowserCookies, cdp.Empty{}), chromedp.Reload())
	b.says("main", "rewind ui")
	b.expect("status of 401")
}
