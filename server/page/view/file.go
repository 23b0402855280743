package view

import (
	"bytes"
	"strings"

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
}

// entry is a name in it.
type entry struct {
	Name, Href string
	Dir        bool
}

// Directory is the document of one.
func Directory(f Frame, checkpoint, dir string, entries []api.Text) Page {
	l := &listing{Checkpoint: checkpoint, Href: f.Path("c", checkpoint), Dir: dir}
	if dir != "" {
		up := ""
		if i := strings.LastIndexByte(strings.TrimSuffix(dir, "/"), '/'); i >= 0 {
			up = dir[:i]
		}
		l.Up = f.Path("c", checkpoint, "files") + "?path=" + query(up)
	}
	for _, e := range entries {
		name, isDir := strings.CutSuffix(string(e), "/")
		one := entry{Name: name[strings.LastIndexByte(name, '/')+1:], Dir: isDir}
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
	Blamed            bool
	BlameHref         string
	History           []Row
	Renamed           bool
}

// blamedLine is a line with where it comes from.
type blamedLine struct {
	N     int
	Text  string
	Who   string // said once for a run of lines
	Href  string
	Words string
}

// Content is the document of a file.
func Content(
	f Frame, checkpoint, path string, content []byte, large bool, blame *api.BlameResponse, history []api.PathsCheckpoint,
) Page {
	d := &file{
		Checkpoint: checkpoint, Short: checkpoint[:min(7, len(checkpoint))], Href: f.Path("c", checkpoint), Path: path, Raw: path,
		Size: term.Size(int64(len(content))), BlameHref: f.Path("c", checkpoint, "file") + "?blame=1&path=" + query(path),
	}
	dir := ""
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		dir = path[:i]
	}
	d.Files = f.Path("c", checkpoint, "files") + "?path=" + query(dir)
	switch {
	case large:
		d.Note, d.Size = "It is too large to be shown: 'rewind cat' has it whole.", ""
	case textdiff.IsBinary(content):
		d.Note = "It is not text."
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
