package view

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"rewind/api"
	"rewind/internal/term"
	"rewind/internal/textdiff"
)

// listing is a directory as a checkpoint has it.
type listing struct {
	Checkpoint string
	Href       string // of the checkpoint
	Dir        string
	Up         string // the address of the directory above; "": it is the root
	Entries    []entry
	Rest       string // the address of those behind them; "": there are none
}

// entry is a name in it.
type entry struct {
	Name, Href string
	Dir        bool
}

// Directory is the document of one, from an entry on.
func Directory(f Frame, checkpoint, dir string, entries []api.Text, from int) Page {
	l := &listing{Checkpoint: checkpoint, Href: f.Path("c", checkpoint), Dir: dir}
	if dir != "" {
		up := ""
		if i := strings.LastIndexByte(strings.TrimSuffix(dir, "/"), '/'); i >= 0 {
			up = dir[:i]
		}
		l.Up = f.Path("c", checkpoint, "files") + "?path=" + query(up)
	}
	r := roomOfList
	list := some(&r, behind(entries, from), func(e *api.Text) (nodes, bytes int) {
		return 2, 120 + len(l.Href) + briefWeight + addressed(string(*e))
	})
	if next := from + len(list); next < len(entries) {
		l.Rest = with(f.Path("c", checkpoint, "files"), "path", dir, "from", strconv.Itoa(next))
	}
	for _, e := range list {
		name, isDir := strings.CutSuffix(string(e), "/")
		one := entry{Name: pathWords(api.Text(name[strings.LastIndexByte(name, '/')+1:])), Dir: isDir}
		if isDir {
			one.Href = f.Path("c", checkpoint, "files") + "?path=" + query(name)
		} else {
			one.Href = f.Path("c", checkpoint, "file") + "?path=" + query(name)
		}
		l.Entries = append(l.Entries, one)
	}
	f.At = "files"
	return Page{Frame: f, Title: "Files then · " + f.Name, Data: l, name: "files"}
}

// file is one as a checkpoint has it.
type file struct {
	Checkpoint, Short string
	Href              string
	Path, Raw         string // as it is shown, and as it is asked for
	Files             string // the address of its directory
	Note              string // why no lines are shown
	Size              string
	Lines             []blamedLine
	Left              int    // lines that are not there
	Rest              string // their address; "": all are there
	Blamed            bool
	BlameHref         string
	Content           string // the address of its bytes
	Picture           bool
	History           []Row
	Above             string // the address of lines above those that are there; "": there are none
	Over              int    // how many
}

// Place is where in a file somebody looks.
type Place struct {
	From, Until int    // lines: behind the first so many, and up to one; 0: as far as there is room
	Line        int    // the one that is marked; 0: none
	Words       string // that are marked in it
	Whose       *api.BlameResponse
}

// blamedLine is a line with where it comes from.
type blamedLine struct {
	N     int
	Text  string
	Parts []part // of the line that is marked, in place of its text
	Left  int    // characters of it that are not there
	Rest  string // their address
	Who   string // said once for a run of lines
	Href  string
	Words string
	Wrote *foundMoment // of the line that is marked: what brought it; nil: it is not known
}

