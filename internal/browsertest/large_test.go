package browsertest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

var kept = flag.String("large", "",
	"a directory in which BenchmarkLarge keeps its project, or has kept it: it takes minutes to make")

// BenchmarkLarge is the page of a project with 1,000 branches and 10,000 checkpoints: until it is painted, the longest
// task while it is scrolled, what it weighs, and what the daemon takes for it. To make the project takes a minute or
// two.
func BenchmarkLarge(b *testing.B) {
	p := large(b)
	p.measure(b, []view{
		{"log", ""},
		{"tree", "/tree"},
		{"lanes", "/lanes"},
		{"ops", "/ops"},
		{"find", "/find?q=branch"},
	})
}

// BenchmarkHuge is the same of changes of 20,000 lines, of a line of 1 MB and of 3,000 files, each as a turn.
func BenchmarkHuge(b *testing.B) {
	needBrowser(b)
	p := huge(b, hugeBranches)
	var views []view
	for n, name := range []string{"added", "changed", "line", "files"} {
		views = append(views, view{name, fmt.Sprintf("/s/claude/%s/t/%d", first, n+1)})
	}
	p.measure(b, views)
}

// large is the project, with a daemon that has just begun.
func large(b *testing.B) *project {
	const branches, each = 1000, 10
	needBrowser(b)
	home := *kept
	if home == "" {
		home = b.TempDir()
	}
	p := projectIn(b, home)
	made := filepath.Join(home, "made")
	if _, err := os.Stat(made); err == nil {
		return p
	}
	p.set()
	for i := range branches {
		if i > 0 && i%10 == 0 { // a tenth are forks
			out := p.rewind("fork", "turn:1", "--session", first, "--new")
			p.begin(regexp.MustCompile(`claude --resume (\S+)`).FindStringSubmatch(out)[1])
		} else if i > 0 {
			p.begin(fmt.Sprintf("%08d-1111-4222-8333-444455556666", i))
		}
		for turn := range 2 {
			prompt := fmt.Sprintf("turn %d of branch %d: make it a little better than it was", turn, i)
			p.hook("prompt", map[string]any{"prompt": prompt})
			p.say("user", prompt)
			for step := range each / 2 {
				id := fmt.Sprintf("toolu_%d_%d_%d", i, turn, step)
				p.write(fmt.Sprintf("part%d/file%d.go", i%10, step), fmt.Sprintf("package part\n\n// %d %d %d\n", i,
					turn, step))
				p.hook("post-tool-use", map[string]any{
					"tool_name": "Bash", "tool_use_id": id, "tool_input": map[string]any{"command": "make"},
				})
			}
			p.say("assistant", []any{map[string]any{"type": "text", "text": "It is better now."}})
			p.hook("stop", map[string]any{"stop_hook_active": false})
		}
	}
	p.rewind("daemon", "stop")
	p.must(os.WriteFile(made, nil, 0o600))
	return p
}

// settled is when what a page asks for once it is painted has come.
const settled = 500 * time.Millisecond

// lull is when the daemon has given back what work has left behind.
const lull = 5 * time.Second

// A view has its name in the figures, and its path.
type view struct{ name, path string }

// measure looks at views that grow, always in the same order: what the daemon has in memory depends on it.
func (p *project) measure(b *testing.B, views []view) {
	p.rewind("list", "--limit", "1")
	time.Sleep(lull)
	rest := p.resident(b)
	t := profile(b)
	t.enter(p)
	t.do(command(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `window.long = [];
			new PerformanceObserver((l) => long.push(...l.getEntries())).observe({type: "longtask", buffered: true})`,
	}))
	busy := 0.0 // the most that it had right behind a view
	for b.Loop() {
		for _, v := range views {
			var paints, answers []float64
			for range 5 {
				time.Sleep(settled)
				t.open(v.path)
				t.wait(`performance.getEntriesByName("first-contentful-paint").length`)
				paints = append(paints, eval[float64](t,
					`performance.getEntriesByName("first-contentful-paint")[0].startTime`))
				answers = append(answers, eval[float64](t, `performance.getEntriesByType("navigation")[0].responseEnd`))
			}
			slices.Sort(paints)
			slices.Sort(answers)
			weight := eval[float64](t,
				`[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
				.filter((e) => !e.name.endsWith("/live")).reduce((n, e) => n + e.encodedBodySize, 0)`)
			longest := eval[float64](t, `(async () => {
				const box = document.querySelector(".log") ?? document.getElementById("main");
				const began = performance.now(); // tasks of before may be told of later
				for (let i = 0; i < 150; i++) { box.scrollBy(0, 400); await new Promise(requestAnimationFrame); }
				await new Promise((done) => setTimeout(done, 300));
				return Math.max(0, ...window.long.filter((e) => e.startTime >= began).map((e) => e.duration));
			})()`)
			b.ReportMetric(paints[2], v.name+"-paint-ms")
			b.ReportMetric(answers[2], v.name+"-answer-ms")
			b.ReportMetric(longest, v.name+"-longest-ms")
			b.ReportMetric(weight/1024, v.name+"-KiB")
			busy = max(busy, p.resident(b)-rest)
		}
	}
	b.ReportMetric(busy/1024, "busy-MiB")
	time.Sleep(lull)
	b.ReportMetric((p.resident(b)-rest)/1024, "more-MiB")
}

