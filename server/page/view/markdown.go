package view

import (
	"bytes"
	"html/template"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/yuin/goldmark"
)

// What a model writes is Markdown. It becomes HTML here, of few elements: no HTML of the text's own, no picture, no
// address but that of a link. What would become more than there is room for is shown as it was written.

const (
	maxMarkdown = 64 << 10 // bytes that are read at a time
	maxNested   = 24       // levels of quotes and lists
)

// markdown is a text as HTML, and how many elements that has. ok is false where it is to be shown as it was written.
func markdown(said string, nodes int) (out template.HTML, elements int, ok bool) {
	if len(said) > maxMarkdown || costly(said, nodes) {
		return "", 0, false
	}
	source := []byte(strings.ToValidUTF8(said, "\uFFFD"))
	doc := reader().Parser().Parse(text.NewReader(source))
	if depth(doc) > maxNested {
		return "", 0, false
	}
	var b bytes.Buffer
	if reader().Renderer().Render(&b, source, doc) != nil {
		return "", 0, false
	}
	for _, tag := range tags.FindAll(b.Bytes(), -1) {
		if !harmless.Match(tag) {
			return "", 0, false
		}
		if tag[1] != '/' {
			elements++
		}
	}
	if elements > nodes {
		return "", 0, false
	}
	return template.HTML(b.String()), elements, true //nolint:gosec // every tag of it is one of harmless
}

var (
	// tags finds everything that a browser could take for one: the library escapes '<' wherever it is text.
	tags = regexp.MustCompile(`<[^>]*>?`)
	// harmless are the elements, attributes and schemes that come out of markdown.
	harmless = regexp.MustCompile(`^<(?:/?(?:p|br|hr|h[3-6]|strong|em|del|code|pre|blockquote|ul|ol|li|a|div|table|` +
		`thead|tbody|tr|th|td)|ol start="[0-9]{1,9}"|pre tabindex="0"|div class="wide" tabindex="0"|` +
		`t[hd] align="(?:left|right|center)"|a class="link" href="(?:https?://|mailto:)[^"<>]*" title="[^"<>]*" ` +
		`rel="noopener noreferrer" target="_blank")>$`)
)

// costly reports whether a text would take long to read, or become more elements than so many. The library's work on
// marks grows with their square within a block, and it fills up the rows of a table.
func costly(said string, nodes int) bool {
	blocks, cost, inCode := 0, 0, ""
	var c chunk
	for line := range strings.Lines(said) {
		if was := inCode; line[0] != ' ' { // of what is indented it depends on what stands above it whether it is code
			inCode = fenced(inCode, line)
			if was != "" && inCode != "" {
				continue
			}
		}
		bare := strings.TrimSpace(line)
		if openers(bare) > maxNested {
			return true
		}
		if bare == "" || strings.ContainsAny(bare[:1], "|-+*#>0123456789") {
			cost, blocks = cost+c.marks*c.marks, blocks+1
			c.marks = 0
		}
		if bare == "" {
			c = chunk{}
		}
		c.take(bare)
		cost += len(bare) * len(bare) / 64
		if cost+c.marks*c.marks > maxCost || c.bars*c.lines > nodes || blocks > nodes {
			return true
		}
	}
	return false
}

const maxCost = 4_000_000

// chunk is what stands between two blank lines.
type chunk struct{ marks, bars, lines int }

func (c *chunk) take(line string) {
	c.lines++
	c.bars = max(c.bars, strings.Count(line, "|"))
	for i := range len(line) {
		switch line[i] {
		case '*', '_', '[', ']', '~', '`', '!', '<', '(', '&', '@', ':', '\\':
			c.marks++
		}
	}
}

// openers is how many quotes and lists a line opens at most.
func openers(line string) (n int) {
	if strings.Trim(line, "- ") == "" || strings.Trim(line, "* ") == "" {
		return 0 // a line across
	}
	for _, c := range line {
		switch {
		case strings.ContainsRune(">-+*.)", c):
			n++
		case !strings.ContainsRune(" \t0123456789", c):
			return n
		}
	}
	return n
}

