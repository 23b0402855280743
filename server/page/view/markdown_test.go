package view_test

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"rewind/api"
	"rewind/server/page/view"
)

// What a model writes is shown as it means it.
func TestMarkdown(t *testing.T) {
	wide := strings.Repeat("w", 90)
	for said, want := range map[string]string{
		"a *b* **c** ~~d~~ `e < f`": "<p>a <em>b</em> <strong>c</strong> <del>d</del> <code>e &lt; f</code></p>",
		"# One\n\n###### Six":       "<h3>One</h3>\n<h6>Six</h6>",
		"1. a\n2. b":                "<ol>\n<li>a</li>\n<li>b</li>\n</ol>",
		"3. a":                      `<ol start="3">` + "\n<li>a</li>\n</ol>",
		"> q":                       "<blockquote>\n<p>q</p>\n</blockquote>",
		"```go\nx := \"<b>\"\n```":  "<pre><code>x := &quot;&lt;b&gt;&quot;\n</code></pre>",
		"    indented":              "<pre><code>indented\n</code></pre>",
		"```\n" + wide + "\n```":    `<pre tabindex="0"><code>` + wide + "\n</code></pre>",
		"|a|\n|-:|\n|b|": `<div class="wide" tabindex="0"><table><thead>` + "\n<tr>\n" + `<th align="right">a</th>` +
			"\n</tr>\n</thead>\n<tbody>\n<tr>\n" + `<td align="right">b</td>` + "\n</tr>\n</tbody>\n</table></div>",
		"[a](https://b.example/?c&d)": "<p>" + linked("https://b.example/?c&amp;d", "a") + "</p>",
		"see https://b.example/c.":    "<p>see " + linked("https://b.example/c", "https://b.example/c") + ".</p>",
		"<HTTPS://b.example>":         "<p>" + linked("https://b.example", "HTTPS://b.example") + "</p>",
		"<me@b.example>":              "<p>" + linked("mailto:me@b.example", "me@b.example") + "</p>",
		"[f](src/f.go)":               "<p>f (src/f.go)</p>",
		"[a]: https://b.example":      "<p>[a]: " + linked("https://b.example", "https://b.example") + "</p>",
		"![p](https://b.example/p)": "<p>" + linked("https://b.example/p", "picture: p (https://b.example/p)") +
			"</p>",
		"![p](p.png)":      "<p>picture: p (p.png)</p>",
		"a <div> b":        "<p>a &lt;div&gt; b</p>",
		"<!-- c -->":       "<p>&lt;!-- c --&gt;</p>",
		"a\\\nb":           "<p>a<br>\nb</p>",
		"---":              "<hr>",
		"# a {#id .class}": "<h3>a {#id .class}</h3>",
	} {
		got, _, ok := view.Markdown(said, 100)
		if strings.TrimSpace(string(got)) != want || !ok {
			t.Errorf("%q is\n%s (%t), not\n%s", said, got, ok, want)
		}
	}
}

func linked(to, text string) string {
	const rel = `rel="noopener noreferrer" target="_blank">`
	return `<a class="link" href="` + to + `" title="` + to + `" ` + rel + text + "</a>"
}

// hostileMarkdown is what would run, lead elsewhere or be fetched, if it became HTML as it stands.
var hostileMarkdown = append([]string{
	"[a](javascript:alert(1))", "[a](JaVaScRiPt:alert(1))", "[a](javascript&colon;alert(1))",
	"[a](java\nscript:alert(1))",
	"[a](&#106;avascript:alert(1))", "[a](data:text/html,<script>)", "[a](vbscript:x)", "[a](//evil.example)",
	"[a](\x01javascript:alert(1))", "[a](<javascript:alert(1)>)", "<javascript:alert(1)>",
	"[a][b]\n\n[b]: javascript:alert(1)",
	`[a](https://b.example "\" onmouseover=alert(1)")`, `[a](https://b.example"onmouseover="alert(1))`,
	"![a](https://evil.example/x.png)", "![a](x\" onerror=\"alert(1))", "![![a](javascript:b)](javascript:c)",
	"[![a](https://b.example)](https://c.example)", "```<script>\nalert(1)\n```", "``` \" onload=alert(1)\nx\n```",
	"| <script> | b |\n|-|-|\n| `|<b>` | <img src=x> |", "<script>alert(1)</script>", "<style>*{}</style>",
	"<svg/onload=alert(1)>",
	"<a href=https://evil.example>x</a>", "http://b.example/\"><script>", "https://b.example/'onclick='x",
	"www.evil.example",
	"<https://b.example/\"onclick=alert(1)>", "\x00", "\xff\xfe", "&lt;script&gt;", "\\<script>", "<\\script>",
	"<scr\u202eipt>",
	"# [a](javascript:x)", "> <iframe srcdoc=x>", "- [ ] <input>", "[x](https://b.example\u2028)", "*[a](mailto:\"x)*",
}, hostile...)

