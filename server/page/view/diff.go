package view

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"rewind/api"
	"rewind/internal/term"
	"rewind/internal/textdiff"
)

// FilesAtOnce is how many files of a change have to come with their lines, from the first one that is shown on.
const FilesAtOnce = 300

// change is what changed, as many files and lines of it as there is room for.
type change struct {
	Files          []fileDiff
	All            int  // files that changed
	Counted        bool // the lines of all of them were counted
	Added, Removed int
	Left           int    // files that are not there
	Rest           string // their address; "": all are there
}

// fileDiff is how a file changed.
type fileDiff struct {
	Path    string
	Raw     string // the path as an address has it
	From    string // where it was
	Status  string
	Note    string
	Added   int
	Removed int
	Mode    string // what it is, or became, where it is no plain file
	Size    string // of one without lines, before and after
	Old     string // the address of its content before, of one without lines; "": it has none here
	New     string // and after
	Picture bool
	Open    bool
	Lines   []line
	Left    int    // lines that are not there
	Rest    string // their address; "": all are there
}

// line has its number on both sides, 0 where it has none. A line of Op "@" says where those behind it are.
type line struct {
	Op       string // " ", "-", "+", "@"
	Old, New int
	Parts    []part
	NoEnd    bool // no line feed behind it
	Left     int  // characters of it that are not there
	Rest     string
}

// part is a run of a line's text; what changed in the line is marked.
type part struct {
	Text   string
	Marked bool
}

// notes say why there are no lines.
var notes = map[string]string{
	"binary": "not text", "too_large": "too large to compare", "secret": "kept secret",
	"purged": "purged from the store",
	"lost":   "lost by damage", "": "",
}

// changed is a change, from a file on. Where is its address, behind which its pieces are. All files of the list are
// named; those from first on have their lines, FilesAtOnce of them.
func changed(list []api.FileDiff, where string, first int, r Room) change {
	out := change{All: len(list), Counted: len(list) <= FilesAtOnce}
	for i := range list {
		out.Added, out.Removed = out.Added+list[i].Added, out.Removed+list[i].Removed
	}
	rest := behind(list, first)
	for i := range rest {
		file := diff(&rest[i])
		bytes := 1200 + weight(file.Path) + weight(file.From) + 3*weight(file.Raw) + 6*addressed(file.Raw)
		if !r.take(17, bytes) && i > 0 {
			out.Left = len(rest) - i
			out.Rest = with(where, "first", strconv.Itoa(first+i))
			break
		}
		at := with(where, "file", file.Raw, "first", strconv.Itoa(first+i))
		if folded, why := folded(&rest[i], len(list)); folded {
			file.Note = joined(", ", file.Note, why)
			file.Left = countLines(rest[i].Hunks)
			file.Rest = with(at, "line", "0")
		} else {
			file.lines(rest[i].Hunks, at, 0, fileLines, &r)
		}
		file.Open = len(file.Lines) > 0
		out.Files = append(out.Files, file)
	}
	return out
}

// generatedNames are files that a program writes and nobody reads.
var generatedNames = map[string]bool{
	"package-lock.json": true, "npm-shrinkwrap.json": true, "yarn.lock": true, "pnpm-lock.yaml": true,
	"bun.lock": true, "go.sum": true,
	"Cargo.lock": true, "Gemfile.lock": true, "poetry.lock": true, "uv.lock": true, "Pipfile.lock": true,
	"composer.lock": true,
	"mix.lock":      true, "flake.lock": true, "Package.resolved": true, "packages.lock.json": true,
}

// generatedMarks stand in the first lines of files that a program has written.
var generatedMarks = []string{"DO NOT EDIT", "@generated"}

// folded reports whether the lines of a file are not shown before it is opened, and why. all is how many files changed
// with it.
func folded(d *api.FileDiff, all int) (is bool, why string) {
	name := path.Base(string(d.Path))
	switch {
	case len(d.Hunks) == 0:
		return false, ""
	case generatedNames[name], strings.Contains(name, ".min."), strings.HasSuffix(name, ".map"), saysGenerated(d.Hunks):
		return true, "generated"
	case all > 1 && d.Added+d.Removed > viewLines:
		return true, "large"
	case all > 1 && d.Status == "deleted":
		return true, "" // its status says it
	}
	return false, ""
}