// depth is how deep the blocks and marks of a document lie in each other.
func depth(n ast.Node) (deepest int) {
	now := 0
	_ = ast.Walk(n, func(_ ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			now--
			return ast.WalkContinue, nil
		}
		now++
		deepest = max(deepest, now)
		return ast.WalkContinue, nil
	})
	return deepest
}

// reader reads Markdown, once it is needed.
var reader = sync.OnceValue(func() goldmark.Markdown {
	p := parser.NewParser( // of the default ones all but those of HTML, and of definitions, which show nothing
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(parser.NewListParser(), 300), util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500), util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewBlockquoteParser(), 800), util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 100), util.Prioritized(parser.NewLinkParser(), 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300), util.Prioritized(parser.NewEmphasisParser(), 500),
		),
	)
	protocols := extension.WithLinkifyAllowedProtocols([][]byte{[]byte("http:"), []byte("https:")})
	return goldmark.New(
		goldmark.WithParser(p),
		goldmark.WithExtensions(
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
			extension.Strikethrough, extension.NewLinkify(protocols),
		),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(ours{}, 1))),
	)
})

// ours renders what the library would render otherwise.
type ours struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (ours) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, heads)
	r.Register(ast.KindLink, links)
	r.Register(ast.KindAutoLink, bareLinks)
	r.Register(ast.KindImage, unfetched)
	r.Register(ast.KindCodeBlock, code)
	r.Register(ast.KindFencedCodeBlock, code)
	r.Register(extast.KindTable, tables)
}

// heads are headings, below those of the page.
func heads(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	level := strconv.Itoa(min(n.(*ast.Heading).Level+2, 6))
	if entering {
		_, _ = w.WriteString("<h" + level + ">")
	} else {
		_, _ = w.WriteString("</h" + level + ">\n")
	}
	return ast.WalkContinue, nil
}

// followed is an address that a link may lead to; "": none.
func followed(address []byte) string {
	to := string(util.EscapeHTML(util.URLEscape(address, true)))
	lower := strings.ToLower(to)
	for _, scheme := range []string{"http://", "https://", "mailto:"} {
		if strings.HasPrefix(lower, scheme) {
			return scheme + to[len(scheme):]
		}
	}
	return ""
}

func openLink(w util.BufWriter, to string) {
	_, _ = w.WriteString(`<a class="link" href="` + to + `" title="` + to + `" rel="noopener noreferrer" ` +
		`target="_blank">`)
}

// links lead out of the page, or are text: an address that is not followed stands behind it.
func links(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	link := n.(*ast.Link)
	to := followed(link.Destination)
	switch {
	case to != "" && entering:
		openLink(w, to)
	case to != "":
		_, _ = w.WriteString("</a>")
	case !entering:
		_, _ = w.WriteString(" (")
		_, _ = w.Write(util.EscapeHTML(link.Destination))
		_, _ = w.WriteString(")")
	}
	return ast.WalkContinue, nil
}

func bareLinks(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	link := n.(*ast.AutoLink)
	address, label := link.URL(source), util.EscapeHTML(link.Label(source))
	if link.AutoLinkType == ast.AutoLinkEmail && !bytes.HasPrefix(bytes.ToLower(address), []byte("mailto:")) {
		address = append([]byte("mailto:"), address...)
	}
	if to := followed(address); to != "" {
		openLink(w, to)
		_, _ = w.Write(label)
		_, _ = w.WriteString("</a>")
	} else {
		_, _ = w.Write(label)
	}
	return ast.WalkContinue, nil
}