var numbered = regexp.MustCompile(`<[^>]*>?`)

// holds checks what came out of Markdown: few elements, each of those that are meant, and nothing behind a '<' else.
func holds(t *testing.T, said string, nodes int) {
	t.Helper()
	out, elements, ok := view.Markdown(said, nodes)
	if !ok {
		if out != "" || elements != 0 {
			t.Errorf("%.80q: it is not shown, and has %d elements", said, elements)
		}
		return
	}
	n := 0
	for _, tag := range numbered.FindAllString(string(out), -1) {
		if !view.Harmless.MatchString(tag) {
			t.Errorf("%.80q becomes %s", said, tag)
		}
		if tag[1] != '/' {
			n++
		}
	}
	if n != elements || n > nodes {
		t.Errorf("%.80q: %d elements, said to be %d, of %d at most", said, n, elements, nodes)
	}
	if most := 4_000 + 20*len(said) + 400*elements; len(out) > most {
		t.Errorf("%.80q: %d bytes become %d", said, len(said), len(out))
	}
}

// TestT16Markdown: nothing of a text runs, is fetched, or leads anywhere but over the web or to a mail.
func TestT16Markdown(t *testing.T) {
	for _, said := range hostileMarkdown {
		holds(t, said, 1_000)
		holds(t, "text "+said+" text\n\n- "+said+"\n> "+said+"\n\n|"+said+"|\n|-|\n|"+said+"|\n", 1_000)
		out, _, _ := view.Markdown(said, 1_000)
		for _, never := range []string{
			"<script", "<img", "<svg", "<iframe", "<input", "<style", `href="j`, `href="d`, `href="/`,
		} {
			if strings.Contains(strings.ToLower(string(out)), never) {
				t.Errorf("%q becomes %s", said, out)
			}
		}
	}
}

// Nothing is hidden: what a text says, and where its links lead that are not followed, is in what is shown of it. Of a
// link's title, and of what a block of code is written in, that does not hold.
func TestMarkdownKeepsWords(t *testing.T) {
	for _, said := range hostileMarkdown {
		if strings.Contains(said, "```") || strings.Contains(said, `https://b.example "`) {
			continue
		}
		out, _, ok := view.Markdown("begin "+said+" end", 1_000)
		if !ok || !utf8.ValidString(said) {
			continue
		}
		text := html.UnescapeString(numbered.ReplaceAllString(string(out), ""))
		if !strings.Contains(text, "begin") || !strings.Contains(text, "end") {
			t.Errorf("%q is shown as %q", said, text)
		}
		if all := string(out); strings.Contains(said, "alert") && !strings.Contains(all, "alert") {
			t.Errorf("%q hides what it leads to: %q", said, text)
		}
	}
}

