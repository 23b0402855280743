package view

import (
	"net/url"
	"strconv"
	"strings"

	"rewind/api"
	"rewind/internal/textdiff"
)

// fileDiff is how a file changed.
type fileDiff struct {
	Path    string
	Raw     string // the path as an address has it
	From    string // where it was
	Status  string
	Note    string
	Added   int
	Removed int
	Mode    string // how its permissions changed
	Hunks   []hunk
}

// hunk is a stretch of it.
type hunk struct {
	Head  string
	Lines []line
}

// line has its number on both sides, 0 where it has none.
type line struct {
	Op       string // " ", "-", "+"
	Old, New int
	Parts    []part
	NoEnd    bool // no line feed behind it
}

// part is a run of a line's text; what changed in the line is marked.
type part struct {
	Text   string
	Marked bool
}

// notes say why there are no lines.
var notes = map[string]string{
	"binary": "not text", "too_large": "too large to compare", "secret": "kept secret", "purged": "purged from the store",
	"lost": "lost by damage", "": "",
}

// diff turns a file's differences into lines.
func diff(d *api.FileDiff) fileDiff {
	out := fileDiff{
		Path: string(d.Path), Raw: string(d.Path), From: string(d.RenamedFrom), Status: d.Status, Added: d.Added, Removed: d.Removed,
		Note: notes[d.Note],
	}
	if out.Note == "" {
		out.Note = d.Note
	}
	if d.OldMode != d.NewMode && d.OldMode != "" && d.NewMode != "" {
		out.Mode = d.OldMode + " → " + d.NewMode
	}
	for _, h := range d.Hunks {
		out.Hunks = append(out.Hunks, hunkOf(h))
	}
	return out
}

func hunkOf(h textdiff.Hunk) hunk {
	out := hunk{}
	if h.NewStart > 1 {
		out.Head = "from line " + strconv.Itoa(h.NewStart)
	}
	spans := h.Spans()
	old, now := h.OldStart, h.NewStart
	for i, l := range h.Lines {
		line := line{Op: string(rune(l.Op)), Parts: parts(l.Text, spans[i]), NoEnd: l.NoEOL}
		if l.Op != '+' {
			line.Old = old
			old++
		}
		if l.Op != '-' {
			line.New = now
			now++
		}
		out.Lines = append(out.Lines, line)
	}
	return out
}

func parts(text []byte, spans []textdiff.Span) (list []part) {
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

func itoa(n uint64) string { return strconv.FormatUint(n, 10) }

// query is text in an address.
func query(s string) string { return url.QueryEscape(s) }
