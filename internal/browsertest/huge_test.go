package browsertest

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// The measures of the data that no view may grow with.
const (
	hugeLines    = 20_000
	hugeFiles    = 3_000
	hugeBranches = 1_000
	hugeLine     = 1 << 20
)

// huge is a project with a turn of each kind, and so many sessions.
func huge(t testing.TB, branches int) *project {
	t.Helper()
	p := newProject(t)
	numbered := func(words string) string {
		var b strings.Builder
		for i := range hugeLines {
			fmt.Fprintf(&b, "%s %d, which is said at some length\n", words, i)
		}
		return b.String()
	}
	p.turn("add twenty thousand lines", p.sets("big.txt", numbered("the line")))
	p.turn("change twenty thousand lines", p.sets("big.txt", numbered("the other line")))
	p.turn("write one long line", p.sets("long.txt", "before\n"+strings.Repeat("0123456789abcdef",
		hugeLine/16)+"\nafter\n"))
	p.turn("write three thousand files", func() {
		for i := range hugeFiles {
			p.write(fmt.Sprintf("many/file%04d.txt", i), fmt.Sprintf("one\ntwo\nthree %d\n", i))
		}
	})
	for i := range branches {
		one := *p
		one.begin(fmt.Sprintf("%08d-1111-4222-8333-444455556666", i))
		one.records = 2 * i
		prompt := fmt.Sprintf("branch %d: make it a little better than it was", i)
		one.say("user", prompt)
		one.say("assistant", []any{map[string]any{"type": "text", "text": "It is better now."}})
	}
	p.rewind("sessions", "--import")
	p.rewind("fork", "turn:1", "--session", first, "--title", "another way")
	return p
}

// elements is how many a document has.
const elements = `document.querySelectorAll("*").length`

// settle waits until what a document asks for by itself has come.
func (b *tab) settle() {
	b.Helper()
	const loads = `performance.getEntriesByType("resource").length + "," + document.querySelectorAll("[aria-busy=true]").length + "," + ` + elements
	for was := ""; ; {
		time.Sleep(300 * time.Millisecond)
		now := eval[string](b, loads)
		if now == was && strings.Contains(now, ",0,") {
			return
		}
		was = now
	}
}

// hugeViews are the paths of views that would grow with such data.
func (b *tab) hugeViews() map[string]string {
	b.Helper()
	turn := func(n int) string { return fmt.Sprintf("/s/claude/%s/t/%d", first, n) }
	b.open(turn(4))
	cp := until[string](b, `document.querySelector('a[href$="/files"]').pathname.match(/\/c\/([0-9a-f]+)\/files/)[1]`)
	return map[string]string{
		"log": "", "log added": "?at=" + url.QueryEscape("turn:1@claude/"+first), "session": "/s/claude/" + first,
		"added": turn(1), "changed": turn(2), "long line": turn(3), "files": turn(4), "steps": turn(4) + "/steps",
		"tree": "/tree", "lanes": "/lanes", "restores": "/ops", "find": "/find?q=line", "find many": "/find?q=branch",
		"diff":      "/diff?from=" + url.QueryEscape("before:1@claude/"+first) + "&to=" + cp,
		"directory": "/c/" + cp + "/files?path=many",
		"big file":  "/c/" + cp + "/file?path=big.txt", "blame": "/c/" + cp + "/file?path=big.txt&blame=1",
		"long file": "/c/" + cp + "/file?path=long.txt",
		"compare":   "/compare?a=" + url.QueryEscape("claude/"+first) + "&b=" + url.QueryEscape("another way"),
		"projects":  "/../../projects",
	}
}

// TestHuge: at a line of 1 MB, 20,000 lines added, 20,000 changed, 3,000 files and 1,000 sessions every view has at
// most
// 200,000 bytes and 5,000 elements, in two columns, too, and is no wider than its window. What is left out comes when
// it is asked for.
func TestHuge(t *testing.T) {
	p := huge(t, hugeBranches)
	b := profile(t)
	b.enter(p)
	for name, path := range b.hugeViews() {
		b.open(path)
		b.settle()
		bytes := eval[int](b, `fetch(location.href).then((a) => a.arrayBuffer()).then((a) => a.byteLength)`)
		nodes := eval[int](b, elements)
		t.Logf("%s: %d bytes, %d elements", name, bytes, nodes)
		if bytes > 200_000 || nodes > 5_000 {
			t.Errorf("%s has %d bytes and %d elements", name, bytes, nodes)
		}
		if eval[bool](b, `!!document.querySelector("[data-split]")`) {
			b.press("s")
			if n := eval[int](b, elements); n > 5_000 {
				t.Errorf("%s side by side has %d elements", name, n)
			}
			b.press("s")
		}
		for _, width := range []int64{1440, 1024, 390} {
			b.do(chromedp.EmulateViewport(width, 900))
			if wide := eval[float64](b, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
				t.Errorf("%s at %d is %v pixels too wide", name, width, wide)
			}
			if *screens != "" {
				b.picture(fmt.Sprintf("huge-%s-%d", strings.ReplaceAll(name, " ", "-"), width))
			}
		}
		b.do(chromedp.EmulateViewport(1440, 900))
	}

	views := b.hugeViews()
	lines := `document.querySelectorAll(".diff > ins").length`
	b.open(views["added"])
	b.wait(lines + ` === 400`)
	b.hit(`document.querySelector(".diff > [data-more]")`)
	b.wait(lines + ` > 1500`)
	b.open(views["changed"])
	b.wait(`document.querySelector(".diff > del + ins, .diff > del ~ ins")`) // both sides of it
	b.open(views["long line"])
	b.says(".diff", "after")
	was := eval[int](b, `document.querySelector(".diff").textContent.length`)
	b.hit(`document.querySelector(".diff > * > [data-more]")`)
	b.wait(fmt.Sprintf(`document.querySelector(".diff").textContent.length > %d`, was+50_000))
	b.open(views["files"])
	b.says(".changes h2", "3,000 files changed")
	files := `document.querySelectorAll("details.file").length`
	had := eval[int](b, files)
	b.hit(`document.querySelector(".changes > .older [data-more]")`)
	b.wait(fmt.Sprintf(`%s > %d`, files, had+50))
	b.open("/diff?from=" + url.QueryEscape("before:1@claude/"+first) + "&to=" + url.QueryEscape("turn:4@claude/"+first))
	b.wait(`document.querySelector("details.file:not([open]) > summary")`)
	b.hit(`document.querySelector("details.file:not([open]) > summary")`) // what is large comes as it is opened
	b.wait(`document.querySelector("details.file[open] .diff > ins")`)
	if _, err := os.Stat(filepath.Join(p.dir, "many")); err != nil {
		t.Error(err)
	}
}