// heavy are texts that a reader of Markdown takes long for, or makes much of.
func heavy(n int) map[string]string {
	all := map[string]string{
		"a line":   strings.Repeat("x", n),
		"brackets": strings.Repeat("[", n/2) + strings.Repeat("]", n/2),
		"ticks":    strings.Repeat("`", n/2) + " " + strings.Repeat("`", n/2),
		"stars":    strings.Repeat("*", n/2) + "a" + strings.Repeat("*", n/2),
		"wide tables": "|" + strings.Repeat("a|", 400) + "\n|" + strings.Repeat("-|", 400) + "\n" +
			strings.Repeat("b\n", n/2),
		"fence":       "```\n" + strings.Repeat("**a**\n", n/6),
		"many fences": strings.Repeat("```\n", n/4),
		"lists": strings.Join(func() (out []string) {
			for i := range min(n/100, 200) {
				out = append(out, strings.Repeat("  ", i)+"- a")
			}
			return out
		}(), "\n"),
	}
	for _, one := range []string{
		">", "> ", "- ", "> - ", "* * ", "1. ", "[](", "[a](", "![", "*a_", "**a", "_a ", "***", "~~a", "`a``", "<a ",
		"a|", "&amp;",
		"www.a.b ", "http://a.b ", "a@b.c ", "- a\n", "- a\n  ", "a\n\n", "|a|\n|-|\n", "\n> a", "# a\n", "[a]: b\n",
		"\\",
	} {
		all["many "+one] = strings.Repeat(one, n/len(one))
	}
	return all
}

// TestMarkdownIsBounded: whatever a text is made of, and however long, what is shown of it is bounded, and the rest
// comes. What would take long to read is shown as it was written.
func TestMarkdownIsBounded(t *testing.T) {
	for _, n := range []int{2_000, 60_000, 1 << 20} {
		for name, said := range heavy(n) {
			holds(t, said, 1_000)
			beginning := api.Text(said[:min(len(said), 4<<10)])
			r := &api.MessagesResponse{Messages: []api.Message{{
				Who: "assistant", Text: beginning, Cut: true,
				At: new(int64),
			}}}
			weigh(t, name, view.Talk(frame("notes"), "turn:1@claude/a", r, view.TalkBefore), "")
			doc := weigh(t, name, view.RestOfSaid(frame("notes"), "/ab12cd34/talk?whole=1", said, true, 0), "said")
			if name == "a line" && n > 1<<19 && !strings.Contains(doc, "The rest of it") {
				t.Errorf("%s: the rest is not there", name)
			}
		}
	}
}

// TestLongAnswers: a long text comes piece by piece, each word once and in order, and a block of code that goes on in
// the next piece is code there.
func TestLongAnswers(t *testing.T) {
	var b strings.Builder
	for i := range 9_000 {
		switch i % 3_000 {
		case 0:
			b.WriteString("Word" + fmt.Sprint(i) + " begins.\n\n```go\n")
		case 2_500:
			b.WriteString("# word" + fmt.Sprint(i) + "\n```\n\n")
		default:
			if i%3_000 < 2_500 {
				fmt.Fprintf(&b, "# word%d\n", i)
			} else {
				fmt.Fprintf(&b, "word%d\n\n", i)
			}
		}
	}
	all, at := "", 0
	for n := 0; ; n++ {
		p := view.RestOfSaid(frame("notes"), "/ab12cd34/talk?whole=1", b.String(), true, at)
		doc := weigh(t, "piece", p, "said")
		all += doc
		next := regexp.MustCompile(`[?&;]at=(\d+)`).FindStringSubmatch(doc)
		if next == nil {
			break
		}
		if n > 100 {
			t.Fatal("it does not end")
		}
		_, err := fmt.Sscan(next[1], &at)
		if err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(all, "<h3>") {
		t.Error("code is taken for headings")
	}
	last := -1
	for _, word := range regexp.MustCompile(`[Ww]ord(\d+)`).FindAllStringSubmatch(all, -1) {
		var n int
		_, _ = fmt.Sscan(word[1], &n)
		if n != last+1 {
			t.Fatalf("behind word %d comes word %d", last, n)
		}
		last = n
	}
	if last != 8_999 {
		t.Errorf("it ends with word %d", last)
	}
}

func FuzzT16Markdown(f *testing.F) {
	for _, said := range hostileMarkdown {
		f.Add(said)
	}
	for _, said := range heavy(500) {
		f.Add(said)
	}
	f.Fuzz(func(t *testing.T, said string) {
		holds(t, said, 500)
		if utf8.ValidString(said) {
			holds(t, strings.Repeat(said+"\n", min(20, 1+20_000/(1+len(said)))), 500)
		}
	})
}
