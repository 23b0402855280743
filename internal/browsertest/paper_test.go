package browsertest

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// media sets what a document is shown on, and one feature of that.
func (b *tab) media(kind, name, value string) {
	b.Helper()
	b.do(command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media: kind, Features: []*emulation.MediaFeature{{Name: name, Value: value}},
	}))
}

// TestPaper: on paper nothing scrolls, so that all is there, and no button stands. With the system's colours alone what
// is chosen has an outline.
func TestPaper(t *testing.T) {
	p, fork := usual(t)
	b := profile(t)
	b.enter(p)
	views := b.views(fork)
	b.media("print", "prefers-color-scheme", "dark")
	for _, name := range []string{"log", "turn", "compare", "file"} {
		b.open(views[name])
		hidden := eval[int](b, `[...document.querySelectorAll("body, main, main.view-timeline > *")].filter((e) =>
			e.offsetParent !== null && getComputedStyle(e).overflowY !== "visible" && e.scrollHeight > e.clientHeight).length`)
		buttons := eval[int](b, `[...document.querySelectorAll("button, nav")].filter((e) => e.checkVisibility()).length`)
		if hidden+buttons > 0 {
			t.Errorf("%s on paper: %d parts are cut, %d buttons stand", name, hidden, buttons)
		}
	}
	b.media("", "forced-colors", "active")
	b.open("")
	for _, chosen := range []string{"nav a[aria-current]", ".row a[aria-current]"} {
		style := eval[string](b, `getComputedStyle(document.querySelector("`+chosen+`")).outlineStyle`)
		if style != "solid" {
			t.Errorf("%s has no outline: %s", chosen, style)
		}
	}
}
