package browsertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"rewind/internal/built"
)

// TestKilled: the daemon is killed under an open page, between two checkpoints. The page finds the next one where the
// last was, with the same cookie, and has missed nothing, without being loaded again; what it does then is done.
func TestKilled(t *testing.T) {
	p, _ := usual(t)
	b := profile(t)
	b.enter(p)
	b.eval(`window.same = true; window.streams = []; performance.setResourceTimingBufferSize(1000)`)
	for i := range 3 {
		p.turn(fmt.Sprintf("before kill %d", i), p.sets("killed.go", fmt.Sprintf("package notes // %d\n", i)))
		id, err := strconv.Atoi(regexp.MustCompile(`process (\d+)`).FindStringSubmatch(p.rewind("daemon", "status"))[1])
		p.must(err)
		p.must(syscall.Kill(id, syscall.SIGKILL))
		p.turn(fmt.Sprintf("after kill %d", i), p.sets("killed.go", fmt.Sprintf("package notes // again %d\n", i)))
		b.says(".row", fmt.Sprintf("before kill %d", i))
		b.says(".row", fmt.Sprintf("after kill %d", i))
		b.wait(`document.querySelector(".offline").hidden`)
	}
	if !eval[bool](b, `window.same`) {
		t.Error("the page was loaded again")
	}
	b.expect(unreached)
	b.moment("before kill 2")
	b.ask(here)
	b.choose(`dialog.sheet [value=code]`)
	b.confirm("Went to")
	if got := p.read("killed.go"); got != "package notes // 2\n" {
		t.Errorf("it did not go back: %q", got)
	}
}