// saysGenerated looks at the first lines of a file, as far as they are in a diff.
func saysGenerated(hunks []api.Hunk) bool {
	const head = 8
	if len(hunks) == 0 || hunks[0].NewStart > head {
		return false
	}
	for _, l := range hunks[0].Lines[:min(len(hunks[0].Lines), head)] {
		text := string(l.Text[:min(len(l.Text), lineWeight)])
		for _, mark := range generatedMarks {
			if l.Op != '-' && strings.Contains(text, mark) {
				return true
			}
		}
	}
	return false
}

// diff is a file without its lines.
func diff(d *api.FileDiff) fileDiff {
	out := fileDiff{
		Path: pathWords(d.Path), Raw: string(d.Path), Status: d.Status,
		Added: d.Added, Removed: d.Removed, Note: notes[d.Note], Mode: modeWords(d.OldMode, d.NewMode),
	}
	if d.RenamedFrom != "" {
		out.From = pathWords(d.RenamedFrom)
	}
	if out.Note == "" {
		out.Note = brief(d.Note)
	}
	if d.Note == "binary" || d.Note == "too_large" {
		out.Size = sizeWords(d)
	}
	return out
}

// pathWords is a path as commands print it.
func pathWords(path api.Text) string { return brief(term.Quote(string(path))) }

// modes are what a file can be, as git has it.
var modes = map[string]string{
	"100644": "file", "100755": "executable", "120000": "symbolic link", "040000": "directory", "160000": "repository",
}

// modeWords says what a path is, or became; "": it is a file, as before.
func modeWords(old, now string) string {
	word := func(mode string) string { return cmp.Or(modes[mode], brief(mode)) }
	switch {
	case old != "" && now != "" && old != now:
		return word(old) + " → " + word(now)
	case cmp.Or(now, old) != "100644":
		return word(cmp.Or(now, old))
	}
	return ""
}

func sizeWords(d *api.FileDiff) string {
	switch {
	case d.OldMode == "":
		return term.Size(d.NewSize)
	case d.NewMode == "":
		return term.Size(d.OldSize)
	}
	return term.Size(d.OldSize) + " → " + term.Size(d.NewSize)
}

// pictures are the ends of names of files that a browser can show.
var pictures = map[string]bool{
	".png": true, ".jpg": true, ".jpeg": true, ".gif": true, ".webp": true, ".avif": true, ".bmp": true, ".ico": true,
}

// isPicture reports whether a browser can show a file, as far as its name and size tell.
func isPicture(d *api.FileDiff) bool {
	return pictured(string(d.Path)) && max(d.OldSize, d.NewSize) <= maxPicture
}

func pictured(name string) bool { return pictures[strings.ToLower(path.Ext(name))] }

const (
	maxPicture     = 8 << 20 // bytes of a picture that is shown
	picturesAtOnce = 12      // of a change; others are downloaded
)

// contents gives files without lines the addresses of what they were and are: before and after are the names of the two
// states; "": such contents have no address.
func (c *change) contents(f Frame, list []api.FileDiff, before, after string) {
	at := map[string]*api.FileDiff{}
	for i := range list {
		at[string(list[i].Path)] = &list[i]
	}
	left := picturesAtOnce
	for i := range c.Files {
		file := &c.Files[i]
		d := at[file.Raw]
		if file.Size == "" || d == nil {
			continue
		}
		if d.OldMode != "" && before != "" {
			file.Old = f.content(before, cmp.Or(string(d.RenamedFrom), file.Raw))
		}
		if d.NewMode != "" && after != "" {
			file.New = f.content(after, file.Raw)
		}
		if file.Old+file.New == "" || !isPicture(d) || left == 0 {
			continue
		}
		file.Picture, file.Open, left = true, true, left-1
	}
}

// content is the address of the bytes of a file in a state.
func (f Frame) content(state, path string) string {
	return with(f.Path("content"), "at", state, "path", path)
}

// countLines is how many lines a diff has, and heads of hunks.
func countLines(hunks []api.Hunk) (n int) {
	for _, h := range hunks {
		n += len(h.Lines) + headed(h)
	}
	return n
}

// headed is 1 for a hunk that says where it is.
func headed(h api.Hunk) int {
	if h.NewStart > 1 {
		return 1
	}
	return 0
}