// unfetched are pictures, which nobody asks for: what they are called, and where they are.
func unfetched(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	address := n.(*ast.Image).Destination
	to := followed(address)
	if entering {
		if to != "" && !linked(n) {
			openLink(w, to)
		}
		_, _ = w.WriteString("picture: ")
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString(" (")
	_, _ = w.Write(util.EscapeHTML(address))
	_, _ = w.WriteString(")")
	if to != "" && !linked(n) {
		_, _ = w.WriteString("</a>")
	}
	return ast.WalkContinue, nil
}

// linked reports whether something is in a link already.
func linked(n ast.Node) bool {
	for n = n.Parent(); n != nil; n = n.Parent() {
		if n.Kind() == ast.KindLink || n.Kind() == ast.KindImage {
			return true
		}
	}
	return false
}

const longCode = 14 // lines, behind which a block of code scrolls

func code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	lines := string(n.Lines().Value(source))
	open := "<pre>"
	if wide := longest(lines) > 40; wide || long(longCode, lines) {
		open = `<pre tabindex="0">`
	}
	_, _ = w.WriteString(open + "<code>")
	html.DefaultWriter.RawWrite(w, []byte(lines))
	_, _ = w.WriteString("</code></pre>\n")
	return ast.WalkSkipChildren, nil
}

// longest is the length of the longest line, in bytes.
func longest(lines string) (n int) {
	for line := range strings.Lines(lines) {
		n = max(n, len(line))
	}
	return n
}

// tables scroll for themselves.
func tables(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString(`<div class="wide" tabindex="0"><table>`)
	} else {
		_, _ = w.WriteString("</table></div>\n")
	}
	return ast.WalkContinue, nil
}

// openFence is the line that opened the block of code in which a text ends; "": it ends in none.
func openFence(said string) (open string) {
	for line := range strings.Lines(said) {
		open = fenced(open, line)
	}
	return open
}

// fenced is the line that opened the block of code that goes on behind a line; open is the one in front of it.
func fenced(open, line string) string {
	mark := fence(line)
	switch {
	case mark == "":
	case open == "":
		return line
	case strings.HasPrefix(mark, fence(open)) && strings.TrimSpace(line) == mark:
		return ""
	}
	return open
}

// fence are the characters with which a line opens or ends a block of code.
func fence(line string) string {
	bare := strings.TrimLeft(line, " ")
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(bare, mark)
		n := len(bare) - len(rest)
		span := mark == "`" && strings.Contains(rest, mark) // it is code within a line
		if n >= 3 && len(line)-len(bare) < 4 && !span {
			return bare[:n]
		}
	}
	return ""
}

// said is a text of a conversation, or a part of it.
type said struct {
	Text string
	HTML template.HTML // instead of it; "": it is shown as it was written
	Rest string        // the address of what comes behind it; "": nothing does
}

// pieceWeight is how much of a long text comes at a time.
const pieceWeight = 40_000

// RestOfSaid is a part of what was said, which is at an address, from a byte on. It ends where a line does. Of the
// model's it is Markdown.
func RestOfSaid(f Frame, where, whole string, marked bool, from int) Page {
	from = min(max(from, 0), len(whole))
	for from < len(whole) && !utf8.RuneStart(whole[from]) {
		from++
	}
	one := said{Text: cut(whole[from:], pieceWeight)}
	if len(one.Text) < len(whole)-from {
		one.Text = one.Text[:lineEnd(one.Text)]
		one.Rest = with(where, "at", strconv.Itoa(from+len(one.Text)))
	}
	if marked {
		one.HTML, _, _ = markdown(openFence(whole[:from])+one.Text, roomOfSaid.nodes)
	}
	return Page{Frame: f, Data: one, name: "conversation"}
}

// lineEnd is where to end a text that goes on: behind its last paragraph, else its last line, if that is not far.
func lineEnd(text string) int {
	for _, end := range []string{"\n\n", "\n"} {
		if at := strings.LastIndex(text, end); at > len(text)/2 {
			return at + len(end)
		}
	}
	return len(text)
}