// TestBetween: what happens between the making of a document and the moment at which it listens appears like everything
// else.
func TestBetween(t *testing.T) {
	p, _ := usual(t)
	b := profile(t)
	b.do(command(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
		const Real = EventSource;
		window.EventSource = function (url) {
			const held = this;
			window.listen = () => {
				const real = new Real(url);
				for (const on of ["onopen", "onmessage", "onerror"]) real[on] = held[on];
			};
		};`}))
	b.enter(p)
	for _, at := range []string{"", "/tree", "/ops"} {
		b.open(at)
		b.wait("window.listen")
		words := "between this" + at
		if at == "" {
			p.turn(words, p.sets("between.go", "package notes\n"))
		} else {
			p.rewind("forks", "rename", first, words)
		}
		b.eval("listen()")
		b.says("#main", words)
	}
}

// TestTwoAgents: what two sessions' hooks report at once while somebody looks appears, all of it, each row once.
func TestTwoAgents(t *testing.T) {
	p := newProject(t)
	p.turn("fix the parser", p.sets("parser.go", "package notes\n"))
	b := profile(t)
	b.enter(p)
	const each = 4
	var agents sync.WaitGroup
	for i := range 2 {
		one := *p
		one.begin(fmt.Sprintf("%08d-1111-4222-8333-444455556666", i))
		agents.Go(func() {
			for turn := range each {
				text := fmt.Sprintf("package notes // %d\n", turn)
				one.turn(fmt.Sprintf("agent %d turn %d", i, turn), one.sets(fmt.Sprintf("of%d.go", i), text))
			}
		})
	}
	agents.Wait()
	for i := range 2 {
		for turn := range each {
			words := fmt.Sprintf("agent %d turn %d", i, turn)
			b.says(".row", words)
			b.wait(fmt.Sprintf(`[...document.querySelectorAll(".row")].filter((r) => r.innerText.includes(%q)).length === 1`, words))
		}
	}
	b.wait(`document.querySelectorAll(".side .branches > li").length === 3`)
	b.wait(`document.querySelectorAll(".row a[aria-current]").length === 1`)
	b.wait(`new Set([...document.querySelectorAll(".row")].map((r) => r.dataset.id)).size === document.querySelectorAll(".row").length`)
}

// TestForward: turns that lie ahead of where the code went back to, and along them by one.
func TestForward(t *testing.T) {
	p, _ := usual(t)
	p.rewind("checkout", "turn:1", "--code-only", "--session", first)
	b := profile(t)
	b.enter(p)
	b.open("/s/claude/" + first)
	b.says(".ahead", "make the store larger")
	if p.read("CHANGES.md") != "" {
		t.Fatal("it did not go back")
	}
	b.ask(`.ahead li:nth-child(2) [data-act=forward]`)
	b.says("dialog.sheet", "store/all.go")
	b.confirm("Went forward")
	if p.read("store/all.go") == "" || p.read("CHANGES.md") != "" {
		t.Errorf("it is not two turns on: %s", p.rewind("status"))
	}
	b.ask(`.notice [data-act="undo-restore"]`)
	b.confirm("Undone")
	if p.read("store/all.go") != "" {
		t.Error("the way forward was not undone")
	}
}

// TestScrolled: older rows come as they come into sight, once each, and stay when something happens; so do the sessions
// beside them. The scrubber goes through all that is there.
func TestScrolled(t *testing.T) {
	p := newProject(t)
	const rows = 130
	for i := range rows {
		p.write("README.md", fmt.Sprintln("version", i))
		p.rewind("save", fmt.Sprintf("saved %03d", i))
	}
	b := profile(t)
	b.enter(p)
	count := `document.querySelectorAll("[data-rows] .row").length`
	if n := eval[int](b, count); n != 24 && n != 48 {
		t.Errorf("%d rows come at first", n)
	}
	for !eval[bool](b, count+fmt.Sprintf(` > %d && !document.querySelector("[data-rows] [data-more]")`, rows)) {
		b.eval(`document.querySelector(".log").scrollTo(0, 1e6)`)
	}
	ids := `[...document.querySelectorAll("[data-rows] .row")].map((r) => r.dataset.id).join()`
	all := eval[string](b, ids)
	b.eval(`window.insight = [...document.querySelectorAll(".row")].find((r) => r.getBoundingClientRect().top >= 200);
		window.topOf = (id) => document.querySelector('[data-id="' + id + '"]').getBoundingClientRect().top;
		window.wasAt = topOf(insight.dataset.id)`)
	p.write("README.md", "the newest\n")
	p.rewind("save", "saved meanwhile")
	b.wait(`document.querySelector(".row").textContent.includes("saved meanwhile")`) // which is out of sight
	if now := eval[string](b, ids); !strings.HasSuffix(now, all) || strings.Count(now, ",") != strings.Count(all, ",")+1 {
		t.Errorf("rows were lost or doubled: %d, then %d", strings.Count(all, ",")+1, strings.Count(now, ",")+1)
	}
	if by := eval[float64](b, `topOf(insight.dataset.id) - wasAt`); by < -4 || by > 4 {
		t.Errorf("what was in sight moved by %v pixels", by)
	}
	b.eval(`const s = document.querySelector(".scrub input"); s.value = 1; s.dispatchEvent(new Event("input", {bubbles: true}))`)
	b.wait(`document.querySelector(".row:last-child a[aria-current]")`)
	b.says(".scrub output", "1 of")
	b.do(chromedp.Click(chromedp.CSS(`.scrub [data-step="-1"]`)))
	b.says(".scrub output", "2 of")
	b.open("/lanes")
	b.says(".stripbox", fmt.Sprint(rows+2, " checkpoints"))
	b.do(chromedp.Click(chromedp.CSS(`.strip a:last-of-type`)))
	b.wait(`location.search.startsWith("?before=") && document.querySelector("circle")`)
}

// TestHalfDone: a going back that was killed on its way is said on the log, and ended from there, either way; each is
// said, and then nothing is half done.
func TestHalfDone(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("missing tool: strace")
	}
	p, _ := usual(t)
	was := p.read("README.md")
	b := profile(t)
	b.enter(p)
	for _, end := range []struct{ act, sheet, notice string }{
		{"abort", "Take back what was begun", "Taken back"}, {"continue", "Finish what was begun", "Finished"},
	} {
		p.rewind("daemon", "stop")
		kill := p.command("checkout", "turn:1@"+first, "--code-only", "--exact")
		kill.Env = append(kill.Env, "REWIND_DAEMON=off")
		inject := []string{"strace", "-f", "-o", "/dev/null", "-e", "inject=renameat2:signal=SIGKILL:when=1", kill.Path}
		kill.Args = append(inject, kill.Args[1:]...)
		kill.Path, _ = exec.LookPath("strace")
		if out, _ := kill.CombinedOutput(); !strings.Contains(string(out), "was killed before it answered") {
			t.Fatalf("it was not killed: %s", out)
		}
		p.rewind("list", "--limit", "1") // it starts the daemon
		b.expect(unreached)
		b.open("")
		b.says(".banner", "is half done: nothing else can be done before it is ended")
		b.ask(`.banner [data-act="` + end.act + `"]`)
		b.says("dialog.sheet", end.sheet)
		b.confirm(end.notice)
		b.wait(`!document.querySelector(".banner.bad")`)
		if out := p.rewind("status", "-v"); strings.Contains(out, "half done") {
			t.Errorf("%s: %s", end.act, out)
		}
		if back := p.read("README.md") != was || p.read("CHANGES.md") == ""; back != (end.act == "continue") {
			t.Errorf("%s: the project is not as it should be", end.act)
		}
	}
	p.rewind("undo-restore")
	if p.read("README.md") != was {
		t.Error("what was finished cannot be undone")
	}
}

// TestHeld: an open page holds the daemon, which else ends when it is idle, and goes on with the one of another version
// that takes over.
func TestHeld(t *testing.T) {
	p, _ := usual(t)
	p.rewind("daemon", "stop")
	b := profile(t) // before the daemon: it takes seconds beside other work
	begin := p.command("list")
	begin.Env = append(begin.Env, "REWIND_IDLE=5s")
	if out, err := begin.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	process := func() string { // the program that it is; "": there is none
		note, _ := os.ReadFile(filepath.Join(p.home, ".rewind", "run", "daemon.json"))
		id := regexp.MustCompile(`"pid":\s*(\d+)`).FindSubmatch(note)
		if id == nil {
			return ""
		}
		path, _ := os.Readlink("/proc/" + string(id[1]) + "/exe")
		return path
	}
	b.enter(p)
	b.eval(`window.same = true`)
	time.Sleep(8 * time.Second)
	if now := process(); now != filepath.Join(programs, "rewindd") {
		t.Errorf("the daemon is %q", now)
	}

	other := t.TempDir()
	if err := built.Version(other, "v9.0.0"); err != nil {
		t.Fatal(err)
	}
	p.write("later.go", "package notes\n")
	upgraded := p.command("save", "saved by another version")
	upgraded.Path = filepath.Join(other, "rewind")
	upgraded.Env = append(upgraded.Env, "REWIND_IDLE=5s")
	if out, err := upgraded.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b.says(".row", "saved by another version")
	b.wait(`document.querySelector(".offline").hidden`)
	if !eval[bool](b, `window.same`) {
		t.Error("the page was loaded again")
	}
	b.expect(unreached)
	if now := process(); now != filepath.Join(other, "rewindd") {
		t.Errorf("the daemon is %q", now)
	}
	b.do(chromedp.Navigate("about:blank"))
	for range 600 {
		if time.Sleep(100 * time.Millisecond); process() == "" {
			return
		}
	}
	t.Error("the daemon has not ended, though nobody looks")
}