// lines gives a file the lines of its hunks from one on, at most so many, and the address of those behind them.
func (d *fileDiff) lines(hunks []api.Hunk, where string, from, most int, r *Room) {
	at, all := 0, countLines(hunks)
	for _, h := range hunks {
		n := headed(h) + len(h.Lines)
		if at += n; at <= from {
			continue
		}
		for _, l := range hunkLines(h, from-(at-n), most-len(d.Lines)) {
			next := from + len(d.Lines)
			l.cut(with(where, "line", strconv.Itoa(next)))
			if r.lines--; r.lines < 0 || !r.take(l.weight()) {
				r.lines, most = 0, 0 // what does not fit ends it, also where something smaller would
				break
			}
			d.Lines = append(d.Lines, l)
		}
		if len(d.Lines) >= most {
			break
		}
	}
	if next := from + len(d.Lines); next < all {
		d.Left, d.Rest = all-next, with(where, "line", strconv.Itoa(next))
	}
}

// weight is how many elements and bytes a line takes in a document.
func (l *line) weight() (nodes, bytes int) {
	nodes, bytes = 1, 46
	for _, p := range l.Parts {
		if bytes += weight(p.Text); p.Marked {
			nodes, bytes = nodes+1, bytes+13
		}
	}
	if l.NoEnd {
		nodes, bytes = nodes+1, bytes+40
	}
	if l.Rest != "" {
		nodes, bytes = nodes+1, bytes+140+len(l.Rest)
	}
	return nodes, bytes
}

// cut leaves the beginning of a long line. The rest of it is behind an address.
func (l *line) cut(where string) {
	var all strings.Builder
	for _, p := range l.Parts {
		all.WriteString(p.Text)
	}
	text := all.String()
	if short := cut(text, lineWeight); len(short) < len(text) {
		l.Parts = []part{{Text: short}}
		l.Left, l.Rest = utf8.RuneCountInString(text[len(short):]), with(where, "at", strconv.Itoa(len(short)))
	}
}

// piece is how many removed lines stand before as many of the lines that replaced them.
const piece = 24

// hunkLines are lines of a hunk from one on, at most so many. Where many lines were replaced by others, both come by
// pieces: the beginning of a diff shows both sides of it.
func hunkLines(h api.Hunk, from, most int) []line {
	t := taker{old: h.OldStart, now: h.NewStart, from: from, most: most}
	if headed(h) > 0 {
		t.add(line{Op: "@", Parts: []part{{Text: "from line " + term.Count(h.NewStart)}}})
	}
	for i := 0; i < len(h.Lines) && !t.full(); {
		minus := run(h.Lines[i:], '-')
		plus := run(h.Lines[i+minus:], '+')
		if minus+plus > 0 {
			t.replaced(h.Lines[i:i+minus], h.Lines[i+minus:i+minus+plus])
			i += minus + plus
			continue
		}
		t.add(line{Op: " ", Old: t.old, New: t.now, Parts: textParts(h.Lines[i].Text, nil), NoEnd: h.Lines[i].NoEOL})
		i, t.old, t.now = i+1, t.old+1, t.now+1
	}
	return t.out
}

// taker takes lines of a hunk in the order in which they are shown.
type taker struct {
	out        []line
	at         int // lines that came
	from, most int
	old, now   int // the numbers of the next ones
}

func (t *taker) full() bool { return len(t.out) >= t.most }

func (t *taker) add(l line) {
	if t.at++; t.at > t.from && !t.full() {
		t.out = append(t.out, l)
	}
}

// replaced takes removed lines and those that are in their place.
func (t *taker) replaced(removed, added []textdiff.Line) {
	paired := len(removed) == len(added)
	for len(removed)+len(added) > 0 && !t.full() {
		k, n := min(piece, len(removed)), min(piece, len(added))
		if k == 0 || n == 0 {
			k, n = len(removed), len(added)
		}
		var spans [][]textdiff.Span
		if paired && t.at+k+n > t.from { // only what is shown is compared by words
			spans = api.Hunk{Lines: slices.Concat(removed[:k], added[:n])}.Spans()
		}
		for j, l := range removed[:k] {
			t.add(line{Op: "-", Old: t.old + j, Parts: textParts(l.Text, of(spans, j)), NoEnd: l.NoEOL})
		}
		for j, l := range added[:n] {
			t.add(line{Op: "+", New: t.now + j, Parts: textParts(l.Text, of(spans, k+j)), NoEnd: l.NoEOL})
		}
		removed, added, t.old, t.now = removed[k:], added[n:], t.old+k, t.now+n
	}
}