// resident is what the daemon has in memory, in KiB.
func (p *project) resident(b *testing.B) float64 {
	b.Helper()
	id := regexp.MustCompile(`process (\d+)`).FindStringSubmatch(p.rewind("daemon", "status"))
	status, err := os.ReadFile(filepath.Join("/proc", id[1], "status"))
	p.must(err)
	_, after, _ := strings.Cut(string(status), "VmRSS:")
	n, err := strconv.ParseFloat(strings.Fields(after)[0], 64)
	p.must(err)
	return n
}

// BenchmarkBeside is a hook after an edit while a page of the same project is open, beside one while none is, in turns:
// medians, and their ratio.
func BenchmarkBeside(b *testing.B) {
	const rounds, each = 6, 20
	p := large(b)
	p.begin(first)
	t := profile(b)
	t.enter(p)
	var took [2][]float64          // milliseconds: without a page, with one
	edits := time.Now().UnixNano() // what is written was not there in an earlier run
	prompt := "measure what a page costs"
	// a turn that began with the project would have every list read back to there
	p.hook("prompt", map[string]any{"prompt": prompt})
	p.say("user", prompt)
	for b.Loop() {
		for round := range 2 * rounds {
			open := round % 2
			if open == 1 {
				t.open("")
				t.wait(`document.querySelector(".side [data-depth]") && !document.hidden`)
			} else {
				t.do(chromedp.Navigate("about:blank"))
			}
			time.Sleep(3 * time.Second) // what came with it has been drawn
			for range each {
				edits++
				p.write("part0/file0.go", fmt.Sprintf("package part\n\n// %d\n", edits))
				time.Sleep(150 * time.Millisecond)
				began := time.Now()
				p.hook("post-tool-use", map[string]any{
					"tool_name": "Bash", "tool_use_id": fmt.Sprint("toolu_beside_", edits),
					"tool_input": map[string]any{"command": "make"},
				})
				took[open] = append(took[open], float64(time.Since(began).Microseconds())/1000)
			}
		}
	}
	p.hook("stop", map[string]any{"stop_hook_active": false})
	median := func(list []float64) float64 { slices.Sort(list); return list[len(list)/2] }
	b.ReportMetric(median(took[0]), "alone-ms")
	b.ReportMetric(median(took[1]), "beside-ms")
	b.ReportMetric(median(took[1])/median(took[0]), "ratio")
}

// BenchmarkLongTalk is a moment at the end of a conversation of 100 MB: until it is painted, and until what was said
// before it is there.
func BenchmarkLongTalk(b *testing.B) {
	const turns, each = 400, 90 // messages of 2.8 kB
	p := newProject(b)
	words := strings.Repeat("what is said at some length and means little ", 55)
	for turn := range turns {
		p.say("user", fmt.Sprint("turn ", turn))
		for range each {
			p.say("assistant", []any{map[string]any{"type": "text", "text": words}})
		}
	}
	p.rewind("sessions", "--import") // all of it, which a hook would not wait for
	p.turn("the last of many", p.sets("README.md", "at the end\n"))
	size, err := os.Stat(p.file)
	p.must(err)
	t := profile(b)
	t.enter(p)
	cp := t.row("the last of many")
	t.base += "/c/" + cp
	said := `document.querySelectorAll(".said").length`
	if t.open(""); eval[int](t, said) < 30 {
		b.Fatal(t.text())
	}
	for b.Loop() {
		var paints, earlier []float64
		for range 5 {
			t.open("")
			t.wait(`performance.getEntriesByName("first-contentful-paint").length`)
			paints = append(paints, eval[float64](t,
				`performance.getEntriesByName("first-contentful-paint")[0].startTime`))
			earlier = append(earlier, eval[float64](t, `(async () => {
				const began = performance.now(), before = `+said+`;
				document.querySelector(".talk .older a").click();
				while (`+said+` === before) await new Promise((done) => setTimeout(done, 5));
				return performance.now() - began;
			})()`))
		}
		slices.Sort(paints)
		slices.Sort(earlier)
		b.ReportMetric(paints[2], "paint-ms")
		b.ReportMetric(earlier[2], "earlier-ms")
	}
	b.ReportMetric(float64(size.Size())/1e6, "MB")
}
