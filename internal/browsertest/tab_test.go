package browsertest

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long a test waits for what has to happen: many times what a busy machine takes.
const patience = time.Minute

// tab is a tab of a browser. What the console, the policy of contents or a dialog says, and a request to another host,
// fails the test unless the test takes it.
type tab struct {
	testing.TB
	ctx  context.Context
	shut func()
	base string // http://127.0.0.1:<port>/<base>/p/<project>

	mu   sync.Mutex
	said []string
}

// profile is a browser with no cookies. Its first tab is open.
func profile(t testing.TB) *tab { return newTab(t, chromedp.WithNewBrowserContext()) }

// another is a second tab of the same browser.
func (b *tab) another() *tab {
	c := chromedp.FromContext(b.ctx)
	n := newTab(b.TB, chromedp.WithExistingBrowserContext(c.BrowserContextID))
	n.base = b.base
	return n
}

func newTab(t testing.TB, opts ...chromedp.ContextOption) *tab {
	t.Helper()
	b := &tab{TB: t}
	ctx, cancel := chromedp.NewContext(chromium, append(opts, chromedp.WithListener(b.hear))...)
	b.ctx = ctx
	b.shut = sync.OnceFunc(func() {
		for _, words := range b.heard() {
			t.Errorf("the browser says: %s", words)
		}
		cancel()
	})
	t.Cleanup(b.shut)
	b.do(command(log.Enable, cdp.Empty{}), command(audits.Enable, cdp.Empty{}), chromedp.EmulateViewport(1440, 900))
	return b
}

func (b *tab) hear(ev any) {
	words := ""
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		words = "exception: " + e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			words += " " + e.ExceptionDetails.Exception.Description
		}
	case *runtime.EventConsoleAPICalled:
		for _, a := range e.Args {
			words += fmt.Sprintf("console: %s %s ", a.Value, a.Description)
		}
	case *log.EventEntryAdded:
		words = "log: " + e.Entry.Text + " " + e.Entry.URL
	case *audits.EventIssueAdded:
		// which are no fault of the page: a test asks for them
		if e.Issue.Code != "CorsIssue" && e.Issue.Code != "PerformanceIssue" {
			words = "issue: " + string(e.Issue.Code)
			if g := e.Issue.Details.GenericIssueDetails; g != nil {
				words += " " + string(g.ErrorType)
			}
		}
	case *page.EventJavascriptDialogOpening:
		words = "dialog: " + e.Message
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err == nil && u.Hostname() != "127.0.0.1" && u.Scheme != "about" && u.Scheme != "data" {
			words = "request: " + e.Request.URL
		}
	}
	if words != "" {
		b.mu.Lock()
		b.said = append(b.said, words)
		b.mu.Unlock()
	}
}

// heard takes what the browser has said up to now.
func (b *tab) heard() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	said := b.said
	b.said = nil
	return said
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if b.ctx.Value(startedKey{}) == nil { // the first command binds the tab to its context
		ctx = b.ctx
		b.ctx = context.WithValue(b.ctx, startedKey{}, true)
	}
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.Fatalf("%v\n%s", err, b.text())
	}
}

type startedKey struct{}

// eval is the value of an expression in the page.
func eval[T any](b *tab, js string) T {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%s: %v", js, err)
	}
	return v
}

// eval runs a script in the page.
func (b *tab) eval(js string) {
	b.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](js))
}

// until is the value of an expression once it has one, over documents and lists that come and go.
func until[T comparable](b *tab, js string) T {
	b.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(15 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js))
		cancel()
		var none T
		if err == nil && v != none {
			return v
		}
		if time.Now().After(end) {
			b.Fatalf("it never was so: %s (%v)\n%s", js, err, b.text())
		}
	}
}

// wait waits until an expression is true in the page.
func (b *tab) wait(js string) { b.Helper(); until[bool](b, "!!("+js+")") }

// hit clicks what an expression finds, once it is there.
func (b *tab) hit(js string) { b.Helper(); b.wait("((e) => e && (e.click(), true))(" + js + ")") }

// text is what the page says.
func (b *tab) text() string {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText`))
	return v
}

// says waits for words on the page.
func (b *tab) says(selector, words string) {
	b.Helper()
	b.wait(fmt.Sprintf(`[...document.querySelectorAll(%q)].some((e) => e.innerText.includes(%q))`, selector, words))
}

// enter opens a project's page and waits for its log.
func (b *tab) enter(p *project) {
	b.Helper()
	b.do(chromedp.Navigate(p.address()))
	b.wait(`document.querySelector(".rows")`)
	b.base = eval[string](b, `location.origin + document.body.dataset.base + "/p/" + document.body.dataset.project`)
}

// open goes to a view.
func (b *tab) open(path string) {
	b.Helper()
	b.do(chromedp.Navigate(b.base + path))
	b.wait(`document.readyState === "complete"`)
}

func (b *tab) click(selector string) {
	b.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

// press sends keys to what has the focus.
func (b *tab) press(keys string) { b.Helper(); b.do(chromedp.KeyEvent(keys)) }

// scheme sets what the system prefers: light or dark.
func (b *tab) scheme(name string) {
	b.Helper()
	b.do(command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	}))
}

// row is the path of the moment, below the project's, whose row in the log has some words.
func (b *tab) row(words string) string {
	b.Helper()
	return until[string](b, fmt.Sprintf(`[...document.querySelectorAll(".row")].find((r) => r.innerText.includes(%q))
		.querySelector("a").pathname.replace(/^.*\/p\/[^/]*/, "")`, words))
}

// checkpoint is the id of the one that such a moment has left.
func (b *tab) checkpoint(words string) string {
	b.Helper()
	b.open("")
	b.open(b.row(words))
	return until[string](b, `document.querySelector('a[href$="/files"]').pathname.match(/\/c\/([0-9a-f]+)\/files/)[1]`)
}

// views are the paths of all views of a project that usual made, below the project's.
func (b *tab) views(fork string) map[string]string {
	b.Helper()
	cp := b.checkpoint("and a changelog")
	return map[string]string{
		"log": "", "session": "/s/claude/" + first, "turn": "/s/claude/" + first + "/t/4", "step": "/c/" + cp,
		"steps": "/s/claude/" + first + "/t/4/steps",
		"tree":  "/tree", "lanes": "/lanes", "restores": "/ops",
		"compare": "/compare?a=" + url.QueryEscape("claude/"+first) + "&b=" + url.QueryEscape("claude/"+fork),
		"find":    "/find?q=parser", "files": "/c/" + cp + "/files", "file": "/c/" + cp + "/file?path=README.md",
		"blame": "/c/" + cp + "/file?path=README.md&blame=1", "projects": "/../../projects", "missing": "/c/" + strings.Repeat("0", 40),
	}
}

// command is one of the DevTools protocol.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// unreached is what the browser says of a request that nobody answered, or not to the end.
const unreached = "log: Failed to load resource: net::ERR_"

// expect takes what the browser says of answers that the test provoked: each has one of some words.
func (b *tab) expect(some ...string) {
	b.Helper()
	for _, said := range b.heard() {
		if !slices.ContainsFunc(some, func(words string) bool { return strings.Contains(said, words) }) {
			b.Errorf("the browser says: %s", said)
		}
	}
}