// Content is the document of a file.
func Content(
	f Frame, checkpoint, path string, content []byte, large bool, blame *api.BlameResponse, history []api.PathsCheckpoint, at Place,
) Page {
	d := &file{
		Checkpoint: checkpoint, Short: checkpoint[:min(7, len(checkpoint))], Href: f.Path("c", checkpoint),
		Path: term.Quote(path), Raw: path,
		Size: term.Size(int64(len(content))), BlameHref: f.Path("c", checkpoint, "file") + "?blame=1&path=" + query(path),
	}
	d.Content = f.content(checkpoint, path)
	dir := ""
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		dir = path[:i]
	}
	d.Files = f.Path("c", checkpoint, "files") + "?path=" + query(dir)
	switch {
	case large:
		d.Note, d.Size = "It is too large to be shown.", ""
	case textdiff.IsBinary(content):
		d.Note, d.Picture = "It is not text.", pictured(path)
	case blame != nil:
		d.Blamed = true
		d.Lines = f.blamed(blame)
	default:
		lines := bytes.SplitAfter(content, []byte("\n"))
		if len(lines[len(lines)-1]) == 0 {
			lines = lines[:len(lines)-1]
		}
		for i, l := range lines {
			d.Lines = append(d.Lines, blamedLine{N: i + 1, Text: strings.TrimSuffix(string(l), "\n")})
		}
	}
	if at.Line > 0 {
		f.marked(d, &at)
	}
	d.cut(at, with(f.Path("c", checkpoint, "file"), "path", path, "blame", map[bool]string{true: "1"}[d.Blamed]))
	for i := range history {
		c := &history[i].Checkpoint
		row := api.Row{
			Checkpoint: *c, Session: c.Session, Agent: c.Agent, Turn: c.Turn, Prompt: c.Prompt, Time: c.Time,
			Outside: len(c.By) == 0,
		}
		d.History = append(d.History, f.Rows([]api.Row{row}, checkpoint)...)
	}
	f.At = "file"
	return Page{Frame: f, Title: d.Path + " · " + f.Name, Data: d, name: "file"}
}

const (
	shownAbove = 200 // lines above the one that is marked
	moreAbove  = 1000
)

// marked marks a line of a file, which begins near it where it is far down.
func (f Frame) marked(d *file, at *Place) {
	if at.From == 0 && at.Line > 2*shownAbove {
		at.From = at.Line - shownAbove
	}
	if at.Line > len(d.Lines) {
		return
	}
	l := &d.Lines[at.Line-1]
	l.Parts = excerpts(l.Text, finder(at.Words))
	if b := at.Whose; b != nil && len(b.Lines) == 1 {
		o := &b.Origins[b.Lines[0].Origin]
		wrote := f.foundMoment(&o.Moment)
		if len(o.By) == 0 && o.Before {
			wrote.Words = "older than rewind's memory"
		}
		l.Wrote = &wrote
	}
}

// cut leaves the lines of a place for which there is room, of long ones the beginning.
func (d *file) cut(at Place, where string) {
	all, r, from := len(d.Lines), roomOfLines, at.From
	if at.Until > 0 {
		d.Lines = d.Lines[:min(len(d.Lines), at.Until)]
	}
	d.Lines = behind(d.Lines, from)
	d.Lines = d.Lines[:min(len(d.Lines), r.lines)]
	if d.Over = min(from, all); d.Over > 0 && (at.Line > 0 || at.Until > 0) {
		d.Above = with(where, "from", strconv.Itoa(max(from-moreAbove, 0)), "until", strconv.Itoa(from))
	}
	for i := range d.Lines {
		l := &d.Lines[i]
		short := cut(l.Text, lineWeight)
		if len(short) < len(l.Text) {
			l.Left = utf8.RuneCountInString(l.Text[len(short):])
			if l.Parts != nil {
				l.Parts = []part{{Text: short}}
			}
			l.Text, l.Rest = short, with(where, "line", strconv.Itoa(l.N), "at", strconv.Itoa(len(short)))
		}
	}
	d.Lines = some(&r, d.Lines, func(l *blamedLine) (nodes, bytes int) {
		nodes, bytes = 1+min(len(l.Who), 1)+min(l.Left, 1), 60+weight(l.Text+l.Who+l.Words)+len(l.Href)
		if l.Parts != nil {
			nodes, bytes = nodes+2+len(l.Parts), bytes+1500+13*len(l.Parts)
		}
		return nodes, bytes
	})
	if next := from + len(d.Lines); next < all && at.Until == 0 {
		d.Left, d.Rest = all-next, with(where, "from", strconv.Itoa(next))
	}
}

func (f Frame) blamed(r *api.BlameResponse) []blamedLine {
	out := make([]blamedLine, 0, len(r.Lines))
	for i, l := range r.Lines {
		line := blamedLine{N: r.First + i, Text: string(l.Text)}
		if i == 0 || r.Lines[i-1].Origin != l.Origin {
			o := &r.Origins[l.Origin]
			line.Words, line.Href = f.moments(&o.Moment)
			line.Who = f.moment(o.Time).Text + " " + line.Words
		}
		out = append(out, line)
	}
	return out
}