func of(spans [][]textdiff.Span, i int) []textdiff.Span {
	if i < len(spans) {
		return spans[i]
	}
	return nil
}

func run(lines []textdiff.Line, op textdiff.Op) int {
	n := 0
	for n < len(lines) && lines[n].Op == op {
		n++
	}
	return n
}

func textParts(text []byte, spans []textdiff.Span) (list []part) {
	add := func(b []byte, marked bool) {
		if s := strings.TrimSuffix(string(b), "\n"); s != "" {
			list = append(list, part{s, marked})
		}
	}
	at := 0
	for _, s := range spans {
		add(text[at:s.Start], false)
		add(text[s.Start:s.End], true)
		at = s.End
	}
	add(text[at:], false)
	return list
}

// Piece is what is asked for of a change that is shown already.
type Piece struct {
	where string // the address of the view
	First int    // of files; those before it are there
	file  string // whose lines are asked for; "": none's
	Line  int    // those before it are there
	At    int    // of the line the bytes before it are there; 0: whole lines are asked for
}

// PieceOf reads the words of an address that changed made.
func PieceOf(address *url.URL, base string) Piece {
	q := address.Query()
	number := func(name string) int { n, _ := strconv.Atoi(q.Get(name)); return max(n, 0) }
	p := Piece{First: number("first"), file: q.Get("file"), Line: number("line"), At: number("at")}
	for _, name := range []string{"first", "file", "line", "at"} {
		q.Del(name)
	}
	p.where = base + address.Path
	if len(q) > 0 {
		p.where += "?" + q.Encode()
	}
	return p
}

// More is a piece of a change: further files, lines of a file, or the rest of a line. The list has every file.
func More(f Frame, list []api.FileDiff, p Piece, c *Detail) Page {
	if p.file == "" {
		more := changed(list, p.where, p.First, roomOfChange)
		if c != nil {
			more.contents(f, list, c.from, c.ID)
		}
		return Page{Frame: f, Data: map[string]any{"C": more, "D": c}, name: "pieces"}
	}
	out := Page{Frame: f, Data: fileDiff{}, name: "pieces"}
	for i := range list {
		if string(list[i].Path) != p.file {
			continue
		}
		file, r := diff(&list[i]), roomOfLines
		where := with(p.where, "file", p.file, "first", strconv.Itoa(p.First))
		if p.At > 0 {
			file.restOfLine(list[i].Hunks, where, p)
		} else {
			file.lines(list[i].Hunks, where, p.Line, viewLines, &r)
		}
		out.Data = file
	}
	return out
}

// RestOfLine is the rest of a long line of a file.
func RestOfLine(f Frame, where string, content []byte, p Piece) Page {
	lines := strings.SplitN(string(content), "\n", p.Line+1)
	text := ""
	if p.Line > 0 && p.Line <= len(lines) {
		text, _, _ = strings.Cut(lines[p.Line-1], "\n")
	}
	return Page{Frame: f, Data: fileDiff{Lines: []line{restOf(text, where, p)}}, name: "pieces"}
}

// restOf is a line's text from a byte on, as much of it as there is room for.
func restOf(text, where string, p Piece) line {
	text = text[min(p.At, len(text)):]
	short := cut(text, roomOfLines.bytes)
	out := line{Parts: []part{{Text: short}}}
	if len(short) < len(text) {
		out.Left = utf8.RuneCountInString(text[len(short):])
		out.Rest = with(where, "line", strconv.Itoa(p.Line), "at", strconv.Itoa(p.At+len(short)))
	}
	return out
}

// restOfLine gives a file one line, from a byte on, as much of it as there is room for.
func (d *fileDiff) restOfLine(hunks []api.Hunk, where string, p Piece) {
	at := p.Line
	for _, h := range hunks {
		n := headed(h) + len(h.Lines)
		if at >= n {
			at -= n
			continue
		}
		for _, l := range hunkLines(h, at, 1) {
			var all strings.Builder
			for _, one := range l.Parts {
				all.WriteString(one.Text)
			}
			d.Lines = []line{restOf(all.String(), where, p)}
		}
		return
	}
}

func itoa(n uint64) string { return strconv.FormatUint(n, 10) }

// query is text in an address.
func query(s string) string { return url.QueryEscape(s) }
