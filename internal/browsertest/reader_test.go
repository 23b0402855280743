package browsertest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// told are the role and name of all that the browser tells a screen reader, and the description where there is one.
func (b *tab) told() (all []string) {
	b.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		r, err := cdp.Call(ctx, t, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		if err != nil {
			return err
		}
		for _, n := range r.Nodes {
			if n.Ignored || n.Name == nil {
				continue
			}
			words := fmt.Sprintf("%s %s", n.Role.Value, n.Name.Value)
			if n.Description != nil && len(n.Description.Value) > 2 {
				words += " | " + string(n.Description.Value)
			}
			all = append(all, strings.ReplaceAll(words, `"`, ""))
		}
		return nil
	}))
	return all
}

// TestReader: what is heard of the log without being seen: words apart from each other, signs as words, what a key has
// brought, and all that a sheet says before it asks.
func TestReader(t *testing.T) {
	p, _ := usual(t)
	p.rewind("checkout", "turn:3", "--code-only", "--session", first)
	b := profile(t)
	b.enter(p)
	b.open("")
	b.says(".branches", "another way")
	hears := func(want ...string) {
		t.Helper()
		all := "\n" + strings.Join(b.told(), "\n") + "\n"
		for _, w := range want {
			if !strings.Contains(all, "\n"+w) {
				t.Errorf("nobody hears %q:%s", w, all)
			}
		}
	}
	hears("link fix the parser claude 5f1c0d2e 4 turns 1 branch here rewound", "region make the store larger",
		"slider Which moment", "image 1 file deleted", "image 1 file added")
	b.press("k")
	b.says("#moment h1", "and a changelog")
	b.wait(`document.querySelector("[role=status][data-told]").textContent.trim() === "1 file changed"`)
	b.press("\r")
	b.wait(`document.activeElement.id === "moment"`)
	b.press("j") // keys go on from there
	b.says("#moment h1", "make the store larger")
	b.press("b")
	b.wait(previewed)
	hears("alertdialog Go back to turn 2 of 5f1c0d2e: document it | " +
		"Of claude 5f1c0d2e. 2 turns and 2 checkpoints lie behind it")
}
